"""Runs × cases: who is compared, under which name, and how each case went with each of them."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import PurePath

import msgspec

from errata.model import Run
from errata.model.attempt import stand_in_of
from errata.model.cells import Cell, CellState
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex

VALUE = 32
"""So much of a value is part of a name."""

Row = tuple[Cell | None, ...]
"""One cell for each column; none where the run does not know the case."""


class RunColumn(msgspec.Struct, frozen=True):
    run: Run
    pk: int
    label: str
    """`voice-alpha #2`: different for each column."""
    subject: str
    """`voice-alpha`: the same for the runs of one subject in one variant."""


class Matrix(msgspec.Struct, frozen=True):
    columns: tuple[RunColumn, ...]
    rows: dict[str, Row]
    """By case, in the order of the conversation or suite, else by name."""

    @property
    def subjects(self) -> dict[str, tuple[int, ...]]:
        """Subject → the places of its columns."""
        places: dict[str, tuple[int, ...]] = {}
        for at, column in enumerate(self.columns):
            places[column.subject] = (*places.get(column.subject, ()), at)
        return places

    def only(self, cases: Collection[str]) -> "Matrix":
        return Matrix(self.columns, {case: row for case, row in self.rows.items() if case in cases})

    @property
    def has_numbers(self) -> bool:
        return any(cell is not None and cell.value is not None for row in self.rows.values() for cell in row)

    @property
    def has_only_numbers(self) -> bool:
        """Nothing passed or failed: what broke off did neither."""
        cells = [cell for row in self.rows.values() for cell in row if cell is not None]
        judged = (cell.passes or (cell.value is None and cell.result is not None) for cell in cells)
        return self.has_numbers and not any(judged)

    @property
    def shared(self) -> frozenset[str]:
        """The cases that every run knows."""
        return frozenset(case for case, row in self.rows.items() if None not in row)

    @property
    def passed_everywhere(self) -> frozenset[str]:
        passed = (case for case, row in self.rows.items() if all(cell is not None and cell.passed for cell in row))
        return frozenset(passed)


def columns_of(runs: Sequence[tuple[Run, int]]) -> tuple[RunColumn, ...]:
    """In the order given. Runs of one subject get numbers."""
    names = subject_names([run for run, _ in runs])
    often, seen = Counter(names), Counter[str]()
    columns = []
    for (run, pk), name in zip(runs, names, strict=True):
        seen[name] += 1
        columns.append(RunColumn(run, pk, f"{name} #{seen[name]}" if often[name] > 1 else name, name))
    return tuple(columns)


def subject_names(runs: Sequence[Run]) -> list[str]:
    """The model, and the parts of its agent and variant that distinguish it from other subjects of the same model.

    Runs of an unknown model never share a name: each is a subject of its own.
    """
    names: list[str] = []
    for run in runs:
        alike = [_aspects(one) for one in runs if one.subject.model == run.subject.model]
        parts = [_short(key, value, alike) for key, value in _aspects(run).items() if _differs(key, alike)]
        named = run.subject.model or run.subject.agent or run.source.name
        parts += ["not a model"] if stand_in_of(run) else []
        described = ", ".join(part for part in parts if part and part != named)
        names.append(f"{named} ({described})" if described else named)
    often = Counter(names)
    own = iter(own_names([run for run, name in zip(runs, names, strict=True) if _is_ambiguous(run, often[name])]))
    return [
        f"{name} ({next(own)})" if _is_ambiguous(run, often[name]) else name
        for run, name in zip(runs, names, strict=True)
    ]


def _is_ambiguous(run: Run, often: int) -> bool:
    return often > 1 and not run.subject.model


def own_names(runs: Sequence[Run]) -> list[str]:
    """For each run what no other has: its name, its folder, its start, else its id."""
    parts = [
        [one_line(run.name or run.native_id, VALUE) for run in runs],
        [PurePath(run.origin).name for run in runs],
        ["/".join(PurePath(run.origin).parts[-2:]) for run in runs],
        [(run.started_at or "")[:16].replace("T", " ") for run in runs],
        [run.id for run in runs],
    ]
    return next(names for names in parts if (all(names) and len(set(names)) == len(names)) or names is parts[-1])


def _aspects(run: Run) -> dict[str, str]:
    subject = run.subject
    return {"": subject.agent, "version": subject.agent_version} | run.variant


def _differs(key: str, alike: Sequence[dict[str, str]]) -> bool:
    return len({one.get(key, "") for one in alike}) > 1


def _short(key: str, value: str, alike: Sequence[dict[str, str]]) -> str:
    """`prompt terse`; of values that are whole texts, the part that differs, or a number."""
    if not value:
        return ""
    every = list(dict.fromkeys(one[key] for one in alike if one.get(key)))
    for short in (_head, _tail):
        if len({short(one) for one in every}) == len(every):
            return f"{key} {short(value)}".strip()
    return f"{key} {every.index(value) + 1}".strip()


def _head(text: str) -> str:
    return one_line(text, VALUE)


def _tail(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= VALUE else f"…{line[1 - VALUE :]}"


def matrix_of(columns: Sequence[RunColumn], cells: Iterable[Cell]) -> Matrix:
    place = {column.pk: at for at, column in enumerate(columns)}
    rows: dict[str, list[Cell | None]] = {}
    for cell in cells:
        row = rows.get(cell.case)
        if row is None:
            row = rows[cell.case] = [None] * len(columns)
        row[place[cell.run]] = cell
    return Matrix(tuple(columns), {case: tuple(rows[case]) for case in _ordered(rows)})


def by_subject(matrix: Matrix) -> Matrix:
    places = matrix.subjects
    columns = tuple(
        RunColumn(matrix.columns[those[0]].run, matrix.columns[those[0]].pk, subject, subject)
        for subject, those in places.items()
    )
    rows = {
        case: tuple(_together([row[at] for at in those]) for those in places.values())
        for case, row in matrix.rows.items()
    }
    return Matrix(columns, rows)


def _together(cells: Sequence[Cell | None]) -> Cell | None:
    every = [cell for cell in cells if cell is not None]
    known = [cell for cell in every if cell.state != "contradictory"] or every
    if len(known) < 2:
        return known[0] if known else None
    passes, fails = sum(cell.passes for cell in known), sum(cell.fails for cell in known)
    state: CellState = "mixed"
    if not (passes and fails):
        telling = [cell for cell in known if cell.decided] or known
        state = telling[0].state
    attempts = sum(cell.attempts for cell in known)
    valued = [cell for cell in known if cell.share is not None] if any(cell.value is not None for cell in known) else []
    tried = sum(cell.attempts for cell in valued)
    value = sum((cell.share or 0.0) * cell.attempts for cell in valued) / tried if tried else None
    return Cell(known[0].run, known[0].case, state, attempts, passes, fails, known[0].position, value)


def _ordered(rows: dict[str, list[Cell | None]]) -> list[str]:
    positions = {
        case: min((cell.position for cell in row if cell is not None and cell.position is not None), default=None)
        for case, row in rows.items()
    }
    if None in positions.values():
        return sorted(rows, key=natural)
    return sorted(rows, key=lambda case: (positions[case], natural(case)))


def natural(name: str) -> tuple[tuple[bool, int, str], ...]:
    """`turn-9` before `turn-10`."""
    return tuple((not number, int(number or 0), other) for number, other in _PARTS.findall(name))


_PARTS = lazy_regex(r"([0-9]{1,18})|([^0-9]+)")
