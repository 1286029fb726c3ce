"""Do the harness's own numbers follow from its rows?"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from errata.checkup.survey import RunSurvey
from errata.checkup.words import at_number, finding
from errata.model import Evidence, Finding, Reported
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
    """A rate that differs breaks a run only if its rule gives another rate of the harness: else it is not known."""
    partial = survey.run.expected_cases is not None and len(survey.cases) < survey.run.expected_cases
    if partial or survey.not_in_log or not survey.rows:
        return
    stated = [one for one in survey.run.reported if _can_be_recounted(survey, one)]
    mismatches = {place: seen for place, one in enumerate(stated) if (seen := _mismatch(survey, one, one.value or 0))}
    kinds = [(one.metric, _is_of_a_check(survey, one)) for one in stated]
    for place, (text, rate, severity) in mismatches.items():
        own = stated[place]
        alike = [at for at, one in enumerate(stated) if kinds[at] == kinds[place] and one.name != own.name]
        if own.metric == "pass_rate" and alike and mismatches.keys() >= {*alike}:
            text, severity = f"{text}; its other rates differ, too: it may count by a rule of its own", "warning"
        text = f"{own.ref.file if own.ref else 'the harness'} has {text}"
        numbers = {"stated": own.value or 0, "found": rate}
        yield finding(survey, "aggregate_mismatch", severity, text, at_number(own), **numbers)


def _can_be_recounted(survey: RunSurvey, reported: Reported) -> bool:
    is_counted = not reported.scorer or not survey.judges or reported.scorer in survey.judges
    return reported.value is not None and is_counted and not (reported.filter and reported.metric == "pass_rate")


def _headline_mismatch(survey: RunSurvey, mismatches: Sequence[Finding]) -> Iterator[Finding]:
    """The harness's main number, where its own rule yields another one from the rows."""
    headline = survey.headline
    if headline is None or any(one.numbers.get("stated") == headline.stated for one in mismatches) or not survey.rows:
        return
    where = headline.ref.file if headline.ref else "the harness"
    text = f"{where} has {headline.name} {headline.stated:.4g}; recomputed from the rows: {headline.recomputed:.4g}"
    text += f" ({', '.join(headline.others)})" if headline.others else ""
    evidence = [Evidence(quote="", ref=headline.ref)]
    yield finding(
        survey, "aggregate_mismatch", "error", text, evidence, stated=headline.stated, found=headline.recomputed
    )


class Mismatch(NamedTuple):
    text: str
    of_rows: float
    severity: Severity = "error"


def _is_of_a_check(survey: RunSurvey, reported: Reported) -> bool:
    return reported.null_passes or any(survey.checks[reported.name, status] for status in ("pass", "fail"))


def _mismatch(survey: RunSurvey, reported: Reported, stated: float) -> Mismatch | None:
    """What the rows have, where no rule of the harness makes it the stated number."""
    name, rows = reported.name, survey.rows
    scored = survey.measurements["scored"]
    passed, failed = survey.checks[name, "pass"], survey.checks[name, "fail"]
    if reported.metric == "scored" and stated != scored:
        if stated == rows:
            return Mismatch(f"{name} {stated:g}, but only {scored:,} of {rows:,} rows are scored", rows, "warning")
        distinct = len(survey.cases) - survey.missing.count
        over = f" ({plural(distinct, survey.unit)})" if distinct != rows else ""
        return Mismatch(f"{name} {stated:g}; the log has {plural(rows, 'row')}{over}", rows)
    counts = {"passed": survey.passed, "failed": survey.failed_rows}
    counts["unscored"] = survey.measurements["unscored"]
    if (count := counts.get(reported.metric, stated)) != stated:
        return Mismatch(f"{name} {stated:g}; the rows have {count:,}", count)
    if reported.metric == "passes":
        by_null = (reported.n or rows) - failed if reported.null_passes else passed
        text = f"{stated:g} passes for {name}; the rows have {passed:,}"
        return None if stated in (passed, by_null) else Mismatch(text, passed, "warning")
    if reported.metric != "pass_rate":
        return None
    if not _is_of_a_check(survey, reported):
        passed, failed = survey.passed, rows - survey.passed
    whole = reported.n if reported.n is not None else passed + failed
    by_rule = (passed, whole - failed) if reported.null_passes else (passed,)
    if not whole or any(abs(stated - one / whole) <= TOLERANCE for one in by_rule):
        return None
    text = f"{name} {stated:.4g}; the rows have {passed}/{whole} = {passed / whole:.4g}"
    return Mismatch(
        text, passed / whole, "warning" if reported.null_passes and passed / whole < stated <= 1 else "error"
    )
