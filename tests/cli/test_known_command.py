"""`errata known`: gaps that are accepted, by case or by pattern."""

import shlex

import pytest

from terminal import done, errata

SHAPE = "002-queries/006-pagination_shape"
TEXT = ("--text", "The guidelines are silent on the shape of a page")

pytestmark = pytest.mark.usefixtures("own_two_runs")


def known(*words):
    return done("known", "list", "--json", *words).rows


@pytest.mark.parametrize(
    "name", [SHAPE, "006-pagination_shape", f"convex-evals/{SHAPE}", "jn7mqywb/006-pagination_shape"]
)
def test_a_case_is_named_by_the_end_of_its_name(name):
    """E-12: errata keeps its own list of known gaps."""
    done("known", "add", name, *TEXT)

    (row,) = known()
    assert (row["gap"]["case_key"], row["gap"]["text"]) == (f"convex-evals/{SHAPE}", TEXT[1])
    assert (row["gap"]["suite"], row["gap"]["source"]) == ("convex-evals", "person")


def test_a_pattern_names_all_cases_that_it_fits():
    row = done("known", "add", "002-queries/*", *TEXT, "--json").row

    assert row["gap"]["pattern"] == "convex-evals/002-queries/*"
    assert len(row["cases"]) == 4
    assert "matches  4 cases" in done("known", "add", "002-queries/*", *TEXT).out


def test_a_dry_run_keeps_nothing():
    assert "nothing was written" in done("known", "add", SHAPE, *TEXT, "--dry-run").out
    assert known() == []


def test_the_list_is_for_people_too():
    done("known", "add", SHAPE, *TEXT, "--author", "ana")

    name = known()[0]["gap"]
    assert done("known", "list").out == (
        "id        case and reason\n"
        f"{name['id'][:8]}  {SHAPE} · convex-evals\n          {TEXT[1]}   since {name['since']}, by ana\n"
    )


def test_an_empty_list_says_what_to_do():
    assert "record one with `errata known add CASE --text TEXT`" in done("known", "list").err


@pytest.mark.parametrize("name", ["006-pagination_shape", SHAPE, f"convex-evals/{SHAPE}"])
def test_a_gap_is_forgotten_by_its_case(name):
    done("known", "add", SHAPE, *TEXT)
    done("known", "rm", name)

    assert known() == []


def test_a_gap_is_forgotten_by_its_pattern():
    done("known", "add", "002-queries/*", *TEXT)
    done("known", "rm", "002-queries/*")

    assert known() == []


def test_forgetting_a_gap_tells_how_to_bring_it_back():
    done("known", "add", SHAPE, *TEXT, "--author", "ana")
    before = known()

    row = done("known", "rm", before[0]["gap"]["id"][:8], "--json").row
    assert known() == []
    done(*shlex.split(row["undo"])[1:])

    assert known() == before


def test_forgetting_in_a_dry_run_keeps_it():
    done("known", "add", SHAPE, *TEXT)

    assert "nothing was removed" in done("known", "rm", SHAPE, "--dry-run").out
    assert known()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("add", "006-pagination_shap", *TEXT), "did you mean"),
        (("add", "nowhere/*", *TEXT), "No case matches the pattern `nowhere/*`"),
        (("add", SHAPE, "--text", " "), "`--text` is empty"),
        (("add", SHAPE, "--suite", "other", *TEXT), "No case is named"),
        (("add", SHAPE), "Missing option '--text'"),
        (("rm", "nowhere"), "No known gap is named `nowhere`"),
    ],
)
def test_what_can_not_be_meant_is_refused(words, told):
    result = errata("known", *words)

    assert result.code == 2
    assert told in result.talk
    assert known() == []


def test_a_name_that_several_cases_end_with_is_refused(tmp_path):
    rows = '{"id": "a/same", "ok": false}\n{"id": "b/same", "ok": false}\n'
    (tmp_path / "rows.jsonl").write_text(rows)
    (tmp_path / "map.toml").write_text('[case]\nname = "id"\n[attempt]\npassed = "ok"\n')
    done("import", "rows.jsonl", "--map", "map.toml")

    result = errata("known", "add", "same", *TEXT)

    assert result.code == 2
    assert "`same` names 2 cases" in result.talk


def test_a_pattern_that_fits_cases_of_two_suites_needs_the_suite(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"id": "002-queries/x", "ok": false}\n')
    (tmp_path / "map.toml").write_text('suite = "mine"\n[case]\nname = "id"\n[attempt]\npassed = "ok"\n')
    done("import", "rows.jsonl", "--map", "map.toml")

    result = errata("known", "add", "002-queries/*", *TEXT)

    assert result.code == 2
    assert "name one: `--suite convex-evals`, `--suite mine`" in result.talk
    assert done("known", "add", "002-queries/*", *TEXT, "--suite", "mine", "--json").row["cases"] == [
        "mine/002-queries/x"
    ]


def test_secrets_and_controls_stay_out():
    secret = "ghp_" + "a1B2" * 9
    done("known", "add", SHAPE, "--text", f"needs {secret}\x1b[31m\u202e\nhere")

    assert known()[0]["gap"]["text"] == "needs [redacted:github-token] here"
