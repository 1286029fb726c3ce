"""Help comes at once: nothing that takes long is imported for it, and what it says of a command is true."""

import subprocess
import sys

import click
import pytest

from errata.cli.app import COMMANDS, app
from errata.cli.review import SUBCOMMANDS
from terminal import errata

LATE = ("sqlalchemy", "alembic", "rich", "pyarrow", "msgspec")
LIST_MODULES = """
import sys
from errata.cli.door import run
run({arguments})
print("\\n" + "\\n".join(sys.modules))
"""


def modules_after(*arguments: str) -> set[str]:
    program = LIST_MODULES.format(arguments=list(arguments))
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(told.stdout.rpartition("\n\n")[2].split())


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["--version"], [], ["frobnicate"]])
def test_nothing_that_takes_long_is_imported_for_help(arguments):
    modules = modules_after(*arguments)

    assert not [name for name in LATE if name in modules]
    assert not [name for name in modules if name.startswith(("errata.sources", "errata.store", "errata.verbs"))]


def test_no_command_is_imported_for_the_list_of_commands():
    modules = modules_after("--help")

    assert not [name for name, _ in COMMANDS.values() if f"errata.cli.{name}" in modules]


def test_no_progress_bar_is_imported_where_nobody_watches():
    assert "rich" not in modules_after("sources")


def test_alembic_is_for_old_stores_only(tmp_path):
    assert "alembic" not in modules_after("runs", "--store", str(tmp_path / "errata.db"))


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


@pytest.mark.parametrize("names", list(commands()), ids=" ".join)
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

    told = errata(name, option)

    assert told.code == 0
    assert told.out.startswith(f"Usage: errata {name}")
    assert COMMANDS[name][1] in told.out


def test_the_help_lists_every_command():
    told = " ".join(errata("--help").out.split())

    assert all(f" {name} {short}" in told for name, (_, short) in COMMANDS.items())
