"""A judge's dimensions → checks and their combined outcome."""

from functools import lru_cache
from types import NoneType
from typing import Any, NamedTuple

from errata.model import Check
from errata.model.words import CheckStatus, Measurement, Outcome
from errata.sources.shared.values import plain

DIMENSIONS = (
    "turn_taking",
    "tool_use_correct",
    "instruction_following",
    "kb_grounding",
    "ambiguity_handling",
    "state_tracking",
)
ONLY_ON_SOME_TURNS = ("ambiguity_handling", "state_tracking")

_ORDER = {name: order for order, name in enumerate(DIMENSIONS)}
_STATUS: dict[bool | None, CheckStatus] = {True: "pass", False: "fail", None: "not_applicable"}
_PLAIN_TYPES = frozenset((bool, NoneType))


class TurnScores(NamedTuple):
    checks: tuple[Check, ...]
    measurement: Measurement
    outcome: Outcome
    reported: float | None
    """The row's contribution to `pass_row_rate`; a row without a verdict adds 0 and is in the denominator."""


NOT_JUDGED = TurnScores((), "unscored", "none", None)


def score_turn(scores: Any, judge: str, *, counts: bool = True) -> TurnScores:
    """Equal scores of one judge share their checks: most rows of a log have equal scores."""
    if type(scores) is not dict:
        return NOT_JUDGED
    if _PLAIN_TYPES.issuperset(map(type, scores.values())):
        return _shared(tuple(scores.items()), judge, counts)
    return _together(tuple(scores.items()), judge, counts)


def _together(scores: tuple[tuple[str, Any], ...], judge: str, counts: bool) -> TurnScores:
    checks = [_check(name, value, judge, counts) for name, value in scores]
    checks.sort(key=lambda check: check.order)
    statuses = {check.status for check in checks}
    if "fail" in statuses:
        return TurnScores(tuple(checks), "scored", "fail", 0.0)
    if "pass" in statuses:
        return TurnScores(tuple(checks), "scored", "pass", 1.0)
    return TurnScores(tuple(checks), "unscored", "none", 0.0)


_shared = lru_cache(maxsize=4096)(_together)


def _check(name: str, value: Any, judge: str, counts: bool) -> Check:
    # only `false` fails; other values of a judge are kept and decide nothing
    strict = value is None or type(value) is bool
    return Check(
        name=name,
        status=_STATUS[value] if strict else "unscored",
        judge=judge,
        order=_ORDER.get(name, len(_ORDER)),
        kind="dimension",
        value=value if strict else _as_value(plain(value)),
        counts=counts,
    )


def _as_value(value: Any) -> float | str:
    return value if isinstance(value, int | float | str) else repr(value)
