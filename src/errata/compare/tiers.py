"""A case that was tried in tiers, each with subtests and runs: what a pass costs in each, and at its cheapest tier."""

from collections.abc import Iterator

from errata.compare.costs import Spent, frontier
from errata.model import Attempt


class Tiers:
    """The runs below the attempts of a case; of several sessions the latest that has any."""

    def __init__(self) -> None:
        self._stated: dict[str, float] = {}
        self._found: dict[str, tuple[int, dict[str, Spent]]] = {}
        """Case → session, and what was spent by tier and by subtest."""

    def add(self, attempt: Attempt) -> None:
        if attempt.parent is not None:
            self._add_run(attempt)
        elif attempt.counted and attempt.cost_of_pass is not None:
            self._stated[attempt.case] = attempt.cost_of_pass

    @property
    def frontiers(self) -> dict[str, float]:
        """Case → the cost of a pass at its cheapest tier: as the harness states it, else as its runs show it."""
        found = {}
        for case, (_, spent) in self._found.items():
            cheapest = frontier({path: one for path, one in spent.items() if "/" not in path})
            if cheapest is not None:
                found[case] = cheapest[1]
        return found | self._stated

    @property
    def spent(self) -> Iterator[tuple[str, str, Spent]]:
        """Case, `T0` for a tier or `T0/00` for a subtest, and what was spent there."""
        for case, (_, spent) in self._found.items():
            for path in sorted(spent):
                yield case, path, spent[path]

    def _add_run(self, attempt: Attempt) -> None:
        """Only what was measured: a run that was cut off says nothing about the price of a pass."""
        tier, slash, below = attempt.path.partition("/")
        if not slash or attempt.superseded_by or attempt.measurement != "scored":
            return
        session = attempt.session or 0
        latest = self._found.get(attempt.case)
        if latest is None or session > latest[0]:
            latest = self._found[attempt.case] = (session, {})
        if session == latest[0]:
            for path in (tier, f"{tier}/{below.partition('/')[0]}"):
                latest[1].setdefault(path, Spent()).add(attempt.usage.cost, passed=attempt.outcome == "pass")
