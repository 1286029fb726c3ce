"""Errors as promptfoo writes them: a text, often with the stack of the program that threw it."""

import re
from typing import Any, NamedTuple

from errata.model import ErrorInfo, Limit, SourceRef
from errata.model.words import Phase
from errata.sources.shared.values import mapping

_STACK_LINE = re.compile(r"^\s+at\s", re.MULTILINE)
_THROWN = re.compile(r"^(?P<type>[A-Z]\w*(?:Error|Exception)|Error): (?P<message>.*)", re.DOTALL)
_PLACE = re.compile(r"^\s+at\s+(.*(?:\.[cm]?[jt]s|\.py|\.rb|\.go):\d+.*)$", re.MULTILINE)
_LIBRARY = re.compile(r"/node_modules/|\bnode:")
_HTTP = re.compile(r"\b(?:API|HTTP|status|code|error)\b[^\d\n]{0,20}\b([45]\d\d)\b|^([45]\d\d)\b", re.IGNORECASE)

# functions and modules of promptfoo that run only while an answer is graded
_GRADING = re.compile(
    r"^\s+at\s.*(?:\b(?:runAssertions?|runCompareAssertion|runJsonGradingPrompt|matches[A-Z]\w*)\b"
    r"|/(?:graders|matchers|assertions)[-/.])",
    re.MULTILINE,
)
# how a model-graded assertion words that its judge gave no verdict
_NO_VERDICT = re.compile(
    r"Could not extract JSON from |llm-rubric produced malformed response|API (?:call )?error: |Remote grading failed"
)
_TIMED_OUT = re.compile(r"Evaluation timed out after (\d+)\s*ms")
_RAN_OUT = re.compile(r"Evaluation exceeded max duration of (\d+)\s*ms")


class Cut(NamedTuple):
    """A time limit of promptfoo's own: of one call, or of the whole evaluation."""

    limit: Limit
    never_started: bool


def error_of(told: str, phase: Phase, ref: SourceRef, response: Any = None) -> ErrorInfo:
    stack = _STACK_LINE.search(told)
    head = told[: stack.start()].rstrip() if stack else told
    thrown = _THROWN.match(head)
    status = mapping(mapping(mapping(response).get("metadata")).get("http")).get("status")
    code = _HTTP.search(head)
    failed = isinstance(status, int) and status >= 400
    return ErrorInfo(
        type=thrown["type"] if thrown else "grader_error" if phase == "scoring" else "provider_error",
        message=head,
        code=str(status) if failed else next(filter(None, code.groups()), "") if code else "",
        traceback=told[stack.start() :].strip("\n") if stack else "",
        frame=_frame(told),
        phase=phase,
        ref=ref,
    )


def thrown_while_grading(told: str) -> bool:
    return bool(_GRADING.search(told))


def is_no_verdict(reason: str) -> bool:
    return bool(_NO_VERDICT.match(reason))


def cut_short(told: str) -> Cut | None:
    if match := _TIMED_OUT.match(told):
        return Cut(Limit(type="time", value=int(match[1]) / 1000, reason="timeoutMs"), never_started=False)
    if match := _RAN_OUT.search(told):
        return Cut(Limit(type="run_time", value=int(match[1]) / 1000, reason="maxEvalTimeMs"), never_started=True)
    return None


def _frame(told: str) -> str:
    """The first line of the stack that is nobody's library."""
    return next((place.strip() for place in _PLACE.findall(told) if not _LIBRARY.search(place)), "")
