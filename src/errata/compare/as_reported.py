"""The harness's own number, recomputed its own way: a proof that its log was understood."""

from collections.abc import Iterable, Sequence
from statistics import fmean

from msgspec.structs import replace

from errata.compare.intervals import clusters_of, standard_error
from errata.compare.repeats import reducer_named
from errata.compare.scores import Score, group_by_reason
from errata.compare.trials import NEVER_MADE, Trial, Trials
from errata.model import Reported
from errata.model.output.score import NoteOutput

AVERAGED = frozenset(("mean", "accuracy"))
RULE_NOT_GIVEN = "mean_or_pass_rate"
"""A headline without a rule: the pass rate, the mean of the rows, or the mean of the cases."""
_COUNTABLE = AVERAGED | {"pass_rate", RULE_NOT_GIVEN}


def as_reported(trials: Trials) -> Score:
    headline = next((one for one in trials.run.reported if one.headline), None)
    if headline is None:
        return Score(policy="as_reported", remark=NoteOutput(code="no_headline"))
    rows = [one for one in trials.rows if one.reported_counted]
    if trials.passes_without_verdict:
        return _not_recounted(headline, NoteOutput(code="passes_unassigned", count=trials.passes_without_verdict))
    if trials.not_in_log and trials.passes_without_rows is not None and headline.metric in _COUNTABLE:
        return _with_stated_passes(rows, headline, trials)
    if not rows:
        return _not_recounted(headline, NoteOutput(code="no_rows"))
    if trials.not_in_log:
        return _not_recounted(headline, NoteOutput(code="rows_not_in_log", count=trials.not_in_log))
    score = _recounted(rows, headline, trials)
    if score is None:
        rule = tuple(filter(None, (headline.metric, headline.reducer)))
        return _not_recounted(headline, NoteOutput(code="rule_unknown", words=rule))
    groups = group_by_reason((_why(one), "", one) for one in trials.rows if not one.reported_counted)
    recounted = replace(score, stated=None if trials.is_part else headline.value, groups=groups)
    return _by_another_rule(rows, recounted, headline, trials) if recounted.reproduced is False else recounted


def _by_another_rule(rows: Sequence[Trial], recounted: Score, headline: Reported, trials: Trials) -> Score:
    """The first rule that yields the harness's number, where it does not give its rule; else the others' numbers."""
    if headline.reducer or headline.metric not in AVERAGED | {RULE_NOT_GIVEN}:
        return recounted
    rules = [
        ("mean of rows", _average(_values(rows), trials)),
        ("mean of cases", _average(((case, fmean(values)) for case, values in _by_case(rows).items()), trials)),
    ]
    if headline.metric == RULE_NOT_GIVEN:
        rules.append(("pass rate", _pass_rate(rows, trials) if _has_verdicts(rows) else None))
    others = [
        (name, replace(score, stated=recounted.stated, groups=recounted.groups)) for name, score in rules if score
    ]
    for name, score in others:
        if score.reproduced:
            return replace(score, remark=NoteOutput(code="headline_rule", words=(name,)))
    zeros = _with_nothing_as_zero(recounted, headline, trials)
    if zeros is not None:
        return zeros
    numbers = {
        f"{score.rate:.4g}": name for name, score in others if score.rate is not None and score.rate != recounted.rate
    }
    if not numbers:
        return recounted
    return replace(
        recounted,
        remark=NoteOutput(code="headline_rules", words=tuple(f"{name} {rate}" for rate, name in numbers.items())),
    )


def _not_recounted(headline: Reported, why: NoteOutput) -> Score:
    return Score(policy="as_reported", stated=headline.value, remark=replace(why, stated=headline.value))


def _with_stated_passes(rows: Sequence[Trial], headline: Reported, trials: Trials) -> Score:
    """The harness counts the passes among the rows that are not in the log, so the whole can be counted."""
    stated, total = trials.passes_without_rows or 0, len(rows) + trials.not_in_log
    if headline.n == total + trials.absent:
        total = headline.n  # what is missing counts as failed
    passed = sum(one.passes_by_harness for one in rows) + stated
    return Score(
        policy="as_reported",
        passed=passed,
        total=total,
        stated=headline.value,
        groups=group_by_reason((_why(one), "", one) for one in trials.rows if not one.reported_counted),
        remark=NoteOutput(code="passes_without_rows", count=stated, of=trials.not_in_log),
    )


def _recounted(rows: Sequence[Trial], headline: Reported, trials: Trials) -> Score | None:
    """None where the rule is not known."""
    if headline.metric == "pass_rate":
        return _pass_rate(rows, trials)
    reducer = reducer_named(headline.reducer)
    if headline.metric == RULE_NOT_GIVEN:
        graded = any(one.reported not in (0, 1, None) for one in rows)
        return _pass_rate(rows, trials) if graded and _has_verdicts(rows) else _average(_values(rows), trials)
    if headline.metric not in AVERAGED or reducer is None:
        return None
    by_case = _by_case(rows)
    # the mean of equally long means is the mean of all: then the passes can be counted
    balanced = len(set(map(len, by_case.values()))) == 1
    averages_rows = headline.n == trials.valued
    if headline.reducer in ("", "mean") and (balanced or averages_rows):
        return _average(_values(rows), trials)
    reduced = ((case, reducer(values)) for case, values in by_case.items())
    return _average([(case, value) for case, value in reduced if value is not None], trials)


def _pass_rate(rows: Sequence[Trial], trials: Trials) -> Score:
    clusters = clusters_of((trial.case, _passed(trial)) for trial in rows) if trials.tells_cases else {}
    passed = sum(map(_passed, rows))
    return Score(policy="as_reported", passed=passed, total=len(rows), by_case=clusters)


def _passed(trial: Trial) -> bool:
    """Or the harness lets it pass with any number."""
    return trial.passed or (trial.outcome == "partial" and trial.passes_by_harness)


def _has_verdicts(rows: Sequence[Trial]) -> bool:
    return any(one.outcome in ("pass", "fail") for one in rows)


def _by_case(rows: Sequence[Trial]) -> dict[str, list[float]]:
    by_case: dict[str, list[float]] = {}
    for case, value in _values(rows):
        by_case.setdefault(case, []).append(value)
    return by_case


def _values(rows: Sequence[Trial]) -> list[tuple[str, float]]:
    return [(trial.case, trial.reported) for trial in rows if trial.reported is not None]


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
    if headline.metric not in AVERAGED | {RULE_NOT_GIVEN} or headline.reducer:
        return None
    made = [one for one in trials.rows if one.execution not in NEVER_MADE]
    empty = sum(one.reported is None for one in made)
    average = _average(((one.case, one.reported or 0.0) for one in made), trials)
    groups = tuple(group for group in recounted.groups if group.why in NEVER_MADE)
    score = (
        replace(
            average, stated=recounted.stated, groups=groups, remark=NoteOutput(code="empty_counts_zero", count=empty)
        )
        if average
        else None
    )
    return score if score is not None and empty and score.reproduced else None


def _why(trial: Trial) -> str:
    """Why the harness does not count an attempt, as far as the attempt shows it."""
    if trial.execution in NEVER_MADE:
        return trial.execution
    return trial.error_type or ("not scored" if trial.measurement != "scored" else "not counted")
