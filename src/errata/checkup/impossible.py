"""Numbers that can't be: more finished than planned, rates above 1, costs that nobody pays, ends before the start."""

import re
from collections.abc import Iterator, Sequence

from errata.checkup.odd_numbers import OddGroup, backwards
from errata.checkup.survey import RunSurvey
from errata.checkup.words import NAMED, QUOTE_WIDTH, at_number, at_run, case_name, finding
from errata.model import Evidence, Finding, Reported
from errata.model.usage import amount
from errata.model.words import Severity
from errata.render.figures import plural
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex

RATES = ("pass_rate", "accuracy")
COUNTS = ("passed", "failed", "unscored", "scored")
ROUNDED = 0.005
_COST = lazy_regex(r"(?:^|_| )cost(?:_usd)?$", re.IGNORECASE)
COST_SHARE, COST_SLACK = 0.01, 0.01
"""A run's cost may differ from the sum of its attempts by rounding."""


def impossible_counts(survey: RunSurvey) -> Iterator[Finding]:
    yield from _more_than_planned(survey)
    yield from _more_than_measured(survey)
    yield from _more_passes_than_cases(survey)
    yield from _reported_numbers(survey)


def _more_than_planned(survey: RunSurvey) -> Iterator[Finding]:
    expected, present = survey.run.expected_cases, len(survey.present)
    if expected and present > expected:
        text = f"{present:,} cases have a row, but only {expected:,} were planned: cases may be counted twice"
        yield finding(survey, "impossible_count", "error", text, at_run(survey), planned=expected, found=present)


def _more_than_measured(survey: RunSurvey) -> Iterator[Finding]:
    """Only like with like: a harness that counts cases counts one that was tried twice once."""
    run = survey.run
    stated, rows = run.measured_attempts, survey.measured_once
    if run.measured_unit == "cases":
        rows = len(survey.measured_cases)
    if stated is not None and rows > stated:
        noun = "case" if run.measured_unit == "cases" else "row"
        what = plural(rows, f"{noun} has", f"{noun}s have")
        text = f"{what} a verdict, but the harness counts {stated:,} measured {run.measured_unit}"
        yield finding(survey, "impossible_count", "error", text, at_run(survey), stated=stated, found=rows)


def _more_passes_than_cases(survey: RunSurvey) -> Iterator[Finding]:
    run = survey.run
    passes = run.harness_passes
    most = max(run.measured_attempts or 0, run.expected_cases or 0, survey.rows)
    if passes is not None and passes > most:
        text = f"the harness counts {plural(passes, 'pass', 'passes')}, but there are only {plural(most, 'attempt')}"
        yield finding(survey, "impossible_count", "error", text, at_run(survey), stated=passes, found=most)
    elif run.measured_passes is not None and survey.passes_by_harness > run.measured_passes:
        rows, stated = survey.passes_by_harness, run.measured_passes
        text = f"{plural(rows, 'row')} passed, but the harness counts {plural(stated, 'pass', 'passes')}"
        yield finding(survey, "impossible_count", "error", text, at_run(survey), stated=stated, found=rows)


def _reported_numbers(survey: RunSurvey) -> Iterator[Finding]:
    """Rates outside of 0 to 1, counts below 0, parts that are more than the whole."""
    for reported in survey.run.reported:
        value = reported.value
        if value is None:
            continue
        if reported.metric in RATES and not 0 <= value <= 1:
            yield _impossible(survey, reported, f"{value:g}, but a rate is between 0 and 1")
        elif reported.metric in COUNTS and (value < 0 or not float(value).is_integer()):
            yield _impossible(survey, reported, f"{value:g}, which is not a count")
        elif reported.metric in ("passed", "count") and reported.n is not None and value > reported.n:
            yield _impossible(survey, reported, f"{value:g} of {reported.n:,}")
        elif reported.metric in RATES and not (reported.filter or reported.reducer):
            yield from _rate_against_counts(survey, reported, value)


def _rate_against_counts(survey: RunSurvey, reported: Reported, rate: float) -> Iterator[Finding]:
    """The counts of the rate itself; those of the run belong to its headline."""
    n, passes = reported.n, reported.extra.get("passes")
    if passes is None and reported.headline:
        passes = survey.run.measured_passes
    if passes is not None and n and passes <= n and abs(rate - passes / n) > ROUNDED:
        yield _impossible(survey, reported, f"{rate:.4g}, but its own counts are {passes:,.0f} of {n:,}")


def _impossible(survey: RunSurvey, reported: Reported, words: str) -> Finding:
    where = reported.ref.file if reported.ref else "the harness"
    stated = {"stated": reported.value} if reported.value is not None else {}
    return finding(
        survey, "impossible_count", "error", f"{where} states {reported.name} {words}", at_number(reported), **stated
    )


def files_disagree(survey: RunSurvey) -> Iterator[Finding]:
    for conflict in survey.run.conflicts:
        named = ", ".join(conflict.cases[:NAMED])
        more = conflict.differing - len(conflict.cases[:NAMED])
        cases = f"; {plural(conflict.differing, 'case differs', 'cases differ')}: {named}" if named else ""
        text = one_line(f"{conflict.text}{cases}{f' and {more:,} more' if more > 0 else ''}")
        numbers = {"counted": conflict.counted, "stated": conflict.stated, "cases": conflict.differing or None}
        known = {name: value for name, value in numbers.items() if value is not None}
        severity: Severity = "error" if conflict.is_certain else "warning"
        yield finding(survey, "files_disagree", severity, text, [Evidence(quote="", ref=conflict.ref)], **known)


def impossible_costs(survey: RunSurvey) -> Iterator[Finding]:
    odd = survey.odd
    traits = {
        "a cost that is not an amount": odd.no_amounts,
        "a cost far above any price per token": odd.overpriced,
        "a cost although no token was used": odd.without_tokens,
    }
    for trait, group in traits.items():
        if group.count:
            text, evidence = _describe(survey, group, trait)
            text += "; left out of every sum" if group is odd.no_amounts else ""
            yield finding(survey, "impossible_cost", "warning", text, evidence, attempts=group.count)
    yield from _invalid_costs_of_run(survey)
    stated = survey.run.usage.cost
    is_whole = survey.rows and not odd.cost_unknown and not survey.not_in_log and not odd.no_amounts.count
    if stated is None or not is_whole:
        return
    if not any(_is_close(stated, total) for total in (odd.cost, odd.cost_of_counted)):
        text = f"the run states a cost of {stated:.4g}, but its attempts cost {odd.cost:.4g} in total"
        yield finding(survey, "impossible_cost", "warning", text, at_run(survey), stated=stated, found=odd.cost)


def _invalid_costs_of_run(survey: RunSurvey) -> Iterator[Finding]:
    """The run's own cost, or one of the harness's numbers whose name ends in `cost`."""
    for cost in survey.run.usage.invalid_costs:
        text = f"the run states a cost of {cost:g}, which is not an amount"
        yield finding(survey, "impossible_cost", "warning", text, at_run(survey))
    for reported in survey.run.reported:
        value = reported.value
        if _COST.search(reported.name) and value is not None and amount(value) is None:
            where = reported.ref.file if reported.ref else "the harness"
            text = f"{where} states {reported.name} {value:g}, which is not an amount"
            yield finding(survey, "impossible_cost", "warning", text, at_number(reported))


def _is_close(stated: float, total: float) -> bool:
    return abs(stated - total) <= max(COST_SLACK, COST_SHARE * abs(total))


def impossible_scores(survey: RunSurvey) -> Iterator[Finding]:
    """Scores outside of their scale, and those that contradict the parts they are made of."""
    odd, scale = survey.odd, survey.run.scale
    if odd.off_scale.count and scale is not None:
        ends = [f"{end:g}" for end in (scale.lowest, scale.highest) if end is not None]
        trait = f"a score outside of its scale ({' to '.join(ends)})"
        text, evidence = _describe(survey, odd.off_scale, trait)
        yield finding(survey, "impossible_score", "error", text, evidence, attempts=odd.off_scale.count)
    if odd.contradicted.count:
        text, evidence = _describe(survey, odd.contradicted, "a score that is not the product of its parts")
        yield finding(survey, "impossible_score", "error", text, evidence, attempts=odd.contradicted.count)


def impossible_times(survey: RunSurvey) -> Iterator[Finding]:
    if survey.odd.times.count:
        text, evidence = _describe(survey, survey.odd.times, "a negative duration, or an end before its start")
        yield finding(survey, "impossible_time", "warning", text, evidence, attempts=survey.odd.times.count)
    if words := backwards(survey.run.started_at, survey.run.finished_at):
        text = "the run finished before it started"
        yield finding(survey, "impossible_time", "warning", text, at_run(survey, words))


def _describe(survey: RunSurvey, group: OddGroup, trait: str) -> tuple[str, list[Evidence]]:
    text = f"{plural(group.count, 'attempt has', 'attempts have')} {trait}: {_cases(survey, group)}"
    return text, [Evidence(quote="", stated=one_line(one.words, QUOTE_WIDTH), ref=one.ref) for one in group.first[:3]]


def _cases(survey: RunSurvey, group: OddGroup) -> str:
    names: Sequence[str] = list(dict.fromkeys(case_name(survey, one.case) for one in group.first))[:NAMED]
    more = group.count - len(group.first)
    return ", ".join(names) + (f" and {more:,} more" if more > 0 else "")
