"""A sample → its case and its attempt, with its errors."""

import re
from collections.abc import Iterator
from pathlib import PureWindowsPath
from typing import Any, NamedTuple

from errata.model import Attempt, Case, ErrorInfo, Invalidation, Limit, Output, Run, Scorer, SourceRef, case_key
from errata.model.words import Measurement, Outcome, Phase, Provenance
from errata.sources.inspect_ai.events import Events, SampleEvent, events_of, phase_at
from errata.sources.inspect_ai.runs import Judges, by_role
from errata.sources.inspect_ai.scores import Grade, Primary, SampleScores, read_scores, scores_of
from errata.sources.inspect_ai.steps import scoring_usage, steps_of
from errata.sources.inspect_ai.values import Pools, words
from errata.sources.shared.exceptions import Frame, frames_of, own_frame
from errata.sources.shared.facts import Facts
from errata.sources.shared.values import mapping, moment, number, plain, rest, sequence
from errata.text.lazy_regex import lazy_regex

_OF_THE_CASE = ("input", "choices", "target", "metadata", "description", "sandbox", "files", "setup")
_TAKEN = frozenset(
    (
        *_OF_THE_CASE, "id", "uuid", "epoch", "messages", "output", "scores", "score", "events", "transcript",
        "attachments", "events_data", "message_pool", "timelines", "started_at", "completed_at", "total_time",
        "working_time", "invalidation", "error", "error_retries", "limit", "model_usage",
    )
)  # fmt: skip
_NOT_BESIDE = frozenset(("events", "transcript", "attachments", "events_data", "message_pool", "messages", "timelines"))
_OUTPUT = frozenset(("choices", "completion"))
_CHOICE = frozenset(("message", "stop_reason"))
PACKAGE = "inspect_ai"
CANCELLED = "CancelledError"
SWALLOWED = "Unexpected timeout error reached top of sample stack"
_CALL = lazy_regex(r"([A-Za-z_][\w.]*)\(.*\)\s*$", re.DOTALL)
_LAST_LINE = lazy_regex(
    r"^(?:[^\S\n]*+\|[^\S\n]*+)?([A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Warning|Timeout))\b", re.MULTILINE
)
_HTTP = lazy_regex(r"(?i)\b(?:http|status(?:[ _]code)?|error code|upstream)\D{0,3}([45]\d\d)\b")
_SCORING = lazy_regex(r"\bawait scorer\(|, in score\b|/scorer/_")
_SANDBOX = lazy_regex(r"(?i)/_?sandbox/|sandboxenv_|docker compose|sample_init_cleanup")
_CHECKOUT = lazy_regex(rf'(?<=File ")[^"\n]*/src/(?={PACKAGE}/)')
"""The path of an Inspect that runs from its sources."""
_BETWEEN = frozenset(("anyio", "pydantic"))
"""Packages that only pass a call on, or validate its arguments."""
# parts of Inspect that run the subject, its tools, judges or sandbox, and model calls
_SUBJECTS = lazy_regex(
    rf"{PACKAGE}/(?:agent|approval|model|scorer|solver|tool|tools|util/_sandbox|util/_subprocess)(?:/|\.py$)"
)
_ERROR = frozenset(("message", "traceback", "traceback_ansi", "events"))


class LogContext(NamedTuple):
    """The values that all samples of a log share."""

    run: Run
    primary: Primary
    scorers: dict[str, Scorer]
    judges: Judges
    has_results: bool


def case_of(context: LogContext, sample: dict[str, Any], ref: SourceRef) -> Case:
    pools = Pools(sample)
    metadata = mapping(sample.get("metadata"))
    choices = [choice for choice in sequence(sample.get("choices")) if type(choice) is str]
    return Case(
        run=context.run.id,
        suite=context.run.suite,
        native_id=sample_id(sample),
        category=_label(metadata, "category", "subject"),
        input=plain(pools.resolve(sample.get("input"))),
        choices=tuple(choices),
        expected=plain(sample.get("target")),
        difficulty=_label(metadata, "difficulty", "level"),
        extra=rest({name: pools.resolve(sample.get(name)) for name in _OF_THE_CASE[3:]}, frozenset()),
        ref=ref,
    )


def sample_id(sample: dict[str, Any]) -> str:
    """`1` and `"1"` are one sample."""
    ident = sample["id"]
    if type(ident) is not str and type(ident) is not int:
        raise ValueError("a sample without an id")
    return words(ident)


def case_content(sample: dict[str, Any]) -> list[Any]:
    """All fields of a sample that belong to its case."""
    return [plain(sample.get(name)) for name in _OF_THE_CASE]


def attempt_of(context: LogContext, sample: dict[str, Any], ref: SourceRef, index: int) -> Attempt:
    pools = Pools(sample)
    events = events_of(sample)
    beside: dict[str, Any] = pools.resolve({name: value for name, value in sample.items() if name not in _NOT_BESIDE})
    scores = scores_of(beside, context.primary)
    output = mapping(beside.get("output"))
    choice = mapping(next(iter(sequence(output.get("choices"))), None))
    answer = _answer(output, choice)
    scored = read_scores(scores, context.primary, context.scorers, ref, output=answer or "")
    errors = tuple(sample_errors(beside, events, ref))
    final = errors[-1] if errors and mapping(sample.get("error")) else None
    facts = facts_of(scored, final, limited=bool(mapping(sample.get("limit"))))
    judged = frozenset(judgement.judge for judgement in scored.judgements if judgement.raw)
    started = moment(sample.get("started_at")) or _time(events)
    return Attempt(
        run=context.run.id,
        case=case_key(context.run.suite, sample_id(sample)),
        native_id=words(sample.get("uuid")),
        index=index,
        provenance=_provenance(sample, scored),
        works=tuple(filter(None, (words(sample.get("uuid")),))),
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        native_status=scored.native or (facts.execution if final and facts.execution != "completed" else ""),
        reported=scored.main.number if scored.main else None,
        reported_counted=_is_counted(scored, facts) if context.has_results else None,
        output=Output(text=answer, answer=scored.answer),
        stop_reason=words(choice.get("stop_reason")),
        limit=_limit(sample, events),
        errors=(*errors, *[check.error for check in scored.checks if check.error is not None and check.is_primary][:1]),
        checks=scored.checks,
        judgements=scored.judgements,
        steps=steps_of(sample, events, pools, judged),
        usage=by_role(sample, context.judges, scoring_usage(events.telling)),
        started_at=started,
        finished_at=moment(sample.get("completed_at")),
        duration=number(sample.get("total_time")),
        durations={"working": working} if (working := number(sample.get("working_time"))) is not None else {},
        invalidated=_invalidation(mapping(sample.get("invalidation"))),
        extra=_extra(beside, output, choice),
        ref=ref,
    )


def _provenance(sample: dict[str, Any], scored: SampleScores) -> Provenance | None:
    if any(check.history and check.is_primary for check in scored.checks):
        return "edit"
    return "retry" if sequence(sample.get("error_retries")) else None


def facts_of(scored: SampleScores, error: ErrorInfo | None, *, limited: bool) -> Facts:
    """Errors of scorers and of the subject are in the same field; only the phase distinguishes them."""
    measurement = _measurement(scored, error)
    outcome: Outcome = scored.main.outcome if scored.main and measurement == "scored" else "none"
    if error is None:
        return Facts("limit" if limited else "completed", measurement, outcome)
    if error.type == CANCELLED:
        return Facts("cancelled", measurement, _despite(outcome))
    if error.phase == "scoring":
        return Facts("limit" if limited else "completed", measurement, outcome)
    return Facts("error", measurement, _despite(outcome))


def _is_counted(scored: SampleScores, facts: Facts) -> bool:
    """Inspect's metrics also count a scorer's fallback value without a verdict; they omit only `NaN`."""
    return facts.measurement == "scored" or (scored.main is not None and scored.main.number is not None)


def _despite(outcome: Outcome) -> Outcome:
    """The outcome of a sample that was scored despite an error: a pass counts, a failure does not."""
    return "none" if outcome == "fail" else outcome


def _measurement(scored: SampleScores, error: ErrorInfo | None) -> Measurement:
    main: Grade | None = scored.main
    if main is not None and main.status == "error":
        return "error"
    if main is not None and main.status != "unscored":
        return "scored"
    if error is not None and error.phase == "scoring" and error.type != CANCELLED:
        return "error"
    return "unscored" if any(check.status != "not_applicable" for check in scored.checks) else "not_run"


def _answer(output: dict[str, Any], choice: dict[str, Any]) -> str | None:
    """None if nothing was generated: Inspect starts with an output without choices."""
    completion = words(output.get("completion"))
    if completion or not choice:
        return completion or None
    content = mapping(choice.get("message")).get("content")
    parts = [mapping(part) for part in sequence(content)]
    return content if type(content) is str else "\n".join(words(part.get("text")) for part in parts if part.get("text"))


def _limit(sample: dict[str, Any], events: Events) -> Limit | None:
    limit = mapping(sample.get("limit"))
    if not limit:
        return None
    # in old logs only the event has the reason for a limit
    messages = [words(events.whole(event).get("message")) for event in events.all if event.kind == "sample_limit"]
    return Limit(
        type=words(limit.get("type")),
        value=number(limit.get("limit")),
        reason=words(limit.get("reason")) or next(iter(messages), ""),
        extra=rest(limit, frozenset(("type", "limit", "reason"))),
    )


def _invalidation(given: dict[str, Any]) -> Invalidation | None:
    if not given:
        return None
    taken = frozenset(("author", "reason"))
    return Invalidation(by=words(given.get("author")), why=words(given.get("reason")), extra=rest(given, taken))


def _extra(sample: dict[str, Any], output: dict[str, Any], choice: dict[str, Any]) -> dict[str, Any]:
    """`sample` has no events, and its attachments are resolved."""
    extra = rest(sample, _TAKEN)
    beside = rest(output, _OUTPUT) | rest(choice, _CHOICE)
    others = sequence(output.get("choices"))[1:]
    if others:
        beside["other_choices"] = plain(others)
    if beside:
        extra["output"] = beside
    if len(mapping(sample.get("model_usage"))) > 1:
        extra["model_usage"] = plain(sample["model_usage"])
    return extra


def _label(metadata: dict[str, Any], *names: str) -> str:
    return next((words(metadata[name]) for name in names if words(metadata.get(name))), "")


def _time(events: Events) -> str | None:
    return next(filter(None, (moment(event.data.timestamp) for event in events.all)), None)


def sample_errors(sample: dict[str, Any], events: Events, ref: SourceRef) -> Iterator[ErrorInfo]:
    """The errors of a sample in order of time."""
    final = mapping(sample.get("error"))
    for place, retry in enumerate(map(mapping, sequence(sample.get("error_retries")))):
        yield error_info(
            retry,
            _phase_of_text(retry) or "subject",
            ref.below("error_retries", place),
            retryable=True,
            recovered=not final,
        )
    yield from _swallowed(events, ref)
    if final:
        event = next((event for event in reversed(events.all) if event.kind == "error"), None)
        yield error_info(
            final,
            _phase(final, events.all, event),
            ref.below("error"),
            at=moment(event.data.timestamp) if event else None,
        )


def error_info(error: dict[str, Any], phase: Phase, ref: SourceRef, **more: Any) -> ErrorInfo:
    message, traceback = words(error.get("message")), words(error.get("traceback"))
    kind = _type(message, traceback)
    code = _HTTP.search(message)
    frames = frames_of(_CHECKOUT.sub(r"site-packages/", traceback))
    frame = own_frame(frames)
    crashed = harness_frame(frames) if frame is None and kind != CANCELLED else None
    return ErrorInfo(
        type=kind,
        message=message,
        code=code[1] if code else "",
        traceback=traceback,
        frame=crashed.location() if crashed else frame.location(PureWindowsPath(frame.file).name) if frame else "",
        phase=_phase_of_harness(crashed, phase) if crashed else phase,
        collateral=kind == CANCELLED,
        extra=rest(error, _ERROR),
        ref=ref,
        **more,
    )


def _phase(error: dict[str, Any], events: list[SampleEvent], event: SampleEvent | None) -> Phase:
    from_text = _phase_of_text(error)
    if not events:
        return from_text or ""
    phase = phase_at(events, event.place if event else len(events))
    return "environment" if from_text == "environment" and phase != "scoring" else phase


def _phase_of_text(error: dict[str, Any]) -> Phase | None:
    traceback = words(error.get("traceback"))
    if _SCORING.search(traceback):
        return "scoring"
    return "environment" if _SANDBOX.search(traceback) else None


def _swallowed(events: Events, ref: SourceRef) -> Iterator[ErrorInfo]:
    """A timeout that Inspect swallows: the sample is scored as it is, and only a log line has the reason."""
    for event in events.telling:
        if event.kind != "logger":
            continue
        text = words(mapping(events.whole(event).get("message")).get("message"))
        if SWALLOWED in text:
            yield ErrorInfo(
                type="TimeoutError",
                message=text,
                phase=phase_at(events.all, event.place),
                at=moment(event.data.timestamp),
                ref=ref.below("events", event.place),
            )


def _type(message: str, traceback: str) -> str:
    """The type in `ConnectionError('upstream 503')`, else in the last line of the traceback."""
    named = _CALL.match(message)
    if named:
        return named[1].rpartition(".")[2]
    lines = _LAST_LINE.findall(traceback)
    return lines[-1].rpartition(".")[2] if lines else "error"


def harness_frame(frames: list[Frame]) -> Frame | None:
    """The innermost frame, if it is in Inspect's own machinery and no other code was running."""
    calling = [frame for frame in frames if not frame.is_standard and frame.package not in _BETWEEN]
    last = calling[-1] if calling else None
    return last if last and last.package == PACKAGE and not _SUBJECTS.match(last.module) else None


def _phase_of_harness(frame: Frame, phase: Phase) -> Phase:
    return "aggregation" if frame.module.startswith(f"{PACKAGE}/log/") else phase
