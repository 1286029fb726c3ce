"""A number with the unit that the question asks for, where the number alone is expected."""

import re

from errata.triage.equivalence import canonical
from errata.triage.figures import Canonical

_WITH_UNIT = re.compile(r"\s*([-+]?[\d.,_]+(?:[eE][-+]?\d+)?)\s*(%|°?[A-Za-zµΩ][A-Za-zµΩ/²³^\d]{0,15})\s*\.?\s*$")
_NO_UNIT = re.compile(
    r"\b(?:without|no|omit|leave out) (?:any |the )?units?\b"
    r"|\b(?:only|just) (?:the |a |an )?(?:number|integer|figure|value)\b"
    r"|\b(?:number|integer|figure|value) (?:only|alone)\b|\bnothing else\b|\bdigits only\b",
    re.IGNORECASE,
)
_PER_CENT = re.compile(r"%|\bper ?cent(?:age)?\b", re.IGNORECASE)


def is_in_the_unit_asked_for(given: str, wanted: str, task: str) -> bool:
    """`88.55%` for `88.55`, where the task asks for percent; never where it wants the number alone."""
    found = _WITH_UNIT.match(given)
    if found is None or _number(found[1]) is None or _number(found[1]) != _number(wanted):
        return False
    return _names(task, found[2]) and _NO_UNIT.search(task) is None


def _number(text: str) -> Canonical | None:
    found = canonical(text)
    return found if found.kind == "number" else None


def _names(task: str, unit: str) -> bool:
    """As a word of its own, in the letters it is written in: `m` is no `M`; a word may stand there in the plural."""
    if unit == "%":
        return _PER_CENT.search(task) is not None
    one = unit.removesuffix("s") if len(unit) > 3 else unit
    return re.search(rf"(?<!\w){re.escape(one)}(?:s)?(?!\w)", task) is not None
