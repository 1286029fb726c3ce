"""Failures that are the same crash as one that was read: they take its verdict over, where that is allowed."""

from errata.model import Attribution, StoredRun, Verdict
from errata.review.inheritance import MACHINERY, inherited, passes_on
from errata.store.attributions import attributions_of
from errata.store.database import Store
from errata.store.reviews import verdicts_of


class Heirs:
    """Of one run: what nobody has read yet and machinery is blamed for, by its exact key."""

    def __init__(self, stored: StoredRun, store: Store) -> None:
        read = {verdict.attempt for verdict in verdicts_of(store, stored.run.id)}
        said = [one for one in attributions_of(store, stored.pk).values() if one.owner in MACHINERY]
        self._said = {one.attempt: one for one in said}
        self._unread: dict[str, dict[str, Attribution]] = {}
        for one in said:
            if one.attempt not in read:
                self._unread.setdefault(one.failure_key.exact, {})[one.attempt] = one

    def key_of(self, attempt: str) -> tuple[str, str] | None:
        """The same for those that one verdict may go for; none for what has to be read in each case."""
        said = self._said.get(attempt)
        return (said.failure_key.exact, said.owner) if said is not None and passes_on(said) else None

    def is_read(self, attempt: str) -> None:
        """Somebody has begun to read it: it inherits nothing."""
        if attempt in self._said:
            self._unread.get(self._said[attempt].failure_key.exact, {}).pop(attempt, None)

    def of(self, verdict: Verdict, at: str) -> list[Verdict]:
        """Each failure inherits once; what was read itself inherits nothing."""
        source = self._said.get(verdict.attempt)
        if source is None:
            return []
        self.is_read(verdict.attempt)
        same = self._unread.get(source.failure_key.exact, {})
        found = list(inherited(verdict, source, same.values(), at=at))
        for one in found:
            same.pop(one.attempt)
        return found
