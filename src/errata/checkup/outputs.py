"""Do the answers look like answers?"""

from collections.abc import Iterator

from errata.checkup.survey import IdenticalAnswers, RunSurvey
from errata.checkup.words import QUOTE_WIDTH, at_run, finding, names
from errata.model import Evidence, Finding
from errata.model.words import Severity
from errata.render.figures import percent, plural
from errata.text.clean import one_line

FEW = 5
MUCH = 0.2
"""From this share on it is the run's trait, not the cases'."""
MOST, NEARLY_ALL = 0.5, 0.9
MANY = 20
CLOSED = 3
"""Answers of at most this many words are often out of a closed set."""


def empty_outputs(survey: RunSurvey) -> Iterator[Finding]:
    empty = survey.empty
    if empty.count:
        much = empty.count / survey.with_text >= MUCH
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
    evidence = [Evidence(quote=one_line(seen.text, QUOTE_WIDTH), ref=seen.ref)] if seen else []
    text = f"{_share(often, survey.with_text)} stored answers are one and the same text"
    text += ", although the expected answers differ" if differ else ""
    severity: Severity = "error" if most and differ and survey.passes_of_text[key] < often else "warning"
    yield finding(survey, "identical_outputs", severity, text, evidence, outputs=often)


def is_common(survey: RunSurvey, key: int) -> bool:
    often = survey.texts[key]
    return often >= FEW and often / survey.with_text >= MUCH


def _is_closed(text: str, wanted: IdenticalAnswers | None) -> bool:
    """A letter, a label, yes or no: out of few possible answers."""
    return len(text.split()) <= CLOSED or (wanted is not None and wanted.is_closed)


def truncated_outputs(survey: RunSurvey) -> Iterator[Finding]:
    cut = survey.truncated
    if cut.count:
        much = cut.count / max(survey.rows, 1) >= MUCH
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
