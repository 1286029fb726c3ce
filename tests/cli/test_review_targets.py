"""`errata review next` takes a run, a case, a folder with a comparison, or a bucket."""

import shutil

import pytest

from terminal import FIXTURES, done, errata, import_fixtures

COMPARED = FIXTURES / "conversation_bench" / "comparison" / "data" / "compare_20260301"


def next_of(*things, reviewer="agent"):
    return done("review", "next", *things, "--format", "json", "--reviewer", reviewer).row


@pytest.fixture
def comparison(at_home):
    shutil.copytree(COMPARED, at_home / "comparison")
    return at_home / "comparison"


def test_a_comparison_folder_means_the_failures_of_all_its_runs(comparison):
    rows = [next_of("comparison", "--another") for _ in range(3)]
    runs = [row["run"] for row in done("runs", "--json").rows]
    failures = len(done("failures", *runs, "--json").rows)

    assert len(runs) == 4
    assert [row["waiting"] for row in rows] == [failures - 1, failures - 2, failures - 3]


def test_a_folder_that_compare_wrote_is_a_comparison(comparison):
    done("import", "comparison")
    names = [row["run"] for row in done("runs", "--json").rows]
    done("compare", *names[:2], "--write", "written")

    assert next_of("written")["packet"]["run"]["id"] in names[:2]


@pytest.fixture
def bucket():
    """One with failures in several runs."""
    import_fixtures(COMPARED)
    return max(done("buckets", "list", "--json").rows, key=lambda row: row["rows"])


def members(bucket):
    runs = [row["run"] for row in done("runs", "--json").rows]
    return {one["attempt_id"] for one in done("failures", *runs, "--bucket", bucket["slug"], "--json").rows}


@pytest.mark.parametrize("name", ["slug", "id"])
def test_a_bucket_is_named_by_slug_or_id(bucket, name):
    row = next_of(bucket[name])

    assert row["answer"]["attempt_id"] in members(bucket)
    assert row["waiting"] == len(members(bucket)) - 1


def test_a_folder_without_runs_is_refused(at_home):
    (at_home / "empty").mkdir()

    assert errata("review", "next", "empty").code == 2


def test_packets_of_a_bucket_are_returned_by_its_name(bucket):
    next_of(bucket["slug"])

    assert len(done("review", "release", bucket["slug"], "--json").row["released"]) == 1
