"""The runs of a table. Columns in `[run]` divide the rows of one file into several runs."""

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import msgspec

from errata.model import Attempt, Run, Scorer, SourceInfo, SourceRef, Subject
from errata.sources.base import Row
from errata.sources.generic.mapping import CheckColumn, Fact, Get, MappedColumn, Mapping, RunMap, as_column, getter
from errata.sources.generic.values import is_empty, text

_WORK = ("output", "answer", "messages", "transcript", "input_tokens", "output_tokens", "total_tokens")
"""Columns that hold something if the subject did anything."""


class MappedFile(NamedTuple):
    """The file of a table, and the default name of its run."""

    source: str
    stem: str
    file: str
    origin: str
    around: dict[str, Any]
    """The fields of a JSON document beside its rows."""
    in_folder: bool
    """True for a file of an imported folder: it is a run of its own, even if the mapping has a constant run id."""


class MappedRun:
    """The rows of one run so far. Only hashes are kept for a million cases; repetitions are few."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.announced = False
        self._cases: dict[int, int] = {}
        """Case → what its last row asked and expected."""
        self._first: set[int] = set()
        """Hashes of case and session with a first attempt."""
        self._taken: set[tuple[str, int | None, int]] = set()
        self._free: dict[tuple[str, int | None], int] = {}
        """The next free index, if it is above 2."""
        self.started_at: str | None = None
        self.finished_at: str | None = None

    def is_news(self, case: str, facts: int) -> bool:
        """Whether the case is new, or its last row asked or expected something else."""
        return self._cases.get(hash(case)) != facts

    def is_taken(self, case: str, session: int | None, index: int) -> bool:
        return hash((case, session)) in self._first if index == 1 else (case, session, index) in self._taken

    def free(self, case: str, session: int | None) -> int:
        if not self._free and not self._first:
            return 1
        return self._free.get((case, session)) or (2 if hash((case, session)) in self._first else 1)

    def note(self, attempt: Attempt, facts: int) -> None:
        case, session, index = attempt.case, attempt.session, attempt.index
        started_at, finished_at = attempt.started_at, attempt.finished_at
        self.announced = True
        self._cases[hash(case)] = facts
        if index == 1:
            self._first.add(hash((case, session)))
        else:
            self._taken.add((case, session, index))
            self._free[case, session] = max(self.free(case, session), index + 1)
        if started_at and (self.started_at is None or started_at < self.started_at):
            self.started_at = started_at
        if finished_at and (self.finished_at is None or finished_at > self.finished_at):
            self.finished_at = finished_at


class Runs:
    def __init__(self, mapping: Mapping, columns: Collection[str], table_file: MappedFile) -> None:
        facts: dict[str, Fact] = {name: getattr(mapping.run, name) for name in RunMap.__struct_fields__}
        del facts["variant"], facts["group"]
        if table_file.in_folder:
            facts |= {name: "" for name in ("id", "name") if not isinstance(facts[name], MappedColumn)}
        facts |= {f"variant {name}": fact for name, fact in mapping.run.variant.items()}
        facts["suite"] = mapping.suite
        self._constants = {name: text(fact) for name, fact in facts.items() if not isinstance(fact, MappedColumn)}
        self._varying: dict[str, Get] = {
            name: getter(fact.column, columns) for name, fact in facts.items() if isinstance(fact, MappedColumn)
        }
        self._file = table_file
        self._group = mapping.run.group
        self._scorers = _scorers(mapping)
        self._records_work = any(getattr(mapping.attempt, name) for name in _WORK)
        self._by_values: dict[tuple[str, ...], MappedRun] = {}
        self._by_id: dict[str, MappedRun] = {}

    @property
    def is_one(self) -> bool:
        """Whether all rows belong to one run, which is known before the first row."""
        return not self._varying

    def state_of(self, row: dict[str, Any]) -> MappedRun:
        values = tuple([_text_or_nothing(get(row)) for get in self._varying.values()]) if self._varying else ()
        state = self._by_values.get(values)
        if state is None:
            run = self._run(values)
            state = self._by_id.setdefault(run.id, MappedRun(run))
            self._by_values[values] = state
        return state

    def owner(self, row: Row) -> str:
        """The run of an unreadable row; empty if no good row has announced that run."""
        state = self.state_of(row.data)
        return state.run.id if state.announced else ""

    def announce(self, row: dict[str, Any]) -> Run:
        state = self.state_of(row)
        state.announced = True
        return state.run

    def finished(self) -> Iterator[Run]:
        """The runs again, with their start and end times."""
        for state in self._by_id.values():
            if state.started_at or state.finished_at:
                yield msgspec.structs.replace(state.run, started_at=state.started_at, finished_at=state.finished_at)

    def _run(self, values: tuple[str, ...]) -> Run:
        facts = {**self._constants, **dict(zip(self._varying, values, strict=True))}
        base = facts["id"] or facts["name"] or self._file.stem
        shared = self._constants.get("id") or self._constants.get("name") or self._file.stem
        return Run(
            # one run per suite
            native_id=f"{base}/{facts['suite']}" if "suite" in self._varying else base,
            name=facts["name"] or base,
            group=self._group or ("" if self.is_one else shared),
            source=SourceInfo(name=self._file.source, records_work=self._records_work),
            subject=Subject(**{name: facts[name] for name in ("model", "provider", "agent", "agent_version")}),  # type: ignore[arg-type]
            roles={"judge": facts["judge"]} if facts["judge"] else {},
            variant={
                name.removeprefix("variant "): fact
                for name, fact in facts.items()
                if name.startswith("variant ") and fact
            },
            suite=facts["suite"],
            suite_version=facts["suite_version"],
            scorers=self._scorers,
            origin=self._file.origin,
            ref=SourceRef(file=self._file.file),
            extra={"document": self._file.around} if self._file.around else {},
        )


def _text_or_nothing(value: Any) -> str:
    return "" if is_empty(value) else text(value)


def _scorers(mapping: Mapping) -> tuple[Scorer, ...]:
    made = []
    attempt = mapping.attempt
    if attempt.score is not None:
        name = as_column(attempt.score).column
        made.append(Scorer(name=name, threshold=attempt.threshold, lower_is_better=attempt.lower_is_better))
    for name, asked in mapping.checks.items():
        column = asked if isinstance(asked, CheckColumn) else CheckColumn(column=asked)
        made.append(Scorer(name=name, threshold=column.threshold, lower_is_better=column.lower_is_better))
    return tuple(made)
