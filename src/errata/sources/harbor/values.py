"""Values as a log may hold them: null for an object, text for a number, `NaN`; and what must not be kept of them."""

import math
import re
from collections.abc import Collection
from datetime import timedelta
from typing import Any

from errata.model import times
from errata.sources.base import number_or_none
from errata.text.redact import redact, redact_named

_INT_CAP = 2**63
_ENVIRONMENT = re.compile(r"(?i)^(?:.*_)?(?:env|environ|env_vars|headers)$")
_SECRET = re.compile(r"(?i)(?:key|token|secret|password|passwd|credentials?|auth|authorization|cookie)$")


def mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def number(value: Any) -> float | None:
    return None if isinstance(value, str) else number_or_none(value)


def whole(value: Any) -> int | None:
    found = number(value)
    return int(found) if found is not None and 0 <= found < _INT_CAP else None


def moment(value: Any) -> str | None:
    """A time in the records' form; none for what is no time."""
    try:
        found = times.from_iso(text(value))
        times.parse(found)
    except (ValueError, OverflowError):
        return None
    return found


def seconds_between(start: str | None, end: str | None) -> float | None:
    """None where a time is absent, or one of them is local and the other is not."""
    if start is None or end is None or times.is_local(start) != times.is_local(end):
        return None
    return round((times.parse(end) - times.parse(start)) / timedelta(seconds=1), 6)


def last_part(path: Any) -> str:
    """The last name in a path of any machine."""
    return "".join([part for part in re.split(r"[/\\]", text(path)) if part][-1:])


def plain(value: Any) -> Any:
    """For `extra`: what every store can hold; `NaN`, infinities and numbers over 64 bits become text."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if isinstance(value, int) and not -_INT_CAP <= value < _INT_CAP:
        return str(value) if abs(value) < 10**100 else "too large"
    return value


def known(**facts: Any) -> dict[str, Any]:
    """Plain facts for `extra`, without the ones that the log does not state."""
    return {name: plain(fact) for name, fact in facts.items() if fact not in (None, "", [], {}, ())}


def rest(document: dict[str, Any], homes: Collection[str]) -> dict[str, Any]:
    """The fields that have no home in a record."""
    return {key: plain(item) for key, item in document.items() if key not in homes and item not in (None, [], {})}


def settings(value: Any) -> Any:
    """A configuration without what is unset and without secrets: of an environment only the names are kept."""
    if isinstance(value, dict):
        told = {str(key): _setting(str(key), item) for key, item in value.items()}
        return {key: item for key, item in told.items() if item not in (None, "", [], {})}
    if isinstance(value, list):
        return [settings(item) for item in value]
    return redact(value) if isinstance(value, str) else plain(value)


def _setting(name: str, value: Any) -> Any:
    if _ENVIRONMENT.match(name) and isinstance(value, dict | list):
        return sorted(str(item).partition("=")[0] for item in value if not isinstance(item, dict | list))
    if isinstance(value, str):
        return "[redacted:named]" if value and _SECRET.search(name) else redact_named(name, value)
    return settings(value)
