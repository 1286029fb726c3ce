"""Failures that differ only in the reason of their one check get the same attributions as one by one."""

import random

import pytest

from errata.model import Case, Check, ErrorInfo, SourceRef
from errata.model.attempt import Output
from errata.runs.triaging import triage_run
from errata.store.attributions import attributions_of
from errata.store.brief_failures import BriefFailures
from errata.store.importing import Importing
from errata.store.packing import pack_items, seal
from errata.store.runs import all_runs
from errata.testing import a_run, an_attempt
from errata.triage import facts, one_check, stored
from errata.triage.broken_tests import broken_assertion

REASONS = [
    "expected 12 rows but the query returned 7",
    "expected 3 rows but the query returned 99",
    "request 0x1fa3 failed after 1234567 ms",
    "connection to host-3 reset by peer after 17 ms",
    "HTTP 429: rate limit of 12 requests",
    "Custom function threw error: SyntaxError: Unexpected token\n   at new Function (<anonymous>)",
    "two\nlines, of which the second says more",
    "é" * 90,
    "x" * 300,
    "",
    "  ",
    "password=hunter2hunter2 was refused",
]
OTHERS = [
    {"checks": (Check(name="answer", status="fail", kind="step", explanation="HTTP 503 from the registry"),)},
    {"checks": (Check(name="limit", status="fail", kind="limit", explanation="took 12 s"),)},
    {"native_status": "EMPTY_RESPONSE"},
    {"output": Output(text="the answer")},
    {"errors": (ErrorInfo(type="E", message="HTTP 503", phase="subject"),), "outcome": "none", "execution": "error"},
]


def a_log(run, chance):
    for case in range(12):
        described = {"input": "How many?", "expected": "7"} if case % 4 == 0 else {}
        yield Case(run=run.id, suite="suite", native_id=f"c{case}", **described)
    for at in range(240):
        given = {
            "run": run.id,
            "case": f"suite/c{at // 20}",
            "index": at % 20 + 1,
            "ref": SourceRef(file="log", line=at),
        }
        passed = chance.random() < 0.3 and at // 20 != 3
        check = Check(
            name="answer", status="pass" if passed else "fail", explanation="" if passed else chance.choice(REASONS)
        )
        given |= {"outcome": "pass" if passed else "fail", "checks": (check,)}
        yield an_attempt(**given | (chance.choice(OTHERS) if not passed and chance.random() < 0.2 else {}))


@pytest.fixture
def runs(store):
    for seed in range(3):
        run = a_run(native_id=f"run-{seed}")
        with Importing(store) as importing:
            for batch in seal(pack_items([run, *a_log(run, random.Random(seed))])):
                importing.add(batch)
            importing.finish()
    return all_runs(store)


def is_never_plain(_attempt):
    return False


def test_every_attribution_is_the_same_as_one_by_one(runs, store, monkeypatch):
    shared = []
    real = one_check.JudgedCases.attribute
    monkeypatch.setattr(
        one_check.JudgedCases, "attribute", lambda self, *given: shared.append(real(self, *given)) or shared[-1]
    )
    together = {run.pk: triage_run(run, store) and attributions_of(store, run.pk) for run in runs}
    monkeypatch.setattr(stored, "BriefFailures", lambda _: BriefFailures(is_never_plain))
    alone = {run.pk: triage_run(run, store) and attributions_of(store, run.pk) for run in runs}

    assert together == alone
    assert sum(made is not None for made in shared) > 50
    assert {made.owner for made in shared if made} == {"model"}


def test_no_other_rule_looks_at_the_reason_of_a_single_check():
    """Whoever adds one has to tell `one_check` which reasons it looks at."""
    assert (broken_assertion, facts.a_check_failed) == facts.OF_ONE_CHECK
