"""Test code that can't run for a fault of its own: no answer could pass it."""

import re
import sys
from collections.abc import Iterator

from errata.model import Attempt, Case, Check
from errata.model.words import Confidence
from errata.text.lazy_regex import lazy_regex
from errata.triage.observed import Observed, signal
from errata.triage.runner_output import FailedTest, failed_tests

# folders that only the harness writes to; tests inside of a repository may be the subject's own
_HARNESSES_TESTS = lazy_regex(r"^(?:(?:\.\./)+|/)(?:tests|verifier)/[^/]+$")
_STANDARD = sys.stdlib_module_names | {"pytest", "_pytest"}

_NO_ATTRIBUTE = lazy_regex(r"module '([\w.]+)' has no attribute ")
_NO_IMPORT = lazy_regex(r"cannot import name '\w+' from (?:partially initialized module )?'([\w.]+)'")
# what Python states of annotations and definitions: neither is computed from anything that the subject made
_OF_TYPES = lazy_regex(
    r"unsupported operand type\(s\) for \|: '(?:type|_\w*GenericAlias|types\.GenericAlias|NoneType|\w*Meta)'"
    r"|'(?:type|ABCMeta|_\w*GenericAlias)' object is not subscriptable"
)
_FIXTURE = lazy_regex(r"fixture '[\w-]+' not found")
_DEFINES = lazy_regex(r"^(?:@pytest\.|def |async def |class )")


def broken_test(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    """Every failure of the tests is a fault of the test file's own code."""
    if attempt.outcome not in ("fail", "partial") or not (attempt.artefacts or attempt.checks):
        return
    tests = failed_tests(attempt)
    broken = [(where, test) for where, test in tests if is_broken(test)]
    if broken:
        strength: Confidence = "likely" if len(broken) == len(tests) else "weak"
        where, test = broken[0]
        stated = f"{test.file}:{test.line}" if test.file else ""
        yield Observed(
            signal=signal("broken_test", strength, where, test.message, attempt.ref, stated=stated),
            owner="grader",
            breaks=strength == "likely",
        )


def is_broken(test: FailedTest) -> bool:
    if not _HARNESSES_TESTS.match(test.file):
        return False
    if _FIXTURE.match(test.message):
        return True
    message = test.message.partition(": ")[2]
    match test.error:
        case "SyntaxError" | "IndentationError" | "TabError":
            return test.file.rpartition("/")[2] in test.text
        case "NameError" | "UnboundLocalError":
            return True
        case "TypeError":
            return _OF_TYPES.match(message) is not None or (
                test.function == "<module>" and _DEFINES.match(test.source) is not None
            )
        case "AttributeError":
            return _is_standard(_NO_ATTRIBUTE.match(message))
        case "ImportError":
            return _is_standard(_NO_IMPORT.match(message))
    return False


def _is_standard(named: re.Match[str] | None) -> bool:
    return named is not None and named[1].partition(".")[0] in _STANDARD


_NO_FUNCTION = lazy_regex(r"(?:Custom function threw error|Python code execution failed): [^\n]{0,400}")
_UNPARSABLE = lazy_regex(r"SyntaxError: [^\n]{0,300}\n\s+at (?:new (?:Async)?Function|Function) \(")


def may_not_parse(reason: str) -> bool:
    """False for most reasons of a check: then it is not a broken assertion."""
    return "SyntaxError" in reason


def broken_assertion(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    """The code of an assertion does not parse: no answer could pass it."""
    if not any(may_not_parse(check.explanation) for check in attempt.checks):
        return
    failed = [check for check in attempt.checks if check.failed]
    broken = [check for check in failed if _cannot_be_parsed(check)]
    if broken:
        strength: Confidence = "likely" if len(broken) == len(failed) else "weak"
        check = broken[0]
        evidence = signal("broken_test", strength, f"checks[{check.name}].explanation", check.explanation, check.ref)
        yield Observed(signal=evidence, owner="grader", breaks=strength == "likely")


def _cannot_be_parsed(check: Check) -> bool:
    text = check.explanation
    return _NO_FUNCTION.match(text) is not None and _UNPARSABLE.search(text) is not None
