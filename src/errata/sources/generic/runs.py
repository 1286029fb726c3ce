"""The runs of a table. Columns in `[run]` divide the rows of one file into several runs."""

from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from errata.model import Attempt, Reported, Run, Scorer, SourceInfo, SourceRef, Subject
from errata.sources.base import Row
from errata.sources.generic import NAME
from errata.sources.generic.mapping import (
    Fact,
    Get,
    HeadlineColumn,
    MappedColumn,
    Mapping,
    RunMap,
    VerdictColumn,
    ambiguous_columns,
    as_check,
    as_column,
    getter,
)
from errata.sources.generic.places import RUN_OBJECT
from errata.sources.generic.tables import RowTable
from errata.sources.generic.values import is_empty, plain_number, rate, text

_WORK = ("output", "answer", "messages", "transcript", "input_tokens", "output_tokens", "total_tokens")
"""Columns that hold something if the subject did anything."""


DISTINGUISHING = 4
MEAN_ROUNDED = 0.05
ODD_VALUES = 20
ODD_WIDTH = 60
OTHERS = "…"
"""Counts the values beyond the first `ODD_VALUES`."""


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


def file_of(path: Path, table: RowTable, *, in_folder: bool) -> MappedFile:
    return MappedFile(
        source=NAME,
        stem=path.stem,
        file=path.name,
        origin=str(path.parent.absolute()),
        around=table.around,
        in_folder=in_folder,
    )


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
        self.headline: float | None = None
        self.highest = 0.0
        """The highest value that a row reports."""
        self.reported_sum = 0.0
        self.reported_count = 0
        self.currencies: set[str] = set()
        self.repeated = 0
        """Rows with the case, session and index of an earlier row."""
        self.not_understood: dict[str, dict[str, int]] = {}
        """Field → value → how often, for values that could not be converted."""

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
        if attempt.reported is not None:
            self.highest = max(self.highest, attempt.reported)
            self.reported_sum += attempt.reported
            self.reported_count += 1
        if not attempt.is_status_known:
            self._count_odd("status", attempt.native_status)
        for name, value in attempt.extra.get("not_understood", {}).items():
            self._count_odd(name, value)
        self.repeated += attempt.duplicate_of is not None
        if attempt.usage.cost is not None:
            self.currencies.add(attempt.usage.subject.currency)
        started_at, finished_at = attempt.started_at, attempt.finished_at
        self.announced = True
        self._cases[hash(case)] = facts
        if index == 1:
            self._first.add(hash((case, session)))
        else:
            self._taken.add((case, session, index))
            self._free[case, session] = max(self.free(case, session), index + 1)
        if started_at or finished_at:
            self._note_times(started_at, finished_at)

    def _note_times(self, started_at: str | None, finished_at: str | None) -> None:
        if started_at and (self.started_at is None or started_at < self.started_at):
            self.started_at = started_at
        if finished_at and (self.finished_at is None or finished_at > self.finished_at):
            self.finished_at = finished_at

    def _count_odd(self, name: str, value: Any) -> None:
        counts = self.not_understood.setdefault(name, {})
        shown = text(value)[:ODD_WIDTH]
        if shown in counts or len(counts) < ODD_VALUES:
            counts[shown] = counts.get(shown, 0) + 1
        else:
            counts[OTHERS] = counts.get(OTHERS, 0) + 1


class Runs:
    def __init__(self, mapping: Mapping, table: RowTable, table_file: MappedFile) -> None:
        columns = table.columns
        facts: dict[str, Fact] = {name: getattr(mapping.run, name) for name in RunMap.__struct_fields__}
        del facts["variant"], facts["group"], facts["headline"]
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
        self._headline = _Headline(mapping, columns) if mapping.run.headline is not None else None
        self._ambiguous = ambiguous_columns(mapping, columns, table.sample)
        self._records_work = any(getattr(mapping.attempt, name) for name in _WORK)
        self._by_values: dict[tuple[str, ...], MappedRun] = {}
        self._copies: Counter[tuple[str, ...]] = Counter()
        """How many objects of a nested list of runs have these values."""
        self._sample, self._mapping = table.sample, mapping
        self._by_id: dict[str, MappedRun] = {}

    @property
    def is_one(self) -> bool:
        """Whether all rows belong to one run, which is known before the first row."""
        return not self._varying

    def state_of(self, row: dict[str, Any]) -> MappedRun:
        values = tuple([_text_or_nothing(get(row)) for get in self._varying.values()]) if self._varying else ()
        number = row.get(RUN_OBJECT)
        key = values if number is None else (*values, str(number))
        state = self._by_values.get(key)
        if state is None:
            self._copies[values] += number is not None
            run = self._run(values, self._copies[values])
            state = self._by_id.setdefault(run.id, MappedRun(run))
            self._by_values[key] = state
        return state

    def owner(self, row: Row) -> str:
        """The run of an unreadable row; empty if no good row has announced that run."""
        state = self.state_of(row.data)
        return state.run.id if state.announced else ""

    def announce(self, row: dict[str, Any]) -> Run:
        state = self.state_of(row)
        state.announced = True
        return state.run

    def note(self, state: MappedRun, row: dict[str, Any], attempt: Attempt, facts: int) -> None:
        state.note(attempt, facts)
        if self._headline is not None and state.headline is None:
            state.headline = self._headline.value(row)

    def finished(self) -> Iterator[Run]:
        """The runs again, with what is known only after the last row: times, headline, values not understood."""
        for state in self._by_id.values():
            changes: dict[str, Any] = {}
            if state.started_at or state.finished_at:
                changes |= {"started_at": state.started_at, "finished_at": state.finished_at}
            if self._headline is not None and state.headline is not None:
                changes["reported"] = (self._headline.reported(state, state.run.ref),)
            if state.not_understood:
                changes["extra"] = {**state.run.extra, "not_understood": state.not_understood}
            if state.repeated:
                extra = changes.get("extra", state.run.extra)
                columns = distinguishing_columns(self._sample, self._mapping)
                changes["extra"] = {**extra, "repeated_rows": state.repeated, "distinguishing_columns": columns}
            if state.currencies - {"USD"}:
                changes["extra"] = {
                    **changes.get("extra", state.run.extra),
                    "currency": "/".join(sorted(state.currencies)),
                }
            if changes:
                yield msgspec.structs.replace(state.run, **changes)

    def _run(self, values: tuple[str, ...], copy: int = 0) -> Run:
        """`copy` is above 1 for a further object of a nested list that has the same values."""
        facts = {**self._constants, **dict(zip(self._varying, values, strict=True))}
        base = facts["id"] or facts["name"] or self._file.stem
        base = f"{base}-{copy}" if copy > 1 else base
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
            extra=self._extra(),
        )

    def _extra(self) -> dict[str, Any]:
        extra: dict[str, Any] = {"document": self._file.around} if self._file.around else {}
        return {**extra, "ambiguous_columns": self._ambiguous} if self._ambiguous else extra


class _Headline:
    """The score that the harness states for a run."""

    def __init__(self, mapping: Mapping, columns: Collection[str]) -> None:
        asked = mapping.run.headline
        headline = asked if isinstance(asked, HeadlineColumn) else HeadlineColumn(value=asked)
        self._get = getter(headline.column, columns) if headline.column else None
        self._constant = headline.value
        self._comma = mapping.decimal == ","
        both = bool(mapping.attempt.passed and mapping.attempt.score) or mapping.attempt.threshold is not None
        self._has_verdicts_and_scores = both
        self._metric = headline.metric or "mean_or_pass_rate"
        self._name = headline.name or headline.column.lstrip("^$.") or "headline"

    def value(self, row: dict[str, Any]) -> float | None:
        stated = self._get(row) if self._get else self._constant
        return rate(plain_number(stated) if self._comma else stated)

    def reported(self, state: MappedRun, ref: SourceRef | None) -> Reported:
        """A number above 1 is a percentage where no row reports more than 1."""
        value = state.headline
        if value is not None and value > 1 and (state.highest <= 1 or self._is_pass_rate(state, value)):
            value /= 100
        return Reported(name=self._name, metric=self._metric, value=value, headline=True, ref=ref)

    def _is_pass_rate(self, state: MappedRun, value: float) -> bool:
        """Without a rule, 62 beside scores of up to 100 is a pass rate unless it is their mean."""
        if self._metric != "mean_or_pass_rate":
            return self._metric == "pass_rate"
        mean = state.reported_sum / state.reported_count if state.reported_count else 0.0
        return self._has_verdicts_and_scores and abs(value - mean) > MEAN_ROUNDED


def distinguishing_columns(sample: list[Any], mapping: Mapping) -> list[str]:
    """Unmapped columns that differ between rows with the same case and index, the most effective first."""
    asked = (mapping.case.name, mapping.case.input, mapping.attempt.index, mapping.attempt.session)
    facts = (mapping.run.id, mapping.run.name, mapping.run.model, mapping.run.agent, *mapping.run.variant.values())
    rows = [row for row in sample if type(row) is dict]
    columns = dict.fromkeys(name for row in rows for name in row)
    named = [as_column(column).column for column in asked if column]
    named += [fact.column for fact in facts if isinstance(fact, MappedColumn)]
    keys = [tuple(repr(getter(name, columns)(row)) for name in named) for row in rows]
    used = {column.column for _, column in mapping.columns()}
    distinct = len(set(keys))
    gains = []
    for name in columns:
        values = [row.get(name) for row in rows]
        is_plain = all(value is None or isinstance(value, (str, int, float, bool)) for value in values)
        few = 1 < len(set(map(repr, values))) <= max(len(rows) // 2, 1)
        if is_plain and few and name not in used and not name.startswith("@"):
            together = len({(key, repr(value)) for key, value in zip(keys, values, strict=True)})
            gains.append((distinct - together, name))
    return [name for gain, name in sorted(gains) if gain < 0][:DISTINGUISHING]


def _text_or_nothing(value: Any) -> str:
    return "" if is_empty(value) else text(value)


def _scorers(mapping: Mapping) -> tuple[Scorer, ...]:
    made = []
    attempt = mapping.attempt
    if mapping.has_judges and attempt.passed is not None:
        made.append(_scorer(as_column(attempt.passed).column, attempt.passed))
    if attempt.score is not None:
        name = as_column(attempt.score).column
        scorer = _scorer(name, attempt.score)
        made.append(
            msgspec.structs.replace(scorer, threshold=attempt.threshold, lower_is_better=attempt.lower_is_better)
        )
    for name, asked in mapping.checks.items():
        column = as_check(asked)
        scorer = _scorer(name, column)
        made.append(msgspec.structs.replace(scorer, threshold=column.threshold, lower_is_better=column.lower_is_better))
    return tuple(made)


def _scorer(name: str, column: str | VerdictColumn) -> Scorer:
    if isinstance(column, VerdictColumn) and column.judge:
        return Scorer(name=name, kind="judge", model=column.judge if isinstance(column.judge, str) else "")
    return Scorer(name=name)
