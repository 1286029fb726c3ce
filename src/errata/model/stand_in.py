"""Runs of a reference solution, or of an agent that does nothing: they stand in for a model, and are not one."""

from typing import Literal

from errata.model.run import Run
from errata.text.lazy_regex import lazy_regex

StandIn = Literal["reference", "nothing", ""]

_WHAT = r"(?:[-_ ](?:agent|answers?|patch(?:es)?|solutions?|run))?$"
_REFERENCE = lazy_regex(rf"(?:oracle|gold(?:en)?|reference|ground[-_ ]?truth|answer[-_ ]?key){_WHAT}")
_NOTHING = lazy_regex(rf"(?:nop|no-?op|null|do[-_ ]?nothing|empty){_WHAT}")
_TELLING = ("agent", "subject", "mode", "solver", "predictions", "predictions_path")
"""The parts of a variant that may name a stand-in for a model."""


def stand_in_of(run: Run) -> StandIn:
    """By the whole name of the agent or the model; `golden-gate-7b` is a model like any other."""
    subject = run.subject
    names = [subject.agent, subject.model.rpartition("/")[2]]
    names += [value for key, value in run.variant.items() if key in _TELLING]
    for name in names:
        low = name.strip().lower()
        if _REFERENCE.match(low):
            return "reference"
        if _NOTHING.match(low):
            return "nothing"
    return ""
