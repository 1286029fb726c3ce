"""Failures that differ only in the reason of their one check get the same attributions as one by one."""

from errata.runs.triaging import triage_run
from errata.store.attributions import attributions_of
from errata.store.brief_failures import BriefFailures
from errata.triage import facts, one_check
from errata.triage.broken_tests import broken_assertion
from errata.triage.stored import attributions as stored_triage
from one_check_runs import stored_runs


def is_never_plain(_attempt):
    return False


def test_every_attribution_is_the_same_as_one_by_one(store, monkeypatch):
    runs = stored_runs(store)
    shared = []
    real = one_check.JudgedCases.attribute
    monkeypatch.setattr(
        one_check.JudgedCases, "attribute", lambda self, *given: shared.append(real(self, *given)) or shared[-1]
    )
    together = {run.pk: triage_run(run, store) and attributions_of(store, run.pk) for run in runs}
    monkeypatch.setattr(stored_triage, "BriefFailures", lambda _: BriefFailures(is_never_plain))
    alone = {run.pk: triage_run(run, store) and attributions_of(store, run.pk) for run in runs}

    assert together == alone
    assert sum(made is not None for made in shared) > 50
    assert {made.owner for made in shared if made} == {"model"}


def test_no_other_rule_looks_at_the_reason_of_a_single_check():
    """Whoever adds one has to tell `one_check` which reasons it looks at."""
    assert (broken_assertion, facts.a_check_failed) == facts.OF_ONE_CHECK
