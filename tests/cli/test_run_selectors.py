"""RUN: a path, a unique prefix, the 8-hex tail, a name, or `latest`; RUN/CASE and ATTEMPT below it."""

import shutil
from pathlib import Path

import pytest

from bucket_runs import a_stored_run
from errata.store.database import open_store
from terminal import FIXTURES, done, errata, import_fixtures

RUN_B = FIXTURES / "convex_evals" / "run_b" / "data" / "run-b"
RUN_D = FIXTURES / "convex_evals" / "run_d" / "data" / "run-d"
GENERIC = FIXTURES / "generic" / "jsonl" / "data"


def meant(library, selector):
    return done("show", selector, "--json", "--store", library).row["run"]["native_id"]


@pytest.mark.parametrize(
    "selector",
    ["jn7mqywbwe952an46zjcswtz9r7by5p7", "jn7mqywb", "jn7mq", "66a3ec6d795a0548", "66a3ec6d"],
    ids=["native id", "its first 8 letters", "its first 5", "id", "the id's first 8"],
)
def test_a_run_is_found_by_what_is_unique(library, selector):
    assert meant(library, selector) == "jn7mqywbwe952an46zjcswtz9r7by5p7"


def test_a_run_is_found_by_its_name(library):
    assert meant(library, "batch-gen2") == "batch-gen2"


def test_latest_is_the_one_imported_last():
    import_fixtures(RUN_D)
    import_fixtures(RUN_B)

    assert done("show", "latest", "--json").row["run"]["native_id"] == "jn7mqywbwe952an46zjcswtz9r7by5p7"


def test_a_path_is_imported_first():
    assert done("failures", RUN_B, "--limit", 1, "--json").row["case"] == "000-fundamentals/002-http_greeting"
    assert done("runs", "--json").row["run"] == "jn7mqywbwe952an46zjcswtz9r7by5p7"


def test_a_run_in_the_store_can_be_analysed_by_its_name():
    import_fixtures(FIXTURES / "convex_evals" / "run_b" / "data")
    named, by_path = (
        done("analyze", "jn7mqywb", "--no-report"),
        done("analyze", FIXTURES / "convex_evals/run_b/data", "--no-report"),
    )

    assert named.out == by_path.out
    assert "No such file" in errata("analyze", "neither-path-nor-run").err


def test_a_path_with_several_runs_means_them_all(library):
    rows = done("failures", GENERIC, "--json", "--store", library).rows

    assert {row["model"] for row in rows} == {"alpha-1", "beta-2"}


def test_several_runs_are_shown_in_the_order_given(library):
    rows = done("failures", "9c0d1e2f", "1a2b3c4d", "--limit", 1, "--json", "--store", library).rows

    assert [row["case"] for row in rows] == ["turn-8", "turn-5"]


def test_a_prefix_of_two_letters_is_too_short(library):
    result = errata("show", "jn", "--store", library)

    assert (result.code, "`jn` names 4 runs" in result.err) == (2, True)


def test_runs_of_one_name_are_told_apart_by_their_ids(library):
    result = errata("show", "batch-0214", "--store", library)
    ids = [line.rpartition(" ")[2] for line in result.err.splitlines() if " · id " in line]

    assert result.code == 2
    assert {done("show", run_id, "--json", "--store", library).row["run"]["subject"]["model"] for run_id in ids} == {
        "haiku",
        "sonnet",
    }


def test_what_to_do_next_names_a_run_so_that_it_is_found(tmp_path):
    """Two batches of one name: the analysis of each names it by its id."""
    for name in ("batch-cascade", "large/batch-gen1"):
        page = done("analyze", FIXTURES / "scylla" / name / "data").out
    commands = [line[9:].partition("   ")[0] for line in page.partition("\nNext")[2].splitlines()]

    assert commands
    assert all(errata(*command.split()[1:]).code == 0 for command in commands if command.startswith("errata"))


@pytest.mark.parametrize(
    "thing",
    ["jn7mqywb/003-mutations/005-batch_insert", "jn7mqywb/convex-evals/003-mutations/005-batch_insert"],
    ids=["the harness's name", "the case's key"],
)
def test_a_case_is_found_below_its_run(library, thing):
    shown = done("show", thing, "--json", "--store", library).row

    assert shown["kind"] == "attempt"
    assert shown["attempt"]["case"] == "convex-evals/003-mutations/005-batch_insert"


def test_a_case_of_the_run_of_a_path_can_be_asked_for_by_the_name_of_the_run():
    import_fixtures(RUN_B)

    assert done("show", "latest/003-mutations/005-batch_insert").code == 0


def test_the_second_attempt_of_a_case_is_named_by_its_number(library):
    first, second = (
        done("show", f"0b1c2d3e/turn-12{number}", "--json", "--store", library).row["attempt"] for number in ("", "#2")
    )

    assert (first["index"], second["index"]) == (1, 2)
    assert second["duplicate_of"] == first["id"]


def test_a_case_may_have_a_number_sign_in_its_name(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"id": "issue #12", "ok": false}\n')
    (tmp_path / "map.toml").write_text('[case]\nname = "id"\n[attempt]\npassed = "ok"\n')
    done("import", "rows.jsonl", "--map", "map.toml")

    assert done("show", "latest/issue #12").out.startswith("issue #12 · attempt 1 of 1")
    assert done("show", "latest/issue #12#1").out.startswith("issue #12 · attempt 1 of 1")


def test_two_letters_lead_to_no_run_even_if_only_one_begins_so():
    import_fixtures(RUN_B)

    assert "No run matches `jn`" in errata("show", "jn").err
    assert "No run matches ``" in errata("show", "").err


def test_a_folder_of_the_same_name_wins_over_a_stored_run(tmp_path):
    import_fixtures(RUN_D)
    shutil.copytree(RUN_B, Path(tmp_path / "jn7maewn"))

    assert done("show", "jn7maewn", "--json").row["run"]["native_id"].startswith("jn7mqywb")


@pytest.mark.req("B-83")
def test_a_model_with_one_run_names_it():
    import_fixtures(GENERIC)

    assert done("show", "alpha-1", "--json").row["run"]["subject"]["model"] == "alpha-1"
    assert "Run `nightly` has no case `case`" in errata("show", "alpha-1/case").err


@pytest.mark.parametrize("case", ["", "/case"])
def test_a_model_with_several_runs_leads_to_them(library, case):
    result = errata("show", f"acme/nimbus-2-coder{case}", "--store", library)

    assert result.code == 2
    assert "`acme/nimbus-2-coder` names 3 runs" in result.err
    assert "jn709tmjsmt0gc4p4ysp6m6ztabx3hw2 · acme/nimbus-2-coder" in result.err


def runs_of(*named: tuple[str, str]) -> None:
    """A stored run for each name and model."""
    store = open_store(Path(".errata/errata.db"))
    for run, model in named:
        a_stored_run(store, run, model=model, a="")


@pytest.mark.parametrize(
    "runs",
    [
        [("one", "kimi"), ("two", "moonshot/kimi")],
        [("one", "kimi"), ("two", "kimi")],
        [("job_kimi-k2", "kimi-k2"), ("two", "kimi-k3")],
        [("kimi-nightly", "kimi-k2"), ("two", "moonshot/kimi-k3")],
    ],
    ids=["with and without vendor", "two runs", "a tail and a model", "a beginning and a model"],
)
def test_a_name_that_may_mean_two_runs_is_refused_with_both(runs):
    runs_of(*runs)

    for command in ("score", "check", "failures"):
        refused = errata(command, "kimi")
        assert (refused.code, refused.out) == (2, "")
        assert all(run in refused.err and model in refused.err for run, model in runs)


def test_every_name_that_pages_print_leads_to_its_run():
    names = [("kimi-nightly-2026-05-01", "kimi-k2"), ("kimi", "glm-5"), ("two", "kimi"), ("three", "z/kimi-nightly")]
    runs_of(*names)

    printed = {row.split()[0] for row in done("runs").out.splitlines()[1:] if row[:1].strip()}
    assert {done("score", name, "--json").row["run"] for name in printed} == {run for run, _ in names}
