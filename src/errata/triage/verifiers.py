"""What a verifier's log shows: whether its tests ran at all."""

import re
from collections.abc import Iterator

import msgspec

from errata.model import Attempt, Case, Check
from errata.model.words import Owner
from errata.triage.observed import Observed, signal


def verifier_never_ran(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    """A reward was written although no test ran: what the tests need is not there, or they themselves are not."""
    if not attempt.artefacts or attempt.outcome != "fail":
        return
    if any(_tests_ran(check) for check in attempt.checks):
        return
    for artefact in attempt.artefacts:
        if artefact.role != "log" or not artefact.text or not _VERIFIER_LOG.search(artefact.path):
            continue
        # a harness may also run the project's own tests, which do not decide: their absence is no evidence
        decides = "verifier" in artefact.path or any(check.kind == "tests" and check.failed for check in attempt.checks)
        missing = _why_no_test_ran(artefact.text, decides=decides)
        if missing is not None:
            line = artefact.text.count("\n", 0, missing.start()) + 1
            where = f"{artefact.path}:{line}"
            owner: Owner = "grader" if missing.re is not _MISSING and missing["tests"] else "environment"
            observation = Observed(
                signal=signal("verifier_never_ran", "certain", where, missing[0], attempt.ref), owner=owner, breaks=True
            )
            yield observation if owner == "grader" else msgspec.structs.replace(observation, also=("grader",))


def _why_no_test_ran(log: str, *, decides: bool) -> re.Match[str] | None:
    if _SOME_RAN.search(log):
        return None
    own = (_NO_PROGRAM.search(log) or _NONE_FOUND.search(log)) if decides else None
    if own is not None or _TESTS_RAN.search(log):
        return own
    return _MISSING.search(log) or _BROKEN.search(log)


def _tests_ran(check: Check) -> bool:
    """Some harnesses list tests that never ran as failed: a single passed test proves that they ran."""
    return check.kind == "tests" and (check.status == "pass" or bool(check.achieved) or bool(check.value))


_VERIFIER_LOG = re.compile(r"verif|test|grade", re.IGNORECASE)
# the missing program is more informative than the reason why it could not be fetched
_MISSING = re.compile(r"^.*\b[\w.-]+: (?:command )?not found\s*$", re.MULTILINE)
_BROKEN = re.compile(
    r"^.*(?:[Cc]ould not resolve host|[Tt]emporary failure (?:in name resolution|resolving)|No space left on device"
    r"|Could not get lock|externally-managed-environment|cannot open shared object file|[Ee]xec format error"
    r"|[Bb]ad interpreter).*$"
    r"|^(?:E: (?:Unable to|Failed to|Package)|curl: \(\d+\)|wget: |error: Failed to (?:fetch|download)) ?.*$"
    r"|^.*(?:No module named '?_?pytest|Could not find a version that satisfies|No solution found when resolving).*$"
    r"|^.*browserType\.launch: Executable doesn't exist at .*$"
    r"|^(?P<tests>.*(?:file or directory not found: |can't open file '|(?:ba)?sh: (?:line \d+: )?)/?tests?/.*)$",
    re.MULTILINE,
)
_NONE_FOUND = re.compile(r"^=+ (?P<tests>no tests ran) in .*$", re.MULTILINE)
# a test file that is no program; one that only fails to import the code under test is evidence about the subject
_NO_PROGRAM = re.compile(
    r"^_+ ERROR collecting (?P<tests>\S+) _+\n(?:.*\n){0,8}?.*File \"[^\"\n]*(?P=tests)\".*\n(?:.*\n){0,4}?"
    r"E? *(?:SyntaxError|IndentationError|TabError): .*$",
    re.MULTILINE,
)
_SOME_RAN = re.compile(r"\b\d+ (?:passed|failed)\b")
_TESTS_RAN = re.compile(
    r"\b\d+ (?:passed|failed|error)|^=+ .*(?:passed|failed)|^(?:PASSED|FAILED) |^--- (?:PASS|FAIL)|^(?:not )?ok \d",
    re.MULTILINE,
)
