"""Do the harness's own numbers follow from its rows?"""

from collections.abc import Iterator, Sequence

from errata.checkup.survey import RunSurvey
from errata.checkup.words import at_number, finding
from errata.model import Evidence, Finding, Reported
from errata.model.counts import RightShare
from errata.model.words import Severity
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
    rates = [one for one in survey.run.reported if _is_rate(survey, one)]
    differing = {one.name for one in rates if _difference(survey, one) is not None}
    for reported in survey.run.reported:
        if reported.value is None or not _of_the_counted_judge(survey, reported):
            continue
        if reported.metric == "scored":
            yield from _count_of_scored(survey, reported, reported.value)
        elif reported.metric in ("passed", "failed", "unscored"):
            yield from _rows(survey, reported, reported.value)
        elif reported.metric == "passes":
            yield from _passes(survey, reported, reported.value)
    for reported in rates:
        if (share := _difference(survey, reported)) is not None:
            others = {one.name for one in rates if _is_of_a_check(survey, one) == _is_of_a_check(survey, reported)}
            others -= {reported.name}
            is_known = not others or bool(others - differing)
            yield _other_rate(survey, reported, share, is_known=is_known)


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
    passes, failed = survey.checks[reported.name, "pass"], survey.checks[reported.name, "fail"]
    by_null = (reported.n or survey.rows) - failed if reported.null_passes else passes
    if stated not in (passes, by_null):
        text = f"{_where(reported)} has {stated:g} passes for {reported.name}; the rows have {passes:,}"
        yield finding(survey, "aggregate_mismatch", "warning", text, at_number(reported), stated=stated, found=passes)


def _is_rate(survey: RunSurvey, reported: Reported) -> bool:
    is_stated = reported.metric == "pass_rate" and reported.value is not None and not reported.filter
    return is_stated and _of_the_counted_judge(survey, reported)


def _is_of_a_check(survey: RunSurvey, reported: Reported) -> bool:
    return reported.null_passes or any(survey.checks[reported.name, status] for status in ("pass", "fail"))


def _difference(survey: RunSurvey, reported: Reported) -> RightShare | None:
    """What the rows have, where no rule of the harness makes it the stated rate."""
    passed, failed = survey.checks[reported.name, "pass"], survey.checks[reported.name, "fail"]
    if not _is_of_a_check(survey, reported):
        passed, failed = survey.outcomes["pass"], survey.rows - survey.outcomes["pass"]
    whole = reported.n if reported.n is not None else passed + failed
    by_rule = (passed, whole - failed) if reported.null_passes else (passed,)
    if not whole or any(abs((reported.value or 0) - count / whole) <= TOLERANCE for count in by_rule):
        return None
    return RightShare(right=passed, of=whole)


def _other_rate(survey: RunSurvey, reported: Reported, share: RightShare, *, is_known: bool) -> Finding:
    """It breaks a run only if the rule that was recounted by gives the harness's other rates."""
    stated, rate = reported.value or 0, share.right / share.of
    text = f"{_statement(reported)} {stated:.4g}; the rows have {share.right}/{share.of} = {rate:.4g}"
    if not is_known:
        text += "; its other rates do not follow from the rows either: it may count by a rule of its own"
    is_by_its_rule = reported.null_passes and rate < stated <= 1
    severity: Severity = "error" if is_known and not is_by_its_rule else "warning"
    return finding(survey, "aggregate_mismatch", severity, text, at_number(reported), stated=stated, found=rate)


def _of_the_counted_judge(survey: RunSurvey, reported: Reported) -> bool:
    return not reported.scorer or not survey.judges or reported.scorer in survey.judges


def _statement(reported: Reported) -> str:
    return f"{_where(reported)} has {reported.name}"


def _where(reported: Reported) -> str:
    return reported.ref.file if reported.ref else "the harness"
