"""Where an agent refuses an expected action: a sentence with its verb and its object, and no offer after it."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from errata.model import Step
from errata.text.lazy_regex import lazy_regex
from errata.transcript.calls import CalledFunction
from errata.transcript.tool_use import object_ids

LONGEST = 8_000
"""Characters of one message that are searched."""
STEM = 5
_FAMILIES = (
    ("update", "modify", "change", "edit", "alter", "upgrade"),
    ("cancel",),
    ("book", "create", "order", "reserve"),
    ("send", "issue"),
    ("delete", "remove"),
)
"""Verbs that agents use for one another."""
_SENTENCE = lazy_regex(r"[^\n.!?]+(?:[.!?](?=\S)[^\n.!?]*)*[.!?]?")
_NOT = r"(?:cannot|can ?not|can(?:'|’)t|(?:am|are|is|(?:'|’)m|(?:'|’)re) (?:unable|not able) to)"
_HELPS = r"(?:(?:proceed|assist|help)(?: you)? with|process|make|perform|complete)"
_DETERMINER = r"(?:the|an?|any|your|this|that|these|those)"
_WAITS = lazy_regex(
    r"\b(?:if|without|until|once|before|need|requires?|number of|how many"
    r"|(?:user|reservation|booking|order|confirmation|customer) (?:id|number|code))\b",
    re.IGNORECASE,
)
"""The agent asks for something, or refuses only under a condition, or only another number of the same things."""
_OFFERS = lazy_regex(
    r"\b(?:would you like|do you want|shall i|should i|i can(?! ?not|(?:'|’)t)|i(?:'|’)ll|i will|let me know"
    r"|please confirm|do you confirm|to proceed)\b",
    re.IGNORECASE,
)
_PRONOUN = lazy_regex(r"\b(?:it|which|this|that|they)\W+\Z", re.IGNORECASE)


class RefusedAction(NamedTuple):
    step: Step
    quote: str


class _Wording(NamedTuple):
    """How a refusal of one action can be put."""

    refuses: re.Pattern[str]
    verb: re.Pattern[str]
    objects: re.Pattern[str] | None

    def is_refusal(self, sentence: str) -> bool:
        match = self.refuses.search(sentence)
        if match is None or sentence.rstrip().endswith("?") or _WAITS.search(sentence):
            return False
        return (
            self.objects is None
            or self.objects.search(sentence) is not None
            or _PRONOUN.search(sentence[: match.start()]) is not None
        )


def refusal_of(
    call: CalledFunction, answers: Sequence[Step], others: Sequence[CalledFunction] = ()
) -> RefusedAction | None:
    """The last refusal of the action, unless the agent offers it afterwards. `others`: calls about other objects."""
    wording = _wording(call.name)
    own = object_ids(call.arguments)
    foreign = frozenset[str]().union(*(object_ids(one.arguments) for one in others)) - own
    for step in reversed(answers):
        text, refused, offered = step.text[:LONGEST], "", False
        for match in _SENTENCE.finditer(text):
            if wording.is_refusal(match[0]):
                if _is_about(text[: match.end()], text, own, foreign):
                    refused, offered = match[0].strip(" -*•"), False
            elif _OFFERS.search(match[0]) and wording.verb.search(match[0]):
                offered = True
        if offered:
            return None
        if refused:
            return RefusedAction(step, refused)
    return None


def _wording(name: str) -> _Wording:
    words = [word for word in re.split(r"[^a-z]+", name.lower()) if word]
    verb, objects = words[0] if words else name, words[1:]
    family = next((family for family in _FAMILIES if verb in family), (verb,))
    stems = "|".join(re.escape(_stem(one)) for one in family)
    act = rf"\b(?:{stems})\w*"
    refuses = re.compile(
        rf"\b{_NOT} be {act}|(?:\b(?:i|we) |\b(?:i|we)(?='|’)){_NOT} (?:{_HELPS} )?(?:{_DETERMINER} )?{act}"
        rf"|{act}[^,;:]{{0,60}}\b(?:is|are) not (?:allowed|permitted|possible)",
        re.IGNORECASE,
    )
    named = "|".join(re.escape(_stem(one)) for one in objects)
    return _Wording(refuses, re.compile(act, re.IGNORECASE), re.compile(rf"\b(?:{named})", re.I) if named else None)


def _stem(word: str) -> str:
    return word.removesuffix("y").removesuffix("e").removesuffix("s") if len(word) <= STEM + 1 else word[: STEM + 1]


def _is_about(before: str, text: str, own: frozenset[str], foreign: frozenset[str]) -> bool:
    """The object that was named last is the action's own; where none was named yet, the message names no other."""
    last = max(((before.rfind(one), one) for one in own | foreign if one in before), default=None)
    return last[1] in own if last is not None else not any(one in text for one in foreign)
