"""What tau2-bench measured: the parts that make the reward decide, what they are made of is told beside them."""

from collections.abc import Iterator
from typing import Any

from errata.model import Check, SourceRef
from errata.model.words import CheckKind, CheckStatus, Outcome
from errata.sources.shared.values import is_told, known, mapping, number, rest, sequence, text

TOLERANCE = 1e-6
"""As tau-bench compares: a product of parts is rarely one to the last digit."""

_LISTS: tuple[tuple[str, str, str, str], ...] = (
    # in the log, as a part of the reward, what was asked, whether it was met
    ("action_checks", "ACTION", "action", "action_match"),
    ("env_assertions", "ENV_ASSERTION", "env_assertion", "met"),
    ("communicate_checks", "COMMUNICATE", "info", "met"),
    ("nl_assertions", "NL_ASSERTION", "nl_assertion", "met"),
)
_HOMES = frozenset([name for name, *_ in _LISTS] + ["reward", "db_check", "reward_basis", "reward_breakdown"])


def outcome_of(reward: float) -> Outcome:
    if abs(reward - 1) <= TOLERANCE:
        return "pass"
    return "partial" if TOLERANCE < reward < 1 else "fail"


def checks_of(told: dict[str, Any], ref: SourceRef) -> tuple[Check, ...]:
    return (*_parts(told, ref), *_single(told, ref))


def more_of(told: dict[str, Any]) -> dict[str, Any]:
    basis = told.get("reward_basis")
    return rest(told, _HOMES) | known(reward_basis=basis if basis != [*mapping(told.get("reward_breakdown"))] else None)


def _parts(told: dict[str, Any], ref: SourceRef) -> Iterator[Check]:
    """Their product is the reward."""
    for order, (name, value) in enumerate(mapping(told.get("reward_breakdown")).items()):
        part = number(value)
        yield Check(
            name=name,
            status="unscored" if part is None else "pass" if outcome_of(part) == "pass" else "fail",
            scorer="reward",
            kind="reward",
            order=order,
            value=part,
            explanation="" if part is None or outcome_of(part) == "pass" else _missed(name, told),
            ref=ref.below("reward_breakdown", name),
        )


def _missed(part: str, told: dict[str, Any]) -> str:
    """What was asked and not met; the state of the database comes of the actions."""
    for listed, name, asked, met in _LISTS:
        if name == ("ACTION" if part == "DB" else part):
            missed = [one for one in map(mapping, sequence(told.get(listed))) if one.get(met) is False]
            words = dict.fromkeys(text(mapping(one.get(asked)).get("name")) or _title(one.get(asked)) for one in missed)
            return f"not met: {', '.join(filter(None, words))}" if any(words) else ""
    return ""


def _single(told: dict[str, Any], ref: SourceRef) -> Iterator[Check]:
    if isinstance(told.get("db_check"), dict):
        yield _check("DB: state", told["db_check"], "db_match", ref.below("db_check"))
    for listed, part, asked, met in _LISTS:
        for at, one in enumerate(sequence(told.get(listed))):
            data = mapping(one)
            name = f"{part}: {_title(data.get(asked)) or at + 1}"
            yield _check(name, data, met, ref.below(listed, at), at, judge="nl" if part == "NL_ASSERTION" else "")


def _check(name: str, data: dict[str, Any], met: str, ref: SourceRef, order: int = 0, judge: str = "") -> Check:
    status: CheckStatus = {True: "pass", False: "fail"}.get(data.get(met), "unscored")  # type: ignore[arg-type,assignment]
    kind: CheckKind = "criterion" if judge else "assertion"
    return Check(
        name=name,
        status=status,
        judge=judge,
        kind=kind,
        order=order,
        counts=False,
        explanation=text(data.get("justification")),
        ref=ref,
        extra=rest(data, ("justification", met)) if is_told(data) else {},
    )


def _title(asked: Any) -> str:
    """An action by its id and its tool, an assertion by its words."""
    if isinstance(asked, str):
        return asked
    told = mapping(asked)
    words = [text(told.get(key)) for key in ("action_id", "name", "func_name")]
    return " ".join(filter(None, words))
