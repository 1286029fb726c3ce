"""The benchmark of failures read by hand: its labels are whole, and what it compares is what errata answers."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # the benchmarks are no part of the package

from bench.real.__main__ import Table
from bench.real.answers import Answer, answers
from bench.real.by_log import ENOUGH_LOGS, interval_by_log, share
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


@pytest.mark.req("N-20")
def test_the_interval_of_a_figure_is_over_logs_and_more_rows_of_a_log_do_not_narrow_it():
    rows = [(f"log {log}", log % 2 == 0) for log in range(12)]

    assert interval_by_log(rows * 50, share) == interval_by_log(rows, share)
    by_log = [*[("odd", False)] * 42, *[(f"log {log}", True) for log in range(11) for _ in range(5)]]
    _, (low, high) = interval_by_log(by_log, share)
    assert low < 0.3 and high > 0.9


@pytest.mark.req("N-20")
@pytest.mark.parametrize("held", [True, False])
def test_logs_that_are_all_right_or_all_wrong_count_once_each(held):
    _, (low, high) = interval_by_log([(f"log {row % 6}", held) for row in range(600)], share)

    assert (low < 0.7 and high == 1) if held else (low == 0 and high > 0.3)


@pytest.mark.req("N-20")
def test_a_few_logs_have_no_interval():
    rows = [(f"log {row % (ENOUGH_LOGS - 1)}", row % 3 == 0) for row in range(600)]

    assert interval_by_log(rows, share) == (ENOUGH_LOGS - 1, None)


@pytest.mark.req("N-20")
def test_kappa_comes_first_and_every_figure_names_its_logs(capsys):
    failures = [item for item in ITEMS if item.kind == "failure" and item.held_out]
    rows = [(item, LABELS[item.id], Answer("model", proof="presumed")) for item in failures]

    Table("held out", rows).print()

    _, first, *lines = capsys.readouterr().out.strip().splitlines()
    assert first.strip().startswith("owner: kappa")
    assert not [line for line in lines if " of " in line and "readers themselves" not in line and " log" not in line]
    presumed = next(line for line in lines if "model, presumed" in line)
    assert f"{len({item.sample for item in failures})} logs" in presumed


@pytest.mark.req("N-20")
def test_no_benchmark_makes_an_interval_of_rows_itself():
    """`by_log` is the one place; a share over rows of one log has no interval."""
    bench = Path(__file__).parent.parent / "bench"
    users = [
        path.name for path in bench.rglob("*.py") if "import" in (text := path.read_text("utf-8")) and "wilson" in text
    ]

    assert users == ["by_log.py"]


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
