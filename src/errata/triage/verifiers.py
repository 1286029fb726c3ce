"""What a verifier's log shows: whether its tests ran at all, and whether they reached the task's own services."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from errata.model import Attempt, Case, Check
from errata.model.words import Confidence, Owner
from errata.text.lazy_regex import lazy_regex
from errata.triage.expected import task_text
from errata.triage.observed import Observed, signal
from errata.triage.runner_output import FailedTest, failed_tests, verifier_logs


class _Missing(NamedTuple):
    """Why no test ran."""

    line: str
    start: int
    is_tests: bool
    """Whether the tests themselves are missing or broken, and not what they need."""
    program: str = ""
    strength: Confidence = "likely"


def verifier_never_ran(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """A reward was written although no test ran: what the tests need is not there, or they themselves are not."""
    if not attempt.artefacts or attempt.outcome != "fail" or tests_ran(attempt):
        return
    for artefact, log in verifier_logs(attempt):
        # a harness may also run the project's own tests, which do not decide: their absence is not evidence
        decides = "verifier" in artefact.path or any(check.kind == "tests" and check.failed for check in attempt.checks)
        missing = _why_no_test_ran(log, decides=decides)
        if missing is not None and not _is_asked_for(missing.program, case):
            owner: Owner = "grader" if missing.is_tests else "environment"
            where = f"{artefact.path}:{artefact.line_at(log, missing.start)}"
            evidence = signal("verifier_never_ran", missing.strength, where, missing.line, attempt.ref)
            yield Observed(signal=evidence, owner=owner, also=() if owner == "grader" else ("grader",), breaks=True)


# what a verifier fetches its programs with
_FETCHING = lazy_regex(
    r"\b(?:curl|wget|apt(?:-get)?|pip|dns|proxy|firewall|network(?:ing)?|resolv\.conf)\b", re.IGNORECASE
)


def _is_asked_for(program: str, case: Case | None) -> bool:
    """Where the task is to provide a program, or to repair what fetches programs, the subject failed to do so."""
    task = task_text(case) if case is not None else ""
    if not task or not program:
        return False
    return re.search(rf"(?<!\w){re.escape(program)}(?!\w)", task) is not None or _FETCHING.search(task) is not None


def tests_ran(attempt: Attempt) -> bool:
    """What the harness has recorded for each test counts more than any line of a log."""
    tests = [check for check in attempt.checks if check.kind == "tests"]
    if any(check.status == "pass" or check.achieved or check.value for check in tests):
        return True
    # a list of the tests that had to pass has all of them as failed where none ran
    if any(check.max and not check.achieved for check in tests):
        return False
    return any(_has_failed(check) for check in tests)


def _has_failed(check: Check) -> bool:
    """As a single test does, with its own name or message; a file that could not be collected ran no test."""
    return check.status == "fail" and "error collecting" not in check.explanation.lower() and check.name not in _WHOLE


_WHOLE = frozenset(("tests", "test", "verifier", "pytest"))


def _why_no_test_ran(log: str, *, decides: bool) -> _Missing | None:
    # most logs contain none of these words, and looking for words is much faster than matching lines
    names_program = "not found" in log
    names_fault = any(words in log for words in _FAULTS)
    if not (names_program or names_fault or "ERROR collecting" in log or "no tests ran" in log):
        return None
    if _SOME_RAN.search(log):
        return None
    own = (_NO_PROGRAM.search(log) or _NONE_FOUND.search(log)) if decides else None
    if own is not None:
        return _Missing(own[0], own.start(), is_tests=True)
    if _TESTS_RAN.search(log):
        return None
    program = next(filter(_is_verifiers_own, _MISSING.finditer(log)), None) if names_program else None
    if program is not None:
        # the verifier's own script names what it lacks
        strength: Confidence = "certain" if _OWN_SCRIPT.search(program["by"]) else "likely"
        return _Missing(program[0], program.start(), False, program["program"].rpartition("/")[2], strength)
    broken = _BROKEN.search(log) if names_fault else None
    return _Missing(broken[0], broken.start(), is_tests=bool(broken["tests"])) if broken else None


# the missing program is more informative than the reason why it could not be fetched; a name is tried from its first
# character only, because a line may be one long word
_MISSING = lazy_regex(
    r"^(?P<by>[^\n]{0,1000}?)(?<![\w./+-])(?P<program>[\w./+-]{1,300}): (?:command )?not found[ \t]*$", re.MULTILINE
)
_TOOLS = frozenset(
    (
        *("uv", "uvx", "pytest", "py.test", "pip", "pip3", "python", "python3", "tox", "nox", "poetry", "conda"),
        *("curl", "wget", "apt", "apt-get", "apk", "dnf", "yum", "brew", "git", "tar", "unzip", "docker"),
        *("node", "npm", "npx", "pnpm", "yarn", "bun", "bunx", "deno", "jest", "vitest", "mocha"),
        *("go", "cargo", "mvn", "gradle", "bats", "ctest", "tmux", "asciinema"),
    )
)
"""What verifiers run to fetch what they need and to run tests."""
_OWN_SCRIPT = lazy_regex(
    r"(?:^|[\s/])(?:tests?|verifier|grader)/[\w./-]{0,200}\.sh: (?:line )?\d+: $|run[-_]tests?\.sh: "
)


def _is_verifiers_own(match: re.Match[str]) -> bool:
    """A program that the verifier's script calls. Anything else that is not found may be the subject's work."""
    return match["program"].rpartition("/")[2] in _TOOLS or _OWN_SCRIPT.search(match["by"]) is not None


_BROKEN = lazy_regex(
    r"^.*(?:[Cc]ould not resolve host|[Tt]emporary failure (?:in name resolution|resolving)|No space left on device"
    r"|Could not get lock|externally-managed-environment|cannot open shared object file|[Ee]xec format error"
    r"|[Bb]ad interpreter).*$"
    r"|^(?:E: (?:Unable to|Failed to|Package)|curl: \(\d+\)|wget: |error: Failed to (?:fetch|download)) ?.*$"
    r"|^.*(?:No module named '?_?pytest|Could not find a version that satisfies|No solution found when resolving).*$"
    r"|^.*browserType\.launch: Executable doesn't exist at .*$"
    r"|^(?P<tests>.*(?:file or directory not found: |can't open file '|(?:ba)?sh: (?:line \d+: )?)/?tests?/.*)$",
    re.MULTILINE,
)
_FAULTS = (
    *("ould not resolve host", "emporary failure ", "No space left on device", "Could not get lock"),
    *("externally-managed-environment", "cannot open shared object file", "xec format error", "ad interpreter"),
    *("E: Unable to", "E: Failed to", "E: Package", "curl: (", "wget: ", "error: Failed to "),
    *("No module named", "Could not find a version that", "No solution found when", "browserType.launch: "),
    *("file or directory not found: ", "can't open file '", "sh: "),
)
"""Each match of `_BROKEN` contains one of these."""
_NONE_FOUND = lazy_regex(r"^=+ no tests ran in .*$", re.MULTILINE)
# a test file that is not a program; one that only fails to import the code under test is evidence about the subject
_NO_PROGRAM = lazy_regex(
    r"^_+ ERROR collecting (?P<tests>\S+) _+\n(?:.*\n){0,8}?.*File \"[^\"\n]*(?P=tests)\".*\n(?:.*\n){0,4}?"
    r"E? *(?:SyntaxError|IndentationError|TabError): .*$",
    re.MULTILINE,
)
_SOME_RAN = lazy_regex(r"\b\d+ (?:passed|failed)\b")
_TESTS_RAN = lazy_regex(
    r"\b\d+ (?:passed|failed|error)|^=+ .*(?:passed|failed)|^(?:PASSED|FAILED) |^--- (?:PASS|FAIL)|^(?:not )?ok \d",
    re.MULTILINE,
)


_ADDRESS = lazy_regex(r"https?://(?P<host>[A-Za-z0-9][A-Za-z0-9.-]{0,100})(?P<port>:\d{1,5})?")
_OWN = lazy_regex(r"localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]", re.IGNORECASE)
# what a gateway answers for a server that does not; 500 is the server's own, and a request may have caused it
_GATEWAY = lazy_regex(
    r"^E {1,12}(?:AssertionError: )?assert (?P<code>50[234]) == \d{3}$"
    r"|HTTP Error 50[234]\b|\b50[234] (?:Server Error: )?(?:Bad Gateway|Service (?:Temporarily )?Unavailable|Gateway)",
    re.MULTILINE,
)
_REFUSED = lazy_regex(
    r"host='(?P<host>[\w.-]{1,100})', port=(?P<port>\d{1,5})\): Max retries exceeded"
    r"|Failed to resolve '(?P<name>[\w.-]{1,100})'"
    r"|Failed to connect to (?P<curl>[\w.-]{1,100}) port (?P<curl_port>\d{1,5})"
)
_NO_CONNECTION = lazy_regex(r"ConnectionRefusedError|Connection refused", re.IGNORECASE)


@lru_cache(maxsize=1_000)
def provided_hosts(task: str) -> frozenset[str]:
    """The services that a task has beside it: `http://api:8000`. None where the subject runs a server of its own."""
    if _OWN.search(task):
        return frozenset()
    addresses = _ADDRESS.finditer(task)
    return frozenset(one["host"].lower() for one in addresses if "." not in one["host"] or one["port"])


def service_down(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """The tests get no answer from a service that the task provides: no work could have passed them."""
    if case is None or attempt.outcome not in ("fail", "partial") or not (attempt.artefacts or attempt.checks):
        return
    hosts = provided_hosts(task_text(case))
    tests = failed_tests(attempt) if hosts else []
    down = [(where, test, quote) for where, test in tests if (quote := _no_answer(test, hosts))]
    if down:
        where, _, quote = down[0]
        strength: Confidence = "likely" if len(down) == len(tests) else "weak"
        evidence = signal(
            "service_down", strength, where, quote, attempt.ref, stated=f"the task provides {sorted(hosts)[0]}"
        )
        yield Observed(signal=evidence, owner="environment", also=("task",))


def _no_answer(test: FailedTest, hosts: frozenset[str]) -> str:
    refused = _REFUSED.search(test.text)
    if refused is not None:
        return refused[0] if (refused["host"] or refused["name"] or refused["curl"]).lower() in hosts else ""
    gateway = _GATEWAY.search(test.text)
    return gateway[0].removeprefix("E").strip() if gateway else ""


def unreachable(attempt: Attempt) -> dict[str, tuple[str, str]]:
    """The one address that no failed test could reach → its place and message; empty where a test failed otherwise."""
    if any(check.kind == "tests" and check.status == "pass" for check in attempt.checks):
        return {}
    places: dict[str, tuple[str, str]] = {}
    for where, test in failed_tests(attempt):
        refused = _REFUSED.search(test.text)
        if refused is None and not _NO_CONNECTION.search(test.message):
            return {}
        parts = [part for part in refused.groups() if part] if refused else ["no address"]
        places.setdefault(":".join(parts), (where, test.message))
    return places if len(places) == 1 else {}
