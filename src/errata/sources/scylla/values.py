"""Values as a log may hold them: null for an object, text for a number, paths of another machine, `Infinity`."""

import math
import re
from typing import Any

from errata.model import times
from errata.sources.base import number_or_none

TIMED_NAME = re.compile(r"^(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)-(.+)$")
"""`2026-02-14T01-02-23-test-006`: when an experiment was begun (UTC), and of which test."""


def mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def text(value: Any) -> str:
    """The text, without lone surrogates that no encoder takes."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def number(value: Any) -> float | None:
    try:
        return number_or_none(value)
    except OverflowError:
        return None


def whole(value: Any) -> int | None:
    found = number(value)
    return int(found) if found is not None and found.is_integer() and abs(found) < 2**63 else None


def moment(value: Any) -> str | None:
    """A time in the records' form; none for what is no time."""
    try:
        found = times.from_iso(text(value))
        times.parse(found)
    except (ValueError, OverflowError):
        return None
    return found


def parts(path: Any) -> list[str]:
    """The names in a path of any machine."""
    return [part for part in re.split(r"[/\\]", text(path)) if part]


def last_part(path: Any) -> str:
    return "".join(parts(path)[-1:])


def test_of(name: str) -> str:
    """`test-006` for `2026-02-14T01-02-23-test-006`, and for `test-006` itself."""
    timed = TIMED_NAME.match(name)
    return timed[2] if timed else name


def plain(value: Any) -> Any:
    """For `extra`: what JSON can hold, with `NaN` and infinities as text."""
    if isinstance(value, dict):
        return {text(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if isinstance(value, int) and abs(value) >= 2**63:
        return str(value) if abs(value) < 10**100 else "too large"
    return text(value) if isinstance(value, str) else value


def known(**facts: Any) -> dict[str, Any]:
    """Plain facts for `extra`, without the ones that the log does not state."""
    return {name: plain(fact) for name, fact in facts.items() if fact not in (None, "", [], {}, ())}


def differing(told: dict[str, Any], against: dict[str, Any]) -> dict[str, Any]:
    """Of what is told a second time, only what was not told so the first time."""
    return {text(name): plain(fact) for name, fact in told.items() if name not in against or against[name] != fact}
