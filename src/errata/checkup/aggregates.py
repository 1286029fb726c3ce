"""Do the harness's own numbers follow from its rows?"""

from collections.abc import Iterator, Sequence

from errata.checkup.survey import RunSurvey
from errata.checkup.words import at_number, finding
from errata.model import Evidence, Finding, Reported
from errata.render.figures import plural

TOLERANCE = 0.005
"""Rates are often stored rounded to a few digits."""


def aggregate_mismatch(survey: RunSurvey) -> Iterator[Finding]:
    """Recount from the rows what the harness states; only what can be recounted is compared."""
    mismatches = list(_recounted(survey))
    yield from mismatches
    yield from _headline_mismatch(survey, mismatches)


def _recounted(survey: RunSurvey) -> Iterator[Finding]:
    partial = survey.run.expected_cases is not None and len(survey.cases) < survey.run.expected_cases
    if partial or survey.not_in_log or not survey.rows:
        return
    for reported in survey.run.reported:
        if reported.value is None or not _of_the_counted_judge(survey, reported):
            continue
        if reported.metric == "scored":
            yield from _count_of_scored(survey, reported, reported.value)
        elif reported.metric in ("passed", "failed", "unscored"):
            yield from _rows(survey, reported, reported.value)
        elif reported.metric == "passes":
            yield from _passes(survey, reported, reported.value)
        elif reported.metric == "pass_rate" and not reported.filter:
            yield from _pass_rate(survey, reported, reported.value)


def _headline_mismatch(survey: RunSurvey, mismatches: Sequence[Finding]) -> Iterator[Finding]:
    """The harness's main number, where its own rule yields another one from the rows."""
    headline = survey.headline
    if headline is None or any(one.numbers.get("stated") == headline.stated for one in mismatches):
        return
    where = headline.ref.file if headline.ref else "the harness"
    text = f"{where} has {headline.name} {headline.stated:.4g}; recomputed from the rows: {headline.recomputed:.4g}"
    text += f" ({', '.join(headline.others)})" if headline.others else ""
    evidence = [Evidence(quote="", ref=headline.ref)]
    yield finding(
        survey, "aggregate_mismatch", "error", text, evidence, stated=headline.stated, found=headline.recomputed
    )


def _count_of_scored(survey: RunSurvey, reported: Reported, stated: float) -> Iterator[Finding]:
    distinct = len(survey.cases) - survey.missing.count
    if stated == survey.rows == survey.measurements["scored"]:
        return
    if stated == survey.rows:
        scored = survey.measurements["scored"]
        text = f"{_statement(reported)} {stated:g}, but only {scored:,} of {survey.rows:,} rows are scored"
        yield finding(
            survey, "aggregate_mismatch", "warning", text, at_number(reported), stated=stated, found=survey.rows
        )
    elif stated != survey.measurements["scored"]:
        over = f" ({plural(distinct, survey.unit)})" if distinct != survey.rows else ""
        text = f"{_statement(reported)} {stated:g}; the log has {plural(survey.rows, 'row')}{over}"
        yield finding(
            survey, "aggregate_mismatch", "error", text, at_number(reported), stated=stated, found=survey.rows
        )


def _rows(survey: RunSurvey, reported: Reported, stated: float) -> Iterator[Finding]:
    counts = {
        "passed": survey.outcomes["pass"],
        "failed": survey.failed_rows,
        "unscored": survey.measurements["unscored"],
    }[reported.metric]
    if stated != counts:
        text = f"{_statement(reported)} {stated:g}; the rows have {counts:,}"
        yield finding(survey, "aggregate_mismatch", "error", text, at_number(reported), stated=stated, found=counts)


def _passes(survey: RunSurvey, reported: Reported, stated: float) -> Iterator[Finding]:
    passes = survey.checks[reported.name, "pass"]
    if stated != passes:
        text = f"{_where(reported)} has {stated:g} passes for {reported.name}; the rows have {passes:,}"
        yield finding(survey, "aggregate_mismatch", "warning", text, at_number(reported), stated=stated, found=passes)


def _pass_rate(survey: RunSurvey, reported: Reported, stated: float) -> Iterator[Finding]:
    passed, failed = survey.checks[reported.name, "pass"], survey.checks[reported.name, "fail"]
    if passed + failed == 0:
        passed, failed = survey.outcomes["pass"], survey.rows - survey.outcomes["pass"]
    whole = reported.n if reported.n is not None else passed + failed
    if whole and abs(stated - passed / whole) > TOLERANCE:
        text = f"{_statement(reported)} {stated:.4g}; the rows have {passed}/{whole} = {passed / whole:.4g}"
        yield finding(
            survey, "aggregate_mismatch", "error", text, at_number(reported), stated=stated, found=passed / whole
        )


def _of_the_counted_judge(survey: RunSurvey, reported: Reported) -> bool:
    return not reported.scorer or not survey.judges or reported.scorer in survey.judges


def _statement(reported: Reported) -> str:
    return f"{_where(reported)} has {reported.name}"


def _where(reported: Reported) -> str:
    return reported.ref.file if reported.ref else "the harness"
