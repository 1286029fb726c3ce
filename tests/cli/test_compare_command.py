"""`errata compare`: what it refuses, what it leaves out, what it writes."""

import csv
import re
import shlex

import msgspec
import pytest

from terminal import FIXTURES, done, errata, import_fixtures

ALPHA_1, ALPHA_2, BETA, GAMMA = "1a2b3c4d", "5e6f7a8b", "9c0d1e2f", "3a4b5c6d"
COMPARED = (ALPHA_1, ALPHA_2, BETA, GAMMA)
RUN_A = FIXTURES / "convex_evals" / "run_a" / "data" / "run-a"
RUN_B = FIXTURES / "convex_evals" / "run_b" / "data" / "run-b"
MAP = """\
[run]
name = { column = "run" }
model = { column = "model" }
[case]
name = "id"
category = "kind"
[attempt]
passed = "ok"
"""


def rows_of(run, model, outcomes, kind="all"):
    """`outcomes`: case → whether it passed."""
    return [{"run": run, "model": model, "id": case, "ok": ok, "kind": kind} for case, ok in outcomes.items()]


def imported(tmp_path, *rows):
    (tmp_path / "rows.jsonl").write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    (tmp_path / "map.toml").write_text(MAP)
    done("import", "rows.jsonl", "--map", "map.toml")


def test_runs_of_different_suites_are_refused_with_what_differs(library):
    result = errata("compare", ALPHA_1, "jn7mqywb", "--store", library)

    assert (result.code, result.out) == (4, "")
    assert "These runs can't be compared: they differ in suite and cases" in result.talk
    assert "suite: harbour_bench in voice-alpha; convex-evals in acme/nimbus-2-coder" in result.talk
    assert "they share no case that all of them were measured on" in result.talk


def test_runs_that_share_nothing_are_refused_with_common_too(library):
    result = errata("compare", ALPHA_1, "jn7mqywb", "--common", "--store", library)

    assert result.code == 4
    assert "No case was measured in every one of these runs" in result.talk


def next_commands(page: str) -> list[list[str]]:
    """The commands that a page suggests, as a shell would split them."""
    lines = page.replace("\\\n", " ").splitlines()
    rows = [line.removeprefix("Next").strip() for line in lines]
    return [shlex.split(re.split(r"\s{3,}", row)[0])[1:] for row in rows if row.startswith("errata ")]


@pytest.mark.parametrize("command", [["compare", "first", "second", "--common"], ["analyze", "first"]])
def test_the_next_commands_of_a_page_run_as_they_are_printed(tmp_path, command):
    imported(
        tmp_path,
        *rows_of("first", "m", {"a": True, "b": False, "c": True}),
        *rows_of("second", "n", {"a": False, "b": False}),
    )
    commands = next_commands(done(*command).out)

    assert commands
    for words in commands:
        done(*words)


def test_runs_with_other_cases_are_refused_and_common_compares_what_they_share(tmp_path):
    imported(
        tmp_path,
        *rows_of("first", "m", {"a": True, "b": False, "c": True}),
        *rows_of("second", "n", {"a": False, "b": False}),
    )
    refused = errata("compare", "first", "second")
    found = done("compare", "first", "second", "--common", "--json").row

    assert refused.code == 4
    assert "`--common` compares the 2 cases that every run measured" in refused.talk
    assert [row["case"] for row in found["matrix"]] == ["a", "b"]
    assert [one["scores"]["strict"]["total"] for one in found["runs"]] == [2, 2]


def test_one_run_is_no_comparison(library):
    result = errata("compare", ALPHA_1, "--store", library)

    assert result.code == 2
    assert "A comparison needs two runs or more" in result.talk


def test_an_excluded_run_is_left_out_and_named(tmp_path):
    import_fixtures(RUN_A, RUN_B)
    imported(
        tmp_path, *rows_of("x", "m", {"a": True}), *rows_of("y", "n", {"a": True}), *rows_of("z", "o", {"a": False})
    )
    done("exclude", "y", "--reason", "wrong settings")
    found = done("compare", "x", "y", "z", "--json").row

    assert [one["label"] for one in found["runs"]] == ["m", "o"]
    (left_out,) = found["left_out_runs"]
    assert (left_out["why"], left_out["excluded"]) == ("excluded", "wrong settings")
    assert "left out y n: excluded: wrong settings\n" in done("compare", "x", "y", "z").out


def test_only_a_category_can_be_compared(library):
    found = done("compare", ALPHA_1, BETA, "--category", "multi_step_tool", "--json", "--store", library).row

    assert [row["case"] for row in found["matrix"]] == ["turn-11", "turn-20", "turn-24"]
    assert [one["scores"]["strict"]["total"] for one in found["runs"]] == [3, 3]
    assert {one["name"]: one["all"] for one in found["failed_checks"]} == {
        "tool_use_correct": 3,
        "instruction_following": 1,
        "state_tracking": 2,
    }


def test_a_category_that_nobody_knows_is_refused_with_what_may_be_meant(library):
    result = errata("compare", ALPHA_1, BETA, "--category", "multi_step", "--store", library)

    assert result.code == 2
    assert "did you mean `multi_step_tool`?" in result.talk


def test_the_runs_of_a_model_can_be_one_column(library):
    found = done("compare", *COMPARED, "--by-model", "--json", "--store", library).row
    states = {row["case"]: row["states"] for row in found["matrix"]}

    assert [one["label"] for one in found["columns"]] == ["voice-alpha", "voice-beta", "acme/voice-gamma"]
    assert found["columns"][0]["scores"]["strict"]["passed"] == 51
    assert states["turn-5"] == ["mixed", "passed", "passed"]
    assert states["turn-11"] == ["failed", "failed", "failed"]
    assert len(found["pairs"]) == 3


def test_the_matrix_is_written_as_a_table(library, tmp_path):
    result = done("compare", *COMPARED, "--csv", tmp_path / "matrix.csv", "--store", library)
    with (tmp_path / "matrix.csv").open(newline="") as file:
        rows = list(csv.reader(file))

    assert "wrote" in result.err
    assert rows[0] == ["case", "categories", "voice-alpha #1", "voice-alpha #2", "voice-beta", "acme/voice-gamma"]
    assert rows[12] == ["turn-11", "multi_step_tool cancellation_flow", "failed", "failed", "failed", "failed"]
    assert len(rows) == 31


def test_a_table_that_can_not_be_written_is_told(library, tmp_path):
    result = errata("compare", ALPHA_1, BETA, "--csv", tmp_path / "no" / "matrix.csv", "--store", library)

    assert result.code == 2
    assert "can't be written: No such file or directory" in result.talk


def test_a_cell_that_a_spreadsheet_would_act_on_is_quoted(tmp_path):
    imported(tmp_path, *rows_of("x", "m", {"=1+1": True}), *rows_of("y", "n", {"=1+1": False}))
    done("compare", "x", "y", "--csv", "matrix.csv")

    assert "'=1+1," in (tmp_path / "matrix.csv").read_text()


def test_where_everything_passes_the_page_is_short(tmp_path):
    imported(tmp_path, *rows_of("x", "m", {"a": True}), *rows_of("y", "n", {"a": True}))

    assert done("compare", "x", "y").out.endswith("\nEvery case passes in every run\n")


@pytest.fixture
def many(tmp_path):
    """Two runs over 300 cases, of which every second differs."""
    cases = [f"a-case-with-a-name-{number:03}" for number in range(300)]
    imported(
        tmp_path,
        *rows_of("x", "m", dict.fromkeys(cases, True)),
        *rows_of("y", "n", {case: at % 2 == 0 for at, case in enumerate(cases)}),
    )
    return cases


def test_a_large_matrix_is_summed_up(many):
    page = done("compare", "x", "y").out

    assert "150 of 300 cases pass in every run" in page
    assert "`--all` prints the matrix; `--csv FILE` and `--json` write it" in page
    assert "failed by one run only n  a-case-with-a-name-001, a-case-with-a-name-003" in page
    assert " more\n" in page
    assert len(page.splitlines()) < 60


def test_a_large_matrix_is_whole_in_json_and_on_demand(many):
    assert len(done("compare", "x", "y", "--json").row["matrix"]) == 300
    assert sum(line.startswith("a-case-with") for line in done("compare", "x", "y", "--all").out.splitlines()) == 300


@pytest.mark.parametrize("options", [[], ["--all"], ["--by-model"], ["--common"]])
def test_the_page_is_no_wider_than_a_hundred_columns(library, options):
    for runs in (COMPARED, (BETA, "0b1c2d3e"), ("jn709tmj", "jn7mqywb", "jn7maewn")):
        for line in done("compare", *runs, *options, "--store", library).out.splitlines():
            assert len(line) <= 100, line


def test_very_many_runs_with_long_names_fit_the_page(tmp_path):
    runs = [
        row
        for number in range(30)
        for row in rows_of(
            f"r{number:02}", f"a-rather-long-name-of-a-model-{number}", {"x" * 60: number % 3 > 0, "b": True}
        )
    ]
    imported(tmp_path, *runs)
    page = done("compare", *(f"r{number:02}" for number in range(30))).out

    assert max(map(len, page.splitlines())) <= 100
    assert "a-rather-long-name-of-a-model-29" in page


def test_names_from_a_log_can_not_act_on_the_terminal(tmp_path):
    imported(
        tmp_path,
        *rows_of("x", "m\x1b[31m", {"a\x1b]0;owned\x07": False}, kind="\u202ek"),
        *rows_of("y", "n\x1b[31m", {"a\x1b]0;owned\x07": True}, kind="\u202ek"),
    )
    page = done("compare", "x", "y").out + done("compare", "x", "y", "--json").out

    assert "\x1b" not in page
    assert "\u202e" not in page
