"""A verdict that stands although one of its checks broke: what broke decides nothing, and is kept as overcome."""

from msgspec.structs import replace

from errata.model import Check
from errata.sources.shared.facts import Facts


def settled(checks: tuple[Check, ...], facts: Facts) -> tuple[Check, ...]:
    if facts.measurement != "scored":
        return checks
    return tuple(
        replace(check, error=replace(check.error, recovered=True)) if check.error else check for check in checks
    )
