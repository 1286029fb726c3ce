"""`run.log`: what the harness wrote while it ran the pipeline of one eval."""

import re
from typing import NamedTuple

from errata.model import Check, ErrorInfo, SourceRef
from errata.sources.convex_evals.steps import generation_error, step_check
from errata.sources.convex_evals.vocabulary import PIPELINE

_HEADING = re.compile(r"=== Eval: .* ===\s*$")
_TAG = re.compile(r"\[([a-z_]+)\] ?(.*)")


class Log(NamedTuple):
    kind: str
    """`passed`, `failed` or `running`, in the harness's own words for an eval."""
    reason: str
    checks: list[Check]
    errors: tuple[ErrorInfo, ...]


class _Entry(NamedTuple):
    tag: str
    text: str
    line: int


def read_log(text: str, ref: SourceRef) -> Log:
    checks, errors = [], []
    for entry in _entries(text):
        place = SourceRef(file=ref.file, line=entry.line)
        step, colon, reason = entry.text.partition(":")
        if entry.tag == "ok" and entry.text.strip() in PIPELINE:
            checks.append(step_check(entry.text.strip(), "passed", "", place))
        elif entry.tag == "error" and colon and step in PIPELINE:
            checks.append(step_check(step, "failed", reason.strip(), place))
        elif entry.tag == "error":
            errors.append(generation_error(entry.text, place))
    failed = [check for check in checks if check.failed]
    reasons = [*(check.explanation for check in failed), *(error.message for error in errors)]
    errors += [check.error for check in failed if check.error]
    passed = any(check.name == "tests" and check.status == "pass" for check in checks)
    kind = "failed" if reasons else ("passed" if passed else "running")
    return Log(kind, next(iter(reasons), ""), sorted(checks, key=lambda check: check.order), tuple(errors))


def _entries(text: str) -> list[_Entry]:
    """The lines with a tag, each with the lines that continue it; only the last run where several were appended."""
    found: list[_Entry] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if _HEADING.match(line):
            found = []
        elif match := _TAG.match(line):
            found.append(_Entry(match[1], match[2], number))
        elif found:
            last = found[-1]
            found[-1] = _Entry(last.tag, f"{last.text}\n{line}", last.line)
    return found
