"""No command changes code or configuration of the analysed project; only `action` edits anything, and only reports."""

import shutil
from pathlib import Path

import click
import pytest

from errata.cli.app import app
from terminal import FIXTURES, done, errata

RUN_A = FIXTURES / "convex_evals" / "run_a" / "data"
REPORTS = FIXTURES.parent / "actions" / "reports"
REPORT = "reports/acme/nimbus-2-coder/jn71a14a_2026-02-20.md"
ACTION = ("--what", "allows it", "--path", "eslint.config.mjs", "--for", "002-http_greeting")
CODE = {
    "eslint.config.mjs": "export default [];\n",
    "package.json": '{"name": "evals"}\n',
    "evals/000-fundamentals/002-http_greeting/TASK.txt": "Greet.\n",
    "evals/000-fundamentals/002-http_greeting/grader.test.ts": "test();\n",
    "runner/models.py": "MODELS = []\n",
    ".env": "KEY=1\n",
    ".github/workflows/ci.yml": "on: push\n",
    "README.md": "# Evals\n\n## Actions taken\n\nNone\n",
    "errata.toml": "",
}
OWN = (".errata", "config", "state", "scratch")
WRITTEN = {"reports", "results", "analysis", "tables"}
"""Folders in which commands write what they were asked for."""
SAID = {
    ("show",): ["jn7mqywb/002-http_greeting"],
    ("rm",): ["jn709tmj", "--yes"],
    ("exclude",): ["jn709tmj", "--reason", "too old"],
    ("fetch",): ["nowhere"],  # no network here
    ("sources",): [],
    ("doctor",): [],
    ("store", "size"): [],
    ("store", "backup"): ["results"],
    ("store", "copy"): [".errata/errata.db", "results/copy.db"],
    ("demo",): [],
    ("runs",): [],
    ("trust",): [],
    ("action", "add"): [*ACTION, "--report", REPORT],
    ("action", "list"): [],
    ("action", "rm"): ["ffff"],
    ("known", "add"): ["002-http_greeting", "--text", "too strict"],
    ("known", "list"): [],
    ("known", "rm"): ["ffff"],
}


def commands(group=app, name=()):
    """Every command that does something, by its full name."""
    for word in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), word)
        if isinstance(command, click.Group):
            yield from commands(command, (*name, word))
        else:
            yield (*name, word)


def files():
    """Path → content and mode of all that is not errata's own."""
    found = (path for path in Path.cwd().rglob("*") if path.is_file())
    below = ((path.relative_to(Path.cwd()), path) for path in found)
    return {str(name): (path.read_bytes(), path.stat().st_mode) for name, path in below if name.parts[0] not in OWN}


@pytest.fixture(autouse=True)
def project(own_two_runs):
    for name, text in CODE.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    shutil.copytree(REPORTS, "reports")
    shutil.copytree(RUN_A, "logs")


@pytest.mark.req("C-31")
@pytest.mark.parametrize("name", list(commands()), ids=" ".join)
def test_no_command_changes_a_file_of_the_project(name):
    before = files()

    result = errata(*name, *SAID.get(name, ["jn7mqywb"]))

    after = files()
    changed = {path for path in before if after.get(path) != before[path]}
    assert result.code != 3, result
    assert {Path(path).parts[0] for path in after.keys() - before.keys()} <= WRITTEN
    assert changed == ({REPORT} if name == ("action", "add") else set())


@pytest.mark.req("C-31")
def test_of_a_report_only_the_section_is_changed():
    before = files()[REPORT][0].decode()
    done("action", "add", *ACTION, "--report", REPORT, "--date", "2026-03-06")

    head, heading, rest = before.partition("## Actions taken\n")
    section, impact, tail = rest.partition("\n## Net Impact\n")
    new = "3. 2026-03-06: `eslint.config.mjs` allows it (addresses 000-fundamentals/002-http_greeting).\n"
    assert files()[REPORT][0].decode() == f"{head}{heading}{section}{new}{impact}{tail}"


@pytest.mark.req("C-31")
@pytest.mark.parametrize("name", [name for name in CODE if name != "README.md"])
def test_an_action_is_never_written_into_code_or_configuration(name):
    before = files()

    assert errata("action", "add", *ACTION, "--report", name).code == 2
    assert files() == before


@pytest.mark.req("C-31")
def test_the_file_that_an_action_names_is_not_touched():
    before = Path("eslint.config.mjs").stat()
    done("action", "add", *ACTION, "--report", REPORT)

    assert Path("eslint.config.mjs").stat() == before


@pytest.mark.req("C-31")
def test_markdown_that_is_no_report_is_not_edited():
    Path("GUIDELINES.md").write_text("# Guidelines\n\nWrite validators.\n")
    before = files()

    result = errata("action", "add", *ACTION, "--report", "GUIDELINES.md")

    assert result.code == 2
    assert "does not look like a report" in result.talk
    assert files() == before
