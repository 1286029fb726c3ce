"""One question to a reviewer that costs something: an intent first, then what came of it."""

from errata.model.record import Record
from errata.model.usage import NO_USAGE, Usage
from errata.model.words import CallState


class Call(Record):
    id: str
    run: str
    attempt: str
    reviewer: str
    """Kind, name and version in one word."""
    cache_key: str
    """Of packet, reviewer, prompt and round: what was answered once is never asked again."""
    round: int = 1
    """2 is the one round of repair."""
    state: CallState = "intended"
    why: str = ""
    """Of what failed or was lost."""
    answer: str = ""
    estimate: Usage = NO_USAGE
    usage: Usage = NO_USAGE
    started_at: str
    ended_at: str | None = None
