"""Home-made logs through a mapping: the fixtures, and the example of docs/mapping.md."""

import re
from pathlib import Path

import pytest

from errata.model import Attempt, Item, Run
from errata.sources import generic
from errata.sources.generic import mapping

FIXTURES = Path(__file__).parents[1] / "fixtures" / "sources" / "generic"
NIGHTLY = FIXTURES / "jsonl" / "data" / "nightly" / "nightly.jsonl"
TABLE = FIXTURES / "csv" / "data" / "table" / "table.csv"
DOCUMENT = FIXTURES / "json" / "data" / "document" / "results.json"
PAGE = Path(__file__).parents[2] / "docs" / "mapping.md"


def runs(items: list[Item]) -> list[Run]:
    return list({item.id: item for item in items if isinstance(item, Run)}.values())


def attempts(path: Path) -> list[Attempt]:
    return [item for item in generic.read(path) if isinstance(item, Attempt)]


def facts(attempt: Attempt) -> tuple[str, str, str]:
    return attempt.execution, attempt.measurement, attempt.outcome


def test_the_example_of_the_page_gives_what_the_page_says(tmp_path: Path):
    blocks = dict(re.findall(r"```(json|toml)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
    (tmp_path / "results.jsonl").write_text(blocks["json"], encoding="utf-8")
    (tmp_path / "results.jsonl.map.toml").write_text(blocks["toml"], encoding="utf-8")
    items = list(generic.read(tmp_path / "results.jsonl"))
    models = {run.id: run.subject.model for run in runs(items)}
    found = [
        (models[item.run], item.case, *facts(item), ", ".join(item.failed_checks))
        for item in items
        if isinstance(item, Attempt)
    ]
    table = re.findall(r"^\| ((?:alpha|beta)-.*) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)

    assert found == [tuple(cell.strip() for cell in f"{row} ".split("|"))[:6] for row in table]


def test_the_page_names_every_key_that_a_mapping_may_have():
    page = PAGE.read_text(encoding="utf-8")
    structs = (mapping.RunMap, mapping.CaseMap, mapping.AttemptMap, mapping.StatusWords)
    keys = {key for struct in structs for key in struct.__struct_fields__} - {"variant"}

    assert [key for key in sorted(keys) if f"`{key}`" not in page] == []


def test_several_models_in_one_file_are_several_runs_in_one_group():
    found = runs(list(generic.read(NIGHTLY)))

    assert [(run.native_id, run.subject.model, run.group) for run in found] == [
        ("nightly", "alpha-1", "nightly"),
        ("nightly", "beta-2", "nightly"),
    ]


def test_execution_measurement_and_outcome_are_derived_row_by_row():
    assert [facts(attempt) for attempt in attempts(NIGHTLY)] == [
        ("completed", "scored", "pass"),
        ("completed", "scored", "fail"),
        ("error", "not_run", "none"),
        ("limit", "scored", "fail"),
        ("completed", "unscored", "none"),
        ("skipped", "not_run", "none"),
        ("completed", "scored", "pass"),
    ]


def test_trials_that_count_from_zero_count_from_one_here():
    assert [attempt.index for attempt in attempts(NIGHTLY)][:3] == [1, 2, 1]


def test_a_repeated_trial_is_a_duplicate_with_an_id_of_its_own():
    *_, first, second = attempts(NIGHTLY)

    assert (second.index, second.duplicate_of) == (2, first.id)


def test_an_empty_answer_is_not_a_missing_one():
    _, empty, none, *_ = attempts(NIGHTLY)

    assert (empty.output.text, none.output.text) == ("", None)


@pytest.mark.trap(8)
def test_a_null_check_does_not_apply_and_a_false_one_fails():
    _, null, _, false, *_ = attempts(NIGHTLY)

    assert (null.checks[0].status, false.checks[0].status) == ("not_applicable", "fail")


def test_absent_costs_and_tokens_are_not_zero():
    usage = attempts(NIGHTLY)[2].usage.subject

    assert (usage.cost, usage.input, usage.output) == (None, None, None)


def test_chat_messages_are_steps_with_calls_and_their_answers():
    steps = attempts(NIGHTLY)[0].steps

    assert [(step.actor.role, step.kind) for step in steps] == [
        ("system", "message"),
        ("user", "message"),
        ("assistant", "tool_call"),
        ("tool", "tool_result"),
        ("assistant", "message"),
    ]
    assert steps[2].tool_calls[0].arguments == {"harbour": "north"}
    assert steps[3].parent == 2


def test_a_column_name_that_comes_twice_hides_no_cell():
    assert attempts(TABLE)[0].extra["columns"] == {"note": "a", "note (2)": "b"}


def test_cases_without_a_name_are_told_apart_by_their_input():
    first, second, third = attempts(DOCUMENT)

    assert first.case != second.case == third.case
    assert (second.index, third.index, third.duplicate_of) == (1, 2, None)


def test_a_score_without_a_threshold_is_a_number():
    assert [(attempt.outcome, attempt.reported) for attempt in attempts(DOCUMENT)] == [
        ("number", 0.25),
        ("pass", 1.0),
        ("none", None),
    ]


@pytest.mark.parametrize("path", [NIGHTLY, TABLE, DOCUMENT])
def test_a_file_is_claimed_only_with_a_mapping_beside_it(tmp_path: Path, path: Path):
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes())

    assert generic.recognise(path) is not None
    assert generic.recognise(copy) is None
