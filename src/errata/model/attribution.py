"""What triage saw, and whom it names as the one who has to act."""

from errata.model.record import Record, Struct
from errata.model.words import Confidence, Owner, Proof, ProofReason


class FailureKey(Record):
    exact: str
    coarse: str


NO_KEY = FailureKey(exact="", coarse="")


class Signal(Record):
    """One deterministic observation with its evidence."""

    name: str
    rule: str = ""
    rules_version: str = ""
    where: str = ""
    quote: str = ""
    """Words of the log, at `ref`; empty where it shows something without words."""
    stated: str = ""
    """What errata states from facts of the log."""
    strength: Confidence = "likely"

    @property
    def words(self) -> str:
        return ": ".join(filter(None, (self.stated, self.quote)))


class Attribution(Record):
    attempt: str
    owner: Owner
    also: tuple[Owner, ...] = ()
    confidence: Confidence
    proof: Proof = ""
    """Of the owner `model`: whether the log shows it, or it is presumed because nothing points elsewhere."""
    proof_reason: ProofReason = ""
    signals: tuple[Signal, ...] = ()
    decided_by: str = ""
    suggested_labels: dict[str, str] = {}
    """Taxonomy → label."""
    failure_key: FailureKey
    follows: str = ""
    """The attempt whose failure caused this one; empty where it is not a knock-on failure."""
    rules_version: str = ""


OWNERS_TAXONOMY = "owners"
"""The taxonomy whose labels are the owners."""


def suggested_label(attribution: Attribution | None, taxonomy: str) -> str:
    if attribution is None:
        return ""
    return attribution.owner if taxonomy == OWNERS_TAXONOMY else attribution.suggested_labels.get(taxonomy, "")


class Label(Struct, forbid_unknown_fields=True):
    """A word, whom it names, and when triage suggests it: by owner, signal, status, check or the judge's words."""

    name: str
    owner: Owner
    meaning: str
    owners: tuple[Owner, ...] = ()
    signals: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    """Where no cue of any label fits: the first failed check decides."""
    cues: str = ""

    @property
    def is_general(self) -> bool:
        """Whether it fits any failure of its owner, and not only those with a certain signal or status."""
        return bool(self.owners) or not (self.signals or self.statuses)


class Taxonomy(Struct, forbid_unknown_fields=True):
    name: str
    version: str
    sources: tuple[str, ...] = ()
    """The sources whose native taxonomy it is; empty for all."""
    opt_in: bool = False
    """Only used where a review asks for it by its name."""
    label: tuple[Label, ...]
