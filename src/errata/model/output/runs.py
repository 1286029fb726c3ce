"""What commands print about runs as a whole: `runs`, `import`, `check`, `triage`, `exclude`, `rm`."""

from typing import Literal

from errata.model.counts import Counts, Doubt
from errata.model.record import Finding, Struct, UnreadFiles
from errata.model.run import Exclusion
from errata.model.words import Owner


class NamedRun(Struct):
    """Which run an object is about."""

    run: str
    """The harness's own id of the run."""
    run_id: str
    """errata's id of the run: the same for the same content."""


class ProjectOutput(Struct):
    """What a project's `errata.toml` decides about the results beside it."""

    file: str
    rules: tuple[str, ...]
    """Files with rules in use, relative to the project's folder."""
    taxonomies: tuple[str, ...]
    """Files with taxonomies in use."""
    timeouts: Literal["count", "drop"] | None
    """How scores treat timeouts, if the file sets it; null beside results without such scores."""


class StoredRunOutput(NamedRun):
    """A run in the store."""

    model: str
    agent: str | None
    source: str
    """The source that read it; `errata sources` lists them."""
    suite: str
    variant: dict[str, str]
    """What distinguishes it from other runs of the same suite and model."""
    group: str | None
    started_at: str | None
    native_status: str | None
    """The harness's own word for how the run ended."""
    revision: int
    """Counts up each time the log was imported with other content."""
    imported_at: str
    origin: str
    """The path it was read from."""
    excluded: Exclusion | None
    """Set where the run is left out of every score."""
    expected_cases: int | None
    """How many cases were planned."""
    counts: Counts
    """Of the rows in the log."""
    passes_without_rows: int
    """Passes that the harness counts and that have no row in the log; `counts` leaves them out."""
    suspicious: int | None
    """Passes that deserve a second look, without those that only weak signs point to; null until it was analysed."""


class ListedRunOutput(StoredRunOutput):
    """A run in the store, with what CI knows about it."""

    branch: str | None
    """The branch that it tested, as named at import or by the CI job."""
    commit: str | None


class ImportOutput(NamedRun):
    """A run that was read."""

    change: Literal["new", "grown", "unchanged", "kept"]
    """`grown`: its content changed, so it has a new revision. `kept`: the store already holds more of it."""
    apart_from: str | None
    """The run that has the same id in its log, but other results: this one is named by its folder."""
    carried: int
    """Verdicts that followed their attempt, which has another id in this log."""
    lost: tuple[str, ...]
    """The attempts, as they were, of verdicts that nothing in this log fits: one for each verdict."""
    revision: int
    source: str
    path: str
    model: str
    suite: str
    attempts: int
    """All of them: children and superseded attempts too."""
    counted: int
    """Attempts that count towards the score."""
    failures: int
    unreadable: int
    """Items of the log that could not be read."""
    passed_over: tuple[str, ...]
    """Files that were skipped because this one describes the same evaluation more fully."""
    unread: tuple[UnreadFiles, ...]
    """Files below the imported folders that no source read: all of them, with the first run that is printed."""


class CheckOutput(NamedRun):
    """Whether a run can be analysed and compared."""

    fit: bool
    """No finding breaks the run."""
    findings: tuple[Finding, ...]
    doubts: tuple[Doubt, ...] = ()
    """Why the run is comparable with care only, or not at all; empty where nothing is on record."""


class TriageOutput(NamedRun):
    """The owners that the rules name."""

    failures: int
    owners: dict[Owner, int]
    """Owner → failures."""


class ExcludeOutput(NamedRun):
    """Whether a run is left out of every score now."""

    excluded: bool
    reason: str | None


class RmOutput(NamedRun):
    """A run that was removed from the store, or an old one that is kept."""

    forgotten: bool
    """False with --dry-run, and where it is kept."""
    kept_for: tuple[Literal["verdicts", "actions", "baseline", "running", "newest"], ...]
    """Why a run that is old enough is kept: it has verdicts, showed that a fix worked, is the baseline of a gate or
    passed its gate, is still being reported, or is among those of --keep-last."""


SHAPES: dict[str, type] = {
    "runs": ListedRunOutput,
    "import": ImportOutput,
    "check": CheckOutput,
    "triage": TriageOutput,
    "exclude": ExcludeOutput,
    "rm": RmOutput,
}
