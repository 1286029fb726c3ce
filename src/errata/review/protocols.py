"""What a reviewer and a ledger must be able to do; the fan-out knows no more of them."""

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from errata.model import Packet, ReviewCall, Reviewer, Usage
from errata.model.usage import NO_USAGE


class Prompt(msgspec.Struct, frozen=True):
    """What leaves the machine: `before` and `after` are the same for every packet of a taxonomy."""

    before: str
    data: str
    """The packet between the two markers of the fence."""
    after: str
    marker: str
    schema: dict[str, Any]
    """JSON schema of the answer."""
    hash: str
    """Of everything but the data and the marker."""

    @property
    def text(self) -> str:
        return f"{self.before}{self.data}{self.after}"


class ReviewerAnswer(msgspec.Struct, frozen=True):
    text: str
    """As the reviewer gave it: it is judged later."""
    usage: Usage = NO_USAGE


class NoAnswerError(Exception):
    """What a reviewer raises instead of an answer."""

    def __init__(self, why: str, *, usage: Usage = NO_USAGE, in_doubt: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.usage = usage
        """What is known to be owed all the same."""
        self.in_doubt = in_doubt
        """Whether the call may have been paid for although no answer came."""


class RetryLaterError(NoAnswerError):
    """Try later: too many calls, an outage, a broken connection. `after` seconds if the other side named a time."""

    def __init__(
        self, why: str, after: float | None = None, *, usage: Usage = NO_USAGE, in_doubt: bool = False
    ) -> None:
        super().__init__(why, usage=usage, in_doubt=in_doubt)
        self.after = after


class ReviewFailedError(NoAnswerError):
    """This packet can't be reviewed by this reviewer; the next may."""


class ReviewerStoppedError(NoAnswerError):
    """Nothing more can be asked: a refused key, no such model, a program that is not there."""


class AsksForVerdicts(Protocol):
    """A reviewer that is asked by a call."""

    @property
    def identity(self) -> Reviewer: ...

    async def ask(self, prompt: Prompt, packet: Packet) -> ReviewerAnswer:
        """Raises one of the three errors above, nothing else."""
        ...


class Ledger(Protocol):
    """Remembers every call, before it is made and after."""

    def answered(self, cache_key: str) -> ReviewCall | None: ...

    def is_in_batch(self, cache_key: str) -> bool:
        """Whether a call of this key was submitted in a batch that is not collected."""
        ...

    def intend(self, call: ReviewCall, *, unless_since: str) -> bool:
        """Committed when this returns; not so where another process has asked the same since then and still waits."""
        ...

    def close(self, call: ReviewCall) -> None:
        """Answered or failed; committed when this returns."""
        ...


Price = Callable[[int, int], float | None]
"""Input and output tokens → dollars, none where unknown."""
