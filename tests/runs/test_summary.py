"""What `analyze` counts: the score of a run, its failures and what they share."""

import json
from datetime import UTC, datetime

import pytest

from errata.runs.log_search import look_for
from errata.runs.summary import Analysis, Health
from errata.runs.view import RunView
from errata.store.runs import all_runs, findings_of
from errata.verbs.analyze import analyze

MAP = """
[run]
name = "mine"
[case]
name = "id"
category = { column = "topic", optional = true }
[attempt]
passed = "ok"
error = "error"
"""


def analysed(store, tmp_path, *rows: dict[str, object], mapping: str = MAP) -> Analysis:
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "map.toml").write_text(mapping)
    (view,) = analyze(look_for([tmp_path / "rows.jsonl"], map_path=tmp_path / "map.toml"), store)
    return view.summary


def test_cases_are_counted_where_each_was_tried_once(store, tmp_path):
    analysis = analysed(store, tmp_path, {"id": "a", "ok": True}, {"id": "b", "ok": False}, {"id": "c", "ok": None})

    assert (analysis.passed, analysis.total, analysis.unit) == (1, 3, "cases")


def test_attempts_are_counted_where_cases_were_tried_several_times(store, tmp_path):
    mapping = MAP + 'index = "trial"\n'
    rows = [{"id": "a", "trial": trial, "ok": trial != 2} for trial in (1, 2, 3)]

    analysis = analysed(store, tmp_path, *rows, mapping=mapping)

    assert (analysis.passed, analysis.total, analysis.unit) == (2, 3, "attempts")


def test_failures_are_counted_by_category(store, tmp_path):
    analysis = analysed(
        store,
        tmp_path,
        {"id": "a", "topic": "wind", "ok": False},
        {"id": "b", "topic": "wind", "ok": True},
        {"id": "c", "topic": "tide", "ok": True},
    )

    assert analysis.categories == (("wind", 1, 2, 0),)


def test_a_category_counts_cases_and_not_their_attempts(store, tmp_path):
    rows = [{"id": case, "topic": "wind", "trial": trial, "ok": case == "b"} for case in "ab" for trial in (1, 2, 3)]

    analysis = analysed(store, tmp_path, *rows, mapping=MAP + 'index = "trial"\n')

    assert analysis.categories == (("wind", 1, 2, 0),)


def test_a_case_with_contradictory_rows_counts_once_in_its_category(store, tmp_path):
    rows = [{"id": case, "topic": "wind", "ok": ok} for case, ok in (("a", False), ("a", True), ("b", True))]

    assert analysed(store, tmp_path, *rows).categories == (("wind", 1, 2, 0),)


def test_a_case_without_a_verdict_is_not_a_failed_case_of_its_category(store, tmp_path):
    rows = [{"id": "a", "topic": "wind", "ok": False}, {"id": "b", "topic": "wind", "ok": None}]

    (wind,) = analysed(store, tmp_path, *rows).categories

    assert (wind.failed, wind.cases) == (1, 2)


def test_failures_with_one_cause_are_counted_together(store, tmp_path):
    rows = [{"id": str(number), "ok": False, "error": "Error: slow\n  down"} for number in range(3)]

    analysis = analysed(store, tmp_path, *rows, {"id": "x", "ok": False, "error": "alone"})

    assert [(cause.title, cause.count, cause.cases) for cause in analysis.causes] == [
        ("slow down", 3, ("0", "1", "2")),
        ("alone", 1, ("x",)),
    ]


def test_the_first_failure_is_what_to_look_at_next(store, tmp_path):
    analysis = analysed(store, tmp_path, {"id": "a", "ok": True}, {"id": "b", "ok": False})

    assert analysis.first_case == "b"


def test_a_run_that_was_imported_twice_is_analysed_once(store, tmp_path):
    (tmp_path / "map.toml").write_text(MAP)
    (tmp_path / "rows.jsonl").write_text('{"id": "a", "ok": true}\n')
    path = tmp_path / "rows.jsonl"

    assert len(analyze(look_for([path, path], map_path=tmp_path / "map.toml"), store)) == 1


def test_what_a_checkup_found_is_kept(store, tmp_path):
    analysed(store, tmp_path, {"id": "a", "ok": None})
    (stored,) = all_runs(store)

    assert [finding.name for finding in findings_of(store, stored.pk)] == ["no_verdict"]


def test_a_checkup_does_not_need_the_clock(store, tmp_path):
    analysed(store, tmp_path, {"id": "a", "ok": True})
    (stored,) = all_runs(store)

    health = RunView(stored, store, now=datetime(2026, 1, 1, tzinfo=UTC)).health

    assert health == Health(True, (), ())


@pytest.mark.parametrize(
    ("health", "summary"),
    [
        (Health(True, ()), "fit for comparison with other runs"),
        (Health(False, (), ("breaks",)), "NOT FIT for comparison with other runs"),
        (Health(True, (), ("suspicious",)), "comparable with care (suspicious passes)"),
    ],
)
def test_health_in_a_line(health, summary):
    assert health.summary == summary
