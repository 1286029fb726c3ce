"""A score under one policy."""

import msgspec

Interval = tuple[float, float]


class ScoreOutput(msgspec.Struct, frozen=True, kw_only=True):
    passed: int
    total: int
    """Cases, or attempts where a case was tried several times: see `unit`."""
    rate: float | None
    mean: float | None
    """Of graded values; then it is the rate, too."""
    interval: Interval | None
    """95 %."""
    effective: float | None
    """The effective sample size, where the same cases come several times."""
    bounds: Interval | None
    """The rate if everything left out had failed, and if it had passed."""
    stated: float | None
    """What the harness says itself."""
    reproduced: bool | None
    """Whether its number follows from the rows."""
    left_out: dict[str, int]
    """Why → how many."""
    recovered: tuple[str, ...]
    """Cases whose result comes from an earlier session."""
    note: str | None
