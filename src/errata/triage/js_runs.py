"""Runs of JavaScript tests that no code of the subject broke: backends, machines, test files and runners that fail."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from errata.model import Attempt, Case
from errata.model.words import Confidence, Owner
from errata.text.lazy_regex import lazy_regex
from errata.text.tool_output import key_line
from errata.triage import js_demands, js_tests
from errata.triage.expected import task_text
from errata.triage.js_tests import READ, FailedJsTest, failed_js_tests, outputs_of
from errata.triage.observed import Observed, signal

_FRAME = lazy_regex(r"^\s*(?:❯|at) (?:[^\n]{0,200}? )?\(?(?P<file>[^\s()]+\.[cm]?[jt]sx?):\d+:\d+\)?$", re.MULTILINE)
# what a server reports of the code that it ran, and what a test reports of a value
_OF_THE_SUBJECT = lazy_regex(r"\bServer Error\b|\bUncaught \w|^AssertionError\b|\bConvexError\b", re.MULTILINE)
_OF_THE_GRADER = lazy_regex(r"\.(?:test|spec)\.[cm]?[jt]sx?$|(?:^|/)(?:grader|graders|test-?utils?|setup)(?:/|\.)")

_NO_BACKEND = lazy_regex(
    r"\bconnect ECONNREFUSED (?:127\.0\.0\.1|::1|localhost)|\bfetch failed\b[\s\S]{0,2000}?"
    r"(?:ECONNREFUSED (?:127\.0\.0\.1|::1)|\bread ECONNRESET|other side closed|socket hang up|UND_ERR_SOCKET)"
    r"|\bfetch failed\b[^\n]*\n\s*❯ ConvexHttpClient\b|^Error: 50[234] (?:Bad Gateway|Service|Gateway)",
    re.MULTILINE,
)
_MACHINE = lazy_regex(
    r"\bEADDRINUSE\b|\bspawn \S+ (?:ENOENT|EACCES|ENOMEM|EAGAIN)|\bENOSPC\b|\bEMFILE\b|\bENOMEM\b|\bEROFS\b"
    r"|browserType\.launch|Executable doesn't exist|cannot open shared object|Failed to launch the browser"
)
_NO_SETTING = lazy_regex(
    r"\b(?:missing|no|undefined|required|unset)\b.{0,30}\benv(?:ironment)?(?:[ -]variables?)?\b"
    r"|\benv(?:ironment)? variable\b.{0,60}\b(?:missing|not set|undefined|required|unset)\b"
    r"|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+ (?:is|was|must be) (?:not |un)?(?:set|defined|missing|required)",
    re.IGNORECASE,
)
_NO_FILE = lazy_regex(r"\bENOENT: no such file or directory, \w+ '(?P<file>[^'\n]+)'")
_NO_TESTS = lazy_regex(r"^Error: No test suite found in file |^Error: Invalid Chai property: |\"_generated\" directory")
_NO_NAME = lazy_regex(r"^ReferenceError: [\w$]+ is not defined")
_NO_FUNCTION = lazy_regex(r"^TypeError: (?P<object>[\w$]+)\.(?P<name>[\w$]+) is not a function")
_PARTS = {"grader", "evals", "fixtures", "tests", "__fixtures__"}


class _Failure(NamedTuple):
    test: FailedJsTest
    attempt: Attempt
    case: Case | None

    @property
    def first_frame(self) -> str:
        match = _FRAME.search(self.test.text)
        return match["file"] if match else ""


def no_code_of_the_subject(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """Every failed test failed for the same kind of fault, in code or machinery that is not the subject's."""
    if attempt.outcome not in ("fail", "partial"):
        return
    where, tests = failed_js_tests(attempt)
    for name, owner, also, is_fault in _FAULTS:
        hits = [test for test in tests if is_fault(_Failure(test, attempt, case))]
        if hits:
            strength: Confidence = "likely" if len(hits) == len(tests) else "weak"
            evidence = signal(name, strength, where, hits[0].message, attempt.ref)
            yield Observed(signal=evidence, owner=owner, also=also, breaks=strength == "likely", is_specific=True)
            return


def _is_outside(failure: _Failure) -> bool:
    """No line of the error is about a value, about code that a server ran, or in a file that the subject wrote."""
    test = failure.test
    if _OF_THE_SUBJECT.search(f"{test.message}\n{test.text[:4_000]}"):
        return False
    written = {one.path for one in failure.attempt.artefacts if one.role == "output"}
    return not any(_is_one_of(match["file"], written) for match in _FRAME.finditer(test.text))


def _is_one_of(file: str, written: set[str]) -> bool:
    if "node_modules/" in file or _OF_THE_GRADER.search(file):
        return False
    return any(file.endswith(f"/{path}") or file == path for path in written)


def _backend_is_gone(failure: _Failure) -> bool:
    return _is_outside(failure) and _NO_BACKEND.search(failure.test.text) is not None


def _machine_failed(failure: _Failure) -> bool:
    return _MACHINE.search(failure.test.message) is not None and _is_graders(failure)


def _setting_is_missing(failure: _Failure) -> bool:
    return _NO_SETTING.search(failure.test.message) is not None and _is_graders(failure)


def _is_graders(failure: _Failure) -> bool:
    """Raised in the grader's own files, or before any test of the file ran."""
    is_its_own = failure.test.is_suite or _OF_THE_GRADER.search(failure.first_frame) is not None
    return is_its_own and _is_outside(failure)


def _test_is_broken(failure: _Failure) -> bool:
    test = failure.test
    if _NO_TESTS.search(test.message):
        return True
    if not _OF_THE_GRADER.search(failure.first_frame) or not _is_outside(failure):
        return False
    return _NO_NAME.match(test.message) is not None or _lacks_its_file(failure) or _calls_what_is_not_there(failure)


def _lacks_its_file(failure: _Failure) -> bool:
    """A file beside the tests that neither the task mentions nor the subject was to write."""
    match = _NO_FILE.search(failure.test.message)
    if match is None:
        return False
    path = PurePosixPath(match["file"])
    task = task_text(failure.case) if failure.case is not None else ""
    return bool(_PARTS & set(path.parts)) and bool(task) and path.stem.lower() not in task.lower()


def _calls_what_is_not_there(failure: _Failure) -> bool:
    """A function of the test library, or of an object that it made, which the library does not have."""
    match = _NO_FUNCTION.match(failure.test.message)
    name = PurePosixPath(failure.test.file).name
    files = failure.case.artefacts if failure.case is not None else ()
    source = next((one.text for one in files if one.text and PurePosixPath(one.path).name == name), "")
    if match is None or not source:
        return False
    imported = set[str]()
    for names, package in _IMPORT.findall(source):
        imported.update(_WORD.findall(names) if _OF_TESTING.match(package) else ())
    made = re.search(rf"\b(?:const|let) {re.escape(match['object'])} = (?:await )?(\w+)\(", source)
    return match["object"] in imported or (made is not None and made[1] in imported)


_IMPORT = lazy_regex(r"import (?:type )?([^;'\"]{1,500}?) from [\"']([^\"'\n]+)[\"']")
_OF_TESTING = lazy_regex(r"vitest$|convex-test$|@testing-library/|(?:\.\./)+grader")
_WORD = lazy_regex(r"\w+")

_FAULTS: tuple[tuple[str, Owner, tuple[Owner, ...], Callable[[_Failure], bool]], ...] = (
    ("backend_lost", "environment", ("harness",), _backend_is_gone),
    ("test_machine_failed", "environment", ("grader",), _machine_failed),
    ("test_setting_missing", "harness", ("environment", "grader"), _setting_is_missing),
    ("broken_test", "grader", (), _test_is_broken),
)

# a runner that never came to the tests, or lost the process that ran them
_NOT_STARTED = lazy_regex(
    r"^(?:\[\w+\] ?)?(?:No test files found, exiting with code|failed to load config from |⎯+ Startup Error ⎯+)[^\n]*",
    re.MULTILINE,
)
_LOST = lazy_regex(
    r"^(?:\[\w+\] ?)?(?:Caused by: )?(?:Error: )?(?:\[vitest-(?:pool|worker|pool-runner)\]: [^\n]+"
    r"|Worker exited unexpectedly|Worker terminated due to reaching memory limit[^\n]*|Channel closed)$",
    re.MULTILINE,
)


def runner_never_ran_them(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    """No test failed: the runner found none, could not load its settings, or lost the process that ran them."""
    if attempt.outcome not in ("fail", "partial") or failed_js_tests(attempt)[1]:
        return
    for where, text in outputs_of(attempt):
        if match := _NOT_STARTED.search(text[:READ]):
            evidence = signal("tests_not_started", "likely", where, match[0], attempt.ref)
            yield Observed(signal=evidence, owner="harness", also=("grader",), breaks=True, is_specific=True)
            return
        if match := _LOST.search(text[:READ]):
            # code under test that uses up the memory ends the process, too
            evidence = signal("test_process_lost", "likely", where, match[0], attempt.ref)
            also: tuple[Owner, ...] = ("environment", "harness", "model")
            yield Observed(signal=evidence, owner="unknown", also=also, breaks=True, is_specific=True)
            return


# what the code under test printed, and how a log shortens what was printed over and over
_PRINTED = lazy_regex(
    r"^(?:\[\w+\] ?)?(?:\w+ \| )?\[CONVEX [A-Z]\([\w/:.-]+\)\] \[\w+\] (?P<text>[^\n]+)$", re.MULTILINE
)
_LEFT_OUT = lazy_regex(
    r"^(?:\[\w+\] ?)?(?:\.\.\.|…|\() ?(?P<count>\d[\d,]*) (?:more |similar |further |identical )+lines?", re.MULTILINE
)
_TIMED_OUT = lazy_regex(r"(?:Error: )?(?:vitest|jest|mocha|test (?:command|run|runner)) timed out after \d")
ENDLESS = 100


def prints_without_end(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    """Code under test printed the same line over and over, until the time of the whole test run was up."""
    timed_out = next((one for one in attempt.checks if one.failed and _TIMED_OUT.match(one.explanation)), None)
    if timed_out is None:
        return
    for where, text in outputs_of(attempt):
        lines = Counter(_NUMBER.sub("#", match["text"]) for match in _PRINTED.finditer(text[-READ:]))
        left_out = sum(int(match["count"].replace(",", "")) for match in _LEFT_OUT.finditer(text[-READ:]))
        line, often = lines.most_common(1)[0] if lines else ("", 0)
        if often > FEW and often + left_out >= ENDLESS:
            quote = f"{timed_out.explanation.partition(_END)[0]}, after: {line}"
            evidence = signal("prints_without_end", "likely", where, quote, attempt.ref)
            yield Observed(signal=evidence, owner="model", is_specific=True, is_self_evident=True)
            return


_NUMBER = lazy_regex(r"\d+")
_END = "\n"
FEW = 2

# `[setup] package.json: convex ^1.31.2 -> workspace:*`, `… moduleResolution "NodeNext" -> "bundler"`
_REWRITTEN = lazy_regex(
    r"^\[setup\] [^\n]{0,300}?[\"'`]?(?P<old>[^\s\"'`]+)[\"'`]? (?:->|=>|→) [\"'`]?(?P<new>[^\s\"'`,;)]+)[^\n]*",
    re.MULTILINE,
)
SHORTEST_VALUE = 4


def settings_rewritten(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    """The harness replaced a value in the answer's settings, and the step refuses the value that it put there."""
    failed = [check for check in attempt.checks if check.failed]
    if len(failed) != 1 or failed[0].name == "tests":
        return
    output = failed[0].explanation
    if _OF_CODE.search(output):
        return
    logs = (one.text for one in attempt.artefacts if one.role == "log" and one.text and "[setup] " in one.text)
    for rewritten in (match for text in logs for match in _REWRITTEN.finditer(text)):
        old, new = rewritten["old"], rewritten["new"]
        is_refused = len(new) >= SHORTEST_VALUE and new in output and old not in output
        if is_refused:
            where, complaint = f"checks[{failed[0].name}]", key_line(output)
            evidence = signal("settings_rewritten", "likely", where, complaint, attempt.ref)
            yield Observed(signal=evidence, owner="harness", is_specific=True)
            return


# a complaint about a line of code
_OF_CODE = lazy_regex(r"^[^\s():]{1,300}\.[cm]?[jt]sx?[(:]\d", re.MULTILINE)


RULES = (
    *js_tests.RULES,
    *js_demands.RULES,
    no_code_of_the_subject,
    runner_never_ran_them,
    prints_without_end,
    settings_rewritten,
)
MEANS = {
    **js_tests.MEANS,
    **js_demands.MEANS,
    "backend_lost": "the tests could not reach the backend",
    "test_machine_failed": "the machine did not give the tests what they need",
    "test_setting_missing": "the tests lack a setting that the harness has to provide",
    "tests_not_started": "the test runner never came to the tests",
    "test_process_lost": "the process that ran the tests ended",
    "prints_without_end": "code under test repeated one line until the tests ran out of time",
    "settings_rewritten": "a step refuses settings that the harness has changed",
}
