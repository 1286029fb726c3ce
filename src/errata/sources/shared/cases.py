"""Rows that describe their own case: the case is emitted again wherever a row asks or expects something else."""

from errata.model import Case
from errata.sources.base import Numbering

REMEMBERED = 100_000


class CaseNumbering(Numbering):
    """Attempt numbers, and the last description of each case.

    Rows of one id need not agree on what they ask or expect. An attempt has the facts of the case that was emitted last
    before it, so a source emits a case whenever `is_news` holds. Emitting it more often does no harm.
    """

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[int, int] = {}

    def is_news(self, case: Case) -> bool:
        """Whether the case is new, or differs from its last description."""
        key, facts = hash((case.run, case.key)), hash(case.digest)
        if self._last.get(key) == facts:
            return False
        if len(self._last) >= REMEMBERED:
            self._last.clear()
        self._last[key] = facts
        return True
