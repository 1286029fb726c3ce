"""A change of the store, as a page that shows it learns of it."""

from typing import Literal

import msgspec


class StoreChange(msgspec.Struct, frozen=True, kw_only=True):
    kind: Literal["run", "attempts", "verdict", "bucket", "claim"]
    """`run`: it is new, gone, excluded, or its state changed. `attempts`: it has more of them. `claim`: somebody
    began or ended a review."""
    run: str | None = None
    """Null where more than one run may have changed."""
    attempt: str | None = None
    by: str | None = None
    """The reviewer or author, where one is known."""
