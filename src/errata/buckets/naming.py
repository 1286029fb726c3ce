"""Names of buckets that a person can read, made of texts that nobody can trust, and slugs that are unique."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import msgspec

from errata.buckets.failure import FailureToGroup
from errata.buckets.grouping import FailureGroup
from errata.buckets.opinions import is_opinion, is_read, slug_of
from errata.buckets.rules import OPEN, limit_of, says_all, says_something
from errata.buckets.similarity import words_of
from errata.buckets.symptoms import answer_keys, shape_of
from errata.model import Bucket, Verdict
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex
from errata.text.outgoing import for_user, line_for_user
from errata.text.redact import beginning

LONGEST = 80
WRONG_ANSWER = "Wrong answer"
_WRONG = "completed:scored"
"""The kind of a failure without checks: the attempt ended, and its score is not a pass."""
_WORDS = {
    "<n>": "N", "<str>": "…", "<path>": "a path", "<url>": "an address", "<ip>": "an address", "<time>": "a time",
    "<uuid>": "an id", "<hex>": "an id", "<id>": "an id",
}  # fmt: skip
_MASK = lazy_regex("|".join(map(re.escape, _WORDS)))
# prefixes that name only the kind of error: `RuntimeError('…')`, `Error: …`, `[infrastructure] …`, `9:23 error …`
_WRAPPED = lazy_regex(r"^[\w.]*(?:Error|Exception|Exit)\((['\"])(.*?)(?:\1\)?)?$", re.DOTALL)
_HEAD = lazy_regex(
    r"^(?:\[[\w .-]{1,24}\]|[\w.]*(?:error|exception)\s*:|(?:N|\d+:\d+)\s+error\s|[✖✗×•*>-]"
    r"|(?:a path|[\w.]*/[\w./-]+|line \w+)\s*:(?=\s))\s*",
    re.IGNORECASE,
)
# the first of several lines, where it reports only that a command failed
_HEADLINE = lazy_regex(
    r"^(?:\w*error:\s*+)?(?:command failed\b.*|\S+ failed[^\S\n]*)\n(?:[^\S\n]*+\n)*+(?=.*\w)", re.IGNORECASE
)
_JSON_MESSAGE = lazy_regex(r"['\"]message['\"]\s*:\s*(['\"])(.+?)(?:\1\s*[,}]|$)")
_ENDS = lazy_regex(r"(?<=[^\s.]{2})\.(?:\s|$)|\s(?=Traceback \(most recent)|\\n|\n")
_SPACES_BEFORE = lazy_regex(r"(?<!\s)\s++([,.;:)])")
_PUNCTUATION = ",.;:'\"()[]{}`"
COMPARED = 200
"""Different texts of a group that are looked at for the words that all have."""
_PLAIN = str.maketrans(dict.fromkeys("`|<>", ""))

Members = Sequence[FailureToGroup]
"""The failures of one group."""


class Name(NamedTuple):
    title: str
    slug: str


class Names:
    """Hands out names, and none twice in a suite."""

    def __init__(self, known: Iterable[Bucket]) -> None:
        self._taken = {(bucket.suite, bucket.slug) for bucket in known}
        self._numbers: Counter[tuple[str, str]] = Counter()

    def of(self, group: FailureGroup, members: Members) -> Name:
        title = title_of(group, members)
        named = next((verdict.bucket for verdict in _verdicts(members) if verdict.bucket), "")
        wanted = slug = slug_of(for_user(named)) or slug_of(title) or slug_of(group.owner) or "bucket"
        while (group.suite, slug) in self._taken:
            self._numbers[group.suite, wanted] += 1
            slug = f"{wanted}-{self._numbers[group.suite, wanted] + 1}"
        self._taken.add((group.suite, slug))
        return Name(title, slug)


def title_of(group: FailureGroup, members: Members) -> str:
    """From a reviewer's words, a cluster's name, a rule's meaning, the most common text; else the failed check."""
    return (
        _words_of(_verdicts(members))
        or _spoken(_shared(one.cluster for one in members))
        or _of_rule(group, members)
        or _of_answers(members)
        or _of_text(group, members)
        or cut(_shared(one.means for one in members))
        or _of_check(group, members)
    )


def description_of(members: Members) -> str:
    """What a rule or a reader adds to the title."""
    causes = [mistake for one in _verdicts(members) if (mistake := _mistake(one))]
    means = Counter(one.means for one in members if one.means)
    texts = [*causes[:1], *(text for text, _ in means.most_common(1))]
    return cut(for_user(". ".join(dict.fromkeys(text.strip(" .") for text in texts if text))), 240)


def _verdicts(members: Members) -> list[Verdict]:
    """Those that were given for the members themselves."""
    return most_frequent_first([one.verdict for one in members if one.verdict and is_read(one)])


def most_frequent_first(verdicts: Sequence[Verdict]) -> list[Verdict]:
    often = Counter((one.bucket, one.cause) for one in verdicts)
    return sorted(
        verdicts, key=lambda one: (-often[one.bucket, one.cause], len(one.cause), one.cause, one.bucket, one.id)
    )


def _words_of(verdicts: Sequence[Verdict]) -> str:
    """The sentence that all give; else the name that most give: a sentence of one does not describe the others."""
    if not verdicts:
        return ""
    sentences = list(dict.fromkeys(sentence for one in verdicts if (sentence := readable(one.cause))))
    name = _spoken(_name_of(verdicts))
    return sentences[0] if sentences and (len(sentences) == 1 or not name) else name


def _name_of(verdicts: Iterable[Verdict]) -> str:
    named = Counter(slug for one in verdicts if (slug := slug_of(one.bucket)))
    return min(named, key=lambda slug: (-named[slug], slug), default="")


def _of_rule(group: FailureGroup, members: Members) -> str:
    """Rules that name the cause completely, however the messages are worded."""
    meanings = {one.signal: one.means for one in members if says_all(one.signal)}
    limit = _shared(limit_of(one.signal, one.parameters.get("limit", "")) for one in members)
    if limit:
        return cut(f"the attempt ran into its limit of {readable(limit)}")
    if len(meanings) != 1 or any(says_something(signal) and signal not in meanings for signal in group.signals):
        return ""
    (means,) = meanings.values()
    code = _shared(map(_status, members))
    return cut(f"{means} ({code})" if code else means)


_DIFFERENCES: dict[str, str] = {
    "option": "wrong option",
    "case": "other letter case",
    "format": "other format",
    "factor": "number off by a factor of {factor}",
    "sign": "wrong sign",
    "unit": "other unit",
    "rounding": "number off by less than 1 %",
    "number": "wrong number",
    "extra": "extra words around the expected answer",
    "part": "only a part of the expected answer",
    "text": "different text",
}
_PLAIN_DIFFERENCES = ("option", "number", "text")
"""Kinds that the pair itself shows."""
_NO_ANSWER: dict[str, str] = {
    "empty": "Empty answer",
    "not_extracted": "No answer found in the text",
    "refusal": "Refusal instead of an answer",
}
_ANSWER = 18
"""Characters of an answer in a title."""


def _of_answers(members: Members) -> str:
    """`Wrong answer: "No" instead of "Yes"`; of several pairs the kind of difference, with the first as an example."""
    answers = [one.answer for one in members if one.answer and answer_keys(one, tuple(one.key.coarse.split("+")))]
    if not answers or len(answers) < len(members):
        return ""
    first = min(answers, key=lambda one: (one.pair, one.written))
    if first.difference in _NO_ANSWER:
        return _NO_ANSWER[first.difference]
    shown = f"{_in_quotes(first.written or first.answered)} instead of {_in_quotes(first.expected)}"
    is_one_pair = len({one.pair for one in answers}) == 1
    if all(one.is_common for one in members) or (is_one_pair and first.difference in _PLAIN_DIFFERENCES):
        return cut(f"Wrong answer: {shown}")
    difference = _DIFFERENCES[first.difference].format(factor=first.factor)
    return cut(f"Wrong answer: {difference}{':' if is_one_pair else ', e.g.'} {shown}")


def _in_quotes(text: str) -> str:
    return f'"{cut(line_for_user(text).translate(_PLAIN), _ANSWER)}"'


def _of_text(group: FailureGroup, members: Members) -> str:
    """The words that all have; as they stand in the log where all say the very same. Else those of most, as such."""
    if not group.shapes:
        return ""
    most = max(group.shapes.values())
    shape = min((shape for shape, often in group.shapes.items() if often == most), key=lambda one: (len(one), one))
    if len(group.shapes) == 1:
        shape = _shared(next((text for text in one.texts if shape_of(text) == shape), "") for one in members) or shape
        title = readable(shape)
    else:
        title = readable(_words_of_all(shape, group.shapes)) or cut(f"{readable(shape)} and similar")
    kind = _shared(one.means if one.signal in OPEN else "" for one in members)
    return f"{title} ({kind})" if title and kind and len(title) + len(kind) + 3 <= LONGEST else title


def _words_of_all(shape: str, shapes: Iterable[str]) -> str:
    """The text with an ellipsis for what others do not have; empty where too little is left to describe them all."""
    words = shape.split()
    kept = [True] * len(words)
    bare = [word.strip(_PUNCTUATION) for word in words]
    for other in sorted(shapes)[:COMPARED]:
        same = SequenceMatcher(None, bare, [word.strip(_PUNCTUATION) for word in other.split()], autojunk=False)
        shared = {at for block in same.get_matching_blocks() for at in range(block.a, block.a + block.size)}
        kept = [keep and at in shared for at, keep in enumerate(kept)]
    if sum(kept) * 2 < len(kept):
        return ""
    parts = (
        (" ".join(word for word, _ in pairs), keep)
        for keep, pairs in groupby(zip(words, kept, strict=True), key=itemgetter(1))
    )
    return " ".join(text if keep else "…" for text, keep in parts)


def _of_check(group: FailureGroup, members: Members) -> str:
    """What all say in words that do not compare; else what failed, with its case."""
    texts = set.intersection(*(set(one.texts) for one in members))
    if title := readable(max(texts, key=lambda text: (len(text), text), default="")):
        return title
    case = readable(_case(group, members))
    kind, missing = _kind_of(group, members), "no error text"
    if kind == WRONG_ANSWER and not any(one.shows_work for one in members):
        kind, missing = "Scored as failed", "no answer or error text in the log"
    elif len({one.key.coarse for one in members}) > 1:
        missing = "no common error text"
    return cut(f"{kind}{f' in {case}' if case else ''} ({missing})")


def _kind_of(group: FailureGroup, members: Members) -> str:
    kinds = {one.key.coarse for one in members}
    if kinds == {_WRONG}:
        return WRONG_ANSWER
    if len(kinds) > 1:
        common = set.intersection(*(set(kind.split("+")) for kind in kinds))
        checks = _checks_in("+".join(sorted(common)))
        return f"Cause not known; all failed {checks}" if checks else "Cause not known"
    checks = _checks_in(_shared(kinds))
    return f"{checks} failed" if checks else f"{group.owner.capitalize()} failure"


def _checks_in(coarse: str) -> str:
    return readable(coarse.replace("+", ", ").replace(":", ": "))


def _case(group: FailureGroup, members: Members) -> str:
    """The case that its keys are bound to: one that only its first members share is none of its own."""
    case = _shared(one.case for one in members)
    return case if case and all(key.endswith(f"@{case}") for key in group.keys) else ""


def _shared(values: Iterable[str]) -> str:
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else ""


def _status(failure: FailureToGroup) -> str:
    codes = [word for word in words_of(*failure.texts[:1]) if word.startswith(("http4", "http5"))]
    return codes[0].removeprefix("http") if codes else ""


def _spoken(slug: str) -> str:
    return readable(slug.replace("_", " ").replace("-", " "))


def renamed(bucket: Bucket, verdicts: Sequence[Verdict], taken: Collection[str], *, is_final: bool) -> Bucket:
    """With words of the verdicts that support it now, or else with those of rules.

    A verdict that formed a bucket names it. One that rules formed gets the reviewers' sentence when it is final and
    they all agree on it. Where the verdict with these words is gone, so are the words.
    """
    ordered = most_frequent_first(verdicts)
    sentences = {readable(one.cause) for one in ordered} - {""}
    if bucket.is_of_reviewers:
        return _with_words_of(bucket, ordered, taken) if ordered else _with_words_of_rules(bucket, taken)
    if bucket.named_by == "reviewer" and bucket.title not in sentences:
        bucket = _with_words_of_rules(bucket, taken)
    if bucket.named_by == "rule" and is_final and len(sentences) == 1:
        (title,) = sentences
        return msgspec.structs.replace(bucket, title=title, named_by="reviewer", rule_title=bucket.title)
    return bucket


def _with_words_of(bucket: Bucket, verdicts: Sequence[Verdict], taken: Collection[str]) -> Bucket:
    title = _words_of(verdicts) or bucket.title
    wanted = _name_of(verdicts) or slug_of(title) or bucket.slug
    is_it = re.fullmatch(rf"{re.escape(wanted)}(-\d+)?", bucket.slug)
    description = cut(for_user(next((_mistake(one) for one in verdicts if _mistake(one)), "").strip(" .")), 240)
    return msgspec.structs.replace(
        bucket,
        title=title,
        slug=bucket.slug if is_it else free_slug(wanted, taken),
        description="" if description.rstrip("…") in title else description,
    )


def _mistake(verdict: Verdict) -> str:
    return verdict.underlying_mistake or verdict.cause


def _with_words_of_rules(bucket: Bucket, taken: Collection[str]) -> Bucket:
    """What rules called it, else what its members show."""
    formed = bucket.is_of_reviewers
    shown = next((key for key in bucket.keys if not is_opinion(key)), "").rpartition(":")[2]
    title = bucket.rule_title or _spoken(shown) or f"{bucket.parameters.get('owner') or 'unknown'} (not reviewed)"
    return msgspec.structs.replace(
        bucket,
        title=title,
        slug=free_slug(slug_of(title) or bucket.slug, taken) if formed else bucket.slug,
        description="" if formed else bucket.description,
        named_by="rule",
        rule_title="",
    )


def free_slug(wanted: str, taken: Collection[str]) -> str:
    """With a number behind it where that is needed."""
    numbered = (f"{wanted}-{number}" for number in range(2, len(taken) + 3))
    return wanted if wanted not in taken else next(slug for slug in numbered if slug not in taken)


def readable(text: str) -> str:
    """A text of a log as a title: one safe line, masks in words, without its wrapping; empty where nothing is left."""
    text = line_for_user(_HEADLINE.sub("", text.lstrip(), count=1))
    if wrapped := _WRAPPED.match(text):
        text = wrapped[2]
    if inner := _JSON_MESSAGE.search(text):
        text = inner[2]
    text = _MASK.sub(lambda found: _WORDS[found[0]], text)
    while (head := _HEAD.match(text)) and len(head[0]) < len(text) and text[head.end()] != "{":  # data names nothing
        text = text[head.end() :]
    text = _SPACES_BEFORE.sub(r"\1", _ENDS.split(text, maxsplit=1)[0])
    return cut(text.translate(_PLAIN).strip(" .,:;-"))


def cut(text: str, longest: int = LONGEST) -> str:
    """At a word, with an ellipsis."""
    text = one_line(text)
    if len(text) <= longest:
        return text
    head, _, tail = beginning(text, longest - 1).rpartition(" ")
    return f"{(head if len(head) > longest // 2 else head + tail).rstrip(' ,.;:-')}…"
