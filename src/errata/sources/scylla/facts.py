"""The three facts of a test of a batch, from what its summary row and its log block say.

The batch runner calls a test `fail` when no score was found, also where a worker crashed before any agent ran; such a
test cost nothing, and there is no answer to have an outcome.
"""

from typing import NamedTuple

from errata.sources.shared.facts import NOT_MADE, UNFINISHED, Facts

PASS_ABOVE = 0.5
"""The batch runner's rule: a test is passed when its best tier scores more than this."""


CANCELLED = Facts("cancelled", "not_run", "none")
NOT_SCORED = Facts("completed", "not_run", "none")


def scored(score: float) -> Facts:
    return Facts("completed", "scored", "pass" if score > PASS_ABOVE else "fail")


class Figures(NamedTuple):
    """What is stated about a test, whichever file states it."""

    status: str = ""
    exit_code: int | None = None
    score: float | None = None
    cost: float | None = None
    ended: bool = False
    """The process is known to have come to an end."""
    has_result: bool = False
    """There is a report, or a result block in the log."""


def facts_of(figures: Figures, *, has_errors: bool) -> Facts:
    if figures.status in ("error", "unknown") or figures.exit_code not in (0, None):
        return NOT_MADE
    if not figures.has_result:
        return NOT_MADE if figures.ended or has_errors else UNFINISHED
    by_score = _by_score(figures)
    if by_score is None or (by_score.outcome == "fail" and figures.cost == 0):
        return NOT_MADE
    return by_score


def _by_score(figures: Figures) -> Facts | None:
    if figures.score is not None:
        return scored(figures.score)
    return {"pass": scored(1), "fail": scored(0)}.get(figures.status)
