"""What CI knows about a run beside its facts: the branch and commit that it tested, and how its last gate ended."""

from typing import Literal

import msgspec

GateVerdict = Literal["passed", "failed", "not_comparable"]


class CodeRef(msgspec.Struct, frozen=True, kw_only=True):
    """An opinion: named at import or by the CI, never by the log."""

    branch: str = ""
    commit: str = ""
    at: str = ""


class GateRecord(msgspec.Struct, frozen=True, kw_only=True):
    baseline: str = ""
    """The id of the run it was compared with; empty if there was none."""
    verdict: GateVerdict
    at: str
