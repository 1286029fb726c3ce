"""What a checkup says about a run."""

from errata.model.record import Evidence, Record
from errata.model.words import Severity


class Finding(Record):
    run: str
    name: str
    severity: Severity
    text: str
    evidence: tuple[Evidence, ...] = ()
    numbers: dict[str, float] = {}
    breaks: bool = False
    """True where the run can't be compared as it stands."""
