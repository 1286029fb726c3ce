"""Runs of no model at all: a reference solution, which ought to pass, and one that does nothing and ought to fail."""

import re
from typing import Literal

from errata.model import Run

StandIn = Literal["reference", "nothing", ""]

_WHAT = r"(?:[-_ ](?:agent|answers?|patch(?:es)?|solutions?|run))?$"
_REFERENCE = re.compile(rf"(?:oracle|gold(?:en)?|reference|ground[-_ ]?truth|answer[-_ ]?key){_WHAT}")
_NOTHING = re.compile(rf"(?:nop|no-?op|null|do[-_ ]?nothing|empty){_WHAT}")
_TELLING = ("agent", "subject", "mode", "solver", "predictions", "predictions_path")
"""The parts of a variant that may name what stood in for a model."""


def stand_in_of(run: Run) -> StandIn:
    """By the whole name of the agent or the model; `golden-gate-7b` is a model like any other."""
    subject = run.subject
    told = [subject.agent, subject.model.rpartition("/")[2]]
    told += [value for key, value in run.variant.items() if key in _TELLING]
    for name in told:
        low = name.strip().lower()
        if _REFERENCE.match(low):
            return "reference"
        if _NOTHING.match(low):
            return "nothing"
    return ""
