"""What the fan-out is given: everything that knows a store, a clock, a price or a chance comes from outside."""

from collections.abc import Callable

import msgspec

from errata.model import Packet, Usage, Verdict
from errata.review.limits import Limits, Purse
from errata.review.pacing import Pace
from errata.review.protocols import Answer, AsksForVerdicts, Ledger, Prompt
from errata.review.verdicts import Refused


class Work(msgspec.Struct, frozen=True, kw_only=True):
    reviewer: AsksForVerdicts
    word: str
    """The reviewer's kind, name and version in one word."""
    ledger: Ledger
    prompt: Callable[[Packet], Prompt]
    repair: Callable[[Packet, Prompt, str, tuple[str, ...]], Prompt]
    """After an answer that can't be taken, and why not."""
    judge: Callable[[Packet, Prompt, Answer], Verdict | Refused]
    estimate: Callable[[Prompt], Usage]
    """What a call will cost, as far as one can tell; shown for those that were lost."""
    most: Callable[[Prompt], Usage]
    """The most that it can cost; the caps are kept by this."""
    now: Callable[[], str]
    new_id: Callable[[], str]
    limits: Limits
    pace: Pace
    purse: Purse
