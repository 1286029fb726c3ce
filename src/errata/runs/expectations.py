"""What the cases of a run asked for, where that is a text to hold an answer against."""

from errata.model import Case, StoredRun
from errata.store.attempts import case_of, cases_of
from errata.store.database import Store
from errata.text.clean import one_line

FEW = 50
"""So many are looked up one by one; then all are read at once."""
MANY = 100_000
"""More than this are not held."""
LONGEST = 200


def expected_of(case: Case | None) -> str:
    return one_line(case.expected, LONGEST) if case is not None and isinstance(case.expected, str) else ""


class Expectations:
    def __init__(self, stored: StoredRun, store: Store) -> None:
        self._stored, self._store = stored, store
        self._asked = 0
        self._all: dict[str, str] | None = None

    def of(self, key: str) -> str:
        """Empty where the log does not say, or says it in another form."""
        self._asked += 1
        if self._all is None and self._asked > FEW and self._stored.counts.cases <= MANY:
            self._all = {case.key: expected_of(case) for case in cases_of(self._store, self._stored.pk)}
        if self._all is not None:
            return self._all.get(key, "")
        return expected_of(case_of(self._store, self._stored.pk, key))
