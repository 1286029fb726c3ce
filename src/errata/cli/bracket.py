"""The score bracket among other things: what is counted strictly, by the harness, and without what broke."""

from errata.cli.fitting import WIDTH
from errata.cli.harness_words import counted_in, title_of
from errata.cli.output import put
from errata.cli.score_lines import Told, lines_of
from errata.compare.scores import Policy
from errata.runs.scores import Scores

SHOWN: tuple[Policy, ...] = ("strict", "as_reported", "clean")
LABEL = 9


def put_bracket(scores: Scores) -> None:
    run = scores.stored.run
    told = Told(title_of(run), counted_in(run, scores.unit))
    for at, line in enumerate(lines_of(scores.scores, SHOWN, told, width=WIDTH - LABEL)):
        put(f"{'' if at else 'Score':<{LABEL}}{line}")
