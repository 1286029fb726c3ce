"""Real and lifelike logs, from the files to the buckets."""

from pathlib import Path

import pytest
from failures_to_group import members

from errata.buckets.suggest import suggest
from errata.model.identity import split_attempt_id
from errata.runs.bucketing import failures_to_group
from errata.runs.importing import import_paths
from errata.runs.triaging import triage_run
from errata.runs.view import RunView
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
                found += failures_to_group(RunView(stored, store))
        return found

    return read


def cases(bucket, found) -> list[str]:
    return sorted(split_attempt_id(each).case.rpartition("/")[2] for each in members(bucket, found))


@pytest.mark.req("J-10", "J-25")
def test_the_clusters_of_a_comparison_are_its_causes_with_their_followers(failures):
    found = suggest(failures("conversation_bench/comparison"))

    assert {bucket.title: len(members(bucket, found)) for bucket in found.buckets} == {
        "premature end session": 6,
        "partial multi tool execution": 5,
        "ambiguity handling failure": 4,
        "knowledge grounding error": 4,
        "state memory failure": 3,
        "empty response": 2,
        "tool or action selection error": 2,
        "The judge gave no verdict for this turn": 1,
    }
    assert cases(found.buckets[0], found) == ["turn-24", "turn-25", "turn-26", "turn-27", "turn-28", "turn-29"]


@pytest.mark.req("C-18")
def test_what_fails_in_two_runs_for_the_same_reason_is_one_bucket(failures):
    found = suggest(failures("convex_evals/run_a", "convex_evals/run_b"))

    lying = [cases(bucket, found) for bucket in found.buckets]
    repeated = {tuple(some) for some in lying if len(some) > 1}
    assert repeated == {
        ("002-http_greeting", "002-http_greeting"),
        ("003-optional_index", "003-optional_index"),
        ("006-pagination_shape", "006-pagination_shape"),
        ("003-rate_limit_guard", "003-rate_limit_guard"),
    }


def test_a_crash_and_the_ten_that_follow_from_it_are_one_bucket(failures):
    found = suggest(failures("scylla/batch-cascade"))

    (bucket,) = found.buckets
    assert len(found.places) == 11
    assert bucket.title == "'TierConfig' object has no attribute 'language'"


def test_one_program_that_the_verifier_lacks_is_one_bucket_with_its_name(failures):
    found = suggest(failures("harbor/large/kimi-job"))

    first = found.buckets[0]
    assert (first.title, len(members(first, found))) == ("uvx: command not found (the tests never ran)", 16)
    assert first.parameters["owner"] == "environment"


def test_every_bucket_of_unread_failures_is_provisional(failures):
    assert {bucket.status for bucket in suggest(failures("convex_evals/run_a")).buckets} == {"provisional"}
