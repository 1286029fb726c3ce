"""The documents are true: examples run, links resolve, and what is named exists."""

import ast
import importlib.util
import re
from pathlib import Path
from typing import get_args

import click
import pytest

from errata import sources
from errata.cli.app import COMMANDS, app
from errata.model import Attempt, Case, Run
from errata.model.words import EXECUTIONS, MEASUREMENTS, OUTCOMES, Severity
from errata.testing import check_source

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
STALE = "run `python scripts/docs_check.py`"


def load(path):
    """A module by its path, as if it were installed."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


docs_check = load(ROOT / "scripts" / "docs_check.py")


def files_shown(document):
    """Fenced blocks under a line that names their file."""
    named = re.compile(r"^`([^`\n]+)`:\n\n```\w*\n(.*?)^```", re.DOTALL | re.MULTILINE)
    return {Path(name).name: text for name, text in named.findall(document.read_text(encoding="utf-8"))}


@pytest.fixture
def scorecard(tmp_path):
    """The source of CONTRIBUTING.md, its log, and what it ignores."""
    shown = files_shown(ROOT / "CONTRIBUTING.md")
    (tmp_path / "scorecard.py").write_text(shown["scorecard.py"])
    log = tmp_path / "results"
    log.mkdir()
    for name in ("scorecard.json", "answers.jsonl"):
        (log / name).write_text(shown[name])
    ignored = [line for line in shown["IGNORED"].splitlines() if not line.startswith("#")]
    return load(tmp_path / "scorecard.py"), log, ignored


def test_the_source_of_the_contributing_page_passes_the_conformance_kit(scorecard, tmp_path):
    source, log, ignored = scorecard

    check_source(source, log, tmp_path / "scratch", ignored=ignored)


def test_the_kit_would_notice_what_the_source_of_the_contributing_page_ignores(scorecard, tmp_path):
    source, log, _ = scorecard

    with pytest.raises(AssertionError, match="written_by"):
        check_source(source, log, tmp_path / "scratch")


def test_the_source_of_the_contributing_page_gives_a_crash_no_outcome(scorecard):
    source, log, _ = scorecard

    *_, last = source.read(log)

    assert (last.execution, last.measurement, last.outcome) == ("error", "scored", "none")


def test_the_lines_that_the_page_of_sources_shows_are_read_whole(tmp_path):
    page = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
    log = tmp_path / "any-name"
    log.write_text(next(block for language, block in FENCED.findall(page) if language == "json"))

    (found,) = sources.find(log)

    assert [type(item) for item in sources.read(found)] == [Run, Case, Attempt]


def test_the_page_of_commands_is_what_the_commands_say():
    assert docs_check.COMMANDS_PAGE.read_text(encoding="utf-8") == docs_check.commands_page(), STALE


def test_the_readme_shows_what_the_commands_print_today():
    shown = docs_check.README.read_text(encoding="utf-8")

    assert shown == docs_check.with_console_output(shown), STALE


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


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_relative_links_resolve(document):
    text = FENCED.sub("", document.read_text(encoding="utf-8"))
    targets = [target for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target]

    assert [target for target in targets if not resolves(document, target)] == []


def resolves(document, target):
    name, _, anchor = target.partition("#")
    path = document.parent / name if name else document
    if not path.exists():
        return False
    return not anchor or anchor in anchors_of(path.read_text(encoding="utf-8"))


def anchors_of(text):
    """Headings as links name them: lower case, hyphens for blanks, other punctuation gone."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_checkup_page_explains_every_finding_and_no_other():
    page = (ROOT / "docs" / "checkup.md").read_text(encoding="utf-8")

    explained = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)

    assert sorted(explained) == sorted([*findings_in_code(), *get_args(Severity)])


def findings_in_code():
    """The names given to `finding(survey, "name", …)`."""
    found = set()
    for path in (ROOT / "src" / "errata" / "checkup").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "finding":
                found.add(ast.literal_eval(node.args[1]))
    return found


def test_the_glossary_holds_every_word_of_the_three_facts():
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")

    missing = [word for word in (*EXECUTIONS, *MEASUREMENTS, *OUTCOMES) if f"`{word}`" not in glossary]

    assert not missing
