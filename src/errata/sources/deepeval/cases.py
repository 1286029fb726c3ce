"""A test case → its case and its attempt, with metrics as checks, and turns, tool calls and spans as steps.

deepeval marks a case as failed if a metric raised: that is a measurement error, not a wrong answer. A case fails if a
counting metric missed its threshold, even if another one raised.

`success` is taken from the metric and never recomputed: some metrics pass above their threshold and some below. A
metric that raised has an error, no score, and still `success: false`. Metrics without a threshold and flaky ones
decide nothing.
"""

import re
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from errata.model import (
    Actor,
    Attempt,
    Case,
    Check,
    ErrorInfo,
    Item,
    Output,
    Run,
    Scorer,
    SourceRef,
    Step,
    ToolCall,
    ToolResult,
    Usage,
    UsageByRole,
    case_key,
)
from errata.model.identity import fingerprint
from errata.model.usage import total_cost, total_of
from errata.model.words import ActorRole, CheckStatus, Phase, ScorerKind, StepKind
from errata.sources.base import Row
from errata.sources.deepeval.results import fields, objects
from errata.sources.shared.chat import CHAT_ROLES
from errata.sources.shared.documents import context_artefacts
from errata.sources.shared.exceptions import error_of, raised_as
from errata.sources.shared.facts import Facts, despite_error, mark_recovered
from errata.sources.shared.fields import JsonFields
from errata.sources.shared.runs import CaseNumbering
from errata.sources.shared.values import (
    as_text,
    cost_number,
    count,
    mapping,
    moment,
    name_of,
    non_empty,
    number,
    plain,
    reported_cost,
    rest,
    sequence,
    text,
)
from errata.text.lazy_regex import lazy_regex

_NUMBERED = lazy_regex(r"(?:conversational_)?test_case_(?:\d+|None)")
_CASE = frozenset(
    ("name", "input", "actual_output", "expected_output", "context", "retrieval_context", "tools_called",
     "expected_tools", "token_cost", "input_tokens", "output_tokens", "completion_time", "success", "metrics_data",
     "run_duration", "evaluation_cost", "index", "trace", "turns", "tags", "scenario", "expected_outcome",
     "user_description", "metadata", "classifications", "expectations", "expectations_data")
)  # fmt: skip
_TRACE = frozenset(
    ("base_spans", "agent_spans", "llm_spans", "retriever_spans", "tool_spans", "start_time", "end_time")
)
_METRIC = frozenset(("name", "threshold", "success", "score", "reason", "error", "evaluation_model"))
_LABEL = frozenset(("name", "label", "success", "reason", "error", "evaluation_model"))
_SPANS = ("base_spans", "agent_spans", "llm_spans", "retriever_spans", "tool_spans")
_KINDS: dict[str, StepKind] = {"llm": "model_call", "tool": "tool_call", "retriever": "tool_result"}
_ROLES: dict[str, ActorRole] = {"tool": "tool", "retriever": "tool"}


def items_of(run: Run, numbering: CaseNumbering, row: Row) -> Iterator[Item]:
    case = fields(row.data)
    name = _name(case)
    index = numbering.next(name)
    described = _case(run, name, case, row)
    if numbering.is_news(described):
        yield described
    yield _attempt(run, name, index, case, row)


def _name(case: dict[str, Any]) -> str:
    """deepeval's own number is a position in a list and changes when a case is inserted: use the input instead."""
    name = name_of(case.get("name"))
    return f"input-{fingerprint(plain(_input_of(case)), size=6)}" if _NUMBERED.fullmatch(name) else name


def _input_of(case: dict[str, Any]) -> Any:
    turns = objects(case.get("turns"))
    first_message = next((one.get("content") for one in turns if one.get("role") == "user"), None)
    return next((one for one in (case.get("input"), case.get("scenario"), first_message) if one is not None), None)


def _case(run: Run, name: str, case: dict[str, Any], row: Row) -> Case:
    tools, wanted = case.get("expected_tools"), case.get("expected_output", case.get("expected_outcome"))
    return Case(
        run=run.id,
        suite=run.suite,
        native_id=name,
        name=text(case.get("name")),
        tags=tuple(one for one in case.get("tags") or () if isinstance(one, str)),
        input=plain(_input_of(case)),
        expected=plain(tools if wanted is None else wanted),
        extra=non_empty(
            expected_tools=None if wanted is None else tools,
            context=case.get("context"),
            scenario=case.get("scenario") if case.get("input") is not None else None,
            user_description=case.get("user_description"),
            metadata=case.get("metadata"),
            expectations=expectations_of(case),
        ),
        ref=row.ref,
    )


def _attempt(run: Run, name: str, index: int, case: dict[str, Any], row: Row) -> Attempt:
    checks = tuple(checks_of(case, row))
    passed, trace = case.get("success"), fields(case.get("trace"))
    error = trace_error(trace, row.ref.below("trace"))
    facts = _facts(passed, checks, failed=error is not None)
    checks = mark_recovered(checks, facts)
    broken = tuple(check.error for check in checks if check.error)
    took = number(case.get("run_duration"))
    return Attempt(
        run=run.id,
        case=case_key(run.suite, name),
        native_id=text(trace.get("uuid")),
        index=index,
        position=count(case.get("index")),
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        native_status="" if passed is None else f"success: {as_text(passed)}",
        reported=float(passed) if isinstance(passed, bool) else None,
        reported_counted=isinstance(passed, bool),
        output=Output(text=_answer(case)),
        errors=(error, *broken) if error else broken,
        checks=checks,
        steps=steps_of(case, row.ref),
        artefacts=tuple(context_artefacts(case.get("retrieval_context"), row.ref, "retrieval_context")),
        usage=UsageByRole(subject=cost_of(case), judge=_judging(case)),
        duration=number(case.get("completion_time")),
        durations={} if took is None else {"evaluation": took},
        extra=rest(case, _CASE) | non_empty(trace=rest(trace, _TRACE)),
        ref=row.ref,
    )


def _answer(case: dict[str, Any]) -> str | None:
    output = case.get("actual_output")
    return answer_of(objects(case.get("turns"))) if output is None else as_text(output)


def _facts(passed: Any, checks: tuple[Check, ...], *, failed: bool) -> Facts:
    facts = _facts_of_metrics(passed, checks)
    if not failed:
        return facts
    return Facts("error", facts.measurement, despite_error(facts.outcome))


def _facts_of_metrics(passed: Any, checks: tuple[Check, ...]) -> Facts:
    missed = any(check.failed for check in checks)
    if passed is not True and not missed and any(check.status == "error" and check.counts for check in checks):
        return Facts("completed", "error", "none")
    if not any(check.value is not None for check in checks) and not missed:
        # deepeval calls a case without metrics a success
        return Facts("completed", "unscored" if checks else "not_run", "none")
    return Facts("completed", "scored", "none" if passed is None else "pass" if passed is True else "fail")


def _judging(case: dict[str, Any]) -> Usage:
    metrics, spent = objects(case.get("metrics_data")), cost_number(case.get("evaluation_cost"))
    return Usage(
        input=total_of(count(one.get("input_tokens")) for one in metrics),
        output=total_of(count(one.get("output_tokens")) for one in metrics),
        cost=total_cost(cost_number(one.get("evaluation_cost")) for one in metrics) if spent is None else spent,
        cost_source="reported" if spent is not None or metrics else "unknown",
    )


def checks_of(case: dict[str, Any], row: Row) -> Iterator[Check]:
    metrics, ref = sequence(case.get("metrics_data")), row.ref
    name = "metricsData" if "metricsData" in row.data else "metrics_data"
    for order, metric in enumerate(metrics):
        yield _check(fields(metric), order, ref.below(name, order))
    for at, label in enumerate(objects(case.get("classifications"))):
        yield _label(label, len(metrics) + at, ref.below("classifications", at))


# a metric that finds nothing to judge in an answer scores it with 1
_NOTHING_FOUND = lazy_regex(r"^(?:Claims|Statements|Verdicts|Opinions|Sentences)\s*:\s*\[\s*\]", re.MULTILINE)


def _check(metric: dict[str, Any], order: int, ref: SourceRef) -> Check:
    score, bar, passed = number(metric.get("score")), number(metric.get("threshold")), metric.get("success")
    status = _status(metric, score)
    return Check(
        name=text(metric.get("name")) or "metric",
        status=status,
        judge=judge_of(metric),
        order=order,
        kind="criterion",
        value=score,
        threshold=bar,
        lower_is_better=_is_better_lower(score, bar, passed),
        counts=metric.get("flaky") is not True and status != "not_applicable",
        weakness="no_criteria" if _NOTHING_FOUND.search(text(metric.get("verbose_logs"))) else "",
        explanation=text(metric.get("reason")),
        error=_error(metric, ref),
        extra=rest(metric, _METRIC) | non_empty(success=passed if passed is not (status == "pass") else None),
        ref=ref,
    )


def _status(metric: dict[str, Any], score: float | None) -> CheckStatus:
    passed = metric.get("success")
    if text(metric.get("error")):
        return "error"
    if score is None:
        return "unscored" if passed is not True else "pass"
    if passed is None:
        return "not_applicable"
    return "pass" if passed is True else "fail"


def _is_better_lower(score: float | None, bar: float | None, passed: Any) -> bool:
    if score is None or bar is None or score == bar or not isinstance(passed, bool):
        return False
    return passed is not (score > bar)


def _label(label: dict[str, Any], order: int, ref: SourceRef) -> Check:
    """The label of a classifier; it does not count for the case."""
    success = label.get("success")
    status: CheckStatus = "not_applicable" if not isinstance(success, bool) else "pass" if success else "fail"
    return Check(
        name=text(label.get("name")) or "classification",
        status="error" if text(label.get("error")) else status,
        judge=judge_of(label),
        order=order,
        value=text(label.get("label")) or None,
        counts=False,
        explanation=text(label.get("reason")),
        error=_error(label, ref),
        extra=rest(label, _LABEL),
        ref=ref,
    )


def _error(holder: dict[str, Any], ref: SourceRef) -> ErrorInfo | None:
    message = text(holder.get("error"))
    return error_of(raised_as(message), "scoring", ref=ref.below("error")) if message else None


def judge_of(metric: dict[str, Any]) -> str:
    """The judge model; a metric in plain code may have `none`."""
    model = text(metric.get("evaluation_model"))
    return "" if model.lower() == "none" else model


def scorers_of(cases: Iterator[dict[str, Any]]) -> tuple[Scorer, ...]:
    scorers: dict[str, Scorer] = {}
    for case in cases:
        for metric in objects(case.get("metrics_data")):
            name, judge = text(metric.get("name")), judge_of(metric)
            if name and name not in scorers:
                kind: ScorerKind = "judge" if judge else "code"
                scorers[name] = Scorer(name=name, kind=kind, model=judge, threshold=number(metric.get("threshold")))
    return tuple(scorers.values())


def expectations_of(case: dict[str, Any]) -> Any:
    return mapping(case.get("expectations_data")) or case.get("expectations")


def steps_of(case: dict[str, Any], ref: SourceRef) -> tuple[Step, ...]:
    made = [*_turns(case, ref), *_tools(case), *_spans(fields(case.get("trace")), ref.below("trace"))]
    return tuple(replace(step, index=at) for at, step in enumerate(made))


def answer_of(turns: list[dict[str, Any]]) -> str | None:
    """The assistant's last message in a conversation."""
    answers = [one.get("content") for one in turns if one.get("role") == "assistant"]
    return as_text(answers[-1]) if answers and answers[-1] is not None else None


def trace_error(trace: dict[str, Any], ref: SourceRef) -> ErrorInfo | None:
    if trace.get("status") != "ERRORED":
        return None
    errors = [step.error for step in _spans(trace, ref) if step.error]
    return errors[-1] if errors else ErrorInfo(type="error", message="", derived=("type",), ref=ref.below("status"))


def _turns(case: dict[str, Any], ref: SourceRef) -> Iterator[Step]:
    for at, turn in enumerate(map(JsonFields, objects(case.get("turns")))):
        calls = tuple(call_of(one) for one in objects(turn.take("tools_called")))
        content, order = turn.take("content"), turn.take("index")
        yield Step(
            index=at,
            actor=Actor(role=CHAT_ROLES.get(text(turn.take("role")), "environment")),
            kind="tool_call" if calls else "message",
            text="" if content is None else as_text(content),
            tool_calls=calls,
            ref=ref.below("turns", at),
            extra=rest(turn.rest()) | non_empty(order=order if order not in (None, at) else None),
        )


def _tools(case: dict[str, Any]) -> Iterator[Step]:
    for tool in objects(case.get("tools_called")):
        call = call_of(tool)
        yield Step(
            index=0,
            actor=Actor(role="assistant"),
            kind="tool_call",
            reasoning=text(tool.get("reasoning")),
            tool_calls=(call,),
        )


def call_of(data: dict[str, Any]) -> ToolCall:
    tool = JsonFields(data)
    tool.drop("reasoning")
    output = tool.take("output")
    return ToolCall(
        name=text(tool.take("name")),
        arguments=plain(tool.take("input_parameters")),
        result=None if output is None else ToolResult(text=as_text(output)),
        extra=rest(tool.rest()),
    )


def _spans(trace: dict[str, Any], ref: SourceRef) -> list[Step]:
    steps = [_span(one, ref) for kind in _SPANS for one in objects(trace.get(kind))]
    return sorted(steps, key=lambda step: step.started_at or "")


_PHASES: dict[str, Phase] = {"llm": "subject", "tool": "tool"}


def _span(data: dict[str, Any], ref: SourceRef) -> Step:
    span = JsonFields(data)
    span.drop("status")
    kind, output, broke = text(span.take("type")), span.take("output"), text(span.take("error"))
    read, written = count(span.take("input_tokens")), count(span.take("output_tokens"))
    given, parent = span.take("input"), span.take("parent_uuid")
    return Step(
        index=0,
        actor=Actor(role=_ROLES.get(kind, "assistant"), name=text(span.take("name"))),
        kind=_KINDS.get(kind, "message"),
        text="" if output is None else as_text(output),
        error=error_of(raised_as(broke), _PHASES.get(kind, ""), ref=ref) if broke else None,
        usage=None if read is None and written is None else Usage(input=read, output=written),
        started_at=moment(span.take("start_time")),
        ended_at=moment(span.take("end_time")),
        model=text(span.take("model")),
        span_id=text(span.take("uuid")),
        extra=rest(span.rest()) | non_empty(input=given, parent=parent, type=kind),
    )


def cost_of(case: dict[str, Any]) -> Usage:
    """Tokens and cost of the subject."""
    spent = number(case.get("token_cost"))
    return Usage(
        input=count(case.get("input_tokens")),
        output=count(case.get("output_tokens")),
        **reported_cost(spent),
    )
