"""Was the subject asked, did it answer, and was that measured?"""

from collections.abc import Iterator

from errata.checkup.survey import NamedAttempts, RunSurvey
from errata.checkup.words import (
    QUOTE_WIDTH,
    QUOTED,
    finding,
    names,
    phases_in_words,
    quote_commonest_errors,
    quote_errors,
)
from errata.model import Evidence, Finding
from errata.model.words import Severity
from errata.render.figures import plural
from errata.text.clean import one_line

MUCH = 0.2
UNMEASURED = 1 / 3
"""From this share on, a score shows more about what was not measured than about the subject."""
SENT_WIDTH = 60
FEW_ROWS = 3


def prompt_not_delivered(survey: RunSurvey) -> Iterator[Finding]:
    lost = survey.undelivered
    if lost.count:
        sent, often = survey.sent.most_common(1)[0]
        only = "" if often == lost.count else f" in {often:,} of them"
        text = f"the prompt was not delivered in {_of_rows(survey, lost)}: the text sent{only} is "
        text += f"`{one_line(sent, SENT_WIDTH)}`" if sent else "empty"
        evidence = [Evidence(quote=one_line(sent, QUOTE_WIDTH), ref=seen.ref) for seen in lost.first[:1]]
        yield finding(survey, "prompt_not_delivered", _severity(survey, lost), text, evidence, attempts=lost.count)


def error_bodies(survey: RunSurvey) -> Iterator[Finding]:
    broken = survey.error_bodies
    if broken.count:
        passed = sum(seen.outcome == "pass" for seen in broken.first)
        among = ", some of them counted as passed" if passed else ""
        text = f"in {_of_rows(survey, broken)} the answer is the error message of a failed request{among}: "
        text += names(survey, broken)
        evidence = [Evidence(quote=one_line(seen.text, QUOTE_WIDTH), ref=seen.ref) for seen in broken.first[:QUOTED]]
        yield finding(survey, "error_bodies", _severity(survey, broken), text, evidence, attempts=broken.count)


def is_hardly_measured(survey: RunSurvey) -> bool:
    """A third of the attempts or more have no verdict, whatever the reason; runs without any are another finding."""
    lost = survey.unmeasured.count
    return lost >= UNMEASURED * max(survey.rows, 1) and survey.rows >= FEW_ROWS and bool(survey.measured_cases)


def errors_explain_it(survey: RunSurvey) -> bool:
    """The attempts that were not measured are those that had errors: one finding reports both."""
    lost = survey.unmeasured.count
    return is_hardly_measured(survey) and lost == survey.unmeasured_with_error == survey.with_error


def not_measured(survey: RunSurvey) -> Iterator[Finding]:
    if is_hardly_measured(survey):
        lost, is_by_errors = survey.unmeasured, errors_explain_it(survey)
        errors = f" ({phases_in_words(survey, errors=True)})" if is_by_errors else ""
        text = f"{_of_rows(survey, lost)} were not measured{errors}: {names(survey, lost)}"
        text += _aside(survey, lost)
        quoted = quote_commonest_errors(survey) if is_by_errors else quote_errors(lost.first)
        evidence = quoted or [Evidence(quote=seen.status, ref=seen.ref) for seen in lost.first[:QUOTED]]
        yield finding(survey, "not_measured", "error", text, evidence, attempts=lost.count)


def _aside(survey: RunSurvey, lost: NamedAttempts) -> str:
    """Rows that are neither measured nor lost: without them the two shares do not add up."""
    kinds = {"skipped": survey.executions["skipped"], "unfinished": survey.executions["unfinished"]}
    kinds["expected to fail"] = survey.rows - survey.measurements["scored"] - lost.count - sum(kinds.values())
    known = [f"{often:,} {kind}" for kind, often in kinds.items() if often > 0]
    return f" (not counted: {', '.join(known)})" if known else ""


def _of_rows(survey: RunSurvey, named: NamedAttempts) -> str:
    return f"{named.count:,} of {plural(survey.rows, 'attempt')}"


def _severity(survey: RunSurvey, named: NamedAttempts) -> Severity:
    return "error" if named.count >= MUCH * survey.rows else "warning"
