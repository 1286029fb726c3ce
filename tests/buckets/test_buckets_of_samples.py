"""Real and lifelike logs, from the files to the buckets."""

from pathlib import Path

import pytest
from a_failing import members

from errata.buckets.inputs import failing_in
from errata.buckets.suggesting import suggest
from errata.model.identity import split_attempt_id
from errata.runs.importing import import_paths
from errata.runs.triaging import triage_run
from errata.store.database import open_store
from errata.store.runs import run_by_id

FIXTURES = Path(__file__).parents[1] / "fixtures" / "sources"


@pytest.fixture
def failures(tmp_path):
    def read(*fixtures: str):
        store = open_store(tmp_path / "errata.db")
        found = []
        for summary in import_paths([FIXTURES / fixture / "data" for fixture in fixtures], store):
            for run in summary.runs:
                stored = run_by_id(store, run.id)
                triage_run(stored, store)
                found += failing_in(stored, store)
        return found

    return read


def cases(bucket) -> list[str]:
    return sorted(split_attempt_id(each).case.rpartition("/")[2] for each in members(bucket))


@pytest.mark.req("J-10", "J-25")
def test_the_clusters_of_a_comparison_are_its_causes_with_their_followers(failures):
    buckets = suggest(failures("conversation_bench/comparison"))

    assert {bucket.title: len(bucket.members) for bucket in buckets} == {
        "premature end session": 6,
        "partial multi tool execution": 5,
        "ambiguity handling failure": 4,
        "knowledge grounding error": 4,
        "state memory failure": 3,
        "empty response": 2,
        "tool or action selection error": 2,
        "The judge gave no verdict for this turn": 1,
    }
    assert cases(buckets[0]) == ["turn-24", "turn-25", "turn-26", "turn-27", "turn-28", "turn-29"]


@pytest.mark.req("C-18")
def test_what_fails_in_two_runs_for_the_same_reason_is_one_bucket(failures):
    buckets = suggest(failures("convex_evals/run_a", "convex_evals/run_b"))

    repeated = {tuple(cases(bucket)) for bucket in buckets if len(bucket.members) > 1}
    assert repeated == {
        ("002-http_greeting", "002-http_greeting"),
        ("003-optional_index", "003-optional_index"),
        ("006-pagination_shape", "006-pagination_shape"),
        ("003-rate_limit_guard", "003-rate_limit_guard"),
    }


def test_a_crash_and_the_ten_that_follow_from_it_are_one_bucket(failures):
    (bucket,) = suggest(failures("scylla/batch-cascade"))

    assert len(bucket.members) == 11
    assert bucket.title == "'TierConfig' object has no attribute 'language'"


def test_one_program_that_the_verifier_lacks_is_one_bucket_with_its_name(failures):
    first = suggest(failures("harbor/large/kimi-job"))[0]

    assert (first.title, len(first.members)) == ("uvx: command not found (the tests never ran)", 16)
    assert first.parameters["owner"] == "environment"


def test_every_bucket_of_unread_failures_is_provisional(failures):
    assert {bucket.status for bucket in suggest(failures("convex_evals/run_a"))} == {"provisional"}
