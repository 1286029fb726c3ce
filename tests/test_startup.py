"""Help comes at once: nothing that takes long is imported for it, and what it says of a command is true."""

import subprocess
import sys

import click
import pytest

from errata.cli.app import COMMANDS, OTHER_WORDS, SECTIONS, app
from errata.cli.review import SUBCOMMANDS
from terminal import errata

LATE = ("sqlalchemy", "pyarrow", "msgspec")
LIST_MODULES = """
import sys
from errata.cli.door import run
run({arguments})
print("\\n" + "\\n".join(sys.modules))
"""


def modules_after(*arguments: str) -> set[str]:
    program = LIST_MODULES.format(arguments=list(arguments))
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(result.stdout.rpartition("\n\n")[2].split())


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["--version"], [], ["frobnicate"]])
def test_nothing_that_takes_long_is_imported_for_help(arguments):
    modules = modules_after(*arguments)

    assert not [name for name in LATE if name in modules]
    assert not [name for name in modules if name.startswith(("errata.sources", "errata.store", "errata.verbs"))]


def test_python_m_errata_is_the_same_program():
    command = [sys.executable, "-m", "errata", "--version"]

    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == errata("--version").out


def test_no_command_is_imported_for_the_list_of_commands():
    modules = modules_after("--help")

    assert not [name for name, _ in COMMANDS.values() if f"errata.cli.{name}" in modules]


def test_an_import_without_triage_imports_nothing_of_it(tmp_path, fixtures):
    log = fixtures / "sources/junit"
    modules = modules_after("import", str(log), "--no-triage", "--store", str(tmp_path / "errata.db"))

    assert not [name for name in modules if name.startswith(("errata.triage", "errata.memory", "errata.review"))]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_short_help_is_what_the_command_says_of_itself(name):
    command = app.get_command(click.Context(app), name)

    assert command is not None
    assert (command.help or "").splitlines()[0] == COMMANDS[name][1]
    assert command.name == name


def command_named(*names):
    command = app
    for name in names:
        command = command.get_command(click.Context(command), name)
    return command


def commands(*names):
    """Every command that does something, by its full name."""
    group = command_named(*names)
    for name in group.table:
        if isinstance(command_named(*names, name), click.Group):
            yield from commands(*names, name)
        else:
            yield (*names, name)


# `mcp` speaks the JSON of its protocol, `serve` answers over HTTP
@pytest.mark.parametrize("names", [names for names in commands() if names not in (("mcp",), ("serve",))], ids=" ".join)
def test_every_command_can_print_json(names):
    command = command_named(*names)

    assert "--json" in {option for parameter in command.params for option in parameter.opts}


@pytest.mark.parametrize("names", [names for names in commands() if len(names) > 1], ids=" ".join)
def test_the_short_help_of_a_command_of_a_group_is_what_it_says_of_itself(names):
    *group, name = names
    command = command_named(*names)

    assert (command.help or "").splitlines()[0] == command_named(*group).table[name][1]
    assert command.name == name


def test_no_command_about_reviews_is_imported_for_their_list():
    modules = modules_after("review", "--help")

    assert not [name for name, _ in SUBCOMMANDS.values() if f"errata.cli.review.{name}" in modules]
    assert "errata.verbs" not in modules


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_every_command_has_help(name, option, monkeypatch):
    # click keeps the help option of the first context that asked for it, which may have been another test's
    command = app.get_command(click.Context(app), name)
    monkeypatch.setattr(command, "_help_option", None, raising=False)

    result = errata(name, option)

    assert result.code == 0
    assert result.out.startswith(f"Usage: errata {name}")
    assert COMMANDS[name][1] in result.out


def test_the_help_lists_every_command():
    page = " ".join(errata("--help").out.split())

    assert all(f" {name} {short}" in page for name, (_, short) in COMMANDS.items())


def test_the_help_groups_the_commands_by_what_people_want_to_do():
    headings = [line.removesuffix(":") for line in errata("--help").out.splitlines() if line.endswith(":")]

    assert [heading for heading in headings if heading in SECTIONS] == [
        "Look",
        "Compare",
        "Review",
        "Act",
        "Agents",
        "Store",
    ]
    assert sorted(name for names in SECTIONS.values() for name in names) == sorted(COMMANDS)


def test_a_word_of_another_tool_is_suggested():
    words = " ".join(OTHER_WORDS.values()).split()

    assert not set(words) & set(COMMANDS)
    assert set(OTHER_WORDS) <= set(COMMANDS)
    result = errata("delete", "latest")
    assert result.code == 2
    assert "did you mean `rm`?" in result.err


def test_version_may_be_asked_for_as_a_command():
    assert errata("version").out == errata("--version").out
