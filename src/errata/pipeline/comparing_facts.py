"""What a comparison needs of each run: its attempts by case with what was thought of them, read in one pass."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

import msgspec

from errata.compare.patterns import pattern_of
from errata.compare.policies import scores_of
from errata.compare.scores import Policy, Score
from errata.compare.trials import Opinions, Timeouts, Trials
from errata.model import Attempt, StoredRun, split_attempt_id
from errata.pipeline.scoring import opinions_on
from errata.store.attempts import attempts_of
from errata.store.database import Store


class RunFacts(msgspec.Struct, frozen=True, kw_only=True):
    stored: StoredRun
    trials: Trials
    patterns: dict[str, Counter[str]]
    """Case → what stood in the place of its answers."""
    roots: dict[str, str]
    """Case → the case whose failure it only follows from."""

    def scores(self, cases: Collection[str] | None) -> dict[Policy, Score]:
        """Under each policy; over some cases alone, where they are named."""
        return scores_of(self.trials if cases is None else self.trials.only(cases))

    def why_left_out(self) -> str:
        """Why the run is in no comparison; empty where it is."""
        excluded = self.stored.run.excluded
        if excluded is not None:
            return f"excluded: {excluded.reason}"
        if self.trials.unavailable:
            return "unavailable: every attempt ended in one error before the subject was reached"
        return "" if any(one.measurement == "scored" for one in self.trials.rows) else "nothing in it was scored"


def facts_of(stored: StoredRun, store: Store, *, timeouts: Timeouts = "count", to_pool: bool = False) -> RunFacts:
    opinions = opinions_on(stored, store)
    patterns: dict[str, Counter[str]] = {}
    roots: dict[str, str] = {}
    watched = _watched(attempts_of(store, stored.pk), opinions, patterns, roots)
    trials = Trials(stored.run, watched, opinions, timeouts=timeouts, to_pool=to_pool)
    return RunFacts(stored=stored, trials=trials, patterns=patterns, roots=roots)


def _watched(
    attempts: Iterable[Attempt], opinions: Opinions, patterns: dict[str, Counter[str]], roots: dict[str, str]
) -> Iterator[Attempt]:
    for attempt in attempts:
        if attempt.counted:
            said = opinions.attributions.get(attempt.id)
            if pattern := pattern_of(attempt, said):
                patterns.setdefault(attempt.case, Counter())[pattern] += 1
            if root := attempt.follows or (said.follows if said else ""):
                roots[attempt.case] = split_attempt_id(root).case
        yield attempt
