"""A batch of review calls: handed to a provider together, answered within hours."""

import msgspec

from errata.model.record import Record
from errata.model.words import BatchState


class ReviewBatch(Record):
    id: str
    """errata's own; the provider keeps it in the batch's metadata, so an interrupted submission is found again."""
    run: str
    reviewer: str
    """Kind, name and version in one word."""
    taxonomy: str = ""
    blind: bool = False
    state: BatchState = "intended"
    remote: str = ""
    """The provider's id; empty until it is known."""
    status: str = ""
    """The provider's word for it, when it was last asked."""
    requests: int
    done: int = 0
    """Of these, answered or failed by the last count of the provider."""
    why: str = ""
    """Of one that was given up, or failed as a whole."""
    created_at: str
    ended_at: str | None = None

    @property
    def is_open(self) -> bool:
        return self.state in ("intended", "submitted")


class BatchNews(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a batch since it was last looked at."""

    batch: ReviewBatch
    answered: int = 0
    failed: int = 0
    lost: int = 0
    notes: tuple[str, ...] = ()
    """Sentences for the user."""
