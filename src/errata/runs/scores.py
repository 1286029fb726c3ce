"""The verb `score`: one run under every policy, as a whole and by category, with what was left out and why."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from errata.compare.costs import Cost, Tiers, cost_of
from errata.compare.policies import scores_of
from errata.compare.scores import Group, Policy, Score
from errata.compare.trials import Opinions, Timeouts, Trials
from errata.model import Attempt, Attribution, StoredRun, Verdict
from errata.runs.rules import rules_in_use
from errata.runs.standings import counting_verdicts
from errata.runs.triaging import triage_if_needed
from errata.store.attempts import attempts_of, categories_of
from errata.store.attributions import attributions_of, broken_measurements
from errata.store.database import Store
from errata.triage.rulebook import Rule

NOT_REPEATED = frozenset(("skipped", "not scored", "timed out"))
"""Why an attempt may be left out of clean, and is to stay as it is."""


class Proof(msgspec.Struct, frozen=True):
    """One line of the log that stands for a group of attempts."""

    where: str
    quote: str
    case: str


class Scores(msgspec.Struct, frozen=True, kw_only=True):
    stored: StoredRun
    unit: str
    """`cases`; `attempts` where a case was tried several times."""
    unavailable: bool
    timeouts: Timeouts
    scores: dict[Policy, Score]
    categories: dict[str, dict[Policy, Score]]
    cost: Cost
    proofs: dict[tuple[str, str], Proof]
    """By reason and signal of a group."""

    @property
    def to_repeat(self) -> int:
        """How many of those that clean leaves out `errata rerun` can tell how to repeat."""
        return sum(len(group.members) for group in self.scores["clean"].groups if group.why not in NOT_REPEATED)

    def proof_of(self, group: Group) -> Proof | None:
        return self.proofs.get((group.why, group.signal))


def score_run(
    stored: StoredRun,
    store: Store,
    *,
    timeouts: Timeouts = "count",
    verdicts: Mapping[str, Verdict] | None = None,
    to_pool: bool = False,
) -> Scores:
    opinions = opinions_on(stored, store, verdicts=verdicts)
    tiers = Tiers()
    attempts = _watched(attempts_of(store, stored.pk), tiers)
    whole = Trials(stored.run, attempts, opinions, timeouts=timeouts, to_pool=to_pool)
    parts = {name: whole.only(cases) for name, cases in _members(stored, store).items()}
    scores = scores_of(whole)
    return Scores(
        stored=stored,
        unit="attempts" if whole.repeated else "cases",
        unavailable=whole.unavailable,
        timeouts=timeouts,
        scores=scores,
        categories={name: scores_of(part) for name, part in parts.items()},
        cost=cost_of(whole, parts, tiers),
        proofs=_proofs(scores, opinions.attributions),
    )


def opinions_on(stored: StoredRun, store: Store, *, verdicts: Mapping[str, Verdict] | None = None) -> Opinions:
    """What triage and reviewers say of a run, as scores need it."""
    triage_if_needed(stored, store)
    rules = rules_in_use().book.rules
    said = {key: _quoting(one, rules) for key, one in attributions_of(store, stored.pk).items()}
    read = counting_verdicts(stored, store) if verdicts is None else verdicts
    return Opinions(attributions=said, broken=broken_measurements(store, stored.pk), verdicts=read)


def _members(stored: StoredRun, store: Store) -> dict[str, list[str]]:
    """Category → its cases."""
    members: dict[str, list[str]] = {}
    for case, category in categories_of(store, stored.pk).items():
        members.setdefault(category, []).append(case)
    return dict(sorted(members.items()))


def _watched(attempts: Iterable[Attempt], tiers: Tiers) -> Iterator[Attempt]:
    for attempt in attempts:
        tiers.add(attempt)
        yield attempt


def _quoting(said: Attribution, rules: Mapping[str, Rule]) -> Attribution:
    """Where a fact decided and a rule says the same with the log's own words, the rule is named."""
    if said.owner == "model" or said.decided_by in rules:
        return said
    equal = (one for one in said.signals if one.strength == said.confidence and one.name in rules)
    better = next((one.name for one in equal if rules[one.name].owner == said.owner), "")
    return msgspec.structs.replace(said, decided_by=better) if better else said


def _proofs(scores: Mapping[Policy, Score], said: Mapping[str, Attribution]) -> dict[tuple[str, str], Proof]:
    found: dict[tuple[str, str], Proof] = {}
    for group in (group for score in scores.values() for group in (*score.groups, *score.beside) if group.signal):
        for member in group.members:
            signals = said[member.id].signals if member.id in said else ()
            one = next((one for one in signals if one.name == group.signal and one.quote), None)
            if one is not None:
                found.setdefault((group.why, group.signal), Proof(one.where, one.quote, member.case))
                break
    return found
