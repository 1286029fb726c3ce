"""What CI knows about a run beside its facts: the branch and commit that it tested, and how its last gate ended."""

from typing import Literal

from errata.model.record import Struct

GateVerdict = Literal["passed", "failed", "not_comparable"]


class CodeRef(Struct):
    """An opinion: named at import or by the CI, never by the log."""

    branch: str = ""
    commit: str = ""
    at: str = ""


class GateRecord(Struct):
    baseline: str = ""
    """The id of the run it was compared with; empty if there was none."""
    verdict: GateVerdict
    at: str
