"""Rows that do not fit their case."""

import pytest
from checkup_fixtures import NOW, RUN, check, row
from hypothesis import given
from hypothesis import strategies as st

from errata.checkup import findings_in, look_up_mentions
from errata.checkup.survey import RunSurvey
from errata.model import Case, Check, SourceRef

TASKS = ("chess-best-move", "hello-world", "csv_to_parquet", "fix-git-42", "sudoku")


def a_row(task, *checks, **extra):
    made = tuple(Check(name=name, status="pass") for name in checks)
    return row(TASKS.index(task), case=f"suite/{task}", checks=made, extra=extra)


def foreign(rows, cases=()):
    survey = RunSurvey(run=RUN, unreadables=(), now=NOW)
    for attempt in rows:
        survey.add(attempt)
    look_up_mentions(survey, cases)
    return [one for one in findings_in(survey) if one.name == "foreign_checks"]


def others(*but):
    return [a_row(task, "tests") for task in TASKS if task not in but]


@pytest.mark.req("B-19")
@pytest.mark.parametrize(
    "name",
    [
        "tests/chess-best-move/test_outputs.py::test_move",
        "test_chess_best_move.py::test_move",
        "assert chess-best-move solved",
        "chess_best_move",
    ],
)
def test_a_check_that_names_another_task_is_found(name):
    (finding,) = foreign([*others("hello-world"), a_row("hello-world", name)])

    assert finding.severity == "warning"
    assert finding.text == (
        "1 case carries the checks or the id of another task: hello-world has those of chess-best-move"
    )
    assert (finding.evidence[0].quote, finding.evidence[0].ref.line) == (name, 2)


def test_the_id_of_another_task_inside_a_row_is_found():
    (finding,) = foreign([*others("hello-world"), a_row("hello-world", columns={"task_id": "sudoku"})])

    assert finding.evidence[0].quote == "task_id: sudoku"


@pytest.mark.parametrize(
    "given_row",
    [
        a_row("hello-world", "tests/hello_world/test_outputs.py::test_file"),
        a_row("hello-world", "hello-world beside chess-best-move"),
        a_row("hello-world", "tests", columns={"task_id": "hello-world"}),
        a_row("hello-world", "tests", columns={"task_id": "no-case-of-this-run"}),
        a_row("hello-world", "tests", columns={"note": "sudoku"}),
        a_row("hello-world", "test_outputs.py::test_sudok"),
        a_row("hello-world", "sudoku"),
    ],
)
def test_a_row_that_names_its_own_task_or_none_is_left_alone(given_row):
    assert not foreign([*others("hello-world"), given_row])


def test_rows_that_all_carry_the_checks_of_the_next_task_make_the_run_unfit():
    """As in a published file, where 154 of 155 rows were shifted by one."""
    tasks = [f"task-{number:03}" for number in range(155)]
    rows = [
        row(at, case=f"suite/{task}", checks=(Check(name=f"{other}/check.py::test_answer", status="fail"),))
        for at, (task, other) in enumerate(zip(tasks, [*tasks[1:], tasks[-1]], strict=True))
    ]

    (finding,) = foreign(rows)

    assert finding.severity == "error"
    assert finding.numbers == {"cases": 154}


def test_assertions_that_the_case_holds_are_read_as_well():
    case = Case(
        run=RUN.id,
        suite="suite",
        native_id="hello-world",
        expected=[{"type": "file", "path": "/out/fix-git-42/result.txt"}],
        ref=SourceRef(file="tasks.json", line=7),
    )

    (finding,) = foreign(others(), [case])

    assert finding.text.endswith("hello-world has those of fix-git-42")


@given(st.permutations([*others("hello-world"), a_row("hello-world", "test_sudoku.py::test_x"), a_row("sudoku", "y")]))
def test_the_order_of_rows_does_not_change_the_finding(rows):
    (finding,) = foreign(rows)

    assert finding.text.endswith("hello-world has those of sudoku")


def test_a_healthy_run_has_no_such_finding():
    assert not [one for one in check([row(at) for at in range(5)]) if one.name in ("foreign_checks", "rows_differ")]
