"""Could the subject work at all?"""

from collections.abc import Iterator

from errata.checkup.survey import HinderedAttempts, RunSurvey
from errata.checkup.words import QUOTE_WIDTH, finding, names
from errata.model import Evidence, Finding
from errata.model.obstacles import runs_with_tools
from errata.model.words import Severity
from errata.render.figures import percent
from errata.text.clean import one_line

FEWEST = 3
MUCH = 0.25
"""From this share on the run measures its machinery, not its subject."""

FINDINGS = {
    "agent_not_installed": ("not_installed", "had no agent program: it was not installed"),
    "agent_crashed": ("crashed", "ended in a crash of the agent program"),
    "setup_failed": ("not_set_up", "could not be set up"),
    "tool_channel_broken": ("tool_calls", "have tool calls that look mangled or arrived as text"),
    "empty_final_turns": ("empty_turn", "ended with an empty answer of the model"),
}
"""Finding → what is counted for it, and its text."""


def hindered_subject(survey: RunSurvey) -> Iterator[Finding]:
    for name, (kind, text) in FINDINGS.items():
        seen = _tool_calls(survey) if kind == "tool_calls" else survey.hindered.get(kind)
        if seen is not None:
            severity = _severity(survey, seen)
            yield finding(survey, name, severity, _text(survey, seen, text), _evidence(seen), attempts=seen.count)


def _tool_calls(survey: RunSurvey) -> HinderedAttempts | None:
    """Calls that arrived mangled; with those written as text, if the run offers tools.

    Without tools a call can only be written, and the task may ask for it.
    """
    mangled, written = survey.hindered.get("tool_calls"), survey.hindered.get("written_calls")
    if written is None or not runs_with_tools(survey.with_calls, written.count):
        return mangled
    return _sum(mangled, written) if mangled is not None else written


def _sum(first: HinderedAttempts, other: HinderedAttempts) -> HinderedAttempts:
    return HinderedAttempts(
        count=first.count + other.count,
        first=[*first.first, *other.first],
        cases=first.cases | other.cases,
        quote=first.quote,
        ref=first.ref,
    )


def _severity(survey: RunSurvey, seen: HinderedAttempts) -> Severity:
    return "error" if seen.count >= max(FEWEST, MUCH * survey.rows) else "warning"


def _text(survey: RunSurvey, seen: HinderedAttempts, text: str) -> str:
    share = f"{seen.count:,} of {survey.rows:,} attempts ({percent(seen.count / survey.rows, 0)})"
    return f"{share} {text}: {names(survey, seen)}"


def _evidence(seen: HinderedAttempts) -> list[Evidence]:
    return [Evidence(quote=one_line(seen.quote, QUOTE_WIDTH), ref=seen.ref)]
