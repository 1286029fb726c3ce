"""A prediction and its review → a case and an attempt."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from errata.model import (
    Attempt,
    Case,
    Check,
    ErrorInfo,
    Item,
    Judgement,
    Limit,
    Output,
    Run,
    SourceRef,
    UsageByRole,
    case_key,
)
from errata.model.words import CheckStatus, Measurement
from errata.sources.base import Row
from errata.sources.evalscope.runs import EvalscopeReport
from errata.sources.shared.chat import last_answer, steps_of_chat
from errata.sources.shared.facts import Facts, despite_error, outcome_of, status_of
from errata.sources.shared.runs import CaseNumbering
from errata.sources.shared.usage import usage_of
from errata.sources.shared.values import as_text, count, mapping, non_empty, number, plain, rest, sequence, text

_PREDICTION = frozenset(("index", "model", "model_output", "messages", "agent_trace", "metadata"))
_OUTPUT = frozenset(("choices", "usage", "time", "error", "model"))
_REVIEW = frozenset(("index", "target", "messages", "input", "agent_trace", "sample_score"))
_SAMPLE = frozenset(("score", "sample_id", "group_id", "generation_index", "sample_metadata"))
_SCORE = frozenset(("value", "status", "judge_summary", "judge_detail", "extracted_prediction", "prediction",
                    "explanation", "main_score_name"))  # fmt: skip
USABLE = frozenset(("", "success", "fallback", "degraded"))


class Index(msgspec.Struct):
    """The key that joins a prediction and its review."""

    index: Any = None

    def key(self) -> Any:
        return self.index


class SubsetContext(NamedTuple):
    """The values that all samples of a subset share."""

    run: Run
    report: EvalscopeReport
    subset: str
    is_alone: bool
    """Whether it is the only subset: then its name is not part of case names."""
    repeats: int

    def case(self, number_: Any) -> str:
        return as_text(number_) if self.is_alone else f"{self.subset}/{as_text(number_)}"

    @property
    def primary(self) -> str:
        return self.report.primary.name if self.report.primary else ""


class EvalscopeSample(NamedTuple):
    prediction: Row | None
    review: Row | None

    @property
    def row(self) -> Row:
        """The review, else the prediction; one of them always exists."""
        row = self.review or self.prediction
        assert row is not None
        return row

    @property
    def ref(self) -> SourceRef:
        return self.row.ref

    @property
    def index(self) -> Any:
        return self.row.data["index"]

    @property
    def predicted(self) -> dict[str, Any]:
        return mapping(self.prediction.data) if self.prediction else {}

    @property
    def reviewed(self) -> dict[str, Any]:
        return mapping(self.review.data) if self.review else {}

    @property
    def output(self) -> dict[str, Any]:
        return mapping(self.predicted.get("model_output"))

    @property
    def sample_score(self) -> dict[str, Any]:
        return mapping(self.reviewed.get("sample_score"))

    @property
    def score(self) -> dict[str, Any]:
        return mapping(self.sample_score.get("score"))

    @property
    def messages(self) -> list[Any]:
        return sequence(self.predicted.get("messages")) or sequence(self.reviewed.get("messages"))

    @property
    def choice(self) -> dict[str, Any]:
        return mapping(next(iter(sequence(self.output.get("choices"))), None))


def items_of(context: SubsetContext, seen: set[int], cases: CaseNumbering, sample: EvalscopeSample) -> Iterator[Item]:
    name, index = context.case(_group(context, sample)), _try(context, sample)
    case = _case(context, name, sample)
    if cases.is_news(case):
        yield case
    # two samples with the same number in their group
    while hash((name, index)) in seen:
        index += 1
    seen.add(hash((name, index)))
    yield _attempt(context, name, index, sample)


def _group(context: SubsetContext, sample: EvalscopeSample) -> Any:
    """Repeats of one task share a group; without a review it is computed from the index."""
    group = sample.sample_score.get("group_id")
    return group if group is not None else sample.index // context.repeats


def _try(context: SubsetContext, sample: EvalscopeSample) -> int:
    index = count(sample.sample_score.get("generation_index"))
    return (index if index is not None else sample.index % context.repeats) + 1


def _case(context: SubsetContext, name: str, sample: EvalscopeSample) -> Case:
    target = sample.reviewed.get("target")
    prompt = sample.reviewed.get("input") or _prompt(sample.messages)
    metadata = sample.sample_score.get("sample_metadata")
    return Case(
        run=context.run.id,
        suite=context.run.suite,
        native_id=name,
        category="" if context.is_alone else context.subset,
        input=plain(prompt),
        expected=plain(target[0] if isinstance(target, list) and len(target) == 1 else target),
        extra=non_empty(metadata=metadata if metadata is not None else sample.predicted.get("metadata")),
        ref=sample.ref,
    )


def _prompt(messages: list[Any]) -> Any:
    """The messages before the first answer; of a single message only its text."""
    prompt = []
    for message in map(mapping, messages):
        if message.get("role") == "assistant":
            break
        prompt.append(non_empty(role=message.get("role"), content=message.get("content")))
    only = prompt[0].get("content") if len(prompt) == 1 else None
    return only if isinstance(only, str) else prompt or None


def _attempt(context: SubsetContext, name: str, index: int, sample: EvalscopeSample) -> Attempt:
    error = _error(sample)
    steps = steps_of_chat(sample.messages)
    limit = _limit(sample)
    checks = tuple(checks_of(context, sample))
    main = next((check for check in checks if check.is_primary), None)
    value = float(main.value) if main is not None and isinstance(main.value, float | bool) else None
    facts = _facts(context, sample, value, failed=error is not None, limited=limit is not None)
    broken = main.error if main is not None and main.error else None
    return Attempt(
        run=context.run.id,
        case=case_key(context.run.suite, name),
        native_id=as_text(sample.sample_score.get("sample_id", sample.index)),
        index=index,
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        native_status=_status(sample, main, value),
        reported=value,
        reported_counted=value is not None,
        output=_output_of(sample, last_answer(steps)),
        stop_reason=text(sample.choice.get("stop_reason")),
        limit=limit,
        errors=tuple(one for one in (error, broken) if one is not None),
        checks=checks,
        judgements=tuple(judgements_of(sample)),
        steps=steps,
        usage=UsageByRole(subject=usage_of(sample.output.get("usage"))),
        duration=number(sample.output.get("time")),
        extra=_extra(context, sample),
        ref=sample.ref,
    )


def _status(sample: EvalscopeSample, main: Check | None, value: float | None) -> str:
    """`success` only means that the score is valid, so show its value instead."""
    status = text(sample.score.get("status"))
    return f"{main.name} {value:g}" if status == "success" and main is not None and value is not None else status


def _facts(
    context: SubsetContext, sample: EvalscopeSample, value: float | None, *, failed: bool, limited: bool
) -> Facts:
    measurement = measurement_of(context, sample, value)
    outcome = outcome_of(value) if measurement == "scored" else "none"
    if failed:
        return Facts("error", measurement, despite_error(outcome))
    return Facts("limit" if limited else "completed", measurement, outcome)


def _error(sample: EvalscopeSample) -> ErrorInfo | None:
    error = sample.output.get("error")
    if not error or sample.prediction is None:
        return None
    place = sample.prediction.ref.below("model_output", "error")
    return ErrorInfo(type="model_error", message=as_text(error), phase="subject", derived=("type",), ref=place)


def _limit(sample: EvalscopeSample) -> Limit | None:
    """An agent that used all of its steps and never submitted."""
    trace = mapping(sample.predicted.get("agent_trace")) or mapping(sample.reviewed.get("agent_trace"))
    most, events = count(trace.get("max_steps")), [mapping(one) for one in sequence(trace.get("events"))]
    taken = {one.get("step") for one in events}
    if not most or len(taken) < most or any(one.get("type") == "submit" for one in events):
        return None
    return Limit(type="steps", value=float(most), reason="max_steps")


def _output_of(sample: EvalscopeSample, last: str | None) -> Output:
    message = mapping(sample.choice.get("message"))
    steps = steps_of_chat([message]) if message else ()
    answer = sample.score.get("extracted_prediction")
    return Output(
        text=steps[0].text if steps else None if sample.prediction else last,
        answer=answer if isinstance(answer, str) else None,
    )


def _extra(context: SubsetContext, sample: EvalscopeSample) -> dict[str, Any]:
    """Messages and trace are in both files: the review's are kept only where they differ."""
    predicted, reviewed = sample.predicted, sample.reviewed
    twice = {
        name: reviewed.get(name)
        for name in ("messages", "agent_trace")
        if predicted and reviewed.get(name) != predicted.get(name)
    }
    message = mapping(sample.choice.get("message"))
    last = next((one for one in reversed(sample.messages) if mapping(one).get("role") == "assistant"), None)
    text_, answered = sample.score.get("prediction"), _output_of(sample, None).text
    score = rest(sample.score, _SCORE)
    return (
        rest(predicted, _PREDICTION)
        | rest(reviewed, _REVIEW)
        | non_empty(
            agent_trace=predicted.get("agent_trace") or reviewed.get("agent_trace"),
            reviewed=twice,
            output=rest(sample.output, _OUTPUT) | rest(sample.choice, ("message", "stop_reason")),
            model=predicted.get("model") if predicted.get("model") != context.run.subject.model else None,
            answered_by=sample.output.get("model"),
            message=message if message != last else None,
            prediction=text_ if text_ != answered else None,
            main_score_name=sample.score.get("main_score_name"),
            metadata=predicted.get("metadata")
            if predicted.get("metadata") != sample.sample_score.get("sample_metadata")
            else None,
            score=score,
            sample=rest(sample.sample_score, _SAMPLE),
        )
    )


def measurement_of(context: SubsetContext, sample: EvalscopeSample, value: float | None) -> Measurement:
    if sample.review is None:
        # a review that failed has no row, and is counted as an error
        return "error" if context.report.errored(context.subset) else "not_run"
    if text(sample.score.get("status")) not in USABLE:
        return "error"
    return "unscored" if value is None else "scored"


def checks_of(context: SubsetContext, sample: EvalscopeSample) -> Iterator[Check]:
    values, status = mapping(sample.score.get("value")), text(sample.score.get("status"))
    main = next((name for name in (context.primary, text(sample.score.get("main_score_name"))) if name in values), "")
    main = main or next(iter(values), context.primary or "score")
    broken = status not in USABLE
    for order, name in enumerate(values or ([main] if sample.review is not None else [])):
        raw = values.get(name)
        value = raw if isinstance(raw, bool) else number(raw)
        yield Check(
            name=name,
            status=_check_status(value, broken=broken),
            scorer=name,
            judge=_judge(sample),
            order=order,
            value=value,
            is_primary=name == main,
            counts=name == main,
            explanation=text(sample.score.get("explanation")),
            reason_code=status if status != "success" else "",
            error=_no_verdict(sample, status) if broken else None,
            ref=sample.ref.below("sample_score", "score"),
        )


def _check_status(value: float | bool | None, *, broken: bool) -> CheckStatus:
    return "error" if broken else status_of(None if value is None else float(value))


def _no_verdict(sample: EvalscopeSample, status: str) -> ErrorInfo:
    message = text(_summary(sample).get("error")) or text(sample.score.get("explanation")) or status
    return ErrorInfo(
        type=status, message=message, phase="scoring", ref=sample.ref.below("sample_score", "score", "status")
    )


def _summary(sample: EvalscopeSample) -> dict[str, Any]:
    return mapping(sample.score.get("judge_summary")) or mapping(sample.score.get("judge_detail"))


def _judge(sample: EvalscopeSample) -> str:
    return ", ".join(map(as_text, sequence(_summary(sample).get("judge_models"))))


def judgements_of(sample: EvalscopeSample) -> Iterator[Judgement]:
    summary = _summary(sample)
    if summary:
        yield Judgement(
            judge="judge",
            model=_judge(sample),
            valid=text(summary.get("status")) in USABLE,
            reasoning=text(sample.score.get("explanation")),
            raw=plain(summary),
            ref=sample.ref,
        )
