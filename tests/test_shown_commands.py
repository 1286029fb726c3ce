"""Every command that the documents show exists and starts: of errata, of make, and scripts of the repository."""

import importlib.util
import os
import re
import subprocess
from pathlib import Path

import click
import pytest

from errata.cli.app import COMMANDS, app
from terminal import done

ROOT = Path(__file__).parent.parent
SKILLS = (ROOT / "src/errata/skills").rglob("*.md")
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *SKILLS])
FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.MULTILINE)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_and_option_that_is_named_exists(document):
    wrong = [line for line in command_lines(document) if not exists(line)]

    assert not wrong


def command_lines(document):
    """What follows `errata` in code spans and console blocks."""
    text = document.read_text(encoding="utf-8")
    for language, block in FENCED.findall(text):
        if language in ("console", "sh"):
            yield from re.findall(r"^(?:\$ )?(?:\S*/)?errata ([^\n#]+)", block, re.MULTILINE)
    yield from re.findall(r"`errata ([^`]+)`", FENCED.sub("", text))


def exists(line):
    words = [word for word in re.findall(r'"[^"]*"|\S+', line) if not word.startswith('"')]
    if words[0] == "--prod":  # before any command
        words = words[1:]
    if words[0] in ("COMMAND", "--help", "--version"):
        return True
    command, names = app, []
    for word in words:
        if not isinstance(command, click.Group):
            break
        if word not in command.table:
            return bool(names) and word == "…"
        names.append(word)
        command = command.get_command(click.Context(command, info_name="errata"), word)
    options = options_of(*names)
    return all(word.split("=")[0] in options for word in words[1:] if re.match(r"--?[a-z]", word))


def options_of(*names):
    command = app
    for name in names:
        command = command.get_command(click.Context(command, info_name="errata"), name)
    return {"--help", "-h", *(word for one in command.params for word in (*one.opts, *one.secondary_opts))}


def test_a_command_that_does_not_exist_would_be_noticed():
    assert not exists("ponder RUN")
    assert not exists("check RUN --quickly")
    assert not exists("review ponder RUN")
    assert not exists("review next RUN --quickly")
    assert exists("review next RUN --person")
    assert exists("review …")
    assert not exists("action ponder")
    assert exists("action add --what TEXT")
    assert exists("rm RUN -y")


def test_every_option_that_the_readme_names_alone_belongs_to_a_command():
    text = FENCED.sub("", (ROOT / "README.md").read_text(encoding="utf-8"))

    named = set(re.findall(r"`(--[a-z-]+)", text))

    assert named <= set.union(*(options_of(name) for name in COMMANDS))


def test_every_command_that_is_shown_starts():
    shown = {names_in(line) for document in DOCUMENTS for line in command_lines(document)} - {()}

    assert len(shown) > 20
    for names in sorted(shown):
        assert "Usage: errata " in done(*names, "--help").out


def names_in(line):
    """The words of a line that name a command, such as `review next`."""
    command, names = app, []
    for word in line.split():
        if not isinstance(command, click.Group) or word not in command.table:
            break
        names.append(word)
        command = command.get_command(click.Context(command, info_name="errata"), word)
    return tuple(names)


def code_in(document):
    """Code spans, and the lines of blocks for a shell."""
    text = document.read_text(encoding="utf-8")
    for language, block in FENCED.findall(text):
        if language in ("console", "sh"):
            yield from (line.removeprefix("$ ").partition("#")[0] for line in block.splitlines())
    yield from re.findall(r"`([^`\n]+)`", FENCED.sub("", text))


def shown(pattern):
    return {found for document in DOCUMENTS for code in code_in(document) for found in re.findall(pattern, code)}


def test_every_target_that_is_shown_exists():
    lines = shown(r"^make ([a-z][a-z -]*)$") | {"check test"}

    assert {target for line in lines for target in line.split()} <= set(TARGETS)


def test_every_target_is_phony_and_explained():
    phony = re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)[1].split()

    assert sorted(phony) == sorted(TARGETS)
    assert sorted(re.findall(r"^([a-z-]+):.*## \w", MAKEFILE, re.MULTILINE)) == sorted(TARGETS)


def test_every_target_starts():
    alone = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    tried = subprocess.run(
        ["make", "--dry-run", *TARGETS], cwd=ROOT, env=alone, capture_output=True, text=True, check=False
    )

    assert (tried.returncode, tried.stderr) == (0, "")


def test_every_program_that_is_shown_or_made_exists():
    pattern = r"python3? (?:-m ((?:bench|soak)[\w.]*)|(scripts/\w+\.py))"
    named = shown(pattern) | set(re.findall(pattern, MAKEFILE))

    assert len(named) > 10
    assert [module for module, _ in named if module and importlib.util.find_spec(module) is None] == []
    assert [script for _, script in named if script and not (ROOT / script).is_file()] == []
