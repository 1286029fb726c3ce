"""Where several processes read one log: whose turn begins."""

import msgspec


class TurnBegins(msgspec.Struct, frozen=True):
    """Stands between the items of one of several readers. What it yields until the next one is kept together."""

    seq: int
    """The place of its next attempt among those of all readers; not every place need be taken."""
