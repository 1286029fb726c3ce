"""What stands around the failures of a run: the turns before and after, the texts that all of them share."""

from functools import lru_cache
from typing import Any

from errata.model import Attempt, StoredRun
from errata.review.material import Material
from errata.runs.names import short
from errata.store.attempts import run_with_texts
from errata.store.database import Store
from errata.store.failures import Loaded, turns_between

PAGE = 50
"""Turns of a conversation that are read together."""
PAGES = 8
BEFORE = 100
AFTER = 100


class Surroundings:
    """What stands around the failures of one run; what they share is read once."""

    def __init__(self, stored: StoredRun, store: Store) -> None:
        self._stored, self._store = stored, store
        self._run = run_with_texts(store, stored)
        self._page = lru_cache(PAGES)(self._read_page)

    def of(self, failure: Loaded, kin: list[Attempt], history: tuple[dict[str, Any], ...]) -> Material:
        attempt = failure.attempt
        before, after = self._turns(attempt)
        return Material(
            run=self._run,
            handle=short(self._run.native_id),
            attempt=attempt,
            case=failure.case,
            attribution=failure.attribution,
            before=before,
            after=after,
            kin=tuple(kin),
            history=history,
        )

    def _turns(self, attempt: Attempt) -> tuple[tuple[Attempt, ...], tuple[Attempt, ...]]:
        """What was said before, and what only follows from this turn."""
        place = attempt.position
        if place is None:
            return (), ()
        before = self._between(max(place - BEFORE, 0), place - 1)
        after = self._between(place + 1, place + AFTER) if attempt.outcome != "pass" else ()
        return before, tuple(turn for turn in after if turn.follows == attempt.id)

    def _between(self, first: int, last: int) -> tuple[Attempt, ...]:
        pages = (self._page(number) for number in range(first // PAGE, last // PAGE + 1))
        return tuple(turn for page in pages for turn in page if first <= (turn.position or 0) <= last)

    def _read_page(self, number: int) -> list[Attempt]:
        return turns_between(self._store, self._stored.pk, number * PAGE, number * PAGE + PAGE - 1)
