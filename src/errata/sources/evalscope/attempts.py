"""A prediction and its review → a case and an attempt."""

from collections.abc import Iterator
from typing import Any

from errata.model import Attempt, Case, Check, ErrorInfo, Item, Limit, Output, UsageByRole, case_key
from errata.sources.evalscope.sample import Reading, Sample
from errata.sources.evalscope.scores import checks_of, judgements_of, measurement_of
from errata.sources.shared.chat import last_answer, steps_of_chat
from errata.sources.shared.facts import Facts, despite_error, outcome_of
from errata.sources.shared.usage import usage_of
from errata.sources.shared.values import as_text, count, known, mapping, number, plain, rest, sequence, text

_PREDICTION = frozenset(("index", "model", "model_output", "messages", "agent_trace", "metadata"))
_OUTPUT = frozenset(("choices", "usage", "time", "error", "model"))
_REVIEW = frozenset(("index", "target", "messages", "input", "agent_trace", "sample_score"))
_SAMPLE = frozenset(("score", "sample_id", "group_id", "generation_index", "sample_metadata"))
_SCORE = frozenset(("value", "status", "judge_summary", "judge_detail", "extracted_prediction", "prediction",
                    "explanation", "main_score_name"))  # fmt: skip


def items_of(reading: Reading, seen: set[int], sample: Sample) -> Iterator[Item]:
    name, index = reading.case(_group(reading, sample)), _try(reading, sample)
    if hash(name) not in seen:
        seen.add(hash(name))
        yield _case(reading, name, sample)
    # two samples that claim the same place in their group
    while hash((name, index)) in seen:
        index += 1
    seen.add(hash((name, index)))
    yield _attempt(reading, name, index, sample)


def _group(reading: Reading, sample: Sample) -> Any:
    """Repeats of one task have one group; without a review it follows from the number."""
    group = sample.scored.get("group_id")
    return group if group is not None else sample.index // reading.repeats


def _try(reading: Reading, sample: Sample) -> int:
    told = count(sample.scored.get("generation_index"))
    return (told if told is not None else sample.index % reading.repeats) + 1


def _case(reading: Reading, name: str, sample: Sample) -> Case:
    target = sample.reviewed.get("target")
    asked = sample.reviewed.get("input") or _asked(sample.messages)
    metadata = sample.scored.get("sample_metadata")
    return Case(
        run=reading.run.id,
        suite=reading.run.suite,
        native_id=name,
        category="" if reading.is_alone else reading.subset,
        input=plain(asked),
        expected=plain(target[0] if isinstance(target, list) and len(target) == 1 else target),
        extra=known(metadata=metadata if metadata is not None else sample.predicted.get("metadata")),
        ref=sample.ref,
    )


def _asked(messages: list[Any]) -> Any:
    """All before the first answer; of one message only its text."""
    asked = []
    for message in map(mapping, messages):
        if message.get("role") == "assistant":
            break
        asked.append(known(role=message.get("role"), content=message.get("content")))
    only = asked[0].get("content") if len(asked) == 1 else None
    return only if isinstance(only, str) else asked or None


def _attempt(reading: Reading, name: str, index: int, sample: Sample) -> Attempt:
    error = _error(sample)
    steps = steps_of_chat(sample.messages)
    limit = _limit(sample)
    checks = tuple(checks_of(reading, sample))
    main = next((check for check in checks if check.is_primary), None)
    value = float(main.value) if main is not None and isinstance(main.value, float | bool) else None
    facts = _facts(reading, sample, value, failed=error is not None, limited=limit is not None)
    broken = main.error if main is not None and main.error else None
    return Attempt(
        run=reading.run.id,
        case=case_key(reading.run.suite, name),
        native_id=as_text(sample.scored.get("sample_id", sample.index)),
        index=index,
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        native_status=_status(sample, main, value),
        reported=value,
        reported_counted=value is not None,
        output=_said(sample, last_answer(steps)),
        stop_reason=text(sample.choice.get("stop_reason")),
        limit=limit,
        errors=tuple(one for one in (error, broken) if one is not None),
        checks=checks,
        judgements=tuple(judgements_of(sample)),
        steps=steps,
        usage=UsageByRole(subject=usage_of(sample.output.get("usage"))),
        duration=number(sample.output.get("time")),
        extra=_extra(reading, sample),
        ref=sample.ref,
    )


def _status(sample: Sample, main: Check | None, value: float | None) -> str:
    """That a score is of use says nothing of what it is."""
    told = text(sample.score.get("status"))
    return f"{main.name} {value:g}" if told == "success" and main is not None and value is not None else told


def _facts(reading: Reading, sample: Sample, value: float | None, *, failed: bool, limited: bool) -> Facts:
    measurement = measurement_of(reading, sample, value)
    outcome = outcome_of(value) if measurement == "scored" else "none"
    if failed:
        return Facts("error", measurement, despite_error(outcome))
    return Facts("limit" if limited else "completed", measurement, outcome)


def _error(sample: Sample) -> ErrorInfo | None:
    told = sample.output.get("error")
    if not told or sample.prediction is None:
        return None
    place = sample.prediction.ref.below("model_output", "error")
    return ErrorInfo(type="model_error", message=as_text(told), phase="subject", ref=place)


def _limit(sample: Sample) -> Limit | None:
    """An agent that took all of its steps and never said that it was done."""
    trace = mapping(sample.predicted.get("agent_trace")) or mapping(sample.reviewed.get("agent_trace"))
    most, events = count(trace.get("max_steps")), [mapping(one) for one in sequence(trace.get("events"))]
    taken = {one.get("step") for one in events}
    if not most or len(taken) < most or any(one.get("type") == "submit" for one in events):
        return None
    return Limit(type="steps", value=float(most), reason="max_steps")


def _said(sample: Sample, last: str | None) -> Output:
    message = mapping(sample.choice.get("message"))
    steps = steps_of_chat([message]) if message else ()
    answer = sample.score.get("extracted_prediction")
    return Output(
        text=steps[0].text if steps else None if sample.prediction else last,
        answer=answer if isinstance(answer, str) else None,
    )


def _extra(reading: Reading, sample: Sample) -> dict[str, Any]:
    """Both files hold the messages and the trace: what one says otherwise than the other is kept."""
    predicted, reviewed = sample.predicted, sample.reviewed
    twice = {
        name: reviewed.get(name)
        for name in ("messages", "agent_trace")
        if predicted and reviewed.get(name) != predicted.get(name)
    }
    said = mapping(sample.choice.get("message"))
    last = next((one for one in reversed(sample.messages) if mapping(one).get("role") == "assistant"), None)
    text_, answered = sample.score.get("prediction"), _said(sample, None).text
    score = rest(sample.score, _SCORE)
    return (
        rest(predicted, _PREDICTION)
        | rest(reviewed, _REVIEW)
        | known(
            agent_trace=predicted.get("agent_trace") or reviewed.get("agent_trace"),
            reviewed=twice,
            output=rest(sample.output, _OUTPUT) | rest(sample.choice, ("message", "stop_reason")),
            model=predicted.get("model") if predicted.get("model") != reading.run.subject.model else None,
            answered_by=sample.output.get("model"),
            message=said if said != last else None,
            prediction=text_ if text_ != answered else None,
            main_score_name=sample.score.get("main_score_name"),
            metadata=predicted.get("metadata")
            if predicted.get("metadata") != sample.scored.get("sample_metadata")
            else None,
            score=score,
            sample=rest(sample.scored, _SAMPLE),
        )
    )
