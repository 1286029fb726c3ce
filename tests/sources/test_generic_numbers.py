"""Tables of one's own: numbers without a threshold are measured values, not passes and failures."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_generic_verdicts import CASE, read

from errata.checkup import examine
from errata.sources.generic.draft import draft_mapping
from errata.sources.generic.mapping import load

MAPPING = f'{CASE}passed = "ok"\n[checks]\nvalue = "value"'


def table(values: list[Any]) -> list[dict[str, Any]]:
    return [{"id": f"c{number}", "ok": number % 2, "value": value} for number, value in enumerate(values)]


def statuses(folder: Path, values: list[Any], mapping: str = MAPPING) -> list[str]:
    _, attempts = read(folder, table(values), mapping)
    return [check.status for attempt in attempts for check in attempt.checks if check.name == "value"]


@pytest.mark.parametrize("values", [[0, 1, 1], [0.0, 1.0, None], [False, True, None], ["0", "1", ""]])
def test_a_column_of_only_zero_and_one_is_no_and_yes(tmp_path: Path, values: list[Any]):
    assert statuses(tmp_path, values)[:2] == ["fail", "pass"]


def test_a_threshold_decides_over_every_number(tmp_path: Path):
    mapping = f'{CASE}passed = "ok"\n[checks]\nvalue = {{ column = "value", threshold = 0.5 }}'

    assert statuses(tmp_path, [0, 1, 0.4], mapping) == ["fail", "pass", "fail"]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 5), min_size=1, max_size=6))
def test_a_measured_number_is_never_without_a_value(tmp_path_factory, values):
    run, attempts = read(tmp_path_factory.mktemp("t"), table(values), MAPPING)
    found = examine(run, attempts, (), now=datetime(2026, 3, 1, tzinfo=UTC))

    assert [finding for finding in found if finding.rule == "valueless_checks"] == []


@pytest.mark.parametrize(
    "columns",
    [
        ("tests_passed", "tests_total"),
        ("regression_passed", "regression_total"),
        ("n_tests", "num_failed"),
        ("passed_count", "test_count"),
    ],
)
def test_counts_of_tests_are_not_drafted_as_checks(tmp_path: Path, columns: tuple[str, str]):
    first, second = columns
    path = tmp_path / "log.csv"
    rows = [f"c{number},{number % 2},{number % 3},{2 + number % 2}" for number in range(6)]
    path.write_text("\n".join([f"task,solved,{first},{second}", *rows]) + "\n", encoding="utf-8")

    drafted = draft_mapping(path)
    path.with_name("log.csv.map.toml").write_text(drafted.text, encoding="utf-8")

    assert load(path.with_name("log.csv.map.toml")).checks == {}
    assert first in drafted.text.partition("not mapped")[2]


def test_a_total_of_one_is_a_count_beside_passes(tmp_path: Path):
    path = tmp_path / "log.csv"
    path.write_text("task,solved,target_passed,target_total\na,1,1,1\nb,0,0,1\nc,1,1,1\n", encoding="utf-8")

    assert "[checks]" not in draft_mapping(path).text
