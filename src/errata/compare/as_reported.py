"""The harness's own number, recomputed its own way: a proof that its log was understood."""

from collections.abc import Iterable, Sequence
from statistics import fmean

from msgspec.structs import replace

from errata.compare.intervals import clusters_of, standard_error
from errata.compare.repeats import reducer_named
from errata.compare.scores import Note, Score, group_by_reason
from errata.compare.trials import NEVER_MADE, Trial, Trials
from errata.model import Reported

AVERAGED = frozenset(("mean", "accuracy"))
_COUNTABLE = AVERAGED | {"pass_rate"}


def as_reported(trials: Trials) -> Score:
    headline = next((one for one in trials.run.reported if one.headline), None)
    if headline is None:
        return Score(policy="as_reported", remark=Note(code="no_headline"))
    rows = [one for one in trials.rows if one.reported_counted]
    if trials.passes_without_verdict:
        return _not_recounted(headline, Note(code="passes_unassigned", count=trials.passes_without_verdict))
    if trials.not_in_log and trials.not_in_log == trials.passes_without_rows and headline.metric in _COUNTABLE:
        return _with_stated_passes(rows, headline, trials)
    if not rows:
        return _not_recounted(headline, Note(code="no_rows"))
    if trials.not_in_log:
        return _not_recounted(headline, Note(code="rows_not_in_log", count=trials.not_in_log))
    score = _recounted(rows, headline, trials)
    if score is None:
        rule = tuple(filter(None, (headline.metric, headline.reducer)))
        return _not_recounted(headline, Note(code="rule_unknown", words=rule))
    groups = group_by_reason((_why(one), "", one) for one in trials.rows if not one.reported_counted)
    recounted = replace(score, stated=None if trials.is_part else headline.value, groups=groups)
    return (
        (_with_nothing_as_zero(recounted, headline, trials) or recounted)
        if recounted.reproduced is False
        else recounted
    )


def _not_recounted(headline: Reported, why: Note) -> Score:
    return Score(policy="as_reported", stated=headline.value, remark=replace(why, stated=headline.value))


def _with_stated_passes(rows: Sequence[Trial], headline: Reported, trials: Trials) -> Score:
    """Every row that is not in the log passed by the harness's count, so the whole can be counted."""
    stated = trials.passes_without_rows or 0
    passed = sum(one.passes_by_harness for one in rows) + stated
    return Score(
        policy="as_reported",
        passed=passed,
        total=len(rows) + stated,
        stated=headline.value,
        groups=group_by_reason((_why(one), "", one) for one in trials.rows if not one.reported_counted),
        remark=Note(code="passes_without_rows", count=stated, of=stated),
    )


def _recounted(rows: Sequence[Trial], headline: Reported, trials: Trials) -> Score | None:
    """None where the rule is not known."""
    if headline.metric == "pass_rate":
        clusters = clusters_of((trial.case, trial.passed) for trial in rows) if trials.tells_cases else {}
        return Score(
            policy="as_reported", passed=sum(trial.passed for trial in rows), total=len(rows), by_case=clusters
        )
    reducer = reducer_named(headline.reducer)
    if headline.metric not in AVERAGED or reducer is None:
        return None
    by_case: dict[str, list[float]] = {}
    for trial in rows:
        if trial.reported is not None:
            by_case.setdefault(trial.case, []).append(trial.reported)
    every = [(case, value) for case, values in by_case.items() for value in values]
    # the mean of equally long means is the mean of all: then the passes can be counted
    balanced = len(set(map(len, by_case.values()))) == 1
    averages_rows = headline.n == trials.valued
    if headline.reducer in ("", "mean") and (balanced or averages_rows):
        return _average(every, trials)
    reduced = ((case, reducer(values)) for case, values in by_case.items())
    return _average([(case, value) for case, value in reduced if value is not None], trials)


def _average(by_case: Iterable[tuple[str, float]], trials: Trials) -> Score | None:
    """Passes where every value is one or nothing, else the mean."""
    cases = list(by_case)
    values = [value for _, value in cases]
    if not values:
        return None
    score = Score(
        policy="as_reported",
        passed=sum(value >= 1 for value in values),
        total=len(values),
        by_case=clusters_of(cases) if trials.tells_cases else {},
    )
    if all(value in (0, 1) for value in values):
        return score
    return replace(score, mean=fmean(values), stderr=standard_error(values))


def _with_nothing_as_zero(recounted: Score, headline: Reported, trials: Trials) -> Score | None:
    """Some harnesses average what has no value as 0; only their own number can show it."""
    if headline.metric not in AVERAGED or headline.reducer:
        return None
    made = [one for one in trials.rows if one.execution not in NEVER_MADE]
    empty = sum(one.reported is None for one in made)
    average = _average(((one.case, one.reported or 0.0) for one in made), trials)
    groups = tuple(group for group in recounted.groups if group.why in NEVER_MADE)
    score = (
        replace(average, stated=recounted.stated, groups=groups, remark=Note(code="empty_counts_zero", count=empty))
        if average
        else None
    )
    return score if score is not None and empty and score.reproduced else None


def _why(trial: Trial) -> str:
    """Why the harness does not count an attempt, as far as the attempt shows it."""
    if trial.execution in NEVER_MADE:
        return trial.execution
    return trial.error_type or ("not scored" if trial.measurement != "scored" else "not counted")
