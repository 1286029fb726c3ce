"""A gap on record explains a measured failure, and nothing else."""

import msgspec
import pytest

from errata.model import Check
from errata.model.action import RecordedGap
from errata.testing import an_attempt
from errata.triage import attribute
from errata.triage.across import SHOWN, KnownGaps
from errata.triage.keys import failure_key
from errata.triage.observed import Observed, signal
from errata.triage.taxonomy import built_in, suggest

FAILED = {"execution": "completed", "measurement": "scored", "outcome": "fail"}
RECORD = RecordedGap(where="reports/a.md:12", quote="the guidelines are silent")


def observed(gaps, **facts):
    return list(gaps.observe(an_attempt(**FAILED | facts)))


def gaps_of(*records):
    return KnownGaps({an_attempt().case: records}, version="1")


def test_each_record_is_a_likely_signal_of_the_task():
    (found,) = observed(gaps_of(RECORD))

    assert (found.signal.name, found.signal.strength, found.owner) == ("known_gap", "likely", "task")
    assert (found.signal.where, found.signal.quote) == ("reports/a.md:12", "the guidelines are silent")


@pytest.mark.parametrize(
    "facts",
    [
        {"execution": "error", "measurement": "not_run", "outcome": "none"},
        {"measurement": "error", "outcome": "none"},
        {"measurement": "unscored", "outcome": "none"},
    ],
)
def test_what_was_not_measured_has_another_reason(facts):
    assert observed(gaps_of(RECORD), **facts) == []


def test_a_gap_of_another_case_says_nothing():
    assert observed(KnownGaps({"other/case": (RECORD,)})) == []


def test_of_very_many_records_some_are_told():
    assert len(observed(gaps_of(*[RECORD] * 50))) == SHOWN


def test_a_gap_decides_over_a_check_that_failed_and_no_more():
    attempt = an_attempt(**FAILED)
    failed = Observed(signal=signal("check_failed", "likely", "checks[tests]", "x"), owner="model")
    lint = Observed(signal=signal("lint_only", "certain", "checks[eslint]", "x"), owner="grader")
    gap = observed(gaps_of(RECORD))

    assert attribute(attempt, [failed, *gap]).decided_by == "known_gap"
    assert attribute(attempt, [failed, lint, *gap]).decided_by == "lint_only"


@pytest.mark.req("C-13")
@pytest.mark.parametrize(
    ("owner", "signals", "label"),
    [
        ("task", ("known_gap",), "KNOWN_GAP"),
        ("task", (), "AMBIGUOUS_TASK"),
        ("grader", ("known_gap",), "OVERLY_STRICT"),
        ("model", ("known_gap",), "MODEL_FAULT"),
    ],
)
def test_known_gap_is_suggested_only_where_one_is_on_record_and_decided(owner, signals, label):
    (taxonomy,) = [one for one in built_in() if one.name == "convex-evals"]

    assert suggest(taxonomy, an_attempt(**FAILED), owner, frozenset(signals)) == label


TSC = Check(name="tsc", status="fail", explanation="Type 'string' is not assignable to type 'number'")
DEPLOY = Check(name="deploy", status="fail", explanation="the index name is reserved")


def test_a_gap_of_one_check_does_not_cover_the_failure_of_another():
    gap = msgspec.structs.replace(RECORD, checks=frozenset(["tsc"]))

    assert observed(gaps_of(gap), checks=(TSC,))
    assert not observed(gaps_of(gap), checks=(DEPLOY,))
    assert observed(gaps_of(gap), checks=())  # what failed is unknown


def test_the_gap_of_another_model_covers_only_the_same_failure():
    key = failure_key(an_attempt(**FAILED, checks=(TSC,))).exact
    gap = msgspec.structs.replace(RECORD, checks=frozenset(["tsc"]), keys=frozenset([key]))
    other = msgspec.structs.replace(TSC, explanation="Property 'cursor' is missing")

    assert observed(gaps_of(gap), checks=(TSC,))
    assert not observed(gaps_of(gap), checks=(other,))
    assert not observed(gaps_of(msgspec.structs.replace(gap, keys=frozenset())), checks=(TSC,))
