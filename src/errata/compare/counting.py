"""Which cases say something about the subject: what `clean` and `reviewed` count, leave out and take from earlier."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from errata.compare.clusters import clusters_of
from errata.compare.scores import Policy, Score, grouped
from errata.compare.trials import NEVER_MADE, NOT_THE_SUBJECTS, Trials, Tried

NOT_ALONE = frozenset(("budget", "grader", "task"))
"""Owners whose failures count, but are not the subject's alone."""

CONTRADICTORY = "contradictory"
TIMED_OUT = "timed out"
NOT_IN_LOG = "not in the log"
UNAVAILABLE = "unavailable: this run says nothing about its subject"

_DROPPED_BY_VERDICT = NOT_THE_SUBJECTS | {"grader", "task"}


class Said(NamedTuple):
    """What somebody thinks of an attempt."""

    owner: str
    out: str
    """Why that takes it out of the score; empty where it does not."""
    signal: str


Opinion = Callable[[Tried], Said]


def by_rules(one: Tried) -> Said:
    not_measured = "not measured" if one.broken else ""
    return Said(one.owner, one.owner if one.owner in NOT_THE_SUBJECTS else not_measured, one.signal)


def by_verdicts(one: Tried) -> Said:
    """What nobody has read yet goes by its attribution."""
    if not one.verdict:
        return by_rules(one)
    dropped = one.verdict if one.verdict in _DROPPED_BY_VERDICT else ""
    return Said(one.verdict, "known gap" if one.known_gap else dropped, "")


def counted(trials: Trials, policy: Policy, opinion: Opinion) -> Score:
    if trials.unavailable:
        return Score(policy=policy, note=UNAVAILABLE)
    out: list[tuple[str, str, Tried]] = []
    kept: list[list[Tried]] = []
    recovered = []
    for unit in trials.units:
        first, why = unit[0], _why_out(unit, opinion, trials)
        if (stand_in := _stand_in(first, why, trials)) is not None:
            kept.append([stand_in])
            recovered.append(first.case)
        elif why:
            out.append((why, "" if why == CONTRADICTORY else opinion(first).signal, first))
        else:
            kept.append(unit)
    return Score(
        policy=policy,
        passed=sum(map(passes, kept)),
        total=len(kept),
        groups=grouped(out, unnamed={"missing": trials.absent, NOT_IN_LOG: trials.untold}),
        beside=grouped(_not_alone(kept, opinion)),
        recovered=tuple(recovered),
        by_case=clusters_of((unit[0].case, passes(unit)) for unit in kept) if trials.tells_cases else {},
    )


def passes(unit: list[Tried]) -> bool:
    # most units are of one, and a run may have a million of them
    return unit[0].outcome == "pass" if len(unit) == 1 else all(one.passed for one in unit)


def contradicts_itself(unit: list[Tried]) -> bool:
    return len(unit) > 1 and len({(one.outcome, one.failed) for one in unit}) > 1


def _why_out(unit: list[Tried], opinion: Opinion, trials: Trials) -> str:
    """Why a case says nothing about the subject; empty where it does."""
    first = unit[0]
    if first.execution in NEVER_MADE:
        return first.execution
    if contradicts_itself(unit):
        return CONTRADICTORY
    if why := opinion(first).out:
        return why
    if first.measurement in ("error", "unscored"):
        return "not measured"
    if first.measurement == "not_run" and not first.is_failure:
        return "not scored"
    return TIMED_OUT if _dropped_timeout(first, trials) else ""


def _stand_in(first: Tried, why: str, trials: Trials) -> Tried | None:
    """The latest measured session of a case whose counted one was not."""
    if why == TIMED_OUT or not (why or first.measurement == "not_run"):
        return None
    measured = [one for one in trials.earlier.get(first.case, ()) if one.measured and not _dropped_timeout(one, trials)]
    return max(measured, key=lambda one: (one.session, one.index), default=None)


def _dropped_timeout(one: Tried, trials: Trials) -> bool:
    return one.timed_out and trials.timeouts == "drop"


def _not_alone(kept: Iterable[list[Tried]], opinion: Opinion) -> Iterator[tuple[str, str, Tried]]:
    for unit in kept:
        said = opinion(unit[0])
        if not passes(unit) and (said.owner in NOT_ALONE or unit[0].timed_out):
            yield said.owner, said.signal, unit[0]
