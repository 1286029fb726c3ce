"""What a report says of one try → the three facts, what was refused and what broke.

To most runners a `failure` is an assertion and an `error` anything else. pytest calls whatever is raised in the body
of a test a failure, and only what is raised in its fixtures an error.
"""

import re
from collections.abc import Iterator

from errata.model import ErrorInfo, SourceRef
from errata.model.words import Phase
from errata.sources.base import number_or_none
from errata.sources.junit.survey import TEARDOWN
from errata.sources.shared.exceptions import Raised, error_of, raised_in
from errata.sources.shared.facts import (
    EXPECTED,
    FAILED,
    NOT_EVEN_TRIED,
    NOT_MADE,
    PASSED,
    SKIPPED,
    Refused,
    Verdict,
    named_failure,
)
from errata.sources.shared.xml_elements import Element

_FIXTURE = re.compile(r"""failed on (?:setup|teardown) with ["'](?P<message>.*)["']\s*$""", re.DOTALL)
_SETUP = re.compile(r"failed on setup with|test setup failure|collection failure")
# what promptfoo writes into a failure
_SCORED = re.compile(
    r"Score: (?P<score>\S+)\nReason: (?P<reason>.*?)(?:\nFailed assertions:\n(?P<listed>.*))?\Z", re.DOTALL
)


def verdict_of(problems: list[Element], ref: SourceRef, *, skipped: bool) -> Verdict:
    after = [one for one in problems if TEARDOWN.match(one.get("message"))]
    within = [one for one in problems if one not in after]
    verdict = _verdict_within(within, ref, skipped=skipped)
    if not after:
        return verdict
    status = "error" if verdict.status == "passed" else verdict.status
    return verdict._replace(status=status).torn_down(_error(one, "environment", ref) for one in after)


def _verdict_within(problems: list[Element], ref: SourceRef, *, skipped: bool) -> Verdict:
    errors = [one for one in problems if one.tag.lower().endswith("error")]
    failures = [one for one in problems if one.tag.lower().endswith("failure")]
    if errors:
        return Verdict(NOT_MADE, "error", _reason(errors[0]), tuple(_error(one, _phase(one), ref) for one in errors))
    if failures:
        return _failed(failures, ref)
    if problems:
        return _skipped(problems[0])
    return Verdict(SKIPPED, "skipped") if skipped else Verdict(PASSED, "passed")


def _failed(failures: list[Element], ref: SourceRef) -> Verdict:
    broken = [one for one in failures if _broke(one)]
    reason = _reason((broken or failures)[0])
    if broken:
        return Verdict(NOT_MADE, "failed", reason, tuple(_error(one, "subject", ref) for one in broken))
    refused = tuple(told for one in failures for told in _refused(one))
    scored = _scored(failures[0])
    value = number_or_none(scored["score"]) if scored else None
    return Verdict(FAILED, named_failure("failed", reason), reason, refused=refused, score=value)


def _skipped(element: Element) -> Verdict:
    reason = _reason(element)
    if element.get("type") == EXPECTED and not reason.startswith(NOT_EVEN_TRIED):
        return Verdict(FAILED, "xfailed", reason, refused=(Refused(EXPECTED, reason),)).expected
    return Verdict(SKIPPED, "xfailed" if element.get("type") == EXPECTED else "skipped", reason)


def _broke(failure: Element) -> bool:
    """Only where pytest's own last line names what was raised, and it is no assertion."""
    raised = raised_in(failure.text)
    return bool(raised.frame and raised.type) and not raised.is_verdict


def _refused(failure: Element) -> Iterator[Refused]:
    if scored := _scored(failure):
        listed = [line.removeprefix("- ") for line in (scored["listed"] or "").splitlines() if line]
        yield from (Refused(name, scored["reason"]) for name in listed or ["assertion"])
        return
    message = failure.get("message")
    name = failure.get("type") or raised_in(failure.text, message).type or "failure"
    yield Refused(name, message or failure.text[:1000])


def _scored(failure: Element) -> re.Match[str] | None:
    return _SCORED.match(failure.text) if failure.get("type") == "assertion" else None


def _error(element: Element, phase: Phase, ref: SourceRef) -> ErrorInfo:
    shown = "\n".join(filter(None, (element.text, *(one.text for one in element.all("stackTrace")))))
    message = element.get("message")
    inside = _FIXTURE.match(message)
    raised = raised_in(shown, inside["message"] if inside else message or shown.partition("\n")[0])
    named = element.get("type")
    if named and named != element.tag and not raised.type:
        raised = Raised(named, raised.message, raised.frame)
    return error_of(raised, phase, traceback=shown, ref=ref)


def _phase(error: Element) -> Phase:
    return "setup" if _SETUP.match(error.get("message")) else "subject"


def _reason(element: Element) -> str:
    return element.get("message") or element.text[:1000]
