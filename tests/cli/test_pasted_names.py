"""Whatever name a page prints can be pasted back: runs, models, cases; none is altered or cut."""

import json
from pathlib import Path

import pytest

from terminal import done, errata

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


def test_the_printed_name_of_a_run_wins_over_the_beginning_of_its_name():
    import_rows([{"run": "demo/open-book-2026", "model": "", "id": "q-1", "ok": False}])
    (printed,) = [line.split()[0] for line in done("runs").out.splitlines()[1:] if not line.startswith(" ")]

    assert "/" in printed
    assert done("show", f"{printed}/q-1", "--json").row["attempt"]["case"] == "quiz/q-1"
