"""Whether the question reached the subject and an answer came back, not an error in its place."""

import re
from collections.abc import Iterator
from typing import Any

from errata.model import Attempt, Case, Signal, Undelivered
from errata.model.delivery import failed_response, tokens_of_answer, undelivered
from errata.model.words import Confidence, Owner
from errata.text.error_body import ErrorBody
from errata.text.lazy_regex import lazy_regex
from errata.triage.expected import task_text
from errata.triage.observed import Observed, signal

FAULTS = {
    "empty": "the text sent is empty",
    "reference": "the text sent is",
    "unresolved": "a variable has no value in the text sent",
    "without_variables": "none of the case's variables is in the text sent",
}
LONGEST_TASK = 400


def prompt_not_delivered(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """What was never asked can't have been answered."""
    seen = delivery_signal(attempt, case)
    if seen is not None:
        yield Observed(signal=seen, owner="task")


def delivery_signal(attempt: Attempt, case: Case | None) -> Signal | None:
    fault = attempt.undelivered or _unresolved_task(case)
    if fault is None:
        return None
    return signal("prompt_not_delivered", "likely", "prompt", fault.sent, attempt.ref, stated=FAULTS[fault.fault])


def _unresolved_task(case: Case | None) -> Undelivered | None:
    """Where the log has no prompt beside the task: the whole task is a reference to a file."""
    task = case.input if case is not None else None
    if not isinstance(task, str) or not task or len(task) > LONGEST_TASK or not _REFERENCE.match(task.strip()):
        return None
    fault = undelivered(task)
    return fault if fault is not None and fault.fault == "reference" else None


_REFERENCE = lazy_regex(r"file://\S+$|[\w.~-]{0,60}prompts?[/\\][\w./\\-]{1,200}$", re.IGNORECASE)


# whoever serves the model refused or failed; for any other status, it is open who made a bad request
_PROVIDERS = frozenset((401, 402, 403, 408, 409, 425, 429))
SERVER_ERROR = 500


def answered_with_an_error(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """The whole answer is the body of a failed request."""
    body = body_of(attempt, case)
    if body is None:
        return
    owner: Owner = "provider" if body.status is None or _is_provider(body.status) else "unknown"
    if body.status is None and not _SERVICE_ERRORS.search((attempt.output.text or "")[:2_000]):
        owner = "unknown"
    also: tuple[Owner, ...] = () if owner == "provider" else ("harness", "task")
    yield Observed(signal=_signal(attempt, body), owner=owner, also=also)


_SERVICE_ERRORS = lazy_regex(
    r"rate.?limit|quota|overloaded|unavailable|bad gateway|gateway time|internal server error|api.?key|unauthori[sz]ed"
    r"|authenticat|billing|upstream",
    re.IGNORECASE,
)


def error_body_signal(attempt: Attempt, case: Case | None) -> Signal | None:
    body = body_of(attempt, case)
    return _signal(attempt, body) if body is not None else None


def body_of(attempt: Attempt, case: Case | None) -> ErrorBody | None:
    """Not where the task asks for such a text, or expects one."""
    body = failed_response(attempt)
    if body is None or case is None:
        return body
    status = attempt.http_status
    wanted = _ERRORS if status is None else re.compile(rf"\berrors?\b|\b{status}\b", re.IGNORECASE)
    return None if _mentions(case, wanted) else body


_ERRORS = lazy_regex(r"\berrors?\b|\bhttp\b|\bstatus\b|\bjson\b|\bhtml\b|\b[45]\d\d\b", re.IGNORECASE)


def _mentions(case: Case, pattern: re.Pattern[str]) -> bool:
    return pattern.search(task_text(case)) is not None or pattern.search(_flat(case.expected)) is not None


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return "\n".join(map(_flat, value))[:LONGEST_EXPECTED]
    return str(value)[:LONGEST_EXPECTED] if value is not None else ""


LONGEST_EXPECTED = 20_000


def _signal(attempt: Attempt, body: ErrorBody) -> Signal:
    # a model may write such a text itself; without a status or a count of tokens the two look the same
    is_sure = attempt.http_status is not None or tokens_of_answer(attempt) == 0
    strength: Confidence = "likely" if is_sure else "weak"
    status = f"HTTP {body.status}" if body.status is not None else ""
    where = "http_status" if attempt.http_status is not None else "output.text"
    return signal("error_body", strength, where, attempt.output.text or "", attempt.ref, stated=status)


def _is_provider(status: int) -> bool:
    return status in _PROVIDERS or status >= SERVER_ERROR
