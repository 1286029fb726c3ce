"""Names of buckets that a person can read, and slugs that are unique in their suite."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from errata.buckets.failing import Failing
from errata.buckets.groups import Group
from errata.buckets.opinions import slug_of
from errata.buckets.readable import LONGEST, cut, readable
from errata.buckets.rules import OPEN, limit_of, says_all, says_something
from errata.buckets.symptoms import shape_of
from errata.buckets.words import words_of
from errata.model import Bucket, Verdict
from errata.text.redact import redact


class Name(NamedTuple):
    title: str
    slug: str


class Names:
    """Hands out names, and none twice in a suite."""

    def __init__(self, known: Iterable[Bucket]) -> None:
        self._taken = {(bucket.suite, bucket.slug) for bucket in known}
        self._numbers: Counter[tuple[str, str]] = Counter()

    def of(self, group: Group) -> Name:
        title = title_of(group)
        said = next((verdict.bucket for verdict in _verdicts(group) if verdict.bucket), "")
        wanted = slug = slug_of(redact(said)) or slug_of(title) or slug_of(group.owner) or "bucket"
        while (group.suite, slug) in self._taken:
            self._numbers[group.suite, wanted] += 1
            slug = f"{wanted}-{self._numbers[group.suite, wanted] + 1}"
        self._taken.add((group.suite, slug))
        return Name(title, slug)


def title_of(group: Group) -> str:
    """From what a reader said, a cluster's name, a rule's meaning, the text that most share; else the failed check."""
    for title in (_of_verdict(group), _of_cluster(group), _of_rule(group), _of_text(group), _of_meaning(group)):
        if title:
            return title
    return _of_check(group)


def description_of(group: Group) -> str:
    """What a rule or a reader adds to the title."""
    said = [one.underlying_mistake or one.cause for one in _verdicts(group)]
    means = Counter(failing.means for failing in group.failures if failing.means)
    told = [*said[:1], *(text for text, _ in means.most_common(1))]
    return redact(cut(". ".join(dict.fromkeys(text.strip(" .") for text in told if text)), 240))


def _verdicts(group: Group) -> list[Verdict]:
    """Of those who read, the most frequent opinion first."""
    found = [one.verdict for one in group.failures if one.verdict]
    often = Counter((one.bucket, one.cause) for one in found)
    return sorted(found, key=lambda one: (-often[one.bucket, one.cause], len(one.cause), one.cause, one.bucket, one.id))


def _of_verdict(group: Group) -> str:
    return next((title for one in _verdicts(group) if (title := readable(one.cause) or _spoken(one.bucket))), "")


def _of_cluster(group: Group) -> str:
    clusters = {failing.cluster for failing in group.failures}
    return _spoken(clusters.pop()) if len(clusters) == 1 else ""


def _of_rule(group: Group) -> str:
    """Where a rule says all there is to say, however the messages are worded."""
    told = {failing.signal: failing.means for failing in group.failures if says_all(failing.signal)}
    limit = _shared(limit_of(one.signal, one.parameters.get("limit", "")) for one in group.failures)
    if limit:
        return cut(f"the attempt ran into its limit of {readable(limit)}")
    if len(told) != 1 or any(says_something(signal) and signal not in told for signal in group.signals):
        return ""
    (means,) = told.values()
    code = _shared(map(_status, group.failures))
    return cut(f"{means} ({code})" if code else means)


def _of_text(group: Group) -> str:
    """The words that most of them have; as they stand in the log where all say the very same."""
    if not group.shapes:
        return ""
    most = max(group.shapes.values())
    shape = min((shape for shape, often in group.shapes.items() if often == most), key=lambda one: (len(one), one))
    if len(group.shapes) == 1:
        shape = (
            _shared(next((text for text in one.texts if shape_of(text) == shape), "") for one in group.failures)
            or shape
        )
    title, kind = readable(shape), _shared(one.means if one.signal in OPEN else "" for one in group.failures)
    return f"{title} ({kind})" if title and kind and len(title) + len(kind) + 3 <= LONGEST else title


def _of_meaning(group: Group) -> str:
    return cut(_shared(failing.means for failing in group.failures))


def _of_check(group: Group) -> str:
    """What all say in words that do not compare; else what failed, and where all of them lie."""
    said = set.intersection(*(set(failing.texts) for failing in group.failures))
    if title := readable(max(said, key=lambda text: (len(text), text), default="")):
        return title
    coarse = readable(_shared(failing.key.coarse for failing in group.failures).replace("+", ", ").replace(":", ": "))
    place = readable(_place(group))
    return cut(f"{coarse or group.owner} failed{f' in {place}' if place else ''}, nothing says why")


def _place(group: Group) -> str:
    """The case or category that its keys are bound to: a place that only its first members share is none of its own."""
    case, category = _shared(one.case for one in group.failures), _shared(one.category for one in group.failures)
    bound = ((case, f"@{case}"), (category, f":{category}"))
    return next((name for name, end in bound if name and all(key.endswith(end) for key in group.keys)), "")


def _shared(values: Iterable[str]) -> str:
    """The value that all have."""
    found = set(values)
    return found.pop() if len(found) == 1 else ""


def _status(failing: Failing) -> str:
    codes = [word for word in words_of(*failing.texts[:1]) if word.startswith(("http4", "http5"))]
    return codes[0].removeprefix("http") if codes else ""


def _spoken(slug: str) -> str:
    return readable(slug.replace("_", " ").replace("-", " "))
