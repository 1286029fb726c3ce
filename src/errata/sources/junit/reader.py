"""A test of a report → its case, and an attempt with its verdict for each try.

For most runners, a `failure` is an assertion and an `error` anything else. For pytest, any exception in the body of a
test is a failure, and only an exception in a fixture is an error.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from errata.model import Artefact, Attempt, Case, ErrorInfo, Item, Run, SourceRef, Unreadable, attempt_id, case_key
from errata.model.words import Phase
from errata.sources.base import Numbering, Row, number_or_none, small_file
from errata.sources.junit import NAME
from errata.sources.junit.report import SMALL, TEARDOWN, Test, entries_of, runs_of, survey, tests_of
from errata.sources.shared.documents import output_artefact
from errata.sources.shared.exceptions import Raised, error_of, raised_in
from errata.sources.shared.facts import (
    EXPECTED,
    FAILED,
    NOT_EVEN_TRIED,
    NOT_MADE,
    PASSED,
    SKIPPED,
    FailedTestCheck,
    TestVerdict,
    failure_status,
)
from errata.sources.shared.runs import items_of_runs
from errata.sources.shared.values import moment, non_empty
from errata.sources.shared.xml_elements import Element
from errata.text.lazy_regex import lazy_regex

_HOMES = frozenset(("classname", "class", "name", "time", "timestamp"))
_SKIPPED = frozenset(("notrun", "disabled", "skipped", "suppressed"))
_OUTPUT = ("system-out", "system-err")
_FIXTURE = lazy_regex(r"""failed on (?:setup|teardown) with ["'](?P<message>.*)["']\s*$""", re.DOTALL)
_SETUP = lazy_regex(r"failed on setup with|test setup failure|collection failure")
# promptfoo's text in a failure
_PROMPTFOO_SCORE = lazy_regex(
    r"Score: (?P<score>\S+)\nReason: (?P<reason>.*?)(?:\nFailed assertions:\n(?P<listed>.*))?\Z", re.DOTALL
)


class TestTry(NamedTuple):
    """One try of a test: its problems, and the element with the output of that try."""

    problems: list[Element]
    printed: Element


def read(path: Path) -> Iterator[Item]:
    """Counts and properties are spread over the report, and the run comes first: a large report is read twice."""
    path = path.absolute()
    data = small_file(path, SMALL)
    entries = entries_of(path, data)
    report = survey(path, entries(), data)
    runs = runs_of(report, path)
    numbering = Numbering()
    rows = (found if isinstance(found, Unreadable) else Row(found, found.ref) for found in tests_of(entries()))
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
    for test_try, index in zip(tries, indices, strict=True):
        made = _attempt(run, test, name, test_try, index, None if index == indices[-1] else last)
        yield made if index == indices[0] else replace(made, provenance="retry")


def _name(run: Run, test: Test) -> str:
    around, name = test.key
    if not name and not around:
        raise ValueError("a test without a name")
    # promptfoo repeats the name of the suite here
    return f"{around}.{name}" if around and around != run.name and name else name or around


def _tries(test: Test) -> list[TestTry]:
    """Surefire lists failures before a pass as `flaky…`, and failures of reruns as `rerun…`."""
    element = test.element
    own = element.all("failure", "error", "skipped")
    if test.teardown is not None:
        own += test.teardown.all("error")
    before = [TestTry([one], one) for one in element.all("flakyFailure", "flakyError")]
    after = [TestTry([one], one) for one in element.all("rerunFailure", "rerunError")]
    return [*before, TestTry(own, element), *after]


def _attempt(run: Run, test: Test, name: str, test_try: TestTry, index: int, superseded_by: str | None) -> Attempt:
    element = test.element
    verdict = verdict_of(test_try.problems, test.ref, skipped=_is_skipped(element))
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
        artefacts=tuple(_artefacts(test_try, test)),
        started_at=moment(element.get("timestamp")),
        duration=number_or_none(element.get("time")) if final else number_or_none(test_try.printed.get("time")),
        extra=_extra(test),
        ref=test.ref,
        **verdict.attempt_fields,
    )


def _is_skipped(element: Element) -> bool:
    """googletest and others mark a skipped test by an attribute, not by an element."""
    return element.get("status").lower() in _SKIPPED or element.get("result").lower() in _SKIPPED


def _artefacts(test_try: TestTry, test: Test) -> Iterator[Artefact]:
    for problem in test_try.problems:
        texts = [problem.text, *(child.text for child in problem.all("stackTrace"))]
        yield from output_artefact("grader", f"{problem.tag}.txt", "\n".join(filter(None, texts)), test.ref)
    for element in test_try.printed.all(*_OUTPUT):
        # the output of a test includes that of its subject: it is not a harness log
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
        return _verdict_of_failures(failures, ref)
    if problems:
        return _verdict_of_skip(problems[0])
    return TestVerdict(SKIPPED, "skipped") if skipped else TestVerdict(PASSED, "passed")


def _verdict_of_failures(failures: list[Element], ref: SourceRef) -> TestVerdict:
    broken = [one for one in failures if _broke(one)]
    reason = _reason((broken or failures)[0])
    if broken:
        return TestVerdict(NOT_MADE, "failed", reason, tuple(_error(one, "", ref) for one in broken))
    failed_checks = tuple(check for one in failures for check in _failed_checks(one))
    match = _match_promptfoo_score(failures[0])
    value = number_or_none(match["score"]) if match else None
    return TestVerdict(FAILED, failure_status("failed", reason), reason, failed_checks=failed_checks, score=value)


def _verdict_of_skip(element: Element) -> TestVerdict:
    reason = _reason(element)
    if element.get("type") == EXPECTED and not reason.startswith(NOT_EVEN_TRIED):
        return TestVerdict(FAILED, "xfailed", reason, failed_checks=(FailedTestCheck(EXPECTED, reason),)).expected
    return TestVerdict(SKIPPED, "xfailed" if element.get("type") == EXPECTED else "skipped", reason)


def _broke(failure: Element) -> bool:
    """Only if pytest's last line names the exception and it is not an assertion."""
    raised = raised_in(failure.text)
    return bool(raised.frame and raised.type) and not raised.is_verdict


def _failed_checks(failure: Element) -> Iterator[FailedTestCheck]:
    if match := _match_promptfoo_score(failure):
        listed = [line.removeprefix("- ") for line in (match["listed"] or "").splitlines() if line]
        yield from (FailedTestCheck(name, match["reason"]) for name in listed or ["assertion"])
        return
    message = failure.get("message")
    name = failure.get("type") or raised_in(failure.text, message).type or "failure"
    yield FailedTestCheck(name, message or failure.text[:1000])


def _match_promptfoo_score(failure: Element) -> re.Match[str] | None:
    return _PROMPTFOO_SCORE.match(failure.text) if failure.get("type") == "assertion" else None


def _error(element: Element, phase: Phase, ref: SourceRef) -> ErrorInfo:
    traceback = "\n".join(filter(None, (element.text, *(one.text for one in element.all("stackTrace")))))
    message = element.get("message")
    inside = _FIXTURE.match(message)
    raised = raised_in(traceback, inside["message"] if inside else message or traceback.partition("\n")[0])
    type_name = element.get("type")
    if type_name and type_name != element.tag and not raised.type:
        raised = Raised(type_name, raised.message, raised.frame)
    return error_of(raised, phase, traceback=traceback, ref=ref)


def _phase(error: Element) -> Phase:
    return "setup" if _SETUP.match(error.get("message")) else ""


def _reason(element: Element) -> str:
    return element.get("message") or element.text[:1000]
