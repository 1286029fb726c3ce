"""The tables of a consistency study, of real logs."""

import csv
import json
from pathlib import Path

import pytest

from errata.compare.consistency import refuse_duplicates
from errata.compare.stored import changed_cases
from errata.errors import ErrataError, SettingsError
from errata.model import Case, Check, Output, Subject
from errata.runs.names import runs_named
from errata.store.importing import Importing
from errata.store.packing import pack_items, seal
from errata.store.runs import all_runs, exclude
from errata.testing import a_run, an_attempt
from errata.verbs.compare import consistency, write_studies

COMPARISON = "conversation_bench/comparison/data"


def named(store, fixtures, *paths):
    return list(runs_named([str(fixtures / "sources" / path) for path in paths], store))


def of_model(runs, model):
    return [one for one in runs if one.run.subject.model == model]


def table(folder: Path, name: str):
    with (folder / f"consistency_{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def header(folder: Path, name: str) -> str:
    return (folder / f"consistency_{name}.csv").read_text(encoding="utf-8").split("\n")[0]


@pytest.fixture
def alpha(store, fixtures, tmp_path):
    """The tables of the two runs of voice-alpha."""
    runs = of_model(named(store, fixtures, COMPARISON), "voice-alpha")
    write_studies(consistency(runs, store).studies, store, tmp_path / "out")
    return tmp_path / "out"


def imported(store, *runs):
    with Importing(store) as importing:
        for batch in seal(pack_items([item for items in runs for item in items])):
            importing.add(batch)
        importing.finish()
    return sorted(all_runs(store), key=lambda one: one.run.native_id)


@pytest.mark.trap(5)
def test_the_turns_that_are_unstable_between_two_runs(alpha):
    unstable = [int(row["turn"]) for row in table(alpha, "turn_summary") if row["unstable_overall"] == "True"]

    assert unstable == [5, 19, 26]


def test_the_metrics_that_flip(alpha):
    assert [(row["turn"], row["metric"], row["pattern"]) for row in table(alpha, "metric_flips")] == [
        ("5", "kb_grounding", "1:fail|2:pass"),
        ("19", "turn_taking", "1:pass|2:fail"),
        ("19", "instruction_following", "1:pass|2:fail"),
        ("26", "tool_use_correct", "1:fail|2:pass"),
        ("26", "instruction_following", "1:fail|2:pass"),
        ("26", "kb_grounding", "1:fail|2:pass"),
    ]


def test_the_details_hold_every_row_as_the_judge_left_it(alpha, fixtures):
    judged = sorted((fixtures / "sources" / COMPARISON).rglob("*1a2b3c4d/openai_judged.jsonl"))[0]
    rows = [json.loads(line) for line in judged.read_text(encoding="utf-8").splitlines()]
    result = [row for row in table(alpha, "run_details") if row["run_index"] == "1"]

    assert len(result) == len(rows) == 30
    for row, made in zip(rows, result, strict=True):
        assert made["assistant_text"] == row["assistant_text"]
        assert json.loads(made["tool_calls_json"]) == row["tool_calls"]
        assert made["judge_reasoning"] == row["judge_reasoning"]
        assert made["latency_ms"] == ("" if row["latency_ms"] is None else str(row["latency_ms"]))


def test_flip_details_are_the_rows_of_unstable_turns_side_by_side(alpha):
    result = [(row["turn"], row["run_index"]) for row in table(alpha, "flip_details")]

    assert result == [("5", "1"), ("5", "2"), ("19", "1"), ("19", "2"), ("26", "1"), ("26", "2")]


def test_the_summary_of_a_benchmark(alpha):
    assert table(alpha, "benchmark_summary") == [
        {
            "benchmark_name": "harbour_bench",
            "turns": "30",
            "unstable_overall_turns": "3",
            "unstable_metric_turns": "3",
            "max_pass_runs": "2",
            "min_pass_runs": "0",
        }
    ]


def test_the_sanity_checks(alpha):
    result = {row["check"]: int(row["value"]) for row in table(alpha, "sanity_checks")}

    assert (result["rows"], result["unique_runs"], result["unique_turns"]) == (60, 2, 30)
    assert (result["duplicate_run_turn_rows"], result["missing_ttfb_ms"]) == (0, 1)


def test_the_summary_for_people_names_the_unstable_turns(alpha):
    text = (alpha / "consistency_summary.md").read_text(encoding="utf-8")

    assert "unstable_overall_turns=3/30, unstable_metric_turns=3/30, pass_run_range=0-2" in text
    assert "- `harbour_bench` turn `26`: overall=1:fail\\|2:pass" in text


@pytest.mark.trap(9)
def test_an_incomplete_turn_is_neither_passed_nor_failed(store, fixtures, tmp_path):
    runs = of_model(named(store, fixtures, COMPARISON), "acme/voice-gamma")
    write_studies(consistency(runs, store).studies, store, tmp_path / "out")
    row = next(row for row in table(tmp_path / "out", "turn_summary") if row["turn"] == "16")

    assert (row["incomplete_runs"], row["overall_status_pattern"]) == ("1", "1:incomplete")


def test_several_subjects_have_a_folder_each(store, fixtures, tmp_path):
    studies = consistency(named(store, fixtures, COMPARISON), store).studies
    write_studies(studies, store, tmp_path / "out")

    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "acme-voice-gamma",
        "voice-alpha",
        "voice-beta",
    ]


def test_tables_that_are_there_stay(store, fixtures, alpha):
    studies = consistency(of_model(all_runs(store), "voice-alpha"), store).studies

    with pytest.raises(SettingsError, match="already exists"):
        write_studies(studies, store, alpha)
    assert write_studies(studies, store, alpha, force=True)


def test_a_turn_with_two_rows_is_an_error_and_in_no_count(store, fixtures):
    (study,) = consistency(named(store, fixtures, "conversation_bench/damaged/data"), store).studies

    assert [study.name_of(case) for _, case in study.study.duplicates] == ["turn-12"]
    assert [study.name_of(case) for _, case in study.study.absent] == ["turn-7", "turn-18"]
    assert "turn-12" not in [study.name_of(one.case) for one in study.study.cases]
    with pytest.raises(ErrataError, match="`turn-12` of run `0b1c2d3e`"):
        refuse_duplicates([study])


def test_an_excluded_run_is_left_out(store, fixtures):
    runs = named(store, fixtures, COMPARISON)
    exclude(store, runs[0].run.id, reason="too old", author="ada")
    found = consistency(all_runs(store), store)

    assert [str(why) for _, why in found.left_out] == ["excluded: too old"]


def test_epochs_of_a_run_are_compared_like_runs(store, fixtures, tmp_path):
    (study,) = consistency(named(store, fixtures, "harbor/demo-job/data"), store).studies
    write_studies([study], store, tmp_path / "out")

    assert [(column.index, column.epoch) for column in study.columns] == [(1, 1), (2, 2)]
    assert [(row["turn"], row["metric"], row["pattern"]) for row in table(tmp_path / "out", "metric_flips")] == [
        ("hello-world", "reward", "1:pass|2:fail")
    ]
    assert {row["run_id"].rpartition("#")[2] for row in table(tmp_path / "out", "run_details")} == {"1", "2"}


def test_a_harness_without_dimensions_has_its_checks_as_columns(store, fixtures, tmp_path):
    runs = of_model(named(store, fixtures, *(f"convex_evals/run_{one}/data" for one in "abd")), "acme/nimbus-2-coder")
    write_studies(consistency(runs, store).studies, store, tmp_path / "out")

    assert header(tmp_path / "out", "run_details").endswith(",install,deploy,tsc,eslint,tests")
    assert table(tmp_path / "out", "turn_summary")[0]["turn"] == "000-fundamentals/000-greeting_query"


def test_only_a_task_that_really_changed_is_no_repetition(store, fixtures):
    """The files of a task are kept for failed evals alone; its text for all of them."""
    runs = named(store, fixtures, *(f"convex_evals/run_{one}/data" for one in "abd"))

    assert changed_cases([one.pk for one in runs], store) == {"convex-evals/003-mutations/002-cascade_remove"}


def one_run(native_id, *, text="yes", check="tone", status="pass", **changes):
    run = a_run(native_id=native_id, subject=Subject(model="m"), **changes)
    case = Case(run=run.id, suite="suite", native_id="case-1", input="=HYPERLINK(1)")
    attempt = an_attempt(
        run=run.id,
        outcome=status,
        output=Output(text=text),
        checks=(Check(name=check, status=status),),
    )
    return run, case, attempt


def test_what_would_be_a_formula_is_text(store, tmp_path):
    runs = imported(store, one_run("r1", text="-1+cmd"), one_run("r2", text="=1", status="fail"))
    write_studies(consistency(runs, store).studies, store, tmp_path / "out")

    for name in ("run_details", "flip_details"):
        assert [row["assistant_text"] for row in table(tmp_path / "out", name)] == ["'-1+cmd", "'=1"]
    assert table(tmp_path / "out", "metric_flips")[0]["user_text"] == "'=HYPERLINK(1)"


def test_secrets_and_people_are_in_no_table(store, tmp_path):
    secret = "ghp_" + "a1B2" * 9
    runs = imported(store, one_run("r1", text=f"token {secret} of alice@corp.com"), one_run("r2"))
    write_studies(consistency(runs, store).studies, store, tmp_path / "out")

    for path in (tmp_path / "out").iterdir():
        result = path.read_text(encoding="utf-8")
        assert secret not in result
        assert "alice@corp.com" not in result


def test_a_check_that_is_named_like_a_column_does_not_take_its_place(store, tmp_path):
    runs = imported(store, one_run("r1", check="run_id"), one_run("r2", check="run_id", status="fail"))
    write_studies(consistency(runs, store).studies, store, tmp_path / "out")

    rows = table(tmp_path / "out", "run_details")
    assert [(row["run_id"], row["run_id (check)"]) for row in rows] == [("r1", "pass"), ("r2", "fail")]


def test_runs_of_another_variant_are_another_study(store):
    runs = imported(store, one_run("r1", variant={"guidelines": "yes"}), one_run("r2", variant={"guidelines": "no"}))

    studies = consistency(runs, store).studies

    assert sorted(one.subject for one in studies) == ["m (guidelines no)", "m (guidelines yes)"]
