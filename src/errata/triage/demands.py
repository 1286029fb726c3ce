"""What the tests demand beside what the task asks for: files, names, keys."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from errata.model import Attempt, Case
from errata.text.lazy_regex import lazy_regex
from errata.triage.expected import task_text
from errata.triage.observed import Observed, signal
from errata.triage.runner_output import failed_tests, verifier_logs

# a path that a test did not find, as Python, shells, compilers and assertions put it
_PATH = r"(?P<{0}>/?[\w.+@-]+(?:/[\w.+@-]+)*)"
_MISSING = lazy_regex(
    r"No such file or directory: ['\"]" + _PATH.format("python") + r"['\"]"
    r"|can't open file ['\"]" + _PATH.format("opened") + r"['\"]"
    r"|(?:gcc|cc|g\+\+|clang|python3?|node|cat|bash|sh): (?:error: |cannot open )?"
    + _PATH.format("shell")
    + r": No such file or directory"
    r"|\b(?:[Ff]ile|[Dd]irectory|[Ss]cript|[Aa]rchive|[Ee]xecutable) ['\"]?" + _PATH.format("stated") + r"['\"]? "
    r"(?:does not exist|doesn't exist|not found|was not created|is missing|should exist)"
    r"|^E? *(?:AssertionError|Failed): ['\"]?"
    + _PATH.format("named")
    + r"['\"]? (?:script |file )?(?:does not exist|doesn't exist|not found|was not created|is missing"
    r"|should be created)",
    re.MULTILINE,
)
_FAILURES = lazy_regex(r"^={3,} (?:FAILURES|ERRORS) ={3,}$", re.MULTILINE)
_KEY = lazy_regex(r"KeyError: '([\w .-]{1,80})'$")
_PROGRAMS_OWN = lazy_regex(r"^/?(?:tests?|usr|proc|dev|lib|etc/ssl|root/\.)(?:/|$)|site-packages")


class MissingPath(NamedTuple):
    path: str
    where: str
    quote: str

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


def missing_paths(attempt: Attempt) -> Iterator[MissingPath]:
    """The files that failed tests did not find: from the verifier's logs, else from what the checks have recorded."""
    is_logged = False
    for artefact, text in verifier_logs(attempt):
        begin = _FAILURES.search(text) if "FAILURES =" in text or "ERRORS =" in text else None
        if begin is not None:
            is_logged = True
            before = artefact.line_at(text, begin.start()) - 1
            for path, line, quote in _missing_in(text[begin.start() :]):
                yield MissingPath(path, f"{artefact.path}:{before + line}", quote)
    if is_logged:
        return
    for check in attempt.checks:
        if check.failed and check.kind == "tests" and check.explanation:
            for path, _, quote in _missing_in(check.explanation):
                yield MissingPath(path, f"checks[{check.name}].explanation", quote)


@lru_cache(maxsize=64)
def _missing_in(text: str) -> tuple[tuple[str, int, str], ...]:
    paths: dict[str, tuple[str, int, str]] = {}
    for match in _MISSING.finditer(text):
        path = next(part for part in match.groups() if part)
        if ("/" in path or "." in path) and not _PROGRAMS_OWN.search(path):
            paths.setdefault(path, (path, text.count("\n", 0, match.start()) + 1, match[0]))
    return tuple(paths.values())


def other_path(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """The tests look for a file whose name is a near miss of the one that the task names."""
    if case is None or attempt.outcome not in ("fail", "partial"):
        return
    missing = list(missing_paths(attempt))
    if not missing:
        return
    task = task_text(case)
    named = {path.rpartition("/")[2]: path for path in reversed(PATHS_IN_TASK.findall(task))}
    absent = {looked_for.name for looked_for in missing}
    for looked_for in missing:
        if looked_for.name not in task:
            near_miss = next(
                (name for name in sorted(named.keys() - absent) if is_near_miss(looked_for.name, name)), None
            )
            if near_miss is not None:
                seen = signal("other_path", "likely", looked_for.where, looked_for.quote, attempt.ref)
                yield Observed(signal=seen, owner="task")
                beside = signal("other_path", "likely", "case.input", named[near_miss], case.ref)
                yield Observed(signal=beside, owner="task")
                return


@lru_cache(maxsize=10_000)
def is_near_miss(name: str, other: str) -> bool:
    """Whether two names have the same parts in another order, or differ in one letter."""
    if name == other or name.lower() == other.lower():
        return name != other
    if sorted(name.split(".")) == sorted(other.split(".")):
        return True
    if min(len(name), len(other)) < 6 or name.rpartition(".")[2] != other.rpartition(".")[2]:
        return False
    short, long = sorted((name, other), key=len)
    start = next((at for at, letter in enumerate(short) if letter != long[at]), len(short))
    rests = (short[start:], long[start + 1 :]) if len(short) < len(long) else (short[start + 1 :], long[start + 1 :])
    differing = long[start : start + 1] + (short[start : start + 1] if len(short) == len(long) else "")
    # numbered files and variants are different files
    return rests[0] == rests[1] and len(long) - len(short) <= 1 and differing.isalpha() and differing.islower()


def unnamed_demands(attempt: Attempt, case: Case) -> dict[str, MissingPath]:
    """Files and keys that the tests demand and the task never names, by the thing demanded."""
    task = task_text(case)
    if not task.strip():
        return {}
    demanded = {f"file {path.name}": path for path in missing_paths(attempt) if path.name not in task}
    for where, test in failed_tests(attempt):
        key = _KEY.match(test.message)
        if key and f'["{key[1]}"]' in test.source.replace("'", '"') and not _is_named(key[1], task):
            demanded[f"key {key[1]}"] = MissingPath(key[1], where, test.message)
    return demanded


def _is_named(word: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


_COMPARED = lazy_regex(
    r"[Ee]xpected:? (-?\d+\.\d+),? (?:but )?got:? (-?\d+\.\d+)(?!\d)|assert (-?\d+\.\d+) == (-?\d+\.\d+)$"
)
_PRECISION = lazy_regex(r"\b(?:decimals?|digits?|precis|round|exact|accura|significant|\d+ places)", re.IGNORECASE)


def unnamed_precision(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """The only refused value is the expected one, rounded, and the task names no precision."""
    if case is None or attempt.outcome not in ("fail", "partial") or not (attempt.artefacts or attempt.checks):
        return
    tests = failed_tests(attempt)
    compared = _COMPARED.search(tests[0][1].message) if len(tests) == 1 else None
    if compared is None:
        return
    exact, rounded = sorted((part for part in compared.groups() if part), key=len, reverse=True)
    decimals = len(rounded.partition(".")[2])
    if round(float(exact), decimals) == float(rounded) and exact != rounded and not _PRECISION.search(task_text(case)):
        where, test = tests[0]
        yield Observed(signal=signal("strict_match", "likely", where, test.message, attempt.ref), owner="grader")


_UNREACHABLE = lazy_regex(
    r"Connect(?:ion|Timeout)|Timeout|HTTPError|URLError|SSLError|ProxyError|Max retries|unreachable|\b5\d\d\b"
)


# a limit of speed, size or quality that nobody reached is a difficult task, not a wrong test
_LIMIT_OF_QUALITY = lazy_regex(
    r"\b(?:took|slow(?:er)?|faster|longer than|seconds?|speed\w*|throughput|latency|accuracy|similarity|threshold|loss"
    r"|r?mse|score|too (?:large|big|long|many|low|high)|exceed\w*|at least|at most|tolerance)\b",
    re.IGNORECASE,
)


def nearly_passed(attempt: Attempt) -> tuple[tuple[str, str], ...]:
    """What was refused, by test and masked message, where more tests passed than failed; else nothing.

    A file that could not be collected, a missing file and a service that did not answer are not refusals of work, and a
    limit of speed or quality refuses what is not good enough.
    """
    passed = sum(check.kind == "tests" and check.status == "pass" for check in attempt.checks)
    if not passed:
        return ()
    tests = [test for _, test in failed_tests(attempt)]
    listed = sum(check.kind == "tests" and check.status == "fail" for check in attempt.checks)
    if not tests or max(len(tests), listed) >= passed or any(not test.message for test in tests):
        return ()
    if any(not test.is_collected or _UNREACHABLE.search(test.message) for test in tests):
        return ()
    if any(_LIMIT_OF_QUALITY.search(test.message) for test in tests):
        return ()
    if any(_missing_in(f"E   {test.message}") for test in tests):
        return ()
    return tuple(sorted({test.shape for test in tests}))


# tried from the first character of a path only, because rulers and tables consist of the same characters
PATHS_IN_TASK = lazy_regex(
    r"(?<![\w./+@-])/?(?:[\w.+@-]{1,200}/){0,40}\.?[\w+@-]{1,200}(?:\.[\w+-]{1,100}){1,10}(?![\w/])"
)
