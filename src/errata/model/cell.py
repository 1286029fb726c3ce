"""How one case went in one run: a cell of a comparison."""

from typing import Literal, get_args

import msgspec

CellState = Literal[
    "passed", "failed", "partial", "limit", "error", "cancelled", "follows", "unscored", "missing", "contradictory",
    "mixed",
]  # fmt: skip
CELL_STATES: tuple[str, ...] = get_args(CellState)


class Cell(msgspec.Struct, frozen=True, gc=False):
    """Of the counted attempts alone; a comparison may have a hundred thousand of these."""

    run: int
    """The run's number in the store."""
    case: str
    state: CellState
    """`follows` only from another failure; `contradictory` rows of one attempt; `mixed` attempts of one case."""
    attempts: int = 1
    passes: int = 0
    fails: int = 0
    """What was carried out or broke off and was not passed; an attempt without a verdict is neither."""
    position: int | None = None

    @property
    def passed(self) -> bool:
        return self.passes > 0 and not self.fails

    @property
    def failed(self) -> bool:
        return self.fails > 0 and not self.passes

    @property
    def decided(self) -> bool:
        """Whether it says either."""
        return (self.passes > 0) != (self.fails > 0)
