"""What listings show of a run: counted once, at import."""

from errata.model.record import Record
from errata.model.run import Run


class Counts(Record):
    attempts: int = 0
    """All of them: children and superseded ones too."""
    counted: int = 0
    cases: int = 0
    """Cases with at least one counted attempt."""
    failures: int = 0
    unreadable: int = 0
    executions: dict[str, int] = {}
    """Of the counted attempts, like the next two."""
    measurements: dict[str, int] = {}
    outcomes: dict[str, int] = {}
    checks: dict[str, dict[str, int]] = {}
    """Check → status → how often, over all attempts."""
    failed_checks: dict[str, int] = {}
    """Check → in how many counted attempts it failed."""
    cost: float | None = None
    cost_known: int = 0
    tokens: int | None = None

    @property
    def made(self) -> int:
        """The counted attempts that the log holds: this is what `attempts` means wherever a person reads it."""
        return self.counted - self.missing

    @property
    def missing(self) -> int:
        """Planned and named, but never made."""
        return self.executions.get("missing", 0)


class StoredRun(Record):
    """A run as the store holds it."""

    run: Run
    counts: Counts
    pk: int
    imported_at: str
    digest: str
