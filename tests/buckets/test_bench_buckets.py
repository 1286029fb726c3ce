"""The measurement of the grouping measures what it says."""

import tomllib

import pytest
from bench.buckets.measures import each_harness, measure
from bench.buckets.reading import Reader
from bench.buckets.samples import HERE, Labelled, labelled, reasons
from failures_to_group import a_failing


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    return {one.name: one.rows for one in labelled(Reader(tmp_path_factory.mktemp("bench")))}


def test_every_label_means_a_failure(sets):
    runs = tomllib.loads((HERE / "labels.toml").read_text(encoding="utf-8"))["run"]
    wanted = {(run["set"], cause) for run in runs for cause in run["causes"]}

    assert {(name, row.cause) for name, rows in sets.items() for row in rows} >= wanted
    assert {name: len(rows) for name, rows in sets.items()} == {
        "conversation-bench": 26,
        "convex-evals": 44,
        "scylla": 34,
        "harbor": 17,
        "conversation-bench, no clusters": 26,
        "who and when": 30,
    }


@pytest.mark.parametrize("name", ["conversation-bench", "convex-evals", "scylla", "harbor"])
def test_labelled_samples_are_grouped_as_their_expectations_say(sets, name):
    found = measure(sets[name])

    assert found.errata.v >= 0.85
    assert found.errata.buckets <= 2 * found.causes


def test_texts_alone_beat_both_baselines_where_no_taxonomy_helps(sets):
    found = measure(sets["conversation-bench, no clusters"])

    assert found.errata.ami > max(found.exact_text.ami, found.k_means.ami)


def test_a_perfect_grouping_scores_one_and_a_blind_one_nothing():
    rows = [
        Labelled(a_failing(f"{cause}{at}", f"{cause} berth"), cause) for cause in ("pier", "ferry") for at in range(3)
    ]
    alike = [Labelled(a_failing(row.failing.attempt, "the same words"), row.cause) for row in rows]

    assert measure(rows).errata == (1.0, 1.0, 2)
    assert measure(alike).exact_text.v == 0.0


def test_harness_by_harness_sums_the_causes_of_each():
    rows = [Labelled(a_failing(f"{h}{at}", "berth"), "one", h) for h in "ab" for at in range(2)]

    assert each_harness(rows).causes == 2


def test_annotators_reasons_have_a_cause_each():
    assert len(reasons()) == 30
    assert all(row.cause and row.failing.verdict.cause for row in reasons())
