"""What sets the runs of a comparison apart: what only one of them does, and whether any two differ beyond chance."""

from collections.abc import Iterable, Iterator, Sequence
from math import floor

from errata.compare.comparison import Comparison
from errata.compare.pairs import Pairing
from errata.compare.sets import Uniques
from errata.report.collect.comparison_rows import Names, called
from errata.report.facts.comparison import Unique
from errata.report.profiles.parts import plural


def uniques_of(comparison: Comparison, names: Names) -> Iterator[Unique]:
    """Of every run; and of every model, where one of them has several."""
    matrix = comparison.matrix
    if len(matrix.columns) < 2:
        return
    runs = {column.label: [column.pk] for column in matrix.columns}
    yield from _uniques(comparison.sets.of_runs, runs, comparison, names, whole_model=False)
    if len(matrix.subjects) < len(matrix.columns):
        models = {name: [matrix.columns[at].pk for at in places] for name, places in matrix.subjects.items()}
        yield from _uniques(comparison.sets.of_subjects, models, comparison, names, whole_model=True)


def _uniques(
    found: Uniques, members: dict[str, list[int]], comparison: Comparison, names: Names, *, whole_model: bool
) -> Iterator[Unique]:
    for name, pks in members.items():
        fails = found.fails.get(name, ())
        yield Unique(
            name=called(name),
            whole_model=whole_model,
            fails=names.of(fails),
            following=names.of(_following(fails, pks, comparison)),
            passes=names.of(found.passes.get(name, ())),
        )


def _following(cases: Iterable[str], pks: Iterable[int], comparison: Comparison) -> list[str]:
    return [case for case in cases if any((pk, case) in comparison.root_of for pk in pks)]


def chance_of(pairs: Sequence[Pairing]) -> str:
    if not pairs:
        return "One run alone: there is nothing to compare it with."
    known = [one for one in pairs if one.all.shared]
    if not known:
        return "No two runs were measured on the same cases."
    differing = [one for one in known if one.all.differs]
    if differing:
        told = "; ".join(f"{_pair(one)} (p = {one.all.p:.2g})" for one in differing[:5])
        differ = "differs" if len(differing) == 1 else "differ"
        return f"{len(differing)} of {plural(len(known), 'pair')} {differ} beyond chance (exact McNemar, Holm): {told}."
    least = min(known, key=lambda one: one.all.p)
    return (
        f"The runs do not differ beyond chance: of {plural(len(known), 'pair')} the smallest p is {_p(least.all.p)} "
        f"({_pair(least)}), {_p(least.clean.p)} without what says nothing about the model (exact McNemar; cases of one "
        "conversation are not independent, so take it as a guide)."
    )


def _pair(one: Pairing) -> str:
    return f"{called(one.first)} against {called(one.second)}"


def _p(value: float) -> str:
    """0.625 is 0.63 to people."""
    return f"{floor(100 * value + 0.5) / 100:.2f}"
