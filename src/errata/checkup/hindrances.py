"""Could the subject work at all?"""

from collections.abc import Iterator

from errata.checkup.survey import RunSurvey
from errata.checkup.words import QUOTE_WIDTH, finding, names
from errata.model import Evidence, Finding
from errata.text.clean import one_line

FEWEST = 3
MUCH = 0.25
"""From this share on the run measures its machinery, not its subject."""
TEXTS = {
    "not_installed": ("agent_not_installed", "had no agent program: it was not installed"),
    "crashed": ("agent_crashed", "ended in a crash of the agent program"),
    "not_set_up": ("setup_failed", "could not be set up"),
    "tool_calls": ("tool_channel_broken", "have tool calls that did not arrive as the model wrote them"),
    "empty_turn": ("empty_final_turns", "ended with an empty answer of the model"),
}


def could_not_work(survey: RunSurvey) -> Iterator[Finding]:
    """Of a large share of the run: an error; of a few attempts: a note."""
    for kind, hindered in sorted(survey.hindered.items(), key=lambda one: -one[1].count):
        name, text = TEXTS[kind]
        much = hindered.count >= max(FEWEST, MUCH * survey.rows)
        share = f"{hindered.count:,} of {survey.rows:,} attempts ({100 * hindered.count / survey.rows:.0f} %)"
        message = f"{share} {text}: {names(survey, hindered)}"
        evidence = [Evidence(quote=one_line(hindered.quote, QUOTE_WIDTH), ref=hindered.ref)]
        yield finding(survey, name, "error" if much else "warning", message, evidence, attempts=hindered.count)
