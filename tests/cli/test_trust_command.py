"""`errata trust`: what a project's file may decide, and for how long."""

import json
import sys

import pytest

from reading import READER, RUN_B
from terminal import done, errata, import_fixtures


@pytest.fixture
def project(tmp_path, monkeypatch):
    folder = tmp_path / "project"
    folder.mkdir()
    command = json.dumps([sys.executable, str(READER)])
    (folder / "errata.toml").write_text(f'[reviewers.theirs]\nkind = "command"\ncommand = {command}\n')
    monkeypatch.chdir(folder)
    return folder


def test_an_untrusted_reviewer_stops_every_command_and_runs_nothing(project):
    result = errata("runs")

    assert result.code == 2
    assert "can run programs" in result.talk and "`errata trust`" in result.talk


def test_what_is_trusted_can_be_asked(project):
    done("trust")
    import_fixtures(RUN_B)

    rows = done("review", "run", "latest", "--reviewer", "theirs", "--yes", "--json").rows[-1]

    assert rows["reviewed"] == 9


def test_a_changed_file_is_trusted_no_more(project):
    done("trust")
    file = project / "errata.toml"
    file.write_text(file.read_text() + "# changed\n")

    assert errata("runs").code == 2
    assert done("trust", "--list", "--json").row["state"] == "changed"


def test_trust_can_be_ended(project):
    done("trust")
    done("trust", "--remove")

    assert errata("runs").code == 2
    assert done("trust", "--list", "--json").out == ""


def test_what_was_never_trusted_can_not_be_distrusted(project):
    assert "is not trusted" in errata("trust", "--remove").talk


def test_a_file_or_its_folder_can_be_named(project, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert done("trust", project, "--json").row["file"] == str((project / "errata.toml").resolve())
    assert done("trust", project / "errata.toml", "--json").row["state"] == "trusted"


def test_without_a_file_there_is_nothing_to_trust():
    result = errata("trust")

    assert result.code == 2
    assert "no `errata.toml` here or above" in result.talk


def test_no_other_file_is_trusted(project):
    (project / "other.toml").write_text("")

    assert "is not read by errata" in errata("trust", "other.toml").talk


def test_the_list_of_trust_is_the_users_alone(project, tmp_path):
    done("trust")

    assert (tmp_path / "state" / "errata" / "trusted.json").stat().st_mode & 0o077 == 0
