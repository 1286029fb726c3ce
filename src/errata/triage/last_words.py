"""An error in the place of the last message: of a provider's filter, or of a program that crashed."""

import re
from collections.abc import Iterator

from errata.model import Attempt, Case
from errata.text.lazy_regex import lazy_regex
from errata.triage.expected import expected_texts, task_text
from errata.triage.observed import Observed, signal

LONGEST = 20_000
TAIL = 4_000
LINES_AFTER = 8


def last_message(attempt: Attempt) -> tuple[str, str]:
    """Where the subject's last words are, and the words."""
    if attempt.output.text:
        return "output.text", attempt.output.text
    last = next((step for step in reversed(attempt.steps) if step.actor.role == "assistant"), None)
    return (f"steps[{last.index}].text", last.text) if last is not None else ("output.text", "")


# error forms of providers' filters: a code in an error object, or an error line. Prose about filters has neither
_FILTERED = lazy_regex(
    r"""["']?(?:code|type|finish_reason|finishReason|stop_reason|blockReason|reason)["']?\s{0,3}[:=]\s{0,3}["']?"""
    r"""(?:content_filter|content_policy_violation|ResponsibleAIPolicyViolation|PROHIBITED_CONTENT)\b"""
    r"""|^\W{0,8}(?:api |\w{0,30}\.)?(?:\w{0,30}error|error code: 4\d\d|exception)\b[^\n]{0,200}"""
    r"""(?:content_filter|ResponsibleAIPolicyViolation|content management policy|ContentPolicyViolation"""
    r"""|(?:blocked|flagged|filtered|rejected) by [^\n]{0,40}(?:safety|content|moderation|policy))""",
    re.IGNORECASE | re.MULTILINE,
)
# the uncaught exception of a program, up to its last line; a traceback that is quoted has text after it
_PYTHON = lazy_regex(
    r"^Traceback \(most recent call last\):\n(?:[ \t][^\n]*\n|\n){1,200}(?P<error>[\w.]{3,80}(?:: .*)?)\s*\Z",
    re.MULTILINE,
)
_NODE = lazy_regex(
    r"^(?:Uncaught )?(?P<error>(?:\w{0,30}Error|Exception): [^\n]{1,300})\n(?:[ ]{1,20}at [^\n]{1,400}(?:\n|\Z)){2,60}"
    r"(?:[ ]*\{[^}]{0,600}\}\s*|\s*Node\.js v\d[^\n]*\s*)?\Z",
    re.MULTILINE,
)


def names_a_failure(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """The last message is what a provider's filter or a crashing program wrote, not an answer."""
    if attempt.outcome == "pass":
        return
    where, text = last_message(attempt)
    name, line = _failure_in(text[-TAIL:]) if text and len(text) <= LONGEST else ("", "")
    if name and _asks_for_such_text(case):
        return
    if name == "answer_is_filter_error":
        yield Observed(signal=signal(name, "likely", where, line, attempt.ref), owner="provider")
    elif name == "answer_is_crash":
        yield Observed(signal=signal(name, "likely", where, line, attempt.ref), owner="harness")


def _failure_in(text: str) -> tuple[str, str]:
    # most answers hold none of these words
    is_about_filters = (
        "ontent" in text or "afety" in text or "CONTENT" in text or "olicy" in text or "oderation" in text
    )
    filtered = _FILTERED.search(text) if is_about_filters else None
    # a message that only reports the filter is short; one that explains filters goes on
    if filtered and text.count("\n", filtered.end()) <= LINES_AFTER and text.count("\n", 0, filtered.start()) <= 2:
        return "answer_is_filter_error", filtered[0]
    crash = _PYTHON.match(text.lstrip()) if "Traceback (most" in text else None
    if crash is None and "\n    at " in text:
        crash = _NODE.match(text.lstrip())
    return ("answer_is_crash", crash["error"]) if crash else ("", "")


def _asks_for_such_text(case: Case | None) -> bool:
    """Whether the case itself is about error texts."""
    if case is None:
        return False
    task = task_text(case).lower()
    if "traceback" in task or "content_filter" in task or "stack trace" in task:
        return True
    return any(_failure_in(wanted[-TAIL:])[0] for wanted in expected_texts(case))
