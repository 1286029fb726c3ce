"""The CSV tables of the analysis: runs joined with judges and criteria."""

import csv

import pytest
from scylla_fixtures import HAIKU, TABLES, attempts, copied, facts, items, items_of, run_of

from errata.model import Case, Run, Unreadable
from errata.sources import scylla


def test_judges_are_joined_to_their_run():
    attempt = attempts(items_of(HAIKU))[0]

    assert [(one.judge, one.model, one.raw["passed"]) for one in attempt.judgements] == [
        ("judge_01", "claude-opus-4-6", False),
        ("judge_02", "claude-sonnet-4-6", False),
        ("judge_03", "claude-haiku-4-5", False),
    ]
    assert attempt.judgements[0].reasoning.startswith("The agent failed to create")


@pytest.mark.trap(13)
def test_an_infinite_cost_of_pass_in_a_table_is_kept_as_text():
    (case,) = (item for item in items_of(HAIKU) if isinstance(item, Case) and item.native_id == "test-001/T0/00")

    assert case.extra["subtest"]["cop"] == "inf"


def test_every_tier_and_subtest_of_an_export_has_its_cost_of_pass():
    parts = {part.path: part for part in run_of(items_of(TABLES)).parts}

    assert parts["T0"].cost_of_pass == parts["test-001/T0/00"].cost_of_pass == 0.1351093
    assert parts["T0"].made == 1


def test_tables_in_another_order_give_the_same_attempts(tmp_path):
    root = copied(HAIKU, tmp_path)
    header, *rows = (root / "judges.csv").read_text().splitlines()
    (root / "judges.csv").write_text("\n".join([header, *sorted(rows, key=lambda row: row.split(",")[5:7])]) + "\n")

    def judged(found):
        return {one.id: [judge.raw for judge in one.judgements] for one in attempts(found)}

    assert judged(items(root)) == judged(items_of(HAIKU))


def rewritten(tmp_path, change):
    root = copied(HAIKU, tmp_path)
    with (root / "runs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    change(rows)
    with (root / "runs.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return items(root)


def test_several_models_in_one_table_are_one_run_each_in_one_group(tmp_path):
    found = rewritten(tmp_path, lambda rows: rows[0].update(agent_model="other"))

    runs = [item for item in found if isinstance(item, Run)]
    assert {run.subject.model for run in runs} == {"other", "claude-haiku-4-5"}
    assert len({run.group for run in runs}) == 1
    assert len({run.id for run in runs}) == 2


def test_a_repeated_row_is_a_duplicate_of_the_first(tmp_path):
    found = attempts(rewritten(tmp_path, lambda rows: rows.append(rows[0])))

    assert (found[-1].duplicate_of, found[-1].index) == (found[0].id, 4)


def test_a_row_without_a_run_number_is_unreadable_and_its_judges_are_named(tmp_path):
    found = rewritten(tmp_path, lambda rows: rows[0].update(run_number="first"))

    bad = [item.where for item in found if isinstance(item, Unreadable)]
    assert bad == ["runs.csv:2", "judges.csv:2", "criteria.csv:2"]
    assert len(attempts(found)) == 17


@pytest.mark.trap(18)
def test_when_all_judges_are_invalid_the_measurement_is_broken(tmp_path):
    root = copied(HAIKU, tmp_path)
    text = (root / "judges.csv").read_text()
    (root / "judges.csv").write_text(text.replace(",F,True,", ",F,False,"))

    assert facts(attempts(items(root))[0]) == ("completed", "error", "none")


def test_the_table_of_runs_is_recognised_under_any_name(tmp_path):
    (tmp_path / "x.txt").write_bytes((HAIKU / "runs.csv").read_bytes())

    assert scylla.recognise(tmp_path / "x.txt") is not None
    assert len(attempts(items(tmp_path / "x.txt"))) == 18
