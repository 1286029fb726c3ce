"""What the score is, under each policy."""

from collections.abc import Callable

import msgspec

from errata.compare.as_reported import as_reported
from errata.compare.clusters import clusters_of
from errata.compare.counting import CONTRADICTORY, by_rules, by_verdicts, contradicts_itself, counted, passes
from errata.compare.pooling import clustered
from errata.compare.scores import Policy, Score
from errata.compare.trials import NEVER_MADE, NOT_THE_SUBJECTS, Trials

NOT_SCORED = "not scored"
_ORDER = ("missing", "unfinished", "skipped", NOT_SCORED, CONTRADICTORY)


def strict(trials: Trials) -> Score:
    """Every expected case; anything but a pass counts nothing, contradictory duplicates too."""
    units = trials.units
    if trials.untold:
        return _untold(trials)
    if all(unit[0].execution == "missing" for unit in units):
        return Score(policy="strict", note="the log holds not one attempt")
    if trials.unjudged:
        return Score(policy="strict", note="nothing was scored: neither passed nor failed can be said")
    kinds = {unit[0].execution for unit in units} & NEVER_MADE
    kinds |= {CONTRADICTORY for unit in units if contradicts_itself(unit)}
    kinds |= {"missing"} if trials.absent else set()
    kinds |= (
        {NOT_SCORED}
        if any(one.execution == "completed" and one.measurement == "not_run" for one in trials.rows)
        else set()
    )
    note = f"{' or '.join(kind for kind in _ORDER if kind in kinds)} = not passed" if kinds else ""
    return Score(
        policy="strict",
        passed=sum(map(passes, units)),
        total=len(units) + trials.absent,
        note=note,
        by_case=clusters_of((unit[0].case, passes(unit)) for unit in units) if trials.tells_cases else {},
    )


def _untold(trials: Trials) -> Score:
    """Measured, but not in the log: no failure and no pass, so that there are only bounds."""
    passed = sum(map(passes, trials.units))
    whole = len(trials.units) + trials.absent + trials.untold
    bounds = f"between {100 * passed / whole:.1f} and {100 * (passed + trials.untold) / whole:.1f} %"
    rows = f"{trials.untold:,} of {whole:,} were measured, but their rows are not in the log"
    return Score(policy="strict", note=f"cannot be told ({bounds}): {rows}")


def clean(trials: Trials) -> Score:
    """Without what says nothing about the subject; an earlier measured session stands in for an unmeasured one."""
    return counted(trials, "clean", by_rules)


def reviewed(trials: Trials) -> Score:
    """Like clean, with verdicts in place of attributions; without what the grader, the task or a known gap caused."""
    failures = [one for one in trials.rows if one.is_failure]
    note = f"{sum(bool(one.verdict) for one in failures)} of {len(failures)} reviewed"
    if trials.unread:
        return Score(policy="reviewed", note=note)
    score = counted(trials, "reviewed", by_verdicts)
    return msgspec.structs.replace(score, note=score.note or (note if failures else "nothing failed"))


POLICIES: dict[Policy, Callable[[Trials], Score]] = {
    "strict": strict,
    "as_reported": as_reported,
    "clean": clean,
    "reviewed": reviewed,
}


def scores_of(trials: Trials) -> dict[Policy, Score]:
    """Under each policy."""
    return {policy: clustered(count(trials)) for policy, count in POLICIES.items()}


__all__ = [
    "NOT_THE_SUBJECTS",
    "POLICIES",
    "Policy",
    "Score",
    "Trials",
    "as_reported",
    "clean",
    "reviewed",
    "scores_of",
    "strict",
]
