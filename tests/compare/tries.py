"""Attempts for tests of scores: only what matters needs to be said."""

from errata.compare.trials import Opinions, Trials
from errata.model import Attribution, FailureKey, Limit, Reviewer, Verdict
from errata.testing import a_run, an_attempt

NOT_MADE = {"execution": "missing", "measurement": "not_run", "outcome": "none"}
CRASHED = {"execution": "error", "measurement": "not_run", "outcome": "none"}
OUT_OF_TIME = {"execution": "limit", "limit": Limit(type="time", value=900)}


def tried(number, outcome="pass", **changes):
    return an_attempt(**{"case": f"suite/case-{number}", "outcome": outcome} | changes)


def trials(*attempts, owners=None, broken=(), verdicts=None, timeouts="count", to_pool=False, **run):
    """`owners`: attempt → the owner that triage names; `verdicts`: attempt → what a reviewer says."""
    opinions = Opinions(
        attributions={attempt.id: said(attempt, owner) for attempt, owner in owners or []},
        broken={attempt.id for attempt in broken},
        verdicts={attempt.id: verdict(attempt, *words) for attempt, *words in verdicts or []},
    )
    return Trials(a_run(**run), attempts, opinions, timeouts=timeouts, to_pool=to_pool)


def said(attempt, owner):
    key = FailureKey(exact="x", coarse="x")
    return Attribution(
        attempt=attempt.id, owner=owner, confidence="certain", failure_key=key, decided_by=f"rule_of_{owner}"
    )


def verdict(attempt, owner, label="MODEL_FAULT"):
    return Verdict(
        id=f"v-{attempt.id}",
        attempt=attempt.id,
        taxonomy="convex-evals",
        label=label,
        owner=owner,
        cause="because",
        confidence="certain",
        reviewer=Reviewer(kind="person", name="ada"),
    )
