"""What `errata buckets … --json` prints."""

from errata.model.record import Struct
from errata.model.words import BucketStatus, MemberRole


class BucketOutput(Struct):
    """One bucket with its counts over the runs that were asked for."""

    id: str
    slug: str
    title: str
    description: str
    suite: str
    status: BucketStatus
    rows: int
    """Failures."""
    mistakes: int
    """Failures that do not follow from another."""
    followers: int
    elsewhere: int
    """Failures in other runs."""
    cases: int
    reviewed: int
    """Failures that a reviewer has read themselves."""
    inherited: int
    """Failures that inherit the verdict on an identical one."""
    assigned: int
    """Failures that rules put here and nobody has reviewed; knock-on failures not counted."""
    supported_by: tuple[str, ...]
    """Attempts whose verdicts carry the status."""
    runs: tuple[str, ...]
    models: tuple[str, ...]
    owner: str
    owners: dict[str, int]
    parameters: dict[str, str]
    """What its members share besides how they fail."""
    first_seen: str | None
    last_seen: str | None


class MemberVerdictOutput(Struct):
    id: str
    label: str
    cause: str
    bucket: str


class BucketMemberOutput(Struct):
    run: str
    run_id: str
    model: str
    case: str
    attempt_id: str
    role: MemberRole
    owner: str
    follows: bool
    placed_by: str | None
    supports: bool
    verdict: MemberVerdictOutput | None
    quote: str


class MovedFailureOutput(Struct):
    attempt_id: str
    old: str | None
    new: str | None


class BucketEventOutput(Struct):
    """One change in the history."""

    number: int
    at: str
    by: str | None
    """None where a rule did it."""
    what: str
    undone: bool
    suite: str
    bucket: str
    bucket_id: str
    before: str
    """Of a rename the title, of a changed status the status, of moves the buckets; else empty."""
    after: str
    undoes: tuple[int, ...]
    confirmed: int
    """Failures that a confirmation keeps in place."""
    failures: tuple[MovedFailureOutput, ...]


class BucketDetailsOutput(BucketOutput):
    """One bucket with its members and its history."""

    members: tuple[BucketMemberOutput, ...]
    history: tuple[BucketEventOutput, ...]


class BucketSuggestionOutput(Struct):
    """What came of the suggestion for one run."""

    run: str
    dry_run: bool
    run_id: str
    failures: int
    buckets: int
    new: int
    moved: int
    left: int
    """Failures that a person has placed."""


class MovedFromOutput(Struct, rename={"origin": "from"}):
    attempt_id: str
    origin: str | None


class BucketEditOutput(Struct):
    """One change by a person."""

    what: str
    dry_run: bool
    change: int | None
    """Its number in the history; None of a dry run."""
    id: str
    slug: str
    title: str
    suite: str
    status: BucketStatus
    rows: int
    moved: tuple[MovedFromOutput, ...]


class UndoneEventOutput(Struct):
    number: int
    what: str
    by: str
    at: str


class BucketUndoOutput(Struct):
    what: str
    dry_run: bool
    change: int | None
    undone: tuple[UndoneEventOutput, ...]
    failures: int


SHAPES: dict[str, type] = {
    "buckets list": BucketOutput,
    "buckets show": BucketDetailsOutput,
    "buckets suggest": BucketSuggestionOutput,
    "buckets merge": BucketEditOutput,
    "buckets split": BucketEditOutput,
    "buckets rename": BucketEditOutput,
    "buckets move": BucketEditOutput,
    "buckets confirm": BucketEditOutput,
    "buckets undo": BucketUndoOutput,
    "buckets history": BucketEventOutput,
}
