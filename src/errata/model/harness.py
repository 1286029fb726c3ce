"""What the rest of errata needs to know about a harness: its name, its words, and what its logs promise."""

import msgspec


class Harness(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    """The name of its source, such as `inspect-ai`."""
    title: str
    """What people call it."""
    unit: str = ""
    """Its own word for what it counts, such as `sample`; empty where it has none."""
    is_batch: bool = False
    """A run is a batch of sessions that can be resumed."""
    judges_turns: bool = False
    """A judge scores each turn of one conversation, dimension by dimension."""
    lists_every_check: bool = False
    """A row names every check that was planned, so a pass without any check was never checked."""
