"""What commands print about the store and its surroundings: `doctor`, `store`, `sources`, `fetch`, `trust`, `token`."""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from errata.model.record import Struct
from errata.model.token import Scope, Token
from errata.model.words import Owner

ProblemKind = Literal[
    "integrity", "runs_not_readable", "run_damaged", "derived_damaged", "opinions_damaged", "index_damaged"
]


class StoreProblem(Struct):
    """One thing that is wrong with the store; as text, in words."""

    kind: ProblemKind
    table: str = ""
    count: int = 0
    """How many rows; `opinions_damaged`: how many can still be read."""
    message: str = ""
    """As SQLite or the error has it; `run_damaged`: what it has lost."""
    run: str = ""
    run_id: str = ""
    number: int = 0
    """The run's number in the store."""
    origin: str = ""
    """The path that the run was imported from."""
    attempts: tuple[str, ...] = ()
    """Ids of the damaged attempts."""

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "table", str(self.table))  # a name of SQLAlchemy is not plain text

    def __str__(self) -> str:
        match self.kind:
            case "runs_not_readable":
                return f"a run can't be read: {self.message}"
            case "run_damaged":
                more = f"; {len(self.attempts)} attempts" if len(self.attempts) > 1 else ""
                return f"run {self.run} has lost rows ({self.message}{more})"
            case "opinions_damaged":
                return f"{self.table}: only {self.count} can be read; these are opinions, which no log brings back"
            case "derived_damaged":
                return f"run {self.run}: {self.message}"
            case "integrity" | "index_damaged":
                return self.message


class RepairOutput(Struct):
    """What `doctor --repair` did about a problem of a run or a table."""

    run: str
    """Empty where it is about no run."""
    table: str
    repaired: bool
    message: str
    """What was done, or what it would take."""


class DoctorOutput(Struct):
    """Whether the store is sound, and what it holds."""

    errata: str
    """Versions of errata, Python, and SQLite or PostgreSQL."""
    python: str
    sqlite: str | None = None
    """Null for a store in PostgreSQL."""
    postgres: str | None = None
    """The version of the server; null for a store in a file."""
    path: str
    """The file, or the address of the database without its password."""
    schema: int
    """The version of the tables."""
    size: int
    """In bytes."""
    runs: int | None
    """Null, like the next two, where the store is too damaged to count."""
    attempts: int | None
    cleared: int | None
    """Unfinished imports of dead processes that were removed."""
    problems: tuple[StoreProblem, ...]
    """Empty where the store is sound. After --repair: what is left."""
    repairs: tuple[RepairOutput, ...] = ()
    """With --repair."""


class TableProof(Struct):
    """One table of a store and of its copy."""

    table: str
    rows: int
    digest: str
    """Of all rows, in any order; the same whatever engine holds them."""
    rows_copied: int
    digest_copied: str
    """The same two of the copy, which was read again after it was written."""

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "table", str(self.table))  # a name of SQLAlchemy is not plain text

    @property
    def is_equal(self) -> bool:
        return (self.rows, self.digest) == (self.rows_copied, self.digest_copied)


class StoreCopyOutput(Struct):
    """A store that was copied."""

    source: str
    target: str
    equal: bool
    """Whether every table of the copy has the rows of its source. If not, the copy was discarded."""
    rows: int
    differing: tuple[str, ...]
    """Tables that differ."""
    tables: tuple[TableProof, ...]


class StoreBackupOutput(Struct):
    """A backup of the store."""

    store: str
    file: str
    size: int
    """In bytes."""
    runs: int
    verified: bool
    """Its file is sound, and every table has the rows that the store had at the moment of the backup. A backup that
    differs is discarded: the command then ends with an error."""
    tables: tuple[TableProof, ...]


class StoreRestoreOutput(Struct):
    """A store that was replaced by a backup."""

    store: str
    backup: str
    runs: int
    put_aside: str | None
    """Where the replaced store is now; null where there was none, or an empty one."""


class RunSizeOutput(Struct):
    """How much of the store a run takes, in bytes of stored (compressed) data."""

    run: str
    run_id: str
    attempts: int
    """All of them, including those that a later one replaced; missing cases are not attempts."""
    records: int
    """Of blocks with the attempts themselves."""
    transcripts: int
    """Of blocks with their steps."""
    files_own: int
    """Texts of files that no other run uses."""
    files_shared: int
    """Texts of files that other runs use, too: they stay when this run is removed."""
    cases: int
    thinned: str | None
    """When its transcripts were last thinned."""


class StoreSizeOutput(Struct):
    """How large the store is, and by what."""

    path: str
    size: int
    """Of the file, with its write-ahead log."""
    files: int
    """Texts of files of all runs, each once."""
    runs: tuple[RunSizeOutput, ...]
    """The largest first."""


class StoreThinOutput(Struct):
    """A run whose transcripts were thinned, or would be."""

    run: str
    run_id: str
    change: Literal["thinned", "would_thin", "nothing_to_thin", "restored"]
    """`would_thin`: with --dry-run. `restored`: with --undo."""
    attempts: int
    """That have a transcript."""
    thinned: int
    """Of these, attempts that lost steps."""
    steps: int
    """Of the attempts that were thinned, before."""
    steps_kept: int
    size_before: int
    """Of all transcripts of the run, in bytes."""
    size_after: int | None
    """Null where nothing was written."""


class SourceOutput(Struct):
    """A format that errata reads."""

    source: str
    title: str
    """The harness, and after a colon what of it is read."""


class TaxonomyLabelOutput(Struct):
    label: str
    owner: Owner
    """Who has to act on a failure with this label."""
    meaning: str


class TaxonomyOutput(Struct):
    """The labels that a review chooses from."""

    name: str
    version: str
    sources: tuple[str, ...]
    """Sources whose failures get these labels without `--taxonomy`; empty for all."""
    opt_in: bool
    """Used only with `--taxonomy`."""
    file: str | None
    """Set where it is not built in."""
    labels: tuple[TaxonomyLabelOutput, ...]


class FetchOutput(Struct):
    """A run that was saved from a deployment."""

    folder: str
    run: str
    evals: int
    failed: int
    files: int
    """Zip files in the folder."""
    new: int
    """Zip files that were downloaded now."""
    problems: tuple[str, ...]
    """What is missing, with the error of each."""


class TrustOutput(Struct):
    """A project file that was trusted, or is no longer trusted."""

    file: str
    state: Literal["trusted", "removed"]
    takes: dict[str, Any] | UnsetType = UNSET
    """The settings that are now in force because the file is trusted; absent with --remove."""
    files: tuple[str, ...] | UnsetType = UNSET
    """Rules and taxonomies that the file names; trust covers their content."""
    sha256: str | UnsetType = UNSET
    """Of the file and of those it names: the value for `ERRATA_TRUST`."""


class TrustedFileOutput(Struct):
    """A project file on the list of trusted files."""

    file: str
    sha256: str
    """Of the content that was trusted."""
    state: Literal["trusted", "changed", "gone"]
    """A file that has changed since is no longer trusted."""


class TokenOutput(Struct):
    id: str
    """The public part of the token."""
    name: str
    scopes: tuple[Scope, ...]
    state: Literal["active", "revoked"]
    created_at: str
    created_by: str
    last_used_at: str | None
    """In steps of a minute; null if it was never used."""
    revoked_at: str | None


class TokenCreateOutput(Struct):
    token: TokenOutput
    secret: str
    """The token itself. It can't be shown again."""


def token_output(token: Token) -> TokenOutput:
    return TokenOutput(
        id=token.id,
        name=token.name,
        scopes=token.scopes,
        state="revoked" if token.revoked_at else "active",
        created_at=token.created_at,
        created_by=token.created_by,
        last_used_at=token.last_used_at,
        revoked_at=token.revoked_at,
    )


SHAPES: dict[str, type] = {
    "doctor": DoctorOutput,
    "store copy": StoreCopyOutput,
    "store backup": StoreBackupOutput,
    "store restore": StoreRestoreOutput,
    "store size": StoreSizeOutput,
    "store thin": StoreThinOutput,
    "sources": SourceOutput,
    "taxonomies": TaxonomyOutput,
    "fetch": FetchOutput,
    "trust": TrustOutput,
    "trust --list": TrustedFileOutput,
    "token create": TokenCreateOutput,
    "token list": TokenOutput,
    "token revoke": TokenOutput,
}
