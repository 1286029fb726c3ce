"""Do the answers look like answers?"""

from collections.abc import Iterator

from errata.checkup.survey import RunSurvey
from errata.checkup.words import QUOTE_WIDTH, at_run, count, finding, names
from errata.model import Evidence, Finding
from errata.text.clean import one_line

FEW = 5
MUCH = 0.2
"""From this share on it is the run's trait, not the cases'."""


def empty_outputs(survey: RunSurvey) -> Iterator[Finding]:
    empty = survey.empty
    if empty.count:
        much = empty.count / survey.with_text >= MUCH
        text = f"{_share(empty.count, survey.with_text)} stored answers are empty: {names(survey, empty)}"
        evidence = [Evidence(quote="", ref=seen.ref) for seen in empty.first[:3]]
        yield finding(survey, "empty_outputs", "warning" if much else "info", text, evidence, outputs=empty.count)


def identical_outputs(survey: RunSurvey) -> Iterator[Finding]:
    """One text given to many different tasks."""
    if survey.with_text < FEW:
        return
    for key, often in survey.texts.most_common(1):
        if often >= FEW and often / survey.with_text >= MUCH:
            seen = survey.sample.get(key)
            evidence = [Evidence(quote=one_line(seen.text, QUOTE_WIDTH), ref=seen.ref)] if seen else []
            text = f"{_share(often, survey.with_text)} stored answers are one and the same text"
            yield finding(survey, "identical_outputs", "warning", text, evidence, outputs=often)


def truncated_outputs(survey: RunSurvey) -> Iterator[Finding]:
    cut = survey.truncated
    if cut.count:
        much = cut.count / max(survey.rows, 1) >= MUCH
        text = f"{_share(cut.count, survey.rows)} answers were cut off at a token limit: {names(survey, cut)}"
        evidence = [Evidence(quote="", ref=seen.ref) for seen in cut.first[:3]]
        yield finding(survey, "truncated_outputs", "warning" if much else "info", text, evidence, outputs=cut.count)


def unknown_costs(survey: RunSurvey) -> Iterator[Finding]:
    unknown = survey.rows - survey.cost_known
    if unknown and survey.cost_known:
        attempts = count(unknown, "attempt has", "attempts have")
        text = f"{attempts} no known cost; the total covers the other {survey.cost_known}"
        yield finding(survey, "unknown_costs", "info", text, at_run(survey), attempts=unknown)


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({100 * part / whole:.0f} %)"
