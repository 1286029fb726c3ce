"""`errata analyze --new`: runs are found without naming each, and those that are known are left alone."""

import os
import shutil

import pytest

from terminal import FIXTURES, done, errata

SAMPLES = {name: FIXTURES / "convex_evals" / f"run_{name}" / "data" / f"run-{name}" for name in "abd"}
A, B, D = "jn709tmj", "jn7mqywb", "jn7maewn"


@pytest.fixture
def results(at_home):
    (at_home / "results").mkdir()
    return at_home / "results"


def put(folder, *names):
    for name in names:
        shutil.copytree(SAMPLES[name], folder / f"run-{name}")


def analysed(*arguments):
    return [row["run"][:8] for row in done("analyze", "--new", *arguments, "--json").rows]


@pytest.mark.req("A-11")
def test_runs_below_the_working_folder_are_found_and_analysed(results):
    put(results, "a", "b")

    assert sorted(analysed()) == [A, B]


@pytest.mark.req("A-11")
def test_only_what_is_not_in_the_store_yet_is_analysed(results):
    put(results, "a")
    analysed()
    put(results, "b")

    assert analysed() == [B]


@pytest.mark.req("A-11")
def test_it_says_what_was_found_and_what_was_there_already(results):
    put(results, "a")
    analysed()
    put(results, "b")

    result = done("analyze", "--new")

    assert "found 1 new run below . · 1 already in the store" in result.talk
    assert f"already stored: {A}" in result.talk
    assert result.out.startswith(f"Run {B}")


def test_nothing_new_is_an_answer(results):
    put(results, "a")
    analysed()

    assert done("analyze", "--new").out == "Nothing new: 1 run is already in the store.\n"


def test_an_empty_folder_holds_nothing_new(results):
    assert done("analyze", "--new").out == "Nothing new: 0 runs are already in the store.\n"


@pytest.mark.req("A-11")
def test_beside_runs_that_are_known_new_ones_are_found_from_anywhere(results, tmp_path, monkeypatch):
    put(results, "a")
    store = tmp_path / "store.db"
    done("import", results / "run-a", "--store", store)
    put(results, "b")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    assert analysed("--store", store) == [B]


def test_folders_that_are_named_are_the_only_ones(results, tmp_path):
    put(results, "a")
    other = tmp_path / "other"
    other.mkdir()
    put(other, "b")

    assert analysed(other) == [B]


def test_a_run_that_has_changed_since_is_read_again(results):
    put(results, "a")
    analysed()
    later = results.stat().st_mtime + 3600
    os.utime(results / "run-a" / "getRunDetails.envelope.json", (later, later))

    result = done("analyze", "--new")

    assert "0 new runs" in result.talk
    assert "1 already in the store" in result.talk


def test_one_path_that_can_not_be_read_keeps_nobody_from_the_others(results):
    put(results, "a", "b")
    (results / "run-a" / "getRunDetails.envelope.json").write_text("{")

    assert B in analysed()


def test_a_folder_that_is_not_there_is_told():
    result = errata("analyze", "--new", "nowhere")

    assert (result.code, "No such file or folder: `nowhere`" in result.err) == (2, True)


def test_without_the_option_a_path_has_to_be_named():
    result = errata("analyze")

    assert (result.code, "Missing argument" in result.err) == (2, True)
