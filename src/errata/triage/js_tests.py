"""Failures of JavaScript tools: test files that can't be loaded, judges that break, demands that nobody can meet."""

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple

from errata.model import Attempt, Case
from errata.model.words import Confidence, Owner
from errata.text.clean import clean
from errata.text.lazy_regex import lazy_regex
from errata.text.tool_output import key_line
from errata.triage.expected import task_text
from errata.triage.observed import Observed, signal

READ = 200_000
_TEST_FILE = r"[^\s>\[]*[^\s>\[/]\.(?:test|spec)\.[cm]?[jt]sx?"
_HEADING = lazy_regex(rf"^[ \t]*(?:\[\w+\][ \t]*)?FAIL[ \t]+(?P<file>{_TEST_FILE})(?P<test>[^\n]*)$", re.MULTILINE)
_RAISED = lazy_regex(
    r"^[ \t]*(?:\[\w+\][ \t]*)?((?:(?:\w+\.)*\w*(?:Error|Exception)\b|[a-z]\w+\.\w+): ?\S[^\n]*)$", re.MULTILINE
)
_SUMMARY = lazy_regex(r"^[ \t]*(?:\[\w+\][ \t]*)?(?:Test Files|Test Suites:)[ \t]", re.MULTILINE)
_COUNTS = lazy_regex(r"^[ \t]*(?:\[\w+\][ \t]*)?Tests:?[ \t]+(?P<counts>\d[^\n]*)$", re.MULTILINE)

# vite, node and jest, in this order
_NOT_RESOLVED = lazy_regex(
    r"Failed to resolve import [\"'](?P<vite>[^\"'\n]+)[\"'] from [\"'](?P<vite_from>[^\"'\n]+)[\"']"
    r"|Cannot find (?:module|package) [\"'](?P<node>[^\"'\n]+)[\"'] (?:imported )?from "
    r"[\"']?(?P<node_from>[^\"'\n]+)"
)
_RUNNERS_OWN = lazy_regex(r"(?:^|/)node_modules/(?:@vitest/[\w-]+|vitest|vite|jest[\w-]*)/")
_UNPARSABLE = lazy_regex(rf"(?P<file>{_TEST_FILE}):\d+:\d+: ERROR: [^\n]+")
_STRINGS = lazy_regex(
    r"expected '(?P<received>[^'\n…]{2,80})' to (?:be|equal|deeply equal|strictly equal) '(?P<expected>[^'\n…]{2,80})'"
)
_MESSAGES = lazy_regex(
    r"to throw error (?:including|matching) (?:'(?P<text>[^'\n…]+)'|/(?P<pattern>[^/\n…]+)/\w*) "
    r"but got '(?P<received>[^\n]+)'"
)
# an error that the code did not throw on purpose, or that a validator threw for it
_NOT_ON_PURPOSE = lazy_regex(
    r"\b(?:Type|Reference|Range|Syntax)Error\b|is not a function|Cannot read propert|is not defined"
    r"|Validat(?:or|ion)|not found for|Could not find"
)
_PROGRAMMING = lazy_regex(r"(?:Type|Reference|Range|Syntax)Error: ")
# the program that counts the tests does not find what their runner should have written
_NO_REPORT = lazy_regex(
    r"(?:Error: )?ENOENT: no such file or directory, \w+ '[^'\n]*(?:report|result|vitest|jest)[^'\n]*'"
)
_WORDS = lazy_regex(r"[A-Za-z]{4,}")


class FailedJsTest(NamedTuple):
    file: str
    is_suite: bool
    """The file itself failed: no test of it ran."""
    message: str
    text: str


def failed_js_tests(attempt: Attempt) -> tuple[str, tuple[FailedJsTest, ...]]:
    """The place of the first output of a test runner that lists failures, and what it lists."""
    for where, text in outputs_of(attempt):
        if "FAIL" in text and (tests := _parse(text[:READ])):
            return where, tests
    return "", ()


def outputs_of(attempt: Attempt) -> Iterator[tuple[str, str]]:
    """What failed checks and logs have of it, with its place."""
    for check in attempt.checks:
        if check.failed and check.explanation:
            yield f"checks[{check.name}].explanation", check.explanation
    for artefact in attempt.artefacts:
        if artefact.role == "log" and artefact.text:
            yield artefact.path, artefact.text


@lru_cache(maxsize=64)
def _parse(text: str) -> tuple[FailedJsTest, ...]:
    plain = clean(text)
    headings = list(_HEADING.finditer(plain))
    tests: dict[tuple[str, str], FailedJsTest] = {}
    for at, heading in enumerate(headings):
        block = plain[heading.end() : headings[at + 1].start() if at + 1 < len(headings) else len(plain)]
        summary = _SUMMARY.search(block)
        block = block[: summary.start()] if summary else block
        raised = _RAISED.search(block)
        is_suite = " > " not in heading["test"]
        if raised is not None:  # one line per test above, a block per failure below
            tests[heading["file"], heading["test"]] = FailedJsTest(heading["file"], is_suite, raised[1], block)
    return tuple(tests.values())


def cannot_be_loaded(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """A test file imports something that neither the task nor the subject has to do with, or does not parse."""
    if attempt.outcome not in ("fail", "partial"):
        return
    where, tests = failed_js_tests(attempt)
    suites = [test for test in tests if test.is_suite and not _is_the_subjects(test.file, attempt)]
    if suites and len(suites) == len(tests):
        task = task_text(case) if case is not None else ""
        broken = [reason for test in suites if (reason := _fault_of(test, attempt, task))]
        if len(broken) == len(suites):
            evidence = signal("broken_test", "likely", where, broken[0], attempt.ref)
            yield Observed(signal=evidence, owner="grader", breaks=True)


def _fault_of(test: FailedJsTest, attempt: Attempt, task: str) -> str:
    name = PurePosixPath(test.file).name
    if (match := _UNPARSABLE.search(test.text)) and PurePosixPath(match["file"]).name == name:
        return match[0]
    match = _NOT_RESOLVED.search(test.text)
    if match is None:
        return ""
    importer = match["vite_from"] or match["node_from"]
    if _RUNNERS_OWN.search(importer):
        return match[0]
    if PurePosixPath(importer).name != name:
        return ""
    wanted = PurePosixPath(match["vite"] or match["node"]).name
    stem = wanted.partition(".")[0]
    files = {PurePosixPath(one.path).name.partition(".")[0] for one in attempt.artefacts if one.role != "log"}
    asked_for = not stem or stem.lower() in task.lower() or stem in files or not task
    return "" if asked_for else match[0]


def _is_the_subjects(file: str, attempt: Attempt) -> bool:
    """Whether the subject wrote the test file itself."""
    name = PurePosixPath(file).name
    return any(one.role == "output" and PurePosixPath(one.path).name == name for one in attempt.artefacts)


def contradicts_the_task(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """The task states the value in quotes that the tests refuse, and not the one that they demand."""
    yield from _of_pairs(attempt, case, _STRINGS, "test_contradicts_task", "task")


def demands_a_message(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """The code threw an error as it should; the tests demand a text of it that the task does not mention."""
    yield from _of_pairs(attempt, case, _MESSAGES, "unnamed_message", "grader")


def _of_pairs(
    attempt: Attempt, case: Case | None, pattern: re.Pattern[str], name: str, owner: Owner
) -> Iterator[Observed]:
    if case is None or attempt.outcome not in ("fail", "partial"):
        return
    where, tests = failed_js_tests(attempt)
    task = task_text(case) if tests else ""
    if not task.strip():
        return
    is_unfair = _refuses_what_is_asked if pattern is _STRINGS else _demands_other_words
    unfair = [match[0] for test in tests if (match := pattern.search(test.message)) and is_unfair(match, task)]
    if unfair:
        strength: Confidence = "likely" if len(unfair) == len(tests) else "weak"
        yield Observed(signal=signal(name, strength, where, unfair[0], attempt.ref), owner=owner)


def _refuses_what_is_asked(match: re.Match[str], task: str) -> bool:
    received, expected = match["received"], match["expected"]
    is_stated = re.search(rf"([\"'`“]){re.escape(received)}[\"'`”]", task) is not None
    return is_stated and expected.lower() not in task.lower()


def _demands_other_words(match: re.Match[str], task: str) -> bool:
    if _NOT_ON_PURPOSE.search(match["received"]):
        return False
    if match["text"] is not None:
        return match["text"].lower() not in task.lower()
    words = _WORDS.findall(match["pattern"])
    return bool(words) and not any(word.lower() in task.lower() for word in words)


def runner_crashed(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    """Every test passed, and then the program that counts them threw an error of its own."""
    if attempt.outcome not in ("fail", "partial"):
        return
    failed = [check for check in attempt.checks if check.failed]
    if len(failed) != 1:
        return
    if failed[0].kind == "step" and _NO_REPORT.match(failed[0].explanation):
        evidence = signal(
            "test_runner_crashed", "likely", f"checks[{failed[0].name}]", failed[0].explanation, attempt.ref
        )
        yield Observed(signal=evidence, owner="harness", also=("unknown",), breaks=True)
        return
    if not _PROGRAMMING.match(failed[0].explanation):
        return
    for _, text in outputs_of(attempt):
        counts = _COUNTS.search(text[-READ:])
        if counts is not None and "passed" in counts["counts"] and "failed" not in counts["counts"]:
            quote = failed[0].explanation.partition("\n")[0]
            evidence = signal("test_runner_crashed", "likely", f"checks[{failed[0].name}]", quote, attempt.ref)
            yield Observed(signal=evidence, owner="harness", breaks=True)
            return


# a model that judges inside a test: where it failed, there is no verdict
_JUDGE_FAILED = lazy_regex(
    r"\b(?:AI|LLM|model)[ -](?:grader|judge|evaluator)\b.{0,40}\b(?:failed|errored|timed out|crashed|unavailable)\b"
    r"|\bAI_(?:NoObjectGenerated|APICall|Retry|NoSuchModel|LoadAPIKey)Error\b",
    re.IGNORECASE,
)


def judge_failed_in_a_test(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    """Every test that failed asks a model for its judgment, and got none."""
    if attempt.outcome not in ("fail", "partial"):
        return
    where, tests = failed_js_tests(attempt)
    broken = [match for test in tests if (match := _JUDGE_FAILED.search(test.message))]
    if tests and len(broken) == len(tests):
        evidence = signal("judge_broke_in_test", "likely", where, broken[0].string, attempt.ref)
        yield Observed(signal=evidence, owner="grader", breaks=True, is_specific=True)


# npm, bun, yarn and pip, in this order
_NO_SUCH_VERSION = lazy_regex(
    r"No matching version found for (?P<npm>@?[\w./-]+)@(?P<npm_version>[\w.^~-]+)"
    r"|No version matching \"(?P<bun_version>[^\"\n]+)\" found for specifier \"(?P<bun>[^\"\n]+)\""
    r"|Couldn't find any versions for \"(?P<yarn>[^\"\n]+)\" that matches \"(?P<yarn_version>[^\"\n]+)\""
    r"|No matching distribution found for (?P<pip>[\w.-]+)==(?P<pip_version>[\w.]+)"
)


def prescribes_what_does_not_exist(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """The task itself names the package and the version that can't be installed."""
    if case is None or attempt.outcome not in ("fail", "partial"):
        return
    for check in attempt.checks:
        match = _NO_SUCH_VERSION.search(check.explanation) if check.failed else None
        if match is None:
            continue
        named = {key: value for key, value in match.groupdict().items() if value}
        task = task_text(case)
        if all(value.lstrip("^~=") in task for value in named.values()):
            evidence = signal("task_names_no_version", "likely", f"checks[{check.name}]", match[0], attempt.ref)
            yield Observed(signal=evidence, owner="task", is_specific=True)
            return


# `must be between 2 and 4096, got 8192`
_OUT_OF_RANGE = lazy_regex(
    r"\b(?:must|has to|have to|should|can only) be (?:between (?P<least>\d[\d_,.]*) and (?P<most>\d[\d_,.]*)"
    r"|(?:at most|no more than|less than(?: or equal to)?|<=?) (?P<limit>\d[\d_,.]*))"
    r".{0,40}?\b(?:got|received|given|was|is|found):? (?P<value>\d[\d_,.]*\d)(?!\w)"
)


def prescribes_what_is_refused(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """The platform refuses a number as out of its range before any test ran, and the task itself names that number."""
    if case is None or attempt.outcome not in ("fail", "partial"):
        return
    for check in attempt.checks:
        match = _OUT_OF_RANGE.search(key_line(check.explanation)) if check.failed and check.kind == "step" else None
        if match is not None and re.search(rf"(?<![\w.]){re.escape(match['value'])}(?![\w]|\.\d)", task_text(case)):
            evidence = signal("task_names_refused_value", "likely", f"checks[{check.name}]", match.string, attempt.ref)
            yield Observed(signal=evidence, owner="task", is_specific=True)
            return


RULES = (
    cannot_be_loaded,
    contradicts_the_task,
    demands_a_message,
    runner_crashed,
    judge_failed_in_a_test,
    prescribes_what_does_not_exist,
    prescribes_what_is_refused,
)
MEANS = {
    "test_contradicts_task": "the tests refuse the value that the task states",
    "unnamed_message": "the tests demand an error message that the task does not mention",
    "test_runner_crashed": "every test passed, then the test runner crashed",
    "judge_broke_in_test": "a model that judges in a test gave no judgment",
    "task_names_refused_value": "the task prescribes a number that the platform refuses",
    "task_names_no_version": "the task prescribes a version of a package that does not exist",
}
