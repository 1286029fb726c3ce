"""Could the subject work at all?"""

from collections.abc import Iterator

from errata.checkup.survey import HinderedAttempts, RunSurvey
from errata.checkup.words import QUOTE_WIDTH, finding, names
from errata.model import Evidence, Finding
from errata.model.obstacles import runs_with_tools
from errata.model.words import Severity
from errata.text.clean import one_line

FEWEST = 3
MUCH = 0.25
"""From this share on the run measures its machinery, not its subject."""


def agent_not_installed(survey: RunSurvey) -> Iterator[Finding]:
    for seen in _of_kind(survey, "not_installed"):
        text = _text(survey, seen, "had no agent program: it was not installed")
        yield finding(
            survey, "agent_not_installed", _severity(survey, seen), text, _evidence(seen), attempts=seen.count
        )


def agent_crashed(survey: RunSurvey) -> Iterator[Finding]:
    for seen in _of_kind(survey, "crashed"):
        text = _text(survey, seen, "ended in a crash of the agent program")
        yield finding(survey, "agent_crashed", _severity(survey, seen), text, _evidence(seen), attempts=seen.count)


def setup_failed(survey: RunSurvey) -> Iterator[Finding]:
    for seen in _of_kind(survey, "not_set_up"):
        text = _text(survey, seen, "could not be set up")
        yield finding(survey, "setup_failed", _severity(survey, seen), text, _evidence(seen), attempts=seen.count)


def tool_channel_broken(survey: RunSurvey) -> Iterator[Finding]:
    written = survey.hindered.get("written_calls")
    kinds = ["tool_calls"]
    # without tools a call can only be written, and the task may ask for it
    if written is not None and runs_with_tools(survey.with_calls, written.count):
        kinds.append("written_calls")
    for seen in _together(survey, kinds):
        text = _text(survey, seen, "have tool calls that did not arrive as the model wrote them")
        yield finding(
            survey, "tool_channel_broken", _severity(survey, seen), text, _evidence(seen), attempts=seen.count
        )


def empty_final_turns(survey: RunSurvey) -> Iterator[Finding]:
    for seen in _of_kind(survey, "empty_turn"):
        text = _text(survey, seen, "ended with an empty answer of the model")
        yield finding(survey, "empty_final_turns", _severity(survey, seen), text, _evidence(seen), attempts=seen.count)


def _of_kind(survey: RunSurvey, kind: str) -> Iterator[HinderedAttempts]:
    if kind in survey.hindered:
        yield survey.hindered[kind]


def _together(survey: RunSurvey, kinds: list[str]) -> Iterator[HinderedAttempts]:
    parts = [survey.hindered[kind] for kind in kinds if kind in survey.hindered]
    if parts:
        count, first = sum(part.count for part in parts), [note for part in parts for note in part.first]
        cases = {case for part in parts for case in part.cases}
        yield HinderedAttempts(count=count, first=first, cases=cases, quote=parts[0].quote, ref=parts[0].ref)


def _severity(survey: RunSurvey, seen: HinderedAttempts) -> Severity:
    return "error" if seen.count >= max(FEWEST, MUCH * survey.rows) else "warning"


def _text(survey: RunSurvey, seen: HinderedAttempts, text: str) -> str:
    share = f"{seen.count:,} of {survey.rows:,} attempts ({100 * seen.count / survey.rows:.0f} %)"
    return f"{share} {text}: {names(survey, seen)}"


def _evidence(seen: HinderedAttempts) -> list[Evidence]:
    return [Evidence(quote=one_line(seen.quote, QUOTE_WIDTH), ref=seen.ref)]
