"""The events of a log by sample → its case and its attempt."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import msgspec

from errata.model import (
    Attempt,
    Case,
    Check,
    ErrorInfo,
    Item,
    Judgement,
    Output,
    Run,
    Unreadable,
    UsageByRole,
    case_key,
)
from errata.sources.base import Row, convert_each, of_run
from errata.sources.openai_evals import NAME
from errata.sources.openai_evals.runs import Header, header_of, run_of
from errata.sources.openai_evals.samplings import Samplings
from errata.sources.shared.facts import Facts, despite_error, outcome_of, status_of
from errata.sources.shared.row_groups import read_groups
from errata.sources.shared.values import as_text, mapping, moment, name_of, non_empty, number, plain, rest, text

INVALID = "__invalid__"
"""What stands for the choice of a judge whose words name none."""

_EVENT = frozenset(("run_id", "event_id", "sample_id", "type", "data", "created_by", "created_at"))
_MATCH = frozenset(("correct", "expected", "picked", "sampled", "options"))
_HANDLED = frozenset(("sampling", "match", "metrics", "error", "raw_sample", "function_call"))
_SCORES = ("score", "accuracy", "correct")


class Event(msgspec.Struct):
    """What tells which events belong together."""

    sample_id: Any = None

    def key(self) -> Any:
        return None if self.sample_id is None else as_text(self.sample_id)


class Reading(NamedTuple):
    run: Run
    header: Header


class Sample:
    """The events of a sample, by their type."""

    def __init__(self, rows: tuple[Row, ...]) -> None:
        self.rows = [row for row in rows if isinstance(row.data, dict)]
        self.name = name_of(rows[0].data["sample_id"])
        self.samplings = Samplings(self.of("sampling"), self.of("function_call"))

    def of(self, *types: str) -> list[Row]:
        return [row for row in self.rows if row.data.get("type") in types]

    @property
    def matches(self) -> list[dict[str, Any]]:
        return [mapping(row.data.get("data")) for row in self.of("match")]

    @property
    def raw(self) -> Any:
        return next((row.data.get("data") for row in self.of("raw_sample")), None)


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    header = header_of(path)
    run = run_of(header, path)
    yield run
    rows = read_groups(path, Event, Event.key, source=NAME, root=path.parent)
    events = (row for row in rows if not _is_header(row))
    yield from of_run(run.id, convert_each(events, partial(items_of, Reading(run, header)), source=NAME))


def _is_header(row: Row | Unreadable) -> bool:
    data = row.data[0].data if isinstance(row, Row) else None
    return isinstance(data, dict) and bool({"spec", "final_report"} & set(data))


def items_of(reading: Reading, group: Row) -> Iterator[Item]:
    sample = Sample(group.data)
    yield _case(reading.run, sample)
    yield _attempt(reading, sample)


def _case(run: Run, sample: Sample) -> Case:
    raw, match = mapping(sample.raw), next(iter(sample.matches), {})
    wanted = raw.get("ideal", match.get("expected"))
    return Case(
        run=run.id,
        suite=run.suite,
        native_id=sample.name,
        input=plain(raw.get("input", sample.samplings.asked)),
        expected=plain(wanted[0] if isinstance(wanted, list) and len(wanted) == 1 else wanted),
        extra=rest(raw, ("input", "ideal")) | non_empty(options=match.get("options")),
        ref=sample.rows[0].ref,
    )


def _attempt(reading: Reading, sample: Sample) -> Attempt:
    errors = tuple(_errors(sample))
    checks = tuple(_checks(sample))
    values = [one for check in checks if check.is_primary and (one := _number(check)) is not None]
    value = fmean(values) if values else None
    broken = next((check.error for check in checks if check.error), None)
    facts = _facts(reading.header, value, checks, failed=bool(errors))
    # a judge whose request was refused has said nothing
    judged = reading.header.is_judged and bool(sample.of("metrics"))
    times = [told for row in sample.rows if (told := moment(row.data.get("created_at")))]
    return Attempt(
        run=reading.run.id,
        case=case_key(reading.run.suite, sample.name),
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        native_status=_native(checks),
        reported=value,
        reported_counted=value is not None,
        output=Output(text=sample.samplings.answer(judged=judged), answer=_picked(sample)),
        errors=(*errors, broken) if broken else errors,
        checks=checks,
        judgements=tuple(_judgements(sample, checks, judged=judged)),
        steps=sample.samplings.steps(judged=judged),
        usage=UsageByRole(subject=sample.samplings.usage(judged=judged)),
        started_at=times[0] if times else None,
        finished_at=times[-1] if times else None,
        extra=_extra(reading, sample),
        ref=sample.rows[0].ref,
    )


def _facts(header: Header, value: float | None, checks: tuple[Check, ...], *, failed: bool) -> Facts:
    if any(check.status == "error" for check in checks):
        return Facts("error" if failed else "completed", "error", "none")
    if checks:
        said = outcome_of(value)
        return Facts("error", "scored", despite_error(said)) if failed else Facts("completed", "scored", said)
    if failed:
        return Facts("error", "not_run", "none")
    if header.report is None:
        return Facts("unfinished", "not_run", "none")
    # a judge whose request was refused leaves nothing but a count in the report
    return Facts("completed", "error" if header.lost_judgements else "unscored", "none")


def _errors(sample: Sample) -> Iterator[ErrorInfo]:
    for row in sample.of("error"):
        data = mapping(row.data.get("data"))
        yield ErrorInfo(
            type=text(data.get("type")) or "error",
            message=as_text(data.get("message") or ""),
            phase="subject",
            at=moment(row.data.get("created_at")),
            extra=rest(data, ("type", "message")),
            ref=row.ref.below("data"),
        )


def _checks(sample: Sample) -> Iterator[Check]:
    order = 0
    for row in sample.of("match"):
        data = mapping(row.data.get("data"))
        right = data.get("correct")
        yield Check(
            name="match" if order == 0 else f"match {order + 1}",
            status="pass" if right is True else "fail" if right is False else "unscored",
            scorer="match",
            order=order,
            value=right if isinstance(right, bool) else None,
            is_primary=True,
            extra=rest(data, _MATCH) | non_empty(options=data.get("options"), expected=data.get("expected")),
            ref=row.ref.below("data"),
        )
        order += 1
    for row in sample.of("metrics"):
        yield from _metrics(row, order, decides=not sample.matches)


def _metrics(row: Row, order: int, *, decides: bool) -> Iterator[Check]:
    data = mapping(row.data.get("data"))
    graded = [name for name, value in data.items() if isinstance(value, bool) or number(value) is not None]
    main = next((name for name in (*_SCORES, *graded) if name in graded), next(iter(data), ""))
    invalid = INVALID in data.values()
    for at, (name, told) in enumerate(data.items()):
        value = told if isinstance(told, bool) else number(told)
        yield Check(
            name=str(name),
            # a score that was made of no choice is none
            status="error" if invalid else status_of(float(value)) if value is not None else "not_applicable",
            scorer="metrics",
            order=order + at,
            value=value if value is not None else as_text(told),
            is_primary=decides and name == main,
            counts=decides and name == main,
            error=_no_choice(str(name), row) if told == INVALID else None,
            ref=row.ref.below("data", str(name)),
        )


def _no_choice(name: str, row: Row) -> ErrorInfo:
    return ErrorInfo(type="no_choice", message=f"{name} {INVALID}", phase="scoring", ref=row.ref.below("data", name))


def _number(check: Check) -> float | None:
    return float(check.value) if isinstance(check.value, bool | float) else None


def _native(checks: tuple[Check, ...]) -> str:
    main = next((check for check in checks if check.is_primary), None)
    if main is None:
        return ""
    return f"{main.scorer} {main.value}" if main.scorer == "match" else f"{main.name} {main.value}"


def _picked(sample: Sample) -> str | None:
    picked = sample.matches[0].get("picked") if sample.matches else None
    return None if picked is None else as_text(picked)


def _judgements(sample: Sample, checks: tuple[Check, ...], *, judged: bool) -> Iterator[Judgement]:
    said = sample.samplings.judged if judged else None
    if said is not None:
        yield Judgement(
            judge="judge",
            model=said.model,
            valid=not any(check.status == "error" for check in checks),
            reasoning=said.text,
        )


def _extra(reading: Reading, sample: Sample) -> dict[str, Any]:
    others = [
        non_empty(type=row.data.get("type"), data=row.data.get("data"))
        for row in sample.rows
        if row.data.get("type") not in _HANDLED
    ]
    runs = {row.data.get("run_id") for row in sample.rows} - {reading.run.native_id}
    makers = sorted({as_text(row.data["created_by"]) for row in sample.rows if row.data.get("created_by")})
    sampled = [match.get("sampled") for match in sample.matches]
    return non_empty(
        events=others,
        runs=sorted(map(as_text, runs)),
        created_by=makers,
        sampled=sampled if any(one not in (None, *sample.samplings.sampled) for one in sampled) else None,
        **{key: value for row in sample.rows[:1] for key, value in rest(row.data, _EVENT).items()},
    )
