"""Who is compared, under which name, and how each case went with each of them."""

import pytest
from matrices import a_matrix, cells, numbers

from errata.compare.matrix import by_subject, columns_of, matrix_of, own_names, subject_names
from errata.model import Subject
from errata.model.cells import Cell
from errata.testing import a_run


def labels(*runs):
    return [column.label for column in columns_of([(run, pk) for pk, run in enumerate(runs)])]


def a_run_of(model, agent="", version="", **variant):
    return a_run(subject=Subject(model=model, agent=agent, agent_version=version), variant=variant)


@pytest.mark.trap(5)
def test_two_runs_of_one_model_are_two_columns_of_one_subject():
    columns = columns_of([(a_run_of("alpha"), 1), (a_run_of("alpha"), 2), (a_run_of("beta"), 3)])

    assert [column.label for column in columns] == ["alpha #1", "alpha #2", "beta"]
    assert [column.subject for column in columns] == ["alpha", "alpha", "beta"]


def test_what_tells_two_subjects_of_one_model_apart_is_part_of_their_names():
    assert labels(a_run_of("m", prompt="terse"), a_run_of("m", prompt="long")) == [
        "m (prompt terse)",
        "m (prompt long)",
    ]
    assert labels(a_run_of("m", agent="one"), a_run_of("m", agent="two")) == ["m (one)", "m (two)"]
    assert labels(a_run_of("m", "one", "1"), a_run_of("m", "one", "2")) == ["m (version 1)", "m (version 2)"]
    assert labels(a_run_of("m"), a_run_of("m", mode="rehydrated")) == ["m", "m (mode rehydrated)"]


def test_what_is_the_same_in_all_runs_of_a_model_is_no_part_of_its_name():
    assert labels(a_run_of("m", "agent", seed="1"), a_run_of("n", "agent", seed="2")) == ["m", "n"]


def test_a_run_without_a_model_is_called_by_its_agent_or_its_source():
    assert subject_names([a_run_of("", "agent"), a_run_of("")]) == ["agent", "test"]


def test_runs_of_unknown_models_are_never_one_subject():
    runs = [a_run(native_id=name, subject=Subject(agent="terminus")) for name in ("one", "two")]

    assert subject_names(runs) == ["terminus (one)", "terminus (two)"]
    assert labels(*runs, a_run(native_id="three", subject=Subject(model="m", agent="terminus")))[2] == "m"


@pytest.mark.parametrize(
    ("differs", "named"),
    [
        ({"origin": ("/runs/first", "/runs/second")}, ["first", "second"]),
        ({"origin": ("/runs/a/job", "/runs/b/job")}, ["a/job", "b/job"]),
        ({"started_at": ("2026-05-04T10:00:00Z", "2026-05-05T10:00:00Z")}, ["2026-05-04 10:00", "2026-05-05 10:00"]),
        ({"id": ("id-1", "id-2")}, ["id-1", "id-2"]),
    ],
)
def test_runs_of_one_name_are_distinguished_by_folder_time_or_id(differs, named):
    ((field, values),) = differs.items()
    runs = [a_run(native_id="job", **{"id": f"x{at}", field: value}) for at, value in enumerate(values)]

    assert own_names(runs) == named


def test_long_values_are_told_by_the_part_that_tells_them_apart():
    start, end = "You are a helpful assistant who translates everything. ", "Answer with one word."

    assert labels(a_run_of("m", prompt=start + "Be brief."), a_run_of("m", prompt=start + "Be long.")) == [
        "m (prompt …ranslates everything. Be brief.)",
        "m (prompt …translates everything. Be long.)",
    ]
    assert labels(a_run_of("m", prompt=start + "A " + start), a_run_of("m", prompt=start + "B " + start)) == [
        "m (prompt 1)",
        "m (prompt 2)",
    ]
    assert labels(a_run_of("m", prompt="One. " + start), a_run_of("m", prompt=end)) == [
        "m (prompt One. You are a helpful assistan…)",
        "m (prompt Answer with one word.)",
    ]


def test_cases_come_by_their_position_where_all_have_one():
    columns = columns_of([(a_run(), 1)])
    placed = [Cell(1, f"suite/{name}", "passed", 1, 1, 0, at) for name, at in (("b", 0), ("c", 2), ("a", 1))]

    assert list(matrix_of(columns, placed).rows) == ["suite/b", "suite/a", "suite/c"]


def test_cases_come_by_name_where_one_has_no_position_and_numbers_count_as_numbers():
    columns = columns_of([(a_run(), 1)])
    placed = [Cell(1, f"suite/turn-{n}", "passed", 1, 1, 0, at) for n, at in ((10, 0), (9, 1), (2, None))]

    assert list(matrix_of(columns, placed).rows) == ["suite/turn-2", "suite/turn-9", "suite/turn-10"]


def test_a_case_passes_everywhere_only_where_every_run_passes_it():
    assert numbers(a_matrix("....", ".F? ").passed_everywhere) == [0]


def test_the_runs_of_a_subject_together_pass_fail_or_waver():
    (row,) = zip(*by_subject(a_matrix(".F.?F!", ".FF..F", models="aa")).rows.values(), strict=True)

    assert [cell.state for cell in row] == ["passed", "failed", "mixed", "passed", "mixed", "failed"]
    assert [(cell.attempts, cell.passes, cell.fails) for cell in row][:3] == [(2, 2, 0), (2, 0, 2), (2, 1, 1)]


def test_every_state_is_passed_failed_or_neither():
    states = {cell.state: (cell.passed, cell.failed, cell.decided) for cell in cells(1, ".Fec?-~!")}

    assert states == {
        "passed": (True, False, True),
        "failed": (False, True, True),
        "error": (False, True, True),
        "follows": (False, True, True),
        "unscored": (False, False, False),
        "missing": (False, False, False),
        "mixed": (False, False, False),
        "contradictory": (False, False, False),
    }
