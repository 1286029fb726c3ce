"""The failures of a run by cause: the largest group first, those that share no cause at the end."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from errata.model.output.report.run import Repeat, RunFailure, RunReport
from errata.render.document import CategoryMap, Link, MapCell, MapRow, RankedCause, line, marked
from errata.render.figures import plural
from errata.report.parts import short_list
from errata.report.run_prose import short_of, title_of

NO_SHARED_CAUSE = "No shared cause"
NAMED, CATEGORIES = 3, 40


class CauseGroup(NamedTuple):
    title: str
    key: str
    failures: tuple[RunFailure, ...]

    @property
    def owner(self) -> str:
        return Counter(one.owner for one in self.failures).most_common(1)[0][0]

    @property
    def only_owner(self) -> str:
        """Empty where they have several."""
        owners = {one.owner for one in self.failures}
        return next(iter(owners)) if len(owners) == 1 else ""

    @property
    def same_error(self) -> str:
        """The error that all of them have."""
        errors = {one.error for one in self.failures}
        return next(iter(errors)) if len(errors) == 1 and len(self.failures) > 1 else ""


def failure_groups(failures: Sequence[RunFailure]) -> list[CauseGroup]:
    """By bucket."""
    shared = [found for found in _by_cause(failures) if len(found) > 1]
    in_groups = {id(one) for found in shared for one in found}
    alone = [one for one in failures if id(one) not in in_groups]
    groups = [CauseGroup(found[0].bucket, f"cause-{at}", tuple(found)) for at, found in enumerate(shared)]
    return [*groups, CauseGroup(NO_SHARED_CAUSE, "cause-none", tuple(alone))] if alone else groups


def _by_cause(failures: Iterable[RunFailure]) -> list[list[RunFailure]]:
    """The failures of each bucket: the largest first, then by slug, as in every list of causes.

    What nobody has reviewed is apart from reviewed members, under another title. A failure in no bucket is alone.
    """
    members: dict[tuple[str, str], list[RunFailure]] = {}
    without: list[list[RunFailure]] = []
    for failure in failures:
        if failure.bucket:
            members.setdefault((failure.bucket_slug, failure.bucket), []).append(failure)
        else:
            without.append([failure])
    ordered = sorted(members.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return [*(found for _, found in ordered), *without]


def ranked_causes(groups: Sequence[CauseGroup], keys: Mapping[int, str]) -> Iterator[RankedCause]:
    """A failure that shares its cause with no other is one by itself."""
    by_failure = {id(failure): group for group in groups for failure in group.failures}
    for first, *others in _by_cause(failure for group in groups for failure in group.failures):
        if others:
            group = by_failure[id(first)]
            cases = list(dict.fromkeys(one.case for one in group.failures))
            title = line(Link(group.title.replace("`", ""), f"#{group.key}"))
            yield RankedCause(len(group.failures), group.owner, title, line(short_list(cases, NAMED)))
            continue
        yield _single_cause(first, keys)


def is_again(failure: RunFailure) -> bool:
    """Whether it failed before, and in the same way."""
    return bool(failure.repeat) and not failure.repeat.otherwise


def before_words(repeat: Repeat) -> str:
    """`2 reports, 1 run`; empty where it did not fail before."""
    counts = ((repeat.reports, "report"), (repeat.runs, "run"))
    return ", ".join(plural(count, word) for count, word in counts if count)


def _single_cause(failure: RunFailure, keys: Mapping[int, str]) -> RankedCause:
    """Its title, and below it what the log shows; the text as a whole where the title is its beginning."""
    title, text = failure.bucket, short_of(failure) or failure.error
    beginning = title.rstrip("….")
    note = line(failure.case)
    at = text.casefold().find(beginning.casefold())
    if not title or at == 0 or (at > 0 and title != beginning):
        title = text[at:] if title else text or "No error text"
    elif text and at < 0:
        note = line(note, ": ", marked(text))
    if is_again(failure):
        note = line(note, f"; failed before ({before_words(failure.repeat)})")
    return RankedCause(1, failure.owner, line(Link(title.replace("`", ""), f"#{keys[id(failure)]}")), note)


def case_map(report: RunReport, keys: Mapping[int, str]) -> CategoryMap | None:
    """Every case by category; without categories, all that the score counts, which may be attempts.

    None where nothing is known of how many there are.
    """
    subject = report.subject
    if not report.categories:
        sizes = (subject.total, subject.passed)
        rows = [_row(f"all {subject.unit}", report.failures, sizes, subject.unit, keys)] if subject.total else []
    elif len(report.categories) <= CATEGORIES:
        by_category: dict[str, dict[str, RunFailure]] = {}
        for failure in report.failures:
            for category in failure.categories:
                by_category.setdefault(category, {}).setdefault(failure.case, failure)
        rows = [
            _row(tested.name, by_category.get(tested.name, {}).values(), (tested.cases, tested.passed), "cases", keys)
            for tested in report.categories
        ]
    else:
        rows = []
    return CategoryMap(tuple(rows)) if rows else None


def _row(name: str, failed: Iterable[RunFailure], sizes: tuple[int, int], unit: str, keys: Mapping[int, str]) -> MapRow:
    """`sizes`: all cases, and those that passed; what neither passed nor failed has no result."""
    ordered = sorted(failed, key=lambda one: (one.owner, one.case))
    cells = tuple(MapCell(one.owner, title_of(one), keys[id(one)]) for one in ordered)
    whole = max(sizes[0], len(cells))
    passed = min(sizes[1], whole - len(cells))
    unmeasured = whole - len(cells) - passed
    note = f"{len(cells):,} of {whole:,} {unit} failed"
    note += f", {unmeasured:,} without a result" if unmeasured else ""
    return MapRow(name or "no category", cells, passed, note, unmeasured)
