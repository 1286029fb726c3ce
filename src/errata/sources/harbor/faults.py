"""What an exception of Harbor, or a failure mode of terminal-bench, says about an attempt."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from errata.model import ErrorInfo, Limit, SourceRef
from errata.model.words import Execution, Phase
from errata.sources.shared.exceptions import frames_of, own_frame
from errata.sources.shared.values import mapping, moment, rest, text
from errata.text.redact import redact

TRACEBACK_CAP = 32 * 1024


class Fault(NamedTuple):
    """`answered` is false where the agent never got to work: then a reward says nothing about it."""

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

_PHASES: tuple[tuple[str, Phase], ...] = (
    ("verifier", "scoring"),
    ("agent_execution", "subject"),
    ("agent_setup", "setup"),
    ("environment_setup", "environment"),
)
_SECONDS = re.compile(r"after ([\d.]+) seconds")
_EXIT_CODE = re.compile(r"\bexit(?: code)?[ :(]+(-?\d{1,5})\b", re.IGNORECASE)
_HARNESS = ("harbor", "terminal_bench")


def fault_of(exception: dict[str, Any], result: dict[str, Any]) -> Fault:
    """By the class; what has no class of its own here, by the phase that was begun last."""
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
        frame=frame.shown() if frame else "",
        phase=fault.phase,
        at=moment(exception.get("occurred_at")),
        ref=ref,
        extra=rest(exception, ("exception_type", "exception_message", "exception_traceback", "occurred_at")),
    )


def limit_of(fault: Fault, message: str) -> Limit | None:
    if not fault.limit:
        return None
    told = _SECONDS.search(message) if fault.limit == "time" else None
    value = float(told[1]) if told and told[1].count(".") <= 1 and told[1] != "." else None
    return Limit(type=fault.limit, value=value, reason=redact(message))


def exit_code_of(exception: dict[str, Any]) -> int | None:
    if kind_of(exception) != "NonZeroAgentExitCodeError":
        return None
    told = _EXIT_CODE.search(text(exception.get("exception_message")))
    return int(told[1]) if told else None
