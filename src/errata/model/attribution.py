"""What triage saw, and whom it names as the one who has to act."""

from errata.model.record import Record
from errata.model.words import Confidence, Owner


class FailureKey(Record):
    exact: str
    coarse: str


class Signal(Record):
    """One deterministic observation with its evidence."""

    name: str
    rule: str = ""
    rules_version: str = ""
    where: str = ""
    quote: str = ""
    strength: Confidence = "likely"


class Attribution(Record):
    attempt: str
    owner: Owner
    also: tuple[Owner, ...] = ()
    confidence: Confidence
    signals: tuple[Signal, ...] = ()
    decided_by: str = ""
    suggested_labels: dict[str, str] = {}
    """Taxonomy → label."""
    failure_key: FailureKey
    follows: str = ""
    """The attempt whose failure this one only follows from; empty where it stands for itself."""
    rules_version: str = ""
