"""Which store a command works in: `--store`, `ERRATA_STORE`, or the nearest one upward."""

import os

import pytest

from terminal import FIXTURES, done, errata_program

RUN_B = FIXTURES / "convex_evals" / "run_b" / "data" / "run-b"


def test_a_new_store_lies_in_the_working_folder_for_its_owner_alone(tmp_path):
    done("import", RUN_B)

    assert (tmp_path / ".errata" / "errata.db").is_file()
    assert (tmp_path / ".errata").stat().st_mode & 0o777 == 0o700


def test_the_store_is_found_upward(tmp_path, monkeypatch):
    done("import", RUN_B)
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)

    assert len(done("runs", "--json").rows) == 1
    assert not list(below.iterdir())


def test_the_environment_names_a_store(tmp_path, monkeypatch):
    monkeypatch.setenv("ERRATA_STORE", str(tmp_path / "named.db"))
    done("import", RUN_B)

    assert (tmp_path / "named.db").is_file()
    assert not (tmp_path / ".errata").exists()


def test_a_flag_wins_over_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("ERRATA_STORE", str(tmp_path / "named.db"))

    done("import", RUN_B, "--store", "flag.db")

    assert (tmp_path / "flag.db").is_file()
    assert not (tmp_path / "named.db").exists()


def test_the_store_may_be_named_before_the_command(tmp_path):
    done("--store", tmp_path / "first.db", "import", RUN_B)

    assert len(done("--store", "first.db", "runs", "--json").rows) == 1
    assert len(done("--store", "first.db", "review", "status", "latest", "--json").rows) == 1
    assert done("--store", "first.db", "runs", "--json", "--store", "second.db").rows == []
    assert not (tmp_path / ".errata").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_store_in_a_folder_that_may_not_be_written_is_refused(tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)

    result = errata_program("import", RUN_B, "--store", tmp_path / "locked" / "errata.db")

    assert result.code == 2
    assert "can't be opened" in result.err
