"""What contributors are told to run is one command for types and one for every test suite, and CI runs the same."""

import re
import tomllib
from pathlib import Path

import pytest

from errata.cli.app import COMMANDS

ROOT = Path(__file__).parent.parent
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
NO_CODE = {".venv", ".git", "build", "dist"}


def recipe(target):
    """What the Makefile does for a target, line by line; a line that may fail begins with `-`."""
    rules = (ROOT / "Makefile").read_text(encoding="utf-8")
    found = re.search(rf"^{target}:[^\n]*\n((?:\t[^\n]*\n)+)", rules, re.MULTILINE)
    assert found, f"there is no `make {target}`"
    return [line.strip().lstrip("@") for line in found[1].splitlines()]


@pytest.mark.req("A-12")
def test_one_command_type_checks_every_package():
    packages = {path.parent.name for path in (ROOT / "src").glob("*/__init__.py")}

    assert "$(BIN)/mypy" in recipe("check")  # with nothing behind it: neither a part of the code nor `|| true`
    assert set(SETTINGS["mypy"]["packages"]) == packages
    assert SETTINGS["mypy"]["strict"] is True


def test_packages_whose_types_are_not_checked_are_not_imported():
    skipped = [one["module"] for one in SETTINGS["mypy"]["overrides"] if one.get("follow_imports") == "skip"]
    names = "|".join(re.escape(name.removesuffix(".*")) for names in skipped for name in names)
    imports = re.compile(rf"^ *(?:from|import) (?:{names})\b", re.MULTILINE)

    assert names
    assert [path.name for path in (ROOT / "src").rglob("*.py") if imports.search(path.read_text("utf-8"))] == []


@pytest.mark.req("A-12")
def test_one_command_runs_every_test_suite():
    chosen = SETTINGS["pytest"]["ini_options"]
    suites = {path for path in ROOT.rglob("test_*.py") if not NO_CODE & set(path.relative_to(ROOT).parts)}

    assert recipe("test") == ["$(BIN)/pytest -n auto --dist worksteal"]
    assert not [one for one in chosen["addopts"] if one.startswith(("-k", "-m", "--ignore", "--deselect"))]
    assert suites
    assert {path.relative_to(ROOT).parts[0] for path in suites} <= set(chosen["testpaths"])


@pytest.mark.req("A-12")
def test_ci_runs_both_and_fails_where_one_does():
    commands = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()

    assert commands[-1].startswith("exec make ")
    assert commands[-1].endswith(" check test")


@pytest.mark.req("A-12")
def test_contributors_are_told_to_run_both_after_changes():
    text = " ".join((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split())

    assert re.search(r"After every change run `make check test`", text)


def rows_of_commands():
    """The table of ARCHITECTURE.md that leads from a command to its modules: three cells a row."""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = page.partition("## From a command to its code")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| ")]
    return [[re.findall(r"`([^`]+)`", cell) for cell in row] for row in rows[1:]]


def test_every_command_leads_to_its_code():
    named = {words.split()[0] for row in rows_of_commands() for words in row[0]}

    assert not set(COMMANDS) - named


def test_the_modules_that_commands_lead_to_are_there():
    package = ROOT / "src" / "errata"
    verbs = {f"verbs/{name}" for row in rows_of_commands() for name in row[1]}
    work = {name for row in rows_of_commands() for name in row[2] if "/" in name and name == name.lower()}

    assert verbs
    assert work
    assert [name for name in sorted(verbs | work) if not list(package.glob(name))] == []
