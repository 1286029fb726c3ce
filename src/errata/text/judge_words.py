"""A judge's words about an answer, without the sentences that only announce it."""

import re

from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex

READ = 4_000
TITLE, LOOKED_AT = 120, 10
"""Characters of a title, and sentences among which the one that names a fault is looked for."""

_ENDS = lazy_regex(r"[.!?\n]")
_SENTENCE = lazy_regex(r"[^.!?\n]+(?:[.!?]+(?!\s|$)[^.!?\n]+)*[.!?]*")
# an announcement of what the judge is about to do, not a finding
_ANNOUNCES = lazy_regex(
    r"\b(?:let me|let's|let us|(?:I|we)(?: wi|')ll|(?:I|we) (?:am|are) going to|(?:I|we) (?:first )?need to"
    r"|here(?: is|'s) (?:my|the|an?) (?:evaluation|analysis|assessment|reasoning))\b",
    re.IGNORECASE,
)
# a title above the rest, the number of an item, an interjection
_HEADING = lazy_regex(
    r"^\W*(?:\d+[.)]\s*)?(?:[^:]{1,80}:|\*\*[^*]{1,80}\*\*|#{1,6} .{1,80}|\d{0,3}|okay|ok|sure|alright|well|hmm)\W*$",
    re.IGNORECASE,
)
# the answer as a whole is the subject: only an objection to it is news
_SUBJECT = lazy_regex(
    r"^\W*(?:the|this) (?:(?:given|submitted|provided) )?"
    r"(?:assistant|model|ai|agent|bot|response|answer|submission|output|completion)\b",
    re.IGNORECASE,
)
_FAULT = lazy_regex(
    r"\b(?:not|never|no|none|neither|cannot|but|however|instead|although|without|rather than|only|should"
    r"|fail\w*|miss(?:es|ed|ing)?|incorrect\w*|wrong\w*|lack\w*|omit\w*|contradict\w*|ignor\w*)\b|n't\b",
    re.IGNORECASE,
)


# a judge who announces a comparison goes through the reference before the answer
_COMPARES = lazy_regex(
    r"\b(?:expert|reference|expected|correct|gold(?:en)?|ground[- ]truth|ideal|target)(?:['’]s)? "
    r"(?:answer|response|solution)",
    re.IGNORECASE,
)
_ANSWER = lazy_regex(
    r"\b(?:submission|submitted|provided answer|given answer|response|assistant|student)\b", re.IGNORECASE
)


def without_preamble(text: str) -> str:
    """From the first sentence on that carries information; the whole text where none announces another."""
    if not _ENDS.search(text):
        return text
    starts = [match for match in _SENTENCE.finditer(text[:READ]) if match[0].strip()]
    if len(starts) <= 1:
        return text
    first = 0
    while first < len(starts) - 1 and _is_announcement(starts[first][0]):
        first += 1
    if first and _COMPARES.search(text[: starts[first].start()]):
        later = (at for at in range(first, len(starts)) if _is_objection(starts[at][0]))
        first = next(later, first)
    if first < len(starts) and _is_about_the_answer(starts[first][0]):
        later = (at for at, one in enumerate(starts[:LOOKED_AT]) if at > first and _FAULT.search(one[0]))
        first = next(later, first)
    return text[starts[first].start() :].lstrip() if first else text


def _is_objection(sentence: str) -> bool:
    return bool(_ANSWER.search(sentence) and _FAULT.search(sentence))


def _is_announcement(sentence: str) -> bool:
    words = one_line(sentence)
    return bool(_ANNOUNCES.search(words) or (len(words) <= TITLE and _HEADING.match(words)))


def _is_about_the_answer(sentence: str) -> bool:
    return bool(_SUBJECT.match(sentence)) and not _FAULT.search(sentence)
