"""The pipeline of one eval: its steps as checks, and what they say of execution, measurement and outcome."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from errata.model import Check, ErrorInfo, SourceRef
from errata.model.words import CheckStatus
from errata.sources.convex_evals.vocabulary import PIPELINE, STATIC_PIPELINE, machinery_word, not_counted
from errata.sources.shared.facts import NOT_MADE, UNFINISHED, Facts
from errata.sources.shared.values import mapping, rest, seconds, text

_STATUS: dict[str, CheckStatus] = {"passed": "pass", "failed": "fail", "skipped": "skipped"}
_RATIO = re.compile(r"\(([0-9]{1,3}(?:\.[0-9]+)?)%\)")
_TAGS = re.compile(r"\[(\w+)\]\s*")
_HTTP = re.compile(
    r"^(?:error:\s*)*([45]\d\d)\b|\b(?:http|status(?: code)?)[ :=]*([45]\d\d)\b|\b(429)\b", re.IGNORECASE
)
_SYSTEM_ERROR = re.compile(r"^E[A-Z_]+$")


def facts(kind: str, reason: str, checks: Sequence[Check]) -> Facts:
    """What a working pipeline said of a real answer; machinery that failed says nothing of it."""
    if kind == "passed":
        return Facts("completed", "scored", "pass")
    if kind != "failed":
        return UNFINISHED
    failed = [check for check in checks if check.failed]
    if not failed or not_counted(reason) or any(check.error for check in failed):
        return NOT_MADE
    return Facts("completed", "scored", "fail")


def checks_of(rows: Iterable[Any], ref: SourceRef) -> list[Check]:
    """Step rows as checks, in the order of the pipeline."""
    made = [
        _check(row, ref.below(number))
        for number, row in enumerate(rows)
        if isinstance(row, dict) and text(row.get("name"))
    ]
    return sorted(made, key=lambda check: check.order)


def with_steps_never_started(checks: list[Check], *, static: bool) -> list[Check]:
    """A pipeline that began and ended early leaves no rows for its later steps."""
    names = {check.name for check in checks}
    if not names:
        return checks
    static = static or ("tests" in names and names <= set(STATIC_PIPELINE))
    expected = STATIC_PIPELINE if static else PIPELINE
    absent = [
        Check(name=name, status="not_run", kind="step", order=_order(name)) for name in expected if name not in names
    ]
    return sorted([*checks, *absent], key=lambda check: check.order)


def step_check(name: str, kind: str, reason: str, ref: SourceRef) -> Check:
    """A step that passed or failed, wherever that was read."""
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
    """The error of an eval for which nothing was generated."""
    tags, message = _split_tags(reason)
    code = _HTTP.search(message)
    return ErrorInfo(
        type="/".join(tags) or "generation_error",
        message=reason,
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
    match = _RATIO.search(reason)
    return float(match[1]) / 100 if match else None


def _machinery_error(step: str, reason: str, ref: SourceRef) -> ErrorInfo | None:
    # what eslint and the tests print may be the model's own words
    if not_counted(reason) and step not in ("eslint", "tests"):
        return generation_error(reason, ref)
    word = machinery_word(step, reason)
    if not word:
        return None
    code = word.upper() if _SYSTEM_ERROR.match(word.upper()) else ("429" if "429" in word else "")
    return ErrorInfo(type="infrastructure", message=reason, code=code, phase="environment", ref=ref)


def _split_tags(reason: str) -> tuple[list[str], str]:
    tags = []
    while match := _TAGS.match(reason):
        tags.append(match[1])
        reason = reason[match.end() :]
    return tags, reason
