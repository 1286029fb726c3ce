"""Names of buckets that a person can read, made of texts that nobody can trust, and slugs that are unique."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import msgspec

from errata.buckets.failure import FailureToGroup
from errata.buckets.grouping import FailureGroup
from errata.buckets.opinions import slug_of
from errata.buckets.rules import OPEN, limit_of, says_all, says_something
from errata.buckets.similarity import words_of
from errata.buckets.symptoms import shape_of
from errata.model import Bucket, Verdict
from errata.text.clean import one_line
from errata.text.redact import redact

LONGEST = 80
_WORDS = {
    "<n>": "N", "<str>": "…", "<path>": "a path", "<url>": "an address", "<ip>": "an address", "<time>": "a time",
    "<uuid>": "an id", "<hex>": "an id", "<id>": "an id",
}  # fmt: skip
_MASK = re.compile("|".join(map(re.escape, _WORDS)))
# prefixes that name only the kind of error: `RuntimeError('…')`, `Error: …`, `[infrastructure] …`, `9:23 error …`
_WRAPPED = re.compile(r"^[\w.]*(?:Error|Exception|Exit)\((['\"])(.*?)(?:\1\)?)?$", re.DOTALL)
_HEAD = re.compile(
    r"^(?:\[[\w .-]{1,24}\]|[\w.]*(?:error|exception)\s*:|(?:N|\d+:\d+)\s+error\s|[✖✗×•*>-]"
    r"|(?:a path|[\w.]*/[\w./-]+|line \w+)\s*:(?=\s))\s*",
    re.IGNORECASE,
)
# the first of several lines, where it reports only that a command failed
_HEADLINE = re.compile(r"^(?:\w*error:\s*)?(?:command failed\b.*|\S+ failed)\s*\n+(?=.*\w)", re.IGNORECASE)
_JSON_MESSAGE = re.compile(r"['\"]message['\"]\s*:\s*(['\"])(.+?)(?:\1\s*[,}]|$)")
_ENDS = re.compile(r"(?<=[^\s.]{2})\.(?:\s|$)|\s(?=Traceback \(most recent)|\\n|\n")
_SPACES_BEFORE = re.compile(r"\s+([,.;:)])")
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
        wanted = slug = slug_of(redact(named)) or slug_of(title) or slug_of(group.owner) or "bucket"
        while (group.suite, slug) in self._taken:
            self._numbers[group.suite, wanted] += 1
            slug = f"{wanted}-{self._numbers[group.suite, wanted] + 1}"
        self._taken.add((group.suite, slug))
        return Name(title, slug)


def title_of(group: FailureGroup, members: Members) -> str:
    """From a reviewer's words, a cluster's name, a rule's meaning, the most common text; else the failed check."""
    return (
        _of_verdict(members)
        or _of_cluster(members)
        or _of_rule(group, members)
        or _of_text(group, members)
        or cut(_shared(one.means for one in members))
        or _of_check(group, members)
    )


def description_of(members: Members) -> str:
    """What a rule or a reader adds to the title."""
    causes = [one.underlying_mistake or one.cause for one in _verdicts(members)]
    means = Counter(one.means for one in members if one.means)
    texts = [*causes[:1], *(text for text, _ in means.most_common(1))]
    return redact(cut(". ".join(dict.fromkeys(text.strip(" .") for text in texts if text)), 240))


def _verdicts(members: Members) -> list[Verdict]:
    """The most frequent opinion first."""
    verdicts = [one.verdict for one in members if one.verdict]
    often = Counter((one.bucket, one.cause) for one in verdicts)
    return sorted(
        verdicts, key=lambda one: (-often[one.bucket, one.cause], len(one.cause), one.cause, one.bucket, one.id)
    )


def _of_verdict(members: Members) -> str:
    return next((title for one in _verdicts(members) if (title := readable(one.cause) or _spoken(one.bucket))), "")


def _of_cluster(members: Members) -> str:
    return _spoken(_shared(one.cluster for one in members))


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


def _of_text(group: FailureGroup, members: Members) -> str:
    """The words that most of them have; as they stand in the log where all say the very same."""
    if not group.shapes:
        return ""
    most = max(group.shapes.values())
    shape = min((shape for shape, often in group.shapes.items() if often == most), key=lambda one: (len(one), one))
    if len(group.shapes) == 1:
        shape = _shared(next((text for text in one.texts if shape_of(text) == shape), "") for one in members) or shape
    title, kind = readable(shape), _shared(one.means if one.signal in OPEN else "" for one in members)
    return f"{title} ({kind})" if title and kind and len(title) + len(kind) + 3 <= LONGEST else title


def _of_check(group: FailureGroup, members: Members) -> str:
    """What all say in words that do not compare; else what failed, and where all of them lie."""
    texts = set.intersection(*(set(one.texts) for one in members))
    if title := readable(max(texts, key=lambda text: (len(text), text), default="")):
        return title
    coarse = readable(_shared(one.key.coarse for one in members).replace("+", ", ").replace(":", ": "))
    place = readable(_place(group, members))
    return cut(f"{coarse or group.owner} failed{f' in {place}' if place else ''} (no error text)")


def _place(group: FailureGroup, members: Members) -> str:
    """The case or category that its keys are bound to: a place that only its first members share is none of its own."""
    case, category = _shared(one.case for one in members), _shared(one.category for one in members)
    bound = ((case, f"@{case}"), (category, f":{category}"))
    return next((name for name, end in bound if name and all(key.endswith(end) for key in group.keys)), "")


def _shared(values: Iterable[str]) -> str:
    """The value that all have."""
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else ""


def _status(failure: FailureToGroup) -> str:
    codes = [word for word in words_of(*failure.texts[:1]) if word.startswith(("http4", "http5"))]
    return codes[0].removeprefix("http") if codes else ""


def _spoken(slug: str) -> str:
    return readable(slug.replace("_", " ").replace("-", " "))


def named_by_readers(bucket: Bucket, verdicts: Sequence[Verdict], taken: Collection[str]) -> Bucket:
    """The slug that most give, and their sentence where they all say the same; the old slug still leads here."""
    called = _most(slug_of(one.bucket) for one in verdicts)
    causes = {one.cause for one in verdicts}
    title = readable(causes.pop()) if len(causes) == 1 else readable(called.replace("-", " "))
    if not title:
        return bucket
    slug = free_slug(called or slug_of(title) or bucket.slug, taken)
    old = f"verdict:{slug_of(bucket.slug)}"
    keys = bucket.keys if slug == bucket.slug else tuple(dict.fromkeys((*bucket.keys, old)))
    return msgspec.structs.replace(bucket, title=title, slug=slug, keys=keys)


def _most(slugs: Iterable[str]) -> str:
    often = Counter(slug for slug in slugs if slug)
    return min(often, key=lambda slug: (-often[slug], slug), default="")


def free_slug(wanted: str, taken: Collection[str]) -> str:
    """With a number behind it where that is needed."""
    numbered = (f"{wanted}-{number}" for number in range(2, len(taken) + 3))
    return wanted if wanted not in taken else next(slug for slug in numbered if slug not in taken)


def readable(text: str) -> str:
    """A text of a log as a title: one safe line, masks in words, without its wrapping; empty where nothing is left."""
    text = redact(one_line(_HEADLINE.sub("", text.lstrip(), count=1)))
    if wrapped := _WRAPPED.match(text):
        text = wrapped[2]
    if inner := _JSON_MESSAGE.search(text):
        text = inner[2]
    text = _MASK.sub(lambda found: _WORDS[found[0]], text)
    while (head := _HEAD.match(text)) and len(head[0]) < len(text):
        text = text[head.end() :]
    text = _SPACES_BEFORE.sub(r"\1", _ENDS.split(text, maxsplit=1)[0])
    return cut(text.translate(_PLAIN).strip(" .,:;-"))


def cut(text: str, longest: int = LONGEST) -> str:
    """At a word, with an ellipsis."""
    text = one_line(text)
    if len(text) <= longest:
        return text
    head, _, tail = text[: longest - 1].rpartition(" ")
    return f"{(head if len(head) > longest // 2 else head + tail).rstrip(' ,.;:-')}…"
