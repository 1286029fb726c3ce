"""Something that went wrong while an attempt was made or measured."""

from errata.model.record import Record
from errata.model.words import Phase


class ErrorInfo(Record):
    type: str
    message: str
    template: str = ""
    """The message with numbers, ids, paths and times masked."""
    code: str = ""
    """HTTP status or the provider's own code."""
    traceback: str = ""
    frame: str = ""
    """The first frame that belongs to the harness or the subject, not to a library."""
    phase: Phase
    retryable: bool | None = None
    recovered: bool = False
    collateral: bool = False
    hits: tuple[str, ...] = ()
    """The parts of the attempt that it stopped, where one error is told of several: `T0/00`."""
    at: str | None = None
