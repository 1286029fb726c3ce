"""The failures of a run by cause: the largest group first, those that share no cause at the end."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from errata.model.output.report.run import RunFailure, RunReport
from errata.render.document import CategoryMap, Line, Link, MapCell, MapRow, RankedCause, line, marked
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
    def same_error(self) -> str:
        """The error that all of them have."""
        errors = {one.error for one in self.failures}
        return next(iter(errors)) if len(errors) == 1 and len(self.failures) > 1 else ""


def failure_groups(failures: Sequence[RunFailure]) -> list[CauseGroup]:
    """By bucket."""
    members: dict[str, list[RunFailure]] = {}
    for failure in failures:
        members.setdefault(failure.bucket, []).append(failure)
    alone = [one for title, found in members.items() if not title or len(found) == 1 for one in found]
    shared = [(title, found) for title, found in members.items() if title and len(found) > 1]
    shared.sort(key=lambda pair: (-len(pair[1]), pair[0]))
    groups = [CauseGroup(title, f"cause-{at}", tuple(found)) for at, (title, found) in enumerate(shared)]
    return [*groups, CauseGroup(NO_SHARED_CAUSE, "cause-none", tuple(alone))] if alone else groups


def ranked_causes(groups: Sequence[CauseGroup], keys: Mapping[int, str]) -> Iterator[RankedCause]:
    """A failure that shares its cause with no other is one by itself."""
    for group in groups:
        if group.title != NO_SHARED_CAUSE:
            cases = list(dict.fromkeys(one.case for one in group.failures))
            title = line(Link(group.title.replace("`", ""), f"#{group.key}"))
            yield RankedCause(len(group.failures), group.owner, title, line(short_list(cases, NAMED)))
            continue
        often = Counter(one.owner for one in group.failures)
        for failure in sorted(group.failures, key=lambda one: -often[one.owner]):
            title = marked(short_of(failure) or failure.error or "No error text")
            yield RankedCause(1, failure.owner, title, _linked(failure, keys))


def _linked(failure: RunFailure, keys: Mapping[int, str]) -> Line:
    return line(Link(failure.case, f"#{keys[id(failure)]}"))


def case_map(report: RunReport, keys: Mapping[int, str]) -> CategoryMap | None:
    """Every case by category; without categories, all that the score counts, which may be attempts.

    None where nothing is known of how many there are.
    """
    unit = report.subject.unit
    if not report.categories:
        total = report.subject.total
        rows = [_row(f"all {unit}", report.failures, total, unit, keys)] if total else []
    elif len(report.categories) <= CATEGORIES:
        by_category: dict[str, dict[str, RunFailure]] = {}
        for failure in report.failures:
            by_category.setdefault(failure.category, {}).setdefault(failure.case, failure)
        rows = [
            _row(category.name, by_category.get(category.name, {}).values(), category.cases, "cases", keys)
            for category in report.categories
        ]
    else:
        rows = []
    return CategoryMap(tuple(rows)) if rows else None


def _row(name: str, failed: Iterable[RunFailure], size: int, unit: str, keys: Mapping[int, str]) -> MapRow:
    ordered = sorted(failed, key=lambda one: (one.owner, one.case))
    cells = tuple(MapCell(one.owner, title_of(one), keys[id(one)]) for one in ordered)
    whole = max(size, len(cells))
    return MapRow(name or "no category", cells, whole - len(cells), f"{len(cells):,} of {whole:,} {unit} failed")
