"""Values as Scylla writes them: numbers in tables and logs are text, folders are named after a time and a test."""

import re
from typing import Any

from errata.sources.base import number_or_none
from errata.sources.shared.values import LARGEST, plain

TIMED_NAME = re.compile(r"^(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)-(.+)$")
"""`2026-02-14T01-02-23-test-006`: when an experiment was begun (UTC), and of which test."""

number = number_or_none


def whole(value: Any) -> int | None:
    found = number(value)
    return int(found) if found is not None and found.is_integer() and abs(found) <= LARGEST else None


def test_of(name: str) -> str:
    """`test-006` for `2026-02-14T01-02-23-test-006`, and for `test-006` itself."""
    timed = TIMED_NAME.match(name)
    return timed[2] if timed else name


def differing(facts: dict[str, Any], against: dict[str, Any]) -> dict[str, Any]:
    """Of what is told a second time, only what was not told so the first time."""
    return {name: plain(fact) for name, fact in facts.items() if name not in against or against[name] != fact}
