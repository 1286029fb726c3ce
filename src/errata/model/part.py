"""What a harness says of a part of an attempt or of a run: a tier of a test, or a subtest of a tier."""

from errata.model.record import Record


class Part(Record):
    path: str
    """`T0` for a tier, `T0/00` for a subtest of it."""
    score: float | None = None
    """Of its best subtest, or the mean of its runs."""
    made: int | None = None
    passed: int | None = None
    """How many runs were made and passed."""
    pass_rate: float | None = None
    cost: float | None = None
    cost_of_pass: float | None = None
    """Mean cost over pass rate; absent where nothing passed, which a harness may call infinite."""
    is_best: bool = False
    """Whether it is what the harness selected among its like."""
