"""What every tracer records of a span in one way or another: the call of a tool, and an exception."""

from typing import Any

from errata.model import ErrorInfo, SourceRef, ToolCall, ToolResult
from errata.model.words import Phase
from errata.sources.shared.spans import SpanKind
from errata.sources.shared.tracebacks import frames_of, own_frame
from errata.sources.shared.values import as_text, known, plain, text

PHASES: dict[SpanKind, Phase] = {"tool": "tool", "judge": "scoring"}
_HOMES = ("exception.type", "exception.message", "exception.stacktrace")


def call_of(name: str, ident: str, given: Any, got: Any, *, failed: bool, shown: str | None = None) -> ToolCall:
    """`shown` is the result as it is written, where `got` is what that says."""
    result = ToolResult(
        text=as_text(got) if shown is None else shown,
        structured=None if isinstance(got, str) else plain(got),
        is_error=True if failed else None,
    )
    return ToolCall(name=name, id=ident, arguments=plain(given), result=None if got is None else result)


def error_of(
    kind: SpanKind,
    raised: dict[str, Any],
    ref: SourceRef,
    *,
    status: str,
    named: str = "",
    code: str = "",
    at: str | None = None,
) -> ErrorInfo:
    """`raised` are the attributes of the exception, if one was recorded; `status` is what the span itself says."""
    named, said = named or text(raised.get("exception.type")), text(raised.get("exception.message"))
    traceback = text(raised.get("exception.stacktrace"))
    frame = own_frame(frames_of(traceback))
    return ErrorInfo(
        type=named.rpartition(".")[2] or "span_error",
        message=said or status,
        code=code or (named if named.isdecimal() else ""),
        traceback=traceback,
        frame=frame.shown() if frame else "",
        phase=PHASES.get(kind, "subject"),
        at=at,
        extra=known(
            status=status if said and status != said else None,
            full_type=named if "." in named else None,
            exception={key: value for key, value in raised.items() if key not in _HOMES},
        ),
        ref=ref,
    )
