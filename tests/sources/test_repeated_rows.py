"""A row that comes twice: a copy is counted once and reported, in every source; one that differs is shown as such."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from changed_logs import change, copy_of, items
from test_wrong_numbers import attempts, findings

from errata.model import Unreadable


class RepeatedRow(NamedTuple):
    fixture: str
    file: str
    place: str
    """The field with the rows; empty for a file of lines."""
    at: int = 0


ROWS = [
    RepeatedRow("inspect_ai/demo_json", "*.json", "samples"),
    RepeatedRow("tau_bench/tau2", "*.json", "simulations"),
    RepeatedRow("tau_bench/tau", "*.json", ""),
    RepeatedRow("helm/demo", "scenario_state.json", "request_states"),
    RepeatedRow("evalscope/repeats", "reviews/*/*.jsonl", ""),
    RepeatedRow("every_eval_ever/from_inspect", "*_samples.jsonl", ""),
]


def repeat(log: Path, row: RepeatedRow, how: Any = lambda _: None) -> None:
    """Append one of the rows again, changed by `how`."""
    path = next(path for path in sorted(log.rglob(row.file.rpartition("/")[2])) if path.match(row.file))
    if path.suffix == ".jsonl":
        lines = path.read_text().splitlines()
        path.write_text("\n".join([*lines, lines[row.at]]) + "\n")
        return

    def append(document: Any) -> None:
        rows = document[row.place] if row.place else document
        rows.append(rows[row.at] | (how(rows[row.at]) or {}))

    change(path, append)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.fixture)
def test_a_copied_row_is_counted_once_and_reported(tmp_path, row):
    log = copy_of(row.fixture, tmp_path)
    before = len(attempts(log))
    repeat(log, row)
    found = findings(log, "duplicate_case")

    assert len(attempts(log)) == before
    assert [one.severity for one in found] == ["warning"]
    assert found[0].text.startswith("1 row is a copy of another one and is not counted: ")
    assert findings(log, "unreadable") == []


def test_a_copied_row_of_an_lm_eval_file_is_counted_once(tmp_path):
    log = copy_of("lm_eval/dummy", tmp_path)
    before = len(attempts(log))
    repeat(log, RepeatedRow("lm_eval/dummy", "samples_demo_mc*.jsonl", ""))
    copies = [item for item in items(log) if isinstance(item, Unreadable) and item.copy_of]

    assert len(attempts(log)) == before
    assert len(copies) == 1


def test_a_repeated_trial_with_another_result_is_no_copy(tmp_path):
    log = copy_of("tau_bench/tau2", tmp_path)
    before = len(attempts(log))
    repeat(log, ROWS[1], lambda row: {"reward_info": row["reward_info"] | {"reward": 1 - row["reward_info"]["reward"]}})

    assert len(attempts(log)) == before + 1
    assert [one.severity for one in findings(log, "duplicate_case")] == ["error"]


def test_a_repeated_request_with_another_reference_differs(tmp_path):
    log = copy_of("helm/demo", tmp_path)
    other = {"output": {"text": "another"}, "tags": ["correct"]}
    repeat(log, ROWS[3], lambda row: {"instance": row["instance"] | {"references": [other]}})
    (found,) = findings(log, "rows_differ")

    assert found.text.startswith("rows of one case differ in what they expect: 1 case")
    assert any("another" in one.quote for one in found.evidence)


def test_a_repeated_result_with_another_reference_differs(tmp_path):
    log = copy_of("every_eval_ever/from_inspect", tmp_path)
    path = next(log.rglob("*_samples.jsonl"))
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines, lines[-1].replace("Canberra", "Sydney")]) + "\n")
    (found,) = findings(log, "rows_differ")

    assert found.text.startswith("rows of one case differ in what they expect: 1 case")
    assert len(attempts(log)) == 14
