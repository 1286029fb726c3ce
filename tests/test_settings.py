"""Configuration from flags and environment."""

from pathlib import Path

import pytest

from errata.errors import SettingsError
from errata.settings import find_store, load_settings


def settings(**given):
    return load_settings(**{"environ": {}} | given)


def test_a_flag_wins_over_the_environment(tmp_path):
    chosen = settings(store="flag.db", environ={"ERRATA_STORE": "env.db"}, cwd=tmp_path)

    assert chosen.store == Path("flag.db")


def test_the_environment_wins_over_what_is_found(tmp_path):
    a_store(tmp_path)

    assert settings(environ={"ERRATA_STORE": "env.db"}, cwd=tmp_path).store == Path("env.db")


def test_an_empty_variable_names_no_store(tmp_path):
    assert settings(environ={"ERRATA_STORE": ""}, cwd=tmp_path).store == tmp_path / ".errata" / "errata.db"


def test_home_is_expanded(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))

    assert settings(store="~/evals.db").store == tmp_path / "evals.db"


def a_store(folder):
    path = folder / ".errata" / "errata.db"
    path.parent.mkdir(parents=True)
    path.touch()
    return path


def test_a_store_is_found_upward_like_git(tmp_path):
    path = a_store(tmp_path)
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)

    assert find_store(deep) == path


def test_the_nearest_store_is_taken(tmp_path):
    a_store(tmp_path)
    nearest = a_store(tmp_path / "a")

    assert find_store(tmp_path / "a" / "b") == nearest


def test_a_folder_of_the_name_without_a_store_is_passed_over(tmp_path):
    path = a_store(tmp_path)
    (tmp_path / "a" / ".errata").mkdir(parents=True)

    assert find_store(tmp_path / "a") == path


def test_a_new_store_lies_in_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert settings().store == tmp_path / ".errata" / "errata.db"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:hunter22@db/x",
        "postgres://me:hunter22@db/x",
        "postgresql+psycopg://me:hunter22@db/x",
        "POSTGRESQL://me:hunter22@db/x",
        "mysql://me:hunter22@db/x",
        "postgresql://db/x?user=me&password=hunter22",
    ],
)
def test_a_database_server_is_refused_without_repeating_its_password(url):
    with pytest.raises(SettingsError) as told:
        settings(store=url)

    assert "--store FILE" in told.value.hint
    assert "hunter22" not in told.value.message


@pytest.mark.parametrize(
    ("environ", "author"),
    [
        ({"ERRATA_AUTHOR": "ada", "USER": "root"}, "ada"),
        ({"USER": "grace"}, "grace"),
        ({"LOGNAME": "alan"}, "alan"),
        ({}, ""),
    ],
    ids=str,
)
def test_the_author_of_an_opinion_is_named_by_the_environment(environ, author):
    assert settings(environ=environ).author == author


def test_settings_can_not_be_changed():
    with pytest.raises(AttributeError):
        settings().author = "somebody"
