"""Results do not depend on the working folder: settings, taxonomies and reports are found from the store."""

from pathlib import Path

import pytest

from reading import RUN_B, reviewed_next
from terminal import done, import_fixtures

TAXONOMY = """\
name = "mine"
version = "1"

[[label]]
name = "WRONG_CODE"
owner = "model"
meaning = "the code is wrong"

[[label]]
name = "NOT_MEASURED"
owner = "environment"
meaning = "the code never ran"
"""
GAP = """\
# convex-evals, acme/nimbus-2-coder

| Eval | Classification | Reasoning |
|---|---|---|
| 004-actions/003-rate_limit_guard | KNOWN_GAP | All models fail here |
"""


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """A project with its own taxonomy and a report, reviewed from its folder; the command line is elsewhere after."""
    folder = tmp_path / "project"
    (folder / "taxonomies").mkdir(parents=True)
    (folder / "taxonomies" / "mine.toml").write_text(TAXONOMY)
    (folder / "errata.toml").write_text('taxonomies = ["taxonomies/*.toml"]\n')
    monkeypatch.chdir(folder)
    done("trust")
    import_fixtures(RUN_B)
    return folder


@pytest.fixture
def elsewhere(tmp_path) -> Path:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return folder


def status(project, *more):
    return done("review", "status", "latest", "--json", "--store", project / ".errata" / "errata.db", *more).row


def test_a_review_with_an_own_taxonomy_is_unchanged_from_another_folder(project, elsewhere, monkeypatch):
    reviewed_next("--taxonomy", "mine", label="WRONG_CODE")
    here = status(project)
    monkeypatch.chdir(elsewhere)

    assert status(project) == here
    assert here["quotes"]["changed"] == 0 and here["stale"] == []


def test_a_review_beside_a_report_with_a_known_gap_is_unchanged_from_another_folder(project, elsewhere, monkeypatch):
    (project / "reports").mkdir()
    (project / "reports" / "nimbus-2-coder_2026-02-01.md").write_text(GAP)
    case = "latest/004-actions/003-rate_limit_guard"
    assert "KNOWN_GAP" in done("review", "next", case, "--format", "json").row["labels"]
    reviewed_next(thing=case, label="MODEL_FAULT")
    here = status(project)
    monkeypatch.chdir(elsewhere)

    assert status(project) == here
    assert here["quotes"]["changed"] == 0


def test_labels_of_the_stores_project_are_offered_wherever_the_command_runs(project, elsewhere, monkeypatch):
    monkeypatch.chdir(elsewhere)
    store = ("--store", project / ".errata" / "errata.db")
    packet = done("review", "next", "latest", "--taxonomy", "mine", "--format", "json", *store).row

    assert packet["labels"][:2] == ["WRONG_CODE", "NOT_MEASURED"]
    assert "mine" in [row["name"] for row in done("taxonomies", "--json", *store).rows]


def test_a_store_named_by_the_environment_brings_its_project(project, elsewhere, monkeypatch):
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("ERRATA_STORE", str(project / ".errata" / "errata.db"))

    assert "mine" in [row["name"] for row in done("taxonomies", "--json").rows]
