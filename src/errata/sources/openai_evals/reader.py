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
    Reported,
    Run,
    SourceInfo,
    SourceRef,
    Subject,
    Unreadable,
    UsageByRole,
    case_key,
)
from errata.sources.base import BYTE_ORDER_MARK, LINE_CAP, READ_SIZE, Row, convert_each, decode, of_run
from errata.sources.openai_evals import NAME
from errata.sources.openai_evals.samplings import Samplings
from errata.sources.shared.facts import Facts, despite_error, outcome_of, status_of
from errata.sources.shared.row_groups import read_groups, repeated_rows, split_copies
from errata.sources.shared.values import (
    as_text,
    mapping,
    moment,
    name_of,
    non_empty,
    number,
    plain,
    rest,
    sequence,
    settings,
    text,
)
from errata.text.lazy_regex import lazy_regex


class RunHeader(NamedTuple):
    spec: dict[str, Any]
    spec_ref: SourceRef
    report: dict[str, Any] | None
    report_ref: SourceRef

    @property
    def eval_spec(self) -> dict[str, Any]:
        return mapping(mapping(self.spec.get("run_config")).get("eval_spec"))

    @property
    def is_judged(self) -> bool:
        """Whether a model grades the answers; its own replies are then recorded among them."""
        return "modelgraded" in text(self.eval_spec.get("cls"))

    @property
    def lost_judgements(self) -> bool:
        return bool(number((self.report or {}).get("invalid_request_during_evaluation")))


INVALID = "__invalid__"
"""Recorded as the choice of a judge whose reply names none."""
_EVENT = frozenset(("run_id", "event_id", "sample_id", "type", "data", "created_by", "created_at"))
_MATCH = frozenset(("correct", "expected", "picked", "sampled", "options"))
_HANDLED = frozenset(("sampling", "match", "metrics", "error", "raw_sample", "function_call"))
_SCORES = ("score", "accuracy", "correct")


class EventKey(msgspec.Struct):
    """The key that groups the events of a sample."""

    sample_id: Any = None

    def key(self) -> Any:
        return None if self.sample_id is None else as_text(self.sample_id)


class EvalRun(NamedTuple):
    run: Run
    header: RunHeader


class SampleEvents:
    """The events of a sample, by their type."""

    def __init__(self, rows: tuple[Row, ...]) -> None:
        self.name = name_of(rows[0].data["sample_id"])
        events = (row for row in rows if isinstance(row.data, dict))
        # the tokens of an event that is in the log twice were spent once
        self.rows, self.copies = split_copies(events, f"an event of {self.name}", source=NAME)
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
    rows = read_groups(path, EventKey, EventKey.key, source=NAME, root=path.parent)
    events = (row for row in rows if not _is_header(row))
    yield from of_run(run.id, convert_each(events, partial(items_of, EvalRun(run, header)), source=NAME))


def _is_header(row: Row | Unreadable) -> bool:
    data = row.data[0].data if isinstance(row, Row) else None
    return isinstance(data, dict) and bool({"spec", "final_report"} & set(data))


def items_of(eval_run: EvalRun, group: Row) -> Iterator[Item]:
    sample = SampleEvents(group.data)
    yield _case(eval_run.run, sample)
    yield _attempt(eval_run, sample)
    yield from sample.copies
    yield from repeated_rows(
        sample.rows, f"an event of {sample.name}", source=NAME, key=lambda event: repr(event.get("event_id"))
    )


def _case(run: Run, sample: SampleEvents) -> Case:
    raw, match = mapping(sample.raw), next(iter(sample.matches), {})
    expected = raw.get("ideal", match.get("expected"))
    return Case(
        run=run.id,
        suite=run.suite,
        native_id=sample.name,
        input=plain(raw.get("input", sample.samplings.first_prompt)),
        expected=plain(expected[0] if isinstance(expected, list) and len(expected) == 1 else expected),
        extra=rest(raw, ("input", "ideal")) | non_empty(options=match.get("options")),
        ref=sample.rows[0].ref,
    )


def _attempt(eval_run: EvalRun, sample: SampleEvents) -> Attempt:
    errors = tuple(_errors(sample))
    checks = tuple(_checks(sample))
    values = [one for check in checks if check.is_primary and (one := _number(check)) is not None]
    value = fmean(values) if values else None
    broken = next((check.error for check in checks if check.error), None)
    facts = _facts(eval_run.header, value, checks, failed=bool(errors))
    # a judge whose request was refused has no reply
    judged = eval_run.header.is_judged and bool(sample.of("metrics"))
    times = [time for row in sample.rows if (time := moment(row.data.get("created_at")))]
    return Attempt(
        run=eval_run.run.id,
        case=case_key(eval_run.run.suite, sample.name),
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        native_status=_native(checks),
        reported=value,
        reported_counted=value is not None,
        output=Output(text=sample.samplings.answer(judged=judged), answer=_picked_answer(sample)),
        errors=(*errors, broken) if broken else errors,
        checks=checks,
        judgements=tuple(_judgements(sample, checks, judged=judged)),
        steps=sample.samplings.steps(judged=judged),
        usage=UsageByRole(subject=sample.samplings.usage(judged=judged)),
        started_at=times[0] if times else None,
        finished_at=times[-1] if times else None,
        extra=_extra(eval_run, sample),
        ref=sample.rows[0].ref,
    )


def _facts(header: RunHeader, value: float | None, checks: tuple[Check, ...], *, failed: bool) -> Facts:
    if any(check.status == "error" for check in checks):
        return Facts("error" if failed else "completed", "error", "none")
    if checks:
        outcome = outcome_of(value)
        return Facts("error", "scored", despite_error(outcome)) if failed else Facts("completed", "scored", outcome)
    if failed:
        return Facts("error", "not_run", "none")
    if header.report is None:
        return Facts("unfinished", "not_run", "none")
    # if a judge's request was refused, the only trace is a count in the report
    return Facts("completed", "error" if header.lost_judgements else "unscored", "none")


def _errors(sample: SampleEvents) -> Iterator[ErrorInfo]:
    for row in sample.of("error"):
        data = mapping(row.data.get("data"))
        yield ErrorInfo(
            type=text(data.get("type")) or "error",
            message=as_text(data.get("message") or ""),
            derived=() if text(data.get("type")) else ("type",),
            at=moment(row.data.get("created_at")),
            extra=rest(data, ("type", "message")),
            ref=row.ref.below("data"),
        )


def _checks(sample: SampleEvents) -> Iterator[Check]:
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
    for at, (name, metric) in enumerate(data.items()):
        value = metric if isinstance(metric, bool) else number(metric)
        yield Check(
            name=str(name),
            # a score without a valid choice is not a score
            status="error" if invalid else status_of(float(value)) if value is not None else "not_applicable",
            scorer="metrics",
            order=order + at,
            value=value if value is not None else as_text(metric),
            is_primary=decides and name == main,
            counts=decides and name == main,
            error=_no_choice(str(name), row) if metric == INVALID else None,
            ref=row.ref.below("data", str(name)),
        )


def _no_choice(name: str, row: Row) -> ErrorInfo:
    """The harness writes the word in place of a choice; how that is called is errata's."""
    message, ref = f"{name} {INVALID}", row.ref.below("data", name)
    return ErrorInfo(type="no_choice", message=message, phase="scoring", derived=("type", "message"), ref=ref)


def _number(check: Check) -> float | None:
    return float(check.value) if isinstance(check.value, bool | float) else None


def _native(checks: tuple[Check, ...]) -> str:
    main = next((check for check in checks if check.is_primary), None)
    if main is None:
        return ""
    return f"{main.scorer} {main.value}" if main.scorer == "match" else f"{main.name} {main.value}"


def _picked_answer(sample: SampleEvents) -> str | None:
    picked = sample.matches[0].get("picked") if sample.matches else None
    return None if picked is None else as_text(picked)


def _judgements(sample: SampleEvents, checks: tuple[Check, ...], *, judged: bool) -> Iterator[Judgement]:
    judge_reply = sample.samplings.judge_step if judged else None
    if judge_reply is not None:
        yield Judgement(
            judge="judge",
            model=judge_reply.model,
            valid=not any(check.status == "error" for check in checks),
            reasoning=judge_reply.text,
        )


def _extra(eval_run: EvalRun, sample: SampleEvents) -> dict[str, Any]:
    others = [
        non_empty(type=row.data.get("type"), data=row.data.get("data"))
        for row in sample.rows
        if row.data.get("type") not in _HANDLED
    ]
    runs = {row.data.get("run_id") for row in sample.rows} - {eval_run.run.native_id}
    makers = sorted({as_text(row.data["created_by"]) for row in sample.rows if row.data.get("created_by")})
    sampled = [match.get("sampled") for match in sample.matches]
    return non_empty(
        events=others,
        runs=sorted(map(as_text, runs)),
        created_by=makers,
        sampled=sampled if any(one not in (None, *sample.samplings.sampled) for one in sampled) else None,
        **{key: value for row in sample.rows[:1] for key, value in rest(row.data, _EVENT).items()},
    )


# --- the specification of a run and its final report → the run
# The report is written when the run ends, but buffered events may come after it: it may be in any line.


HEADER = lazy_regex(rb'\A\s*\{\s*"(?:spec|final_report)"\s*:')
_SPEC = frozenset(("completion_fns", "eval_name", "base_eval", "split", "run_id", "created_at", "run_config"))
_CONFIG = ("completion_fns", "eval_spec")
_MEANS = ("accuracy", "score", "f1_score")
"""Numbers that the report averages over the samples; the first one in the report is the headline."""


def header_of(path: Path) -> RunHeader:
    place = SourceRef(file=path.name)
    header = RunHeader({}, place, None, place)
    try:
        with path.open("rb", buffering=READ_SIZE) as file:
            for number_, line in enumerate(iter(lambda: file.readline(LINE_CAP), b""), start=1):
                line = line.removeprefix(BYTE_ORDER_MARK)
                if HEADER.match(line):
                    header = _with(header, line, SourceRef(file=path.name, line=number_))
    except OSError:
        return header
    return header


def _with(header: RunHeader, line: bytes, ref: SourceRef) -> RunHeader:
    try:
        data = mapping(decode(line))
    except ValueError:
        return header
    if "spec" in data:
        return header._replace(spec=mapping(data["spec"]), spec_ref=ref)
    return header._replace(report=mapping(data["final_report"]), report_ref=ref)


def run_of(header: RunHeader, path: Path) -> Run:
    spec = header.spec
    models = [as_text(one) for one in sequence(spec.get("completion_fns"))]
    config: dict[str, Any] = settings(rest(mapping(spec.get("run_config")), _CONFIG))
    others = mapping(spec.get("run_config")).get("completion_fns")
    return Run(
        native_id=text(spec.get("run_id")) or path.stem,
        source=SourceInfo(name=NAME),
        subject=Subject(model=models[0] if models else ""),
        roles={"judge": models[-1]} if header.is_judged and len(models) > 1 else {},
        suite=text(spec.get("eval_name")) or text(spec.get("base_eval")),
        started_at=moment(spec.get("created_at")),
        # a finished run has a report
        native_status="started" if header.report is None else "",
        reported=tuple(_reported(header)),
        origin=str(path.parent),
        extra=rest(spec, _SPEC)
        | non_empty(
            base_eval=spec.get("base_eval"),
            split=spec.get("split"),
            eval_spec=settings(rest(header.eval_spec, ("key",))),
            registered=header.eval_spec.get("key") if header.eval_spec.get("key") != spec.get("eval_name") else None,
            run_config=config,
            models=models[1:],
            configured=others if others != spec.get("completion_fns") else None,
        ),
        ref=header.spec_ref,
    )


def _reported(header: RunHeader) -> Iterator[Reported]:
    report = header.report or {}
    headline = next((name for name in _MEANS if number(report.get(name)) is not None), "")
    for name, value in report.items():
        numeric = number(value)
        yield Reported(
            name=name,
            metric="mean" if name in _MEANS else name,
            value=numeric,
            headline=name == headline,
            extra=non_empty(value=value) if numeric is None else {},
            ref=header.report_ref.below("final_report", name),
        )
