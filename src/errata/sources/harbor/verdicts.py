"""The meaning of exceptions and failure modes, and the verifier's rewards and tests as checks."""

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from errata.model import Check, ErrorInfo, Limit, SourceRef
from errata.model.words import CheckStatus, Execution, Outcome, Phase
from errata.sources.shared.documents import Documents
from errata.sources.shared.exceptions import frames_of, own_frame
from errata.sources.shared.fields import JsonFields
from errata.sources.shared.values import count, mapping, moment, number, plain, rest, sequence, text
from errata.text.lazy_regex import lazy_regex
from errata.text.redact import redact

TRACEBACK_CAP = 32 * 1024
_PHASES: tuple[tuple[str, Phase], ...] = (
    ("verifier", "scoring"),
    ("agent_execution", "subject"),
    ("agent_setup", "setup"),
    ("environment_setup", "environment"),
)
_SECONDS = lazy_regex(r"after ([\d.]+) seconds")
_EXIT_CODE = lazy_regex(r"\bexit(?: code)?[ :(]+(-?\d{1,5})\b", re.IGNORECASE)
_HARNESS = ("harbor", "terminal_bench")
TESTS_CAP = 5_000
EXPLANATION_CAP = 8 * 1024
_MILLISECONDS_FROM = 1e11
_OF_TEST: dict[str, CheckStatus] = {
    "passed": "pass",
    "failed": "fail",
    "skipped": "skipped",
    "pending": "not_run",
    "other": "error",
}


class Fault(NamedTuple):
    """`answered` is false if the agent never started working: then a reward is meaningless."""

    execution: Execution
    phase: Phase
    answered: bool = True
    limit: str = ""
    stop_reason: str = ""


_NO_ENVIRONMENT = Fault("error", "environment", answered=False)
_NO_AGENT = Fault("error", "setup", answered=False)
_NO_MODEL = Fault("error", "subject", answered=False)
_AGENT = Fault("error", "subject")
_VERIFIER = Fault("completed", "scoring")
_TIME = Fault("limit", "subject", limit="time")
_CONTEXT = Fault("limit", "subject", limit="context")
_OUTPUT = Fault("limit", "subject", limit="output_tokens")

OF_EXCEPTION: dict[str, Fault] = {
    "EnvironmentStartTimeoutError": _NO_ENVIRONMENT,
    "EnvironmentBuildTimeoutError": _NO_ENVIRONMENT,
    "SandboxBuildFailedError": _NO_ENVIRONMENT,
    "HealthcheckError": _NO_ENVIRONMENT,
    "AgentSetupTimeoutError": _NO_AGENT,
    "SandboxLikelyOutOfMemoryError": Fault("error", "environment"),
    "AgentTimeoutError": _TIME,
    "ContextLengthExceededError": _CONTEXT,
    "OutputLengthExceededError": _OUTPUT,
    "VerifierTimeoutError": _VERIFIER,
    "RewardFileNotFoundError": _VERIFIER,
    "RewardFileEmptyError": _VERIFIER,
    "VerifierOutputParseError": _VERIFIER,
    "AddTestsDirError": _VERIFIER,
    "DownloadVerifierDirError": _VERIFIER,
    "ApiUsageLimitError": _NO_MODEL,
    "ApiRateLimitError": _NO_MODEL,
    "AgentAuthenticationError": _NO_MODEL,
    "ModelNotFoundError": _NO_MODEL,
    "AgentSafetyRefusalError": Fault("error", "subject", stop_reason="refusal"),
    "NonZeroAgentExitCodeError": _AGENT,
}

OF_FAILURE_MODE: dict[str, Fault] = {
    "unknown": Fault("error", "environment"),
    "test_timeout": _VERIFIER,
    "parse_error": _VERIFIER,
    "agent_timeout": _TIME,
    "unknown_agent_error": _AGENT,
    "fatal_llm_parse_error": _AGENT,
    "context_length_exceeded": _CONTEXT,
    "output_length_exceeded": _OUTPUT,
    "agent_installation_failed": _NO_AGENT,
}


def fault_of(exception: dict[str, Any], result: dict[str, Any]) -> Fault:
    """By exception class; for unknown classes by the phase that started last."""
    kind = kind_of(exception)
    begun: Iterator[Phase] = (phase for name, phase in _PHASES if mapping(result.get(name)).get("started_at"))
    first: Phase = "environment"
    phase = next(begun, first)
    if kind == "CancelledError":
        return Fault("cancelled", phase)
    return OF_EXCEPTION.get(kind) or Fault("completed" if phase == "scoring" else "error", phase)


def kind_of(exception: dict[str, Any]) -> str:
    return text(exception.get("exception_type")).rpartition(".")[2] or "Exception"


def error_of(exception: dict[str, Any], fault: Fault, ref: SourceRef) -> ErrorInfo:
    traceback = text(exception.get("exception_traceback"))
    frame = own_frame(frames_of(traceback), _HARNESS)
    return ErrorInfo(
        type=kind_of(exception),
        message=redact(text(exception.get("exception_message"))),
        traceback=redact(traceback[-TRACEBACK_CAP:]),
        frame=frame.location() if frame else "",
        phase=fault.phase,
        at=moment(exception.get("occurred_at")),
        ref=ref,
        extra=rest(exception, ("exception_type", "exception_message", "exception_traceback", "occurred_at")),
    )


def limit_of(fault: Fault, message: str) -> Limit | None:
    if not fault.limit:
        return None
    seconds = _SECONDS.search(message) if fault.limit == "time" else None
    value = float(seconds[1]) if seconds and seconds[1].count(".") <= 1 and seconds[1] != "." else None
    return Limit(type=fault.limit, value=value, reason=redact(message))


def exit_code_of(exception: dict[str, Any]) -> int | None:
    if kind_of(exception) != "NonZeroAgentExitCodeError":
        return None
    match = _EXIT_CODE.search(text(exception.get("exception_message")))
    return int(match[1]) if match else None


def value_of(rewards: dict[str, Any]) -> float | None:
    """The reward named `reward`, else the mean of all: Harbor has no rule for several rewards."""
    if "reward" in rewards:
        return number(rewards["reward"])
    values = [number(value) for value in rewards.values()]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def outcome_of(value: float) -> Outcome:
    """A reward of 1 is a pass; between 0 and 1 it is a graded score. Harbor has no other pass rule."""
    if value >= 1:
        return "pass"
    return "partial" if value > 0 else "fail"


def reward_checks(rewards: dict[str, Any], broken: ErrorInfo | None) -> Iterator[Check]:
    if not rewards and broken is not None:
        yield Check(name="reward", kind="reward", status="error", scorer="verifier", is_primary=True, error=broken)
    for order, (name, reward) in enumerate(rewards.items()):
        value = number(reward)
        is_primary = name == "reward" or len(rewards) == 1
        yield Check(
            name=name,
            kind="reward",
            status="unscored" if value is None else ("pass" if value >= 1 else "fail"),
            scorer="verifier",
            order=order,
            value=value,
            is_primary=is_primary,
            counts=is_primary or "reward" not in rewards,
            extra={} if value is not None else {"value": plain(reward)},
        )


def test_checks(names: Iterable[str], folder: str, documents: Documents) -> Iterator[Check]:
    """The tests of the verifier. They do not count: only the reward decides."""
    for name in names:
        if not name.endswith("ctrf.json"):
            continue
        results = mapping(documents.get(os.path.join(folder, name)).get("results"))  # noqa: PTH118
        tool = text(mapping(results.get("tool")).get("name"))
        for order, entry in enumerate(sequence(results.get("tests"))[:TESTS_CAP]):
            test = JsonFields(mapping(entry))
            made = test_check(text(test.take("name")) or f"test {order + 1}", text(test.take("status")), order)
            yield _detailed(made, test, name, tool)


def test_check(name: str, status: str, order: int, *, counts: bool = False) -> Check:
    known = _OF_TEST.get(status.lower())
    return Check(
        name=name,
        kind="tests",
        status=known or "unscored",
        order=order,
        counts=counts,
        reason_code="" if known else status,
    )


def _detailed(made: Check, test: JsonFields, file: str, tool: str) -> Check:
    message, trace = text(test.take("message")), text(test.take("trace"))
    explanation = "\n".join(part for part in (trace, message if message not in trace else "") if part)
    line = count(test.take("line"))
    return Check(
        name=made.name,
        kind=made.kind,
        status=made.status,
        scorer=file,
        order=made.order,
        counts=False,
        reason_code=made.reason_code,
        explanation=explanation[-EXPLANATION_CAP:],
        duration=_duration(test),
        extra=rest(test.rest()) | ({"tool": tool} if tool else {}) | ({"line": line} if line is not None else {}),
    )


def _duration(test: JsonFields) -> float | None:
    """CTRF specifies milliseconds, but pytest's plugin writes seconds for durations and times."""
    duration, start = number(test.take("duration")), number(test.get("start"))
    if duration is None:
        return None
    return duration / 1000 if start is not None and start > _MILLISECONDS_FROM else duration
