"""Triage: whose fault is each failure, from the logs alone, with evidence. Pure functions; rules are data."""

from msgspec.structs import replace

from errata.model import Attempt, Case, Run
from errata.triage import facts
from errata.triage.attribution import attribute
from errata.triage.dialogues import CHANGES
from errata.triage.facts import MEANS
from errata.triage.limits import explains_failure
from errata.triage.observed import Observed
from errata.triage.places import places
from errata.triage.rulesets import Rules, built_in, with_added
from errata.triage.run_wide import PatternSurvey, RunWide, look_over


def observe(run: Run, attempt: Attempt, case: Case | None, wide: RunWide | None, rules: Rules) -> list[Observed]:
    observations = facts.observe(attempt, case, records_work=run.source.records_work)
    if wide is not None:
        observations += wide.observe(attempt)
    seen = set()
    for matched in rules.book.signals(places(attempt), run.source.name):
        rule = matched.rule
        if rule.name not in seen:
            seen.add(rule.name)
            evidence, is_specific = matched.signal, rule.specific or rule.strength == "certain"
            if rule.owner == "budget":  # a limit is a fact; whether it decides depends on what was still to be done
                evidence = replace(evidence, strength="likely" if explains_failure(attempt, case) else "weak")
            observations.append(
                Observed(
                    signal=evidence,
                    owner=rule.owner,
                    also=rule.also,
                    breaks=rule.breaks == "measurement",
                    is_specific=is_specific,
                    is_self_evident=rule.owner == "model",
                )
            )
    return observations


__all__ = [
    "CHANGES",
    "MEANS",
    "Observed",
    "PatternSurvey",
    "Rules",
    "RunWide",
    "attribute",
    "built_in",
    "look_over",
    "observe",
    "with_added",
]
