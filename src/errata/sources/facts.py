"""The three facts about an attempt that a source has to tell apart: was it made, was it measured, was it passed."""

from typing import NamedTuple

from errata.model.words import Execution, Measurement, Outcome


class Facts(NamedTuple):
    execution: Execution
    measurement: Measurement
    outcome: Outcome


NOT_MADE = Facts("error", "not_run", "none")
UNFINISHED = Facts("unfinished", "not_run", "none")
MISSING = Facts("missing", "not_run", "none")
