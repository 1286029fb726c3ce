"""The four policies of a score: which cases each counts, which it leaves out, and why."""

from collections.abc import Callable, Iterable, Iterator
from statistics import fmean
from typing import NamedTuple

import msgspec

from errata.compare.as_reported import as_reported
from errata.compare.intervals import Cluster, clusters_of, spread_of, standard_error
from errata.compare.pooling import with_clusters
from errata.compare.scores import Policy, Score, group_by_reason
from errata.compare.trials import NEVER_MADE, Trial, Trials
from errata.model.output.score import NoteOutput
from errata.model.words import NOT_THE_SUBJECTS

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


NOT_ALONE = frozenset(("budget", "grader", "task"))
"""Owners whose failures count, but are not the subject's alone."""

CONTRADICTORY = "contradictory"
TIMED_OUT = "timed out"
NOT_IN_LOG = "not in the log"

_DROPPED_BY_VERDICT = NOT_THE_SUBJECTS | {"grader", "task"}


class Decision(NamedTuple):
    """What somebody thinks of an attempt."""

    owner: str
    out: str
    """Why that takes it out of the score; empty where it does not."""
    signal: str


Decide = Callable[[Trial], Decision]


def by_rules(trial: Trial) -> Decision:
    not_measured = "not measured" if trial.broken else ""
    return Decision(trial.owner, trial.owner if trial.owner in NOT_THE_SUBJECTS else not_measured, trial.signal)


def by_verdicts(trial: Trial) -> Decision:
    """What nobody has read yet goes by its attribution."""
    if not trial.verdict:
        return by_rules(trial)
    dropped = trial.verdict if trial.verdict in _DROPPED_BY_VERDICT else ""
    return Decision(trial.verdict, "known gap" if trial.known_gap else dropped, "")


def count_by(trials: Trials, policy: Policy, opinion: Decide) -> Score:
    if trials.unavailable:
        return Score(policy=policy, remark=NoteOutput(code="unavailable"))
    out: list[tuple[str, str, Trial]] = []
    kept: list[list[Trial]] = []
    recovered: list[Trial] = []
    for unit in trials.units:
        first = unit[0]
        if len(unit) == 1 and first.is_plain:  # most are
            kept.append(unit)
            continue
        why = _why_out(unit, opinion, trials)
        if (stand_in := _stand_in(first, why, trials)) is not None:
            kept.append([stand_in])
            recovered.append(stand_in)
        elif why:
            out.append((why, "" if why == CONTRADICTORY else opinion(first).signal, first))
        else:
            kept.append(unit)
    stated = trials.passes_without_rows
    unknown, known = (trials.not_in_log, 0) if stated is None else (0, trials.not_in_log)
    groups = group_by_reason(out, unnamed={"missing": trials.absent, NOT_IN_LOG: unknown})
    if trials.passes_without_verdict:
        return Score(policy=policy, groups=groups, remark=_unassigned(trials))
    score = Score(
        policy=policy,
        passed=_count_passes(kept) + (stated or 0),
        total=len(kept) + known,
        groups=groups,
        beside=group_by_reason(_not_alone(kept, opinion)),
        presumed=sum(unit[0].presumed and not passes(unit) and opinion(unit[0]).owner == "model" for unit in kept)
        + sum(not one.passed and not opinion(one).owner for one in recovered),
        recovered=tuple(one.case for one in recovered),
        recovered_passes=sum(one.passed for one in recovered),
        remark=NoteOutput(code="passes_without_rows", count=stated, of=known) if known else None,
        by_case=_clusters(kept, trials),
    )
    return _of_numbers(score, kept, trials)


def _of_numbers(score: Score, units: Iterable[list[Trial]], trials: Trials) -> Score:
    """The mean, where some results are numbers: a pass is 1, a failure 0, and what has no result adds nothing."""
    first = [unit[0] for unit in units]
    if not trials.has_values:
        return score
    known = [(one.case, value) for one in first if (value := one.result) is not None]
    values, without = [value for _, value in known], len(first) - len(known)
    if not values:
        return score
    return msgspec.structs.replace(
        score,
        total=len(known),
        mean=fmean(values),
        stderr=standard_error(values),
        presumed=0,
        remark=NoteOutput(code="without_number", count=without) if without else None,
        by_case=clusters_of(known) if trials.tells_cases else {},
        spread=spread_of(values),
        lower_is_better=trials.run.lower_is_better,
    )


def _count_passes(units: Iterable[list[Trial]]) -> int:
    return sum(map(passes, units))


def _clusters(units: Iterable[list[Trial]], trials: Trials) -> dict[str, Cluster]:
    """What each case adds; unknown for passes without a row."""
    if not trials.tells_cases or trials.not_in_log:
        return {}
    clusters: dict[str, Cluster] = {}
    for unit in units:
        passed, count = clusters.get(unit[0].case, (0.0, 0))
        clusters[unit[0].case] = (passed + passes(unit), count + 1)
    return clusters


def _unassigned(trials: Trials) -> NoteOutput:
    return NoteOutput(code="passes_unassigned", count=trials.passes_without_verdict, of=trials.unit_count)


def passes(unit: list[Trial]) -> bool:
    # most units are of one, and a run may have a million of them
    return unit[0].outcome == "pass" if len(unit) == 1 else all(one.passed for one in unit)


def contradicts_itself(unit: list[Trial]) -> bool:
    return len(unit) > 1 and len({(one.outcome, one.failed) for one in unit}) > 1


def _why_out(unit: list[Trial], opinion: Decide, trials: Trials) -> str:
    """Why a case is left out; empty where it counts."""
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


def _stand_in(first: Trial, why: str, trials: Trials) -> Trial | None:
    """The latest measured session of a case whose counted one was not."""
    if why == TIMED_OUT or not (why or first.measurement == "not_run"):
        return None
    return latest_measured(first.case, trials)


def latest_measured(case: str, trials: Trials) -> Trial | None:
    """The result of an earlier session that takes the place of one that is left out."""
    measured = [one for one in trials.earlier.get(case, ()) if one.measured and not _dropped_timeout(one, trials)]
    return max(measured, key=lambda one: (one.session, one.index), default=None)


def _dropped_timeout(trial: Trial, trials: Trials) -> bool:
    return trial.timed_out and trials.timeouts == "drop"


def _not_alone(kept: Iterable[list[Trial]], opinion: Decide) -> Iterator[tuple[str, str, Trial]]:
    for unit in kept:
        if not passes(unit):
            decision = opinion(unit[0])
            if decision.owner in NOT_ALONE or unit[0].timed_out:
                yield decision.owner, decision.signal, unit[0]


NOT_SCORED = "not scored"
_ORDER = ("missing", "unfinished", "skipped", NOT_SCORED, CONTRADICTORY)


def strict(trials: Trials) -> Score:
    """Every expected case; anything but a pass counts nothing, contradictory duplicates too."""
    units, stated = trials.units, trials.passes_without_rows
    if trials.not_in_log and stated is None:
        return _bounds(trials)
    if not trials.not_in_log and all(unit[0].execution == "missing" for unit in units):
        return Score(policy="strict", remark=NoteOutput(code="no_attempts"))
    if trials.unjudged:
        return Score(policy="strict", remark=NoteOutput(code="nothing_scored"))
    kinds = {unit[0].execution for unit in units} & NEVER_MADE
    kinds |= {CONTRADICTORY for unit in units if contradicts_itself(unit)}
    kinds |= {"missing"} if trials.absent else set()
    kinds |= (
        {NOT_SCORED}
        if any(one.execution == "completed" and one.measurement == "not_run" for unit in units for one in unit)
        else set()
    )
    failed = tuple(kind for kind in _ORDER if kind in kinds)
    remark = NoteOutput(code="counted_as_failed", words=failed) if failed else None
    if trials.not_in_log:
        remark = NoteOutput(code="passes_without_rows", count=stated, of=trials.not_in_log, words=failed)
    elif trials.passes_without_verdict:
        remark = _unassigned(trials)
    score = Score(
        policy="strict",
        passed=_count_passes(units) + (stated or 0) + trials.passes_without_verdict,
        total=trials.unit_count + trials.absent + trials.not_in_log,
        remark=remark,
        by_case={} if trials.passes_without_verdict else _clusters(units, trials),
    )
    return _of_numbers(score, units, trials)


def _bounds(trials: Trials) -> Score:
    """Measured, but not in the log, and the harness states no passes: there are only bounds."""
    passed = _count_passes(trials.units)
    whole = trials.unit_count + trials.absent + trials.not_in_log
    between = (passed / whole, (passed + trials.not_in_log) / whole)
    remark = NoteOutput(code="rows_not_in_log", count=trials.not_in_log, of=whole, between=between)
    return Score(policy="strict", remark=remark)


def clean(trials: Trials) -> Score:
    """Without infrastructure failures; an earlier measured session replaces an unmeasured one."""
    return count_by(trials, "clean", by_rules)


def reviewed(trials: Trials) -> Score:
    """Like clean, with verdicts in place of attributions; without what the grader, the task or a known gap caused."""
    failures = [one for one in trials.rows if one.is_failure]
    note = NoteOutput(code="reviewed", count=sum(one.reviewed for one in failures), of=len(failures))
    if trials.unread:
        return Score(policy="reviewed", remark=note)
    score = count_by(trials, "reviewed", by_verdicts)
    return msgspec.structs.replace(
        score, remark=score.remark or (note if failures else NoteOutput(code="nothing_failed"))
    )


POLICIES: dict[Policy, Callable[[Trials], Score]] = {
    "strict": strict,
    "as_reported": as_reported,
    "clean": clean,
    "reviewed": reviewed,
}


def scores_of(trials: Trials) -> dict[Policy, Score]:
    """Under each policy. Of a part of a run whose passes have no rows, nothing is known but its failures."""
    if trials.passes_elsewhere:
        remark = NoteOutput(code="passes_elsewhere", count=trials.passes_elsewhere)
        return {policy: Score(policy=policy, remark=remark) for policy in POLICIES}
    if trials.labels:
        remark = NoteOutput(code="labels", count=trials.labels)
        scores = {policy: Score(policy=policy, remark=remark) for policy in POLICIES}
        stated = next((one.value for one in trials.run.reported if one.headline), None)
        return scores | {"as_reported": msgspec.structs.replace(scores["as_reported"], stated=stated)}
    return {policy: with_clusters(count(trials)) for policy, count in POLICIES.items()}
