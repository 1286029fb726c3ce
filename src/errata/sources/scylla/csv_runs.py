"""One row of `runs.csv` with its judges and criteria, which are joined by their first columns: an attempt."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Attempt, Check, Judgement, SourceRef, Unreadable, UsageByRole
from errata.sources.base import Row, csv_rows, unreadable
from errata.sources.base import number_or_none as number
from errata.sources.scylla import KEY, NAME
from errata.sources.scylla.agent import broke_down, usage_of
from errata.sources.scylla.judges import consensus_check, criterion_status
from errata.sources.shared.row_groups import split_copies
from errata.sources.shared.values import integer, non_empty, text

_NAMED = {*KEY, "score", "passed", "cost_usd", "duration_seconds", "agent_duration_seconds", "judge_duration_seconds"}


class ExportedRun(NamedTuple):
    data: dict[str, Any]
    judges: list[Row]
    criteria: list[Row]
    ref: SourceRef

    def attempt(self, run: str, case: str, index: int, duplicate_of: str | None) -> Attempt:
        data, passed = self.data, _truth(self.data.get("passed"))
        usage = usage_of(
            data, cost=data.get("cost_usd"), requests=data.get("api_calls"), total=data.get("total_tokens")
        )
        exit_code = integer(data.get("exit_code"))
        broken, invalid = broke_down(exit_code, usage), bool(self.judges) and not any(map(_valid, self.judges))
        is_judged = not invalid and passed is not None
        score = number(data.get("score"))
        return Attempt(
            run=run,
            case=case,
            index=index,
            duplicate_of=duplicate_of,
            execution="error" if broken else "completed",
            measurement="error" if invalid else ("scored" if is_judged else "unscored"),
            outcome=("pass" if passed else "none" if broken else "fail") if is_judged else "none",
            native_status=text(data.get("grade")),
            reported=score,
            reported_counted=score is not None,
            checks=(consensus_check(score, passed, "", text(data.get("grade"))), *map(_criterion, self.criteria)),
            judgements=tuple(sorted(map(_judgement, self.judges), key=lambda one: one.judge)),
            usage=UsageByRole(subject=usage),
            duration=number(data.get("duration_seconds")),
            durations=_durations(data),
            exit_code=exit_code,
            ref=self.ref,
            extra=_further(data),
        )


class RowsByRun:
    """Rows by run. A table that keeps the rows of a run together is streamed; any other is held in memory."""

    def __init__(self, path: Path) -> None:
        self._rows = _rows(path)
        self._held: dict[tuple[str, ...], list[Row]] = {}
        self._ahead: Row | None = None
        self.problems: list[Unreadable] = []
        if not _keeps_together(path):
            while self._read_group():
                pass

    def take(self, key: tuple[str, ...]) -> list[Row]:
        while key not in self._held and self._read_group():
            pass
        rows, copies = split_copies(self._held.pop(key, []), "a row of this table", source=NAME)
        self.problems += copies
        return list(rows)

    def unused_rows(self) -> Iterator[Unreadable]:
        while self._read_group():
            pass
        for rows in self._held.values():
            yield unreadable(
                NAME, rows[0].ref, f"this run is not in runs.csv: {len(rows)} rows", excerpt=repr(rows[0].data)
            )

    def _read_group(self) -> bool:
        first = self._ahead or self._next()
        if first is None:
            return False
        group = self._held.setdefault(row_key(first), [])
        group.append(first)
        while (row := self._next()) is not None and row_key(row) == row_key(first):
            group.append(row)
        self._ahead = row
        return True

    def _next(self) -> Row | None:
        for row in self._rows:
            if isinstance(row, Row):
                return row
            self.problems.append(row)
        return None


_NAMED |= {"input_tokens", "output_tokens", "cache_creation_tokens", "cache_read_tokens", "total_tokens", "exit_code"}


def _further(data: dict[str, Any]) -> dict[str, Any]:
    figures = {name: number(value) if number(value) is not None else value for name, value in data.items()}
    return non_empty(
        experiment=data.get("experiment"), **{name: value for name, value in figures.items() if name not in _NAMED}
    )


def _durations(data: dict[str, Any]) -> dict[str, float]:
    durations = {name: number(data.get(f"{name}_duration_seconds")) for name in ("agent", "judge")}
    return {name: seconds for name, seconds in durations.items() if seconds is not None}


def _truth(value: Any) -> bool | None:
    return {"true": True, "false": False, "1": True, "0": False}.get(text(value).strip().lower())


def _valid(row: Row) -> bool:
    return _truth(row.data.get("judge_is_valid")) is not False


def _judge_name(row: Row) -> str:
    number_ = integer(row.data.get("judge_number"))
    return f"judge_{number_:02}" if number_ is not None else ""


def _judgement(row: Row) -> Judgement:
    data = row.data
    return Judgement(
        judge=_judge_name(row),
        model=text(data.get("judge_model")),
        valid=_valid(row),
        reasoning=text(data.get("judge_reasoning")),
        raw=non_empty(
            score=number(data.get("judge_score")),
            passed=_truth(data.get("judge_passed")),
            grade=data.get("judge_grade"),
            impl_rate=number(data.get("judge_impl_rate")),
        ),
        ref=row.ref,
    )


def _criterion(row: Row) -> Check:
    data = row.data
    score, achieved = number(data.get("criterion_score")), number(data.get("criterion_achieved"))
    return Check(
        name=text(data.get("criterion")),
        scorer="criterion",
        judge=_judge_name(row),
        kind="criterion",
        status=criterion_status(data.get("criterion_achieved"), data.get("criterion_max")),
        value=score if score is not None else achieved,
        achieved=achieved,
        max=number(data.get("criterion_max")),
        counts=False,
        ref=row.ref,
    )


def row_key(row: Row) -> tuple[str, ...]:
    return tuple(text(row.data.get(name)) for name in KEY)


def _rows(path: Path) -> Iterator[Row | Unreadable]:
    return csv_rows(path, source=NAME, root=path.parent) if path.is_file() else iter(())


def _keeps_together(path: Path) -> bool:
    seen, last = set[tuple[str, ...]](), None
    for row in _rows(path):
        if isinstance(row, Row) and (key := row_key(row)) != last:
            if key in seen:
                return False
            seen.add(key)
            last = key
    return True
