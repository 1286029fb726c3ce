"""Whose turn it is to be read: of failures that may share a verdict one is read, and the others wait for it."""

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable

GIVEN_UP = 3
"""Readings of one crash that gave no verdict; then nobody waits for the next."""


class Turns:
    def __init__(self, attempts: Iterable[str], key_of: Callable[[str], Hashable | None]) -> None:
        """`key_of` is the same for those that may share a verdict, and none for what has to be read in each case."""
        self._coming = iter(attempts)
        self._key_of = key_of
        self._free: deque[str] = deque()
        self._waiting: dict[Hashable, deque[str]] = {}
        """By what is being read; they come when that is done."""
        self._released: set[Hashable] = set()
        """What was read, or can't be: there is nothing to wait for."""
        self._in_vain: Counter[Hashable] = Counter()

    def take(self) -> str | None:
        """The next; none where nothing is left, or all that is left waits for what is being read."""
        while (attempt := self._free.popleft() if self._free else next(self._coming, None)) is not None:
            key = self._key_of(attempt)
            if key is None or key in self._released:
                return attempt
            if key not in self._waiting:
                self._waiting[key] = deque()
                return attempt
            self._waiting[key].append(attempt)
        return None

    @property
    def is_waiting(self) -> bool:
        """Whether some will come when what is being read has ended."""
        return any(self._waiting.values())

    def ended(self, attempt: str, *, with_verdict: bool) -> None:
        """A verdict goes for all of a kind or for none; without one the next is read, alone again."""
        key = self._key_of(attempt)
        if key is None or key in self._released:
            return
        self._in_vain[key] += not with_verdict
        if with_verdict or self._in_vain[key] == GIVEN_UP:
            self._released.add(key)
        self._free.extend(self._waiting.pop(key, ()))
