"""The pipeline of one eval: its steps as checks, its log, and the resulting facts."""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from errata.model import Check, ErrorInfo, SourceRef
from errata.model.words import CheckStatus, Phase
from errata.sources.shared.facts import NOT_MADE, UNFINISHED, Facts
from errata.sources.shared.values import mapping, rest, seconds, text
from errata.text.lazy_regex import lazy_regex

SUITE = "convex-evals"
PIPELINE = ("filesystem", "install", "deploy", "tsc", "eslint", "tests")
PIPELINES = {"static": ("filesystem", "tests"), "module": ("filesystem", "install", "tests"), "backend": PIPELINE}
"""By the word in `eval.json`; the shortest first. Only the last deploys, type-checks and lints."""

NOT_COUNTED = ("[rate_limit]", "[infrastructure]")
"""Evals whose reason starts with one of these are dropped from the harness's own score."""

RAW_RESPONSE = "raw_model_response.md"
RAW_RESPONSE_CAP = 16_000
"""The harness cuts an answer that it could not parse after this many characters."""

# Deliberately without a bare "rate limit": that may be the name of an eval, or a feature of its code.
_MACHINERY = lazy_regex(
    r"timed out after|(?<![a-z])(?:econnrefused|econnreset|etimedout|enotfound|eai_again)(?![a-z])"
    r"|too many requests|status code 429|http 429",
    re.IGNORECASE,
)
_MACHINERY_DEPLOY = lazy_regex(rf"{_MACHINERY.pattern}|convex dev timed out", re.IGNORECASE)
_BY_STEP = {"install": _MACHINERY, "deploy": _MACHINERY_DEPLOY, "tsc": _MACHINERY}
# a type error quotes the model's code, and so does an error that its code threw while it was loaded
_DIAGNOSTIC = lazy_regex(r"^.*(?:\berror TS\d+: |\bUncaught (?:\w*(?:Error|Exception)\b|\().*).*$", re.MULTILINE)
_STATUS: dict[str, CheckStatus] = {"passed": "pass", "failed": "fail", "skipped": "skipped"}
_PERCENT = lazy_regex(r"\(([0-9]{1,3}(?:\.[0-9]+)?)%\)")
_RATIO = lazy_regex(r"Tests failed \(ratio: ([01](?:\.[0-9]+)?)\)")
_TAGS = lazy_regex(r"\[(\w+)\]\s*")
_HTTP = lazy_regex(
    r"^(?:error:\s*)*([45]\d\d)\b|\b(?:http|status(?: code)?)[ :=]*([45]\d\d)\b|\b(429)\b", re.IGNORECASE
)
_SYSTEM_ERROR = lazy_regex(r"^E[A-Z_]+$")
RUNNER_OF_TESTS = "vitest"
"""Under this name the harness logs the step `tests`."""
_RETRIED = lazy_regex(r"; retrying once in \d+s\s*$")
_OF_GRADER = lazy_regex(r"\[grader\b")
_HEADING = lazy_regex(r"=== Eval: .* ===\s*$")
_TAG = lazy_regex(r"\[([a-z_]+)\] ?(.*)")


def machinery_word(step: str, reason: str) -> str:
    """The words that make a failed step an infrastructure failure; always empty for eslint and tests."""
    rule = _BY_STEP.get(step)
    match = rule.search(_DIAGNOSTIC.sub("", reason)) if rule else None
    return match[0] if match else ""


def not_counted(reason: str) -> bool:
    return reason.startswith(NOT_COUNTED)


def facts(kind: str, reason: str, checks: Sequence[Check]) -> Facts:
    """Only a working pipeline scores an answer; an infrastructure failure leaves it unmeasured."""
    if kind == "passed":
        return Facts("completed", "scored", "pass")
    if kind != "failed":
        return UNFINISHED
    failed = [check for check in checks if check.failed]
    if not failed or not_counted(reason) or any(check.error for check in failed):
        return NOT_MADE
    return Facts("completed", "scored", "fail")


def checks_of(rows: Iterable[Any], ref: SourceRef, *, is_one: bool = False) -> list[Check]:
    """`is_one`: the place is that of the only step, not of a list."""
    made = [
        _check(row, ref if is_one else ref.below(number))
        for number, row in enumerate(rows)
        if isinstance(row, dict) and text(row.get("name"))
    ]
    return sorted(made, key=lambda check: check.order)


def with_steps_never_started(checks: list[Check], *, pipeline: str = "") -> list[Check]:
    """Add the steps that a pipeline which stopped early has no rows for.

    Where nothing names the pipeline, tests that ran show it: they come last, so every step of it has a row.
    """
    names = {check.name for check in checks}
    if not names:
        return checks
    expected = PIPELINES.get(pipeline) or PIPELINE
    if not pipeline and "tests" in names:
        expected = next((steps for steps in PIPELINES.values() if names <= set(steps)), PIPELINE)
    absent = [
        Check(name=name, status="not_run", kind="step", order=_order(name)) for name in expected if name not in names
    ]
    return sorted([*checks, *absent], key=lambda check: check.order)


def step_check(name: str, kind: str, reason: str, ref: SourceRef) -> Check:
    status = _STATUS.get(kind, "unscored")
    return Check(
        name=name,
        status=status,
        kind="step",
        order=_order(name),
        value=_ratio(status, reason) if name == "tests" else None,
        explanation=reason,
        error=_machinery_error(name, reason, ref) if status == "fail" else None,
        ref=ref,
    )


def generation_error(reason: str, ref: SourceRef) -> ErrorInfo:
    """The error of an eval without a generated answer."""
    tags, message = _split_tags(reason)
    code = _HTTP.search(message)
    return ErrorInfo(
        type="/".join(tags) or "generation_error",
        message=reason,
        derived=() if tags else ("type",),
        code=next(filter(None, code.groups()), "") if code else "",
        phase="subject",
        ref=ref,
    )


def _check(row: dict[str, Any], ref: SourceRef) -> Check:
    status = mapping(row.get("status"))
    kind = text(status.get("kind"))
    check = step_check(row["name"], kind, text(status.get("failureReason")), ref)
    extra = rest(row, ("name", "status", "evalId")) | rest(status, ("kind", "failureReason", "durationMs"))
    if kind not in _STATUS:
        extra["kind"] = kind
    return replace(check, duration=seconds(status.get("durationMs")), extra=extra)


def _order(name: str) -> int:
    return PIPELINE.index(name) if name in PIPELINE else len(PIPELINE)


def _ratio(status: CheckStatus, reason: str) -> float | None:
    """The harness passes the step only when every test passed; otherwise it writes `tests failed (67%)`."""
    if status == "pass":
        return 1.0
    if match := _PERCENT.search(reason):
        return float(match[1]) / 100
    match = _RATIO.search(reason)
    return float(match[1]) if match else None


def _machinery_error(step: str, reason: str, ref: SourceRef) -> ErrorInfo | None:
    # the output of eslint and tests may contain the model's own words
    if not_counted(reason) and step not in ("eslint", "tests"):
        return replace(generation_error(reason, ref), phase="")
    word = machinery_word(step, reason)
    if not word:
        return None
    code = word.upper() if _SYSTEM_ERROR.match(word.upper()) else ("429" if "429" in word else "")
    return ErrorInfo(type="infrastructure", message=reason, code=code, phase="environment", derived=("type",), ref=ref)


def _split_tags(reason: str) -> tuple[list[str], str]:
    tags = []
    while match := _TAGS.match(reason):
        tags.append(match[1])
        reason = reason[match.end() :]
    return tags, reason


class EvalLog(NamedTuple):
    kind: str
    """`passed`, `failed` or `running`, the harness's own words."""
    reason: str
    checks: list[Check]
    errors: tuple[ErrorInfo, ...]


class _Entry(NamedTuple):
    tag: str
    text: str
    line: int


def read_log(text: str, ref: SourceRef) -> EvalLog:
    entries = _entries(text)
    checks: dict[str, Check] = {}
    for entry in entries:
        if (check := _logged_step(entry, ref)) is not None:
            checks[check.name] = check
    if "tests" not in checks and (ran := next((one for one in entries if one.tag == RUNNER_OF_TESTS), None)):
        # the harness writes an error before this output unless every test passed, and no `[ok]` if they did
        checks["tests"] = step_check("tests", "passed", "", _place(ref, ran))
    failed = [check for check in checks.values() if check.failed]
    errors = [*_logged_errors(entries, {check.explanation for check in failed}, ref)]
    broken = [error.message for error in errors if not_counted(error.message)]
    reasons = [*broken, *(check.explanation for check in failed), *(error.message for error in errors)]
    errors += [check.error for check in failed if check.error]
    passed = "tests" in checks and checks["tests"].status == "pass"
    kind = "failed" if reasons else ("passed" if passed else "running")
    ordered = sorted(checks.values(), key=lambda check: check.order)
    return EvalLog(kind, next(iter(reasons), ""), ordered, tuple(errors))


def _logged_step(entry: _Entry, ref: SourceRef) -> Check | None:
    """`[ok] tsc`, `[error] tsc: …`, and of the tests `[error] vitest: …`."""
    step, colon, reason = entry.text.partition(":")
    if entry.tag == "ok" and entry.text.strip() in PIPELINE:
        return step_check(entry.text.strip(), "passed", "", _place(ref, entry))
    name = "tests" if step == RUNNER_OF_TESTS else step
    if entry.tag == "error" and colon and name in PIPELINE:
        shown = _as_reported(reason.strip())
        return replace(step_check(name, "failed", shown, _place(ref, entry)), derived=shown != reason.strip())
    return None


def _as_reported(reason: str) -> str:
    """The log has `Error: Tests failed (ratio: 0.67)` for what the harness reports as `tests failed (67%)`."""
    match = _RATIO.fullmatch(reason.removeprefix("Error: "))
    return f"tests failed ({100 * float(match[1]):.0f}%)" if match else reason


def _logged_errors(entries: Iterable[_Entry], reasons: Container[str], ref: SourceRef) -> Iterator[ErrorInfo]:
    """What is not a step's error: a failed generation, or the harness's own machinery.

    A command's error is logged twice, first under the command's title: `[error] Typechecking (tsc): …`.
    """
    for entry in entries:
        title, _, reason = entry.text.partition(":")
        is_step = title in PIPELINE or title == RUNNER_OF_TESTS
        if entry.tag == "error" and not is_step and reason.strip() not in reasons:
            yield replace(generation_error(entry.text, _place(ref, entry)), phase="")
        elif entry.tag == "infrastructure" and not _RETRIED.search(entry.text):
            message = f"[{entry.tag}] {entry.text}"
            phase: Phase = "scoring" if _OF_GRADER.search(entry.text) else "environment"
            yield replace(generation_error(message, _place(ref, entry)), phase=phase)


def _place(ref: SourceRef, entry: _Entry) -> SourceRef:
    return SourceRef(file=ref.file, line=entry.line)


def _entries(text: str) -> list[_Entry]:
    """Tagged lines with their continuation lines; only of the last run if several were appended."""
    entries: list[_Entry] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if _HEADING.match(line):
            entries = []
        elif match := _TAG.match(line):
            entries.append(_Entry(match[1], match[2], number))
        elif entries:
            last = entries[-1]
            entries[-1] = _Entry(last.tag, f"{last.text}\n{line}", last.line)
    return entries
