"""The benchmark of failures read by hand: its labels are whole, and what it compares is what errata answers."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # the benchmarks are no part of the package

from bench.real.answers import answers
from bench.real.labels import INFRASTRUCTURE, kappa, read_items, read_labels

ITEMS, LABELS = read_items(), read_labels()


def test_every_item_was_read_by_two_and_by_a_third_where_they_differ():
    assert [item.id for item in ITEMS] == list(LABELS)
    assert all(len(label.readers) == (2 if label.agreed else 3) for label in LABELS.values())


def test_there_are_enough_failures_and_passes_and_a_third_of_the_failures_is_held_out():
    failures = [item for item in ITEMS if item.kind == "failure"]

    assert len(failures) >= 400
    assert len(ITEMS) - len(failures) >= 100
    assert 3 * sum(item.held_out for item in failures) >= len(failures)


def test_whole_sets_are_held_out():
    parts = {(item.set, item.held_out) for item in ITEMS}

    assert len({name for name, _ in parts}) == len(parts)


def test_the_readers_agree():
    assert kappa(list(LABELS.values())) > 0.85


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """Of sets that are quickly analysed."""
    items = [item for item in ITEMS if item.set in ("promptfoo", "tau-bench", "mini_swe_agent")]
    answers_by_id = answers(items, tmp_path_factory.mktemp("real"))
    return [(item, LABELS[item.id], answers_by_id[item.id]) for item in items]


def test_every_item_is_found_in_its_log(answered):
    assert [item.id for item, _, answer in answered if answer.owner in ("unread", "not a failure")] == []


def test_what_is_given_to_infrastructure_or_the_task_is_theirs(answered):
    claimed = [
        (item.id, answer.owner, label.owner)
        for item, label, answer in answered
        if item.kind == "failure" and answer.owner in (*INFRASTRUCTURE, "task")
    ]

    assert len(claimed) >= 30
    assert [one for one in claimed if one[1] != one[2]] == []


def test_what_is_shown_to_be_the_models_is(answered):
    shown = [label.owner for _, label, answer in answered if answer.proof == "shown"]

    assert shown.count("model") >= 0.9 * len(shown) > 0


def test_prompts_that_were_never_delivered_are_not_the_models(answered):
    undelivered = [answer for item, _, answer in answered if item.sample == "real/promptfoo_undelivered"]

    assert [answer.owner for answer in undelivered] == ["task"] * 30
