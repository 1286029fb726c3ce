"""What the verifier gave: rewards, and the tests that it lists in a CTRF report."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from errata.model import Check, ErrorInfo
from errata.model.words import CheckStatus, Outcome
from errata.sources.shared.documents import Documents, files
from errata.sources.shared.values import count, mapping, number, plain, rest, sequence, text

TESTS_CAP = 5_000
EXPLANATION_CAP = 8 * 1024
_MILLISECONDS_FROM = 1e11
_OF_TEST: dict[str, CheckStatus] = {
    "passed": "pass",
    "failed": "fail",
    "skipped": "skipped",
    "pending": "not_run",
    "other": "error",
}
_HOMES = ("name", "status", "duration", "message", "trace", "line")


def value_of(rewards: dict[str, Any]) -> float | None:
    """The one named `reward`, else the only one; of several others the mean, as Harbor has no rule for them."""
    if "reward" in rewards:
        return number(rewards["reward"])
    values = [number(value) for value in rewards.values()]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def outcome_of(value: float) -> Outcome:
    """Harbor has no pass rule but that 1 is all; between 0 and 1 it is a graded value."""
    if value >= 1:
        return "pass"
    return "partial" if value > 0 else "fail"


def reward_checks(rewards: dict[str, Any], broken: ErrorInfo | None) -> Iterator[Check]:
    """A broken verifier is a check without a value."""
    if not rewards and broken is not None:
        yield Check(name="reward", kind="reward", status="error", scorer="verifier", is_primary=True, error=broken)
    for order, (name, told) in enumerate(rewards.items()):
        value = number(told)
        is_primary = name == "reward" or len(rewards) == 1
        yield Check(
            name=name,
            kind="reward",
            status="unscored" if value is None else ("pass" if value >= 1 else "fail"),
            scorer="verifier",
            order=order,
            value=value,
            is_primary=is_primary,
            counts=is_primary or "reward" not in rewards,
            extra={} if value is not None else {"value": plain(told)},
        )


def test_checks(folder: Path, documents: Documents) -> Iterator[Check]:
    """The tests are told beside the reward, which alone decides."""
    for file in files(folder):
        if not file.name.endswith("ctrf.json"):
            continue
        results = mapping(documents.get(file).get("results"))
        tool = text(mapping(results.get("tool")).get("name"))
        for order, told in enumerate(sequence(results.get("tests"))[:TESTS_CAP]):
            test = mapping(told)
            made = test_check(text(test.get("name")) or f"test {order + 1}", text(test.get("status")), order)
            yield _detailed(made, test, file.name, tool)


def test_check(name: str, status: str, order: int, *, counts: bool = False) -> Check:
    known = _OF_TEST.get(status.lower())
    return Check(
        name=name,
        kind="tests",
        status=known or "unscored",
        order=order,
        counts=counts,
        reason_code="" if known else status,
    )


def _detailed(made: Check, test: dict[str, Any], file: str, tool: str) -> Check:
    message, trace = text(test.get("message")), text(test.get("trace"))
    told = "\n".join(part for part in (trace, message if message not in trace else "") if part)
    line = count(test.get("line"))
    return Check(
        name=made.name,
        kind=made.kind,
        status=made.status,
        scorer=file,
        order=made.order,
        counts=False,
        reason_code=made.reason_code,
        explanation=told[-EXPLANATION_CAP:],
        duration=_duration(test),
        extra=rest(test, _HOMES) | ({"tool": tool} if tool else {}) | ({"line": line} if line is not None else {}),
    )


def _duration(test: dict[str, Any]) -> float | None:
    """CTRF says milliseconds; pytest's plugin writes seconds, times included."""
    duration, start = number(test.get("duration")), number(test.get("start"))
    if duration is None:
        return None
    return duration / 1000 if start is not None and start > _MILLISECONDS_FROM else duration
