"""Triage: whose fault is each failure, from the logs alone, with evidence. Pure functions; rules are data."""

from errata.model import Attempt, Case, Run
from errata.model.identity import fingerprint
from errata.triage import facts, taxonomy
from errata.triage.attribution import attribute
from errata.triage.facts import MEANS, Observed
from errata.triage.places import places
from errata.triage.rulebook import Rulebook, built_in
from errata.triage.run_wide import RunWide, Survey, look_over

FUNCTIONS_VERSION = "1"
"""Counts up when a rule that is a function changes what it says."""


def observe(run: Run, attempt: Attempt, case: Case | None, wide: RunWide | None, book: Rulebook) -> list[Observed]:
    """Every signal of one failure, whoever it points to."""
    found = [one for rule in facts.RULES for one in rule(attempt, case)]
    if wide is not None:
        found += wide.observe(attempt)
    seen = set()
    for matched in book.signals(places(attempt), run.source.name):
        rule = matched.rule
        if rule.name not in seen:
            seen.add(rule.name)
            breaks = rule.breaks == "measurement"
            found.append(Observed(signal=matched.signal, owner=rule.owner, also=rule.also, breaks=breaks))
    return found


def version_of(book: Rulebook) -> str:
    """Of everything that decides: functions, rules, taxonomies."""
    words = "+".join(f"{one.name}{one.version}" for one in taxonomy.built_in())
    return f"{FUNCTIONS_VERSION}-{book.version}-{fingerprint(words, size=2)}"


__all__ = ["MEANS", "Rulebook", "RunWide", "Survey", "attribute", "built_in", "look_over", "observe", "version_of"]
