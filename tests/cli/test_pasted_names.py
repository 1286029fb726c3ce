"""Whatever name a page prints can be pasted back: runs, models, cases; none is altered or cut."""

import json
from pathlib import Path

import pytest

from terminal import FIXTURES, done, errata

GENERIC = FIXTURES / "generic" / "jsonl" / "data"
MAP = (
    'suite = "quiz"\n[run]\nname = { column = "run" }\nmodel = { column = "model" }\n'
    '[case]\nname = "id"\n[attempt]\npassed = "ok"\n'
)


def import_rows(rows, name="table.jsonl"):
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("map.toml").write_text(MAP)
    done("import", name, "--map", "map.toml")


@pytest.fixture
def quiz():
    """Two models on six questions whose ids are a letter and a number."""
    import_rows(
        {"run": "nightly", "model": model, "id": f"q-{number:04}", "ok": number % step == 0}
        for model, step in (("alpha", 2), ("beta", 3))
        for number in range(90, 96)
    )


@pytest.mark.req("B-79")
def test_a_comparison_prints_ids_as_the_log_has_them(quiz):
    page = done("compare", "alpha", "beta").out

    assert "6 cases" in page
    assert "qs" not in page.replace("q-", "").split()
    assert "\nq-0094  ." in page


@pytest.mark.req("B-79")
@pytest.mark.parametrize("case", ["q-0094", "0094", "quiz/q-0094"])
def test_a_case_is_found_with_and_without_the_beginning_of_its_name(quiz, case):
    assert done("show", f"beta/{case}", "--json").row["attempt"]["case"] == "quiz/q-0094"


def test_an_ending_that_several_cases_have_names_none(quiz):
    import_rows([{"run": "r", "model": "gamma", "id": f"{letter}-7", "ok": False} for letter in "ab"], "more.jsonl")

    assert errata("show", "gamma/7").code == 2


def test_a_case_alone_is_that_of_the_newest_run_that_has_it(quiz):
    assert done("show", "q-0093", "--json").row["attempt"]["case"] == "quiz/q-0093"


@pytest.mark.req("B-83")
def test_runs_of_one_table_have_names_that_differ(quiz):
    page = done("runs").out
    names = [line.split()[0] for line in page.splitlines()[1:] if not line.startswith(" ")]

    assert sorted(names) == ["alpha", "beta"]
    assert page.count("logged as nightly") == 2


@pytest.mark.req("B-83")
@pytest.mark.parametrize("selector", ["alpha", "nightly@alpha"])
def test_a_model_names_its_only_run(quiz, selector):
    assert done("show", selector, "--json").row["run"]["subject"]["model"] == "alpha"


@pytest.mark.req("B-83")
def test_runs_that_differ_in_their_variant_alone_are_named_by_it():
    rows = ({"model": "alpha", "prompt": prompt, "id": "q-1", "ok": False} for prompt in ("terse", "verbose"))
    Path("table.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("map.toml").write_text(
        'suite = "quiz"\n[run]\nname = "a-name-that-is-rather-long-and-shared"\nmodel = { column = "model" }\n'
        '[run.variant]\nprompt = { column = "prompt" }\n[case]\nname = "id"\n[attempt]\npassed = "ok"\n'
    )
    done("import", "table.jsonl", "--map", "map.toml")
    names = {line.split()[0] for line in done("runs").out.splitlines()[1:] if not line.startswith(" ")}

    assert {"alpha@terse", "alpha@verbose"} <= names
    assert done("show", "alpha@terse", "--json").row["run"]["variant"] == {"prompt": "terse"}


@pytest.mark.req("B-83")
def test_two_tables_of_the_same_models_are_named_by_both(quiz):
    import_rows(
        ({"run": "weekly", "model": model, "id": "q-0090", "ok": False} for model in ("alpha", "beta")), "weekly.jsonl"
    )
    names = {line.split()[0] for line in done("runs").out.splitlines()[1:] if not line.startswith(" ")}

    assert names == {"nightly@alpha", "nightly@beta", "weekly@alpha", "weekly@beta"}
    for name in names:
        run = done("show", name, "--json").row["run"]
        assert f"{run['native_id']}@{run['subject']['model']}" == name
    assert "`alpha` names 2 runs" in errata("show", "alpha").err


def test_a_vendor_may_be_left_out_and_its_slash_is_no_case(library):
    for selector in ("acme/voice-gamma", "voice-gamma"):
        run = done("show", selector, "--json", "--store", library).row["run"]
        assert run["subject"]["model"] == "acme/voice-gamma"
        case = done("show", f"{selector}/turn-11", "--json", "--store", library).row["attempt"]["case"]
        assert case.endswith("turn-11")


def test_a_name_wins_over_a_model():
    import_rows([{"run": "alpha", "model": "beta", "id": "one", "ok": False}])
    import_rows([{"run": "other", "model": "alpha", "id": "one", "ok": False}], "other.jsonl")

    assert done("show", "alpha", "--json").row["run"]["native_id"] == "alpha"
    assert {line.split()[0] for line in done("runs").out.splitlines()[1:]} >= {"alpha", "other"}


@pytest.mark.parametrize("case", ["q-1", "part/q-2"])
def test_the_printed_name_of_a_run_can_be_pasted_before_a_case_even_if_its_beginning_is_a_model(case):
    """`demo/ope` is printed for a run whose name begins so, while `demo` is the model of several runs."""
    rows = [
        {"run": run, "model": model, "id": name, "ok": False}
        for run, model in (("demo/open-book-2026", "other"), ("first", "demo"), ("second", "demo"))
        for name in ("q-1", "part/q-2")
    ]
    import_rows(rows)
    printed = [line.split()[0] for line in done("runs").out.splitlines()[1:] if not line.startswith(" ")]
    assert sorted(name.count("/") for name in printed) == [0, 0, 1]
    shown = [done("show", f"{name}/{case}", "--json").row["attempt"] for name in printed]
    assert len({attempt["id"].partition(":")[0] for attempt in shown}) == len(printed) == 3
    assert {attempt["case"] for attempt in shown} == {f"quiz/{case}"}
    assert "`demo` names 2 runs" in errata("show", "demo/q-1").err


def test_the_printed_name_of_a_run_wins_over_the_beginning_of_its_name():
    import_rows([{"run": "demo/open-book-2026", "model": "", "id": "q-1", "ok": False}])
    (printed,) = [line.split()[0] for line in done("runs").out.splitlines()[1:] if not line.startswith(" ")]

    assert "/" in printed
    assert done("show", f"{printed}/q-1", "--json").row["attempt"]["case"] == "quiz/q-1"
