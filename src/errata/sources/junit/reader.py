"""A test of a report → its case, and an attempt with its verdict for each time that it was tried.

To most runners a `failure` is an assertion and an `error` anything else. pytest calls whatever is raised in the body
of a test a failure, and only what is raised in its fixtures an error.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Artefact, Attempt, Case, ErrorInfo, Item, Run, SourceRef, Unreadable, attempt_id, case_key
from errata.model.words import Phase
from errata.sources.base import Numbering, Row, number_or_none
from errata.sources.junit import NAME
from errata.sources.junit.report import TEARDOWN, Test, runs_of, survey, tests_of
from errata.sources.shared.documents import output_artefact
from errata.sources.shared.exceptions import Raised, error_of, raised_in
from errata.sources.shared.facts import (
    EXPECTED,
    FAILED,
    NOT_EVEN_TRIED,
    NOT_MADE,
    PASSED,
    SKIPPED,
    FailedCheck,
    TestVerdict,
    failure_status,
)
from errata.sources.shared.runs import items_of_runs
from errata.sources.shared.values import moment, non_empty
from errata.sources.shared.xml_elements import Element

_HOMES = frozenset(("classname", "class", "name", "time", "timestamp"))
_SKIPPED = frozenset(("notrun", "disabled", "skipped", "suppressed"))
_OUTPUT = ("system-out", "system-err")
_FIXTURE = re.compile(r"""failed on (?:setup|teardown) with ["'](?P<message>.*)["']\s*$""", re.DOTALL)
_SETUP = re.compile(r"failed on setup with|test setup failure|collection failure")
# what promptfoo writes into a failure
_SCORED = re.compile(
    r"Score: (?P<score>\S+)\nReason: (?P<reason>.*?)(?:\nFailed assertions:\n(?P<listed>.*))?\Z", re.DOTALL
)


class Try(NamedTuple):
    """One time that a test was tried: what went wrong, and the element that holds what was printed meanwhile."""

    problems: list[Element]
    printed: Element


def read(path: Path) -> Iterator[Item]:
    """Counts and properties stand in many places, and the run comes first: the report is gone through twice."""
    path = path.absolute()
    report = survey(path)
    runs = runs_of(report, path)
    numbering = Numbering()
    rows = (found if isinstance(found, Unreadable) else Row(found, found.ref) for found in tests_of(path))
    yield from items_of_runs(
        runs,
        rows,
        lambda row: items_of(runs[report.column(row.data)], numbering, row.data),
        which=lambda row: report.column(row.data),
        source=NAME,
    )


def items_of(run: Run, numbering: Numbering, test: Test) -> Iterator[Item]:
    name = _name(run, test)
    tries = _tries(test)
    indices = [numbering.next((run.id, name)) for _ in tries]
    if indices[0] == 1:
        yield Case(
            run=run.id,
            suite=run.suite,
            native_id=name,
            category=test.key[0] if test.key[0] != run.name else "",
            ref=test.ref,
        )
    last = attempt_id(run.id, case_key(run.suite, name), index=indices[-1])
    for one, index in zip(tries, indices, strict=True):
        yield _attempt(run, test, name, one, index, None if index == indices[-1] else last)


def _name(run: Run, test: Test) -> str:
    around, name = test.key
    if not name and not around:
        raise ValueError("a test without a name")
    # promptfoo repeats the name of the suite
    return f"{around}.{name}" if around and around != run.name and name else name or around


def _tries(test: Test) -> list[Try]:
    """Surefire keeps what failed before a pass as `flaky…`, and what failed again after a failure as `rerun…`."""
    element = test.element
    own = element.all("failure", "error", "skipped")
    if test.teardown is not None:
        own += test.teardown.all("error")
    before = [Try([one], one) for one in element.all("flakyFailure", "flakyError")]
    after = [Try([one], one) for one in element.all("rerunFailure", "rerunError")]
    return [*before, Try(own, element), *after]


def _attempt(run: Run, test: Test, name: str, one: Try, index: int, superseded_by: str | None) -> Attempt:
    element = test.element
    verdict = verdict_of(one.problems, test.ref, skipped=_is_skipped(element))
    final = superseded_by is None
    counted = final and verdict.is_counted
    return Attempt(
        run=run.id,
        case=case_key(run.suite, name),
        index=index,
        superseded_by=superseded_by,
        reported=float(verdict.status == "passed") if counted else None,
        reported_counted=counted,
        checks=tuple(verdict.checks(test.ref, test.properties.get("score") if final else None)),
        artefacts=tuple(_artefacts(one, test)),
        started_at=moment(element.get("timestamp")),
        duration=number_or_none(element.get("time")) if final else number_or_none(one.printed.get("time")),
        extra=_extra(test),
        ref=test.ref,
        **verdict.attempt_fields,
    )


def _is_skipped(element: Element) -> bool:
    """As googletest and others say it: by a word, not by an element."""
    return element.get("status").lower() in _SKIPPED or element.get("result").lower() in _SKIPPED


def _artefacts(one: Try, test: Test) -> Iterator[Artefact]:
    for problem in one.problems:
        shown = [problem.text, *(child.text for child in problem.all("stackTrace"))]
        yield from output_artefact("grader", f"{problem.tag}.txt", "\n".join(filter(None, shown)), test.ref)
    for element in one.printed.all(*_OUTPUT):
        # what a test prints are the words of its subject, too: no log of the harness
        yield from output_artefact("transcript", f"{element.tag}.txt", element.text, test.ref)


def _extra(test: Test) -> dict[str, Any]:
    others = {name: value for name, value in test.element.attributes.items() if name not in _HOMES}
    return non_empty(properties=test.properties, suite=" / ".join(filter(None, test.suites)), attributes=others)


def verdict_of(problems: list[Element], ref: SourceRef, *, skipped: bool) -> TestVerdict:
    after = [one for one in problems if TEARDOWN.match(one.get("message"))]
    within = [one for one in problems if one not in after]
    verdict = _verdict_within(within, ref, skipped=skipped)
    if not after:
        return verdict
    status = "error" if verdict.status == "passed" else verdict.status
    return verdict._replace(status=status).torn_down(_error(one, "environment", ref) for one in after)


def _verdict_within(problems: list[Element], ref: SourceRef, *, skipped: bool) -> TestVerdict:
    errors = [one for one in problems if one.tag.lower().endswith("error")]
    failures = [one for one in problems if one.tag.lower().endswith("failure")]
    if errors:
        return TestVerdict(
            NOT_MADE, "error", _reason(errors[0]), tuple(_error(one, _phase(one), ref) for one in errors)
        )
    if failures:
        return _failed(failures, ref)
    if problems:
        return _skipped(problems[0])
    return TestVerdict(SKIPPED, "skipped") if skipped else TestVerdict(PASSED, "passed")


def _failed(failures: list[Element], ref: SourceRef) -> TestVerdict:
    broken = [one for one in failures if _broke(one)]
    reason = _reason((broken or failures)[0])
    if broken:
        return TestVerdict(NOT_MADE, "failed", reason, tuple(_error(one, "subject", ref) for one in broken))
    refused = tuple(told for one in failures for told in _refused(one))
    scored = _scored(failures[0])
    value = number_or_none(scored["score"]) if scored else None
    return TestVerdict(FAILED, failure_status("failed", reason), reason, failed_checks=refused, score=value)


def _skipped(element: Element) -> TestVerdict:
    reason = _reason(element)
    if element.get("type") == EXPECTED and not reason.startswith(NOT_EVEN_TRIED):
        return TestVerdict(FAILED, "xfailed", reason, failed_checks=(FailedCheck(EXPECTED, reason),)).expected
    return TestVerdict(SKIPPED, "xfailed" if element.get("type") == EXPECTED else "skipped", reason)


def _broke(failure: Element) -> bool:
    """Only where pytest's own last line names what was raised, and it is no assertion."""
    raised = raised_in(failure.text)
    return bool(raised.frame and raised.type) and not raised.is_verdict


def _refused(failure: Element) -> Iterator[FailedCheck]:
    if scored := _scored(failure):
        listed = [line.removeprefix("- ") for line in (scored["listed"] or "").splitlines() if line]
        yield from (FailedCheck(name, scored["reason"]) for name in listed or ["assertion"])
        return
    message = failure.get("message")
    name = failure.get("type") or raised_in(failure.text, message).type or "failure"
    yield FailedCheck(name, message or failure.text[:1000])


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
