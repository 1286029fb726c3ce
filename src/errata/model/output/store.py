"""What commands print about the store and its surroundings: `doctor`, `sources`, `taxonomies`, `fetch`, `trust`."""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from errata.model.words import Owner


class StoreProblem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong with the store; as text, in words."""

    kind: Literal["integrity", "not_unpackable", "runs_not_readable", "run_damaged", "opinions_damaged"]
    table: str = ""
    count: int = 0
    """`not_unpackable`: how many rows of the table can't be read; `opinions_damaged`: how many can."""
    message: str = ""
    """As SQLite or the error has it; `run_damaged`: the tables with lost rows."""
    run: str = ""
    origin: str = ""
    """`run_damaged`: the path that it was imported from."""

    def __str__(self) -> str:
        match self.kind:
            case "not_unpackable":
                return f"{self.count} of the {self.table} can't be unpacked"
            case "runs_not_readable":
                return f"a run can't be read: {self.message}"
            case "run_damaged":
                return f"run {self.run} has lost rows ({self.message})"
            case "opinions_damaged":
                return f"{self.table}: only {self.count} can be read; these are opinions, which no log brings back"
            case "integrity":
                return self.message


class DoctorOutput(msgspec.Struct, frozen=True, kw_only=True):
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
    """Empty where the store is sound."""


class SourceOutput(msgspec.Struct, frozen=True, kw_only=True):
    """A format that errata reads."""

    source: str
    title: str
    """The harness, and after a colon what of it is read."""


class TaxonomyLabelOutput(msgspec.Struct, frozen=True, kw_only=True):
    label: str
    owner: Owner
    """Who has to act on a failure with this label."""
    meaning: str


class TaxonomyOutput(msgspec.Struct, frozen=True, kw_only=True):
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


class FetchOutput(msgspec.Struct, frozen=True, kw_only=True):
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


class TrustOutput(msgspec.Struct, frozen=True, kw_only=True):
    """A project file that was trusted, or is no longer trusted."""

    file: str
    state: Literal["trusted", "removed"]
    takes: dict[str, Any] | UnsetType = UNSET
    """The settings that are now in force because the file is trusted; absent with --remove."""
    files: tuple[str, ...] | UnsetType = UNSET
    """Rules and taxonomies that the file names; trust covers their content."""
    sha256: str | UnsetType = UNSET
    """Of the file and of those it names: the value for `ERRATA_TRUST`."""


class TrustedFileOutput(msgspec.Struct, frozen=True, kw_only=True):
    """A project file on the list of trusted files."""

    file: str
    sha256: str
    """Of the content that was trusted."""
    state: Literal["trusted", "changed", "gone"]
    """A file that has changed since is no longer trusted."""


SHAPES: dict[str, type] = {
    "doctor": DoctorOutput,
    "sources": SourceOutput,
    "taxonomies": TaxonomyOutput,
    "fetch": FetchOutput,
    "trust": TrustOutput,
    "trust --list": TrustedFileOutput,
}
