"""Was the subject asked, did it answer, was that measured, and do the answers look like answers?"""

from collections.abc import Iterator

from errata.checkup.survey import IdenticalAnswers, NamedAttempts, RunSurvey
from errata.checkup.words import (
    QUOTE_WIDTH,
    QUOTED,
    at_run,
    finding,
    names,
    phases_in_words,
    quote_commonest_errors,
    quote_errors,
)
from errata.model import Evidence, Finding
from errata.model.words import Severity
from errata.render.figures import percent, plural
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
        evidence = [
            Evidence(quote=one_line(seen.text, QUOTE_WIDTH), ref=seen.text_ref) for seen in broken.first[:QUOTED]
        ]
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
        evidence = quoted or [Evidence(quote="", stated=seen.status, ref=seen.ref) for seen in lost.first[:QUOTED]]
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


FEW = 5
A_TRAIT = 0.2
"""From this share on it is the run's trait, not the cases'."""
MOST, NEARLY_ALL = 0.5, 0.9
MANY = 20
CLOSED = 3
"""Answers of at most this many words are often out of a closed set."""


def empty_outputs(survey: RunSurvey) -> Iterator[Finding]:
    empty = survey.empty
    if empty.count:
        much = empty.count / survey.with_text >= A_TRAIT
        text = f"{_share(empty.count, survey.with_text)} stored answers are empty: {names(survey, empty)}"
        evidence = [Evidence(quote="", ref=seen.ref) for seen in empty.first[:3]]
        yield finding(survey, "empty_outputs", "warning" if much else "info", text, evidence, outputs=empty.count)


def identical_outputs(survey: RunSurvey) -> Iterator[Finding]:
    """One text given to many different tasks. Where most answers are one text, and other ones were due, none counts."""
    key = survey.commonest
    if key is None or not is_common(survey, key):
        return
    often = survey.texts[key]
    seen, wanted = survey.sample.get(key), survey.identical
    most = often / survey.with_text > MOST
    differ = wanted is not None and len(wanted.expected) > 1
    if _is_closed(seen.text if seen else "", wanted):
        # many right answers are the same one; hardly ever are nearly all
        if often < MANY or often / survey.with_text < NEARLY_ALL or not differ:
            return
        most = False
    if wanted is not None and len(wanted.expected) == 1 and survey.passes_of_text[key] == often:
        return
    evidence = [Evidence(quote=one_line(seen.text, QUOTE_WIDTH), ref=seen.text_ref)] if seen else []
    text = f"{_share(often, survey.with_text)} stored answers are one and the same text"
    text += ", although the expected answers differ" if differ else ""
    severity: Severity = "error" if most and differ and survey.passes_of_text[key] < often else "warning"
    yield finding(survey, "identical_outputs", severity, text, evidence, outputs=often)


def is_common(survey: RunSurvey, key: int) -> bool:
    often = survey.texts[key]
    return often >= FEW and often / survey.with_text >= A_TRAIT


def _is_closed(text: str, wanted: IdenticalAnswers | None) -> bool:
    """A letter, a label, yes or no: out of few possible answers."""
    return len(text.split()) <= CLOSED or (wanted is not None and wanted.is_closed)


def truncated_outputs(survey: RunSurvey) -> Iterator[Finding]:
    cut = survey.truncated
    if cut.count:
        much = cut.count / max(survey.rows, 1) >= A_TRAIT
        text = f"{_share(cut.count, survey.rows)} answers were cut off at a token limit: {names(survey, cut)}"
        evidence = [Evidence(quote="", ref=seen.ref) for seen in cut.first[:3]]
        yield finding(survey, "truncated_outputs", "warning" if much else "info", text, evidence, outputs=cut.count)


def unknown_costs(survey: RunSurvey) -> Iterator[Finding]:
    unknown = survey.rows - survey.cost_known
    if survey.cost_known and (unknown or survey.simulator_cost_only == survey.cost_known):
        attempts = plural(unknown, "attempt has", "attempts have")
        text = f"{attempts} no known cost; the total covers the other {survey.cost_known}"
        if survey.simulator_cost_only == survey.cost_known:
            unknown = survey.rows
            of = f"{survey.cost_known:,} of {plural(survey.rows, 'attempt')}"
            text = f"the agent's cost is unknown; the log states only that of the simulated user, for {of}"
        yield finding(survey, "unknown_costs", "info", text, at_run(survey), attempts=unknown)


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({percent(part / whole, 0)})"
