"""No module writes a text around `errata.text.outgoing`.

Each module that prints, opens a file for writing or makes a table is listed here with the gate its texts go through.
A new writer has to be added, and whoever adds it has to say how its texts are redacted.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "errata"
GATE = "errata.text.outgoing"

GATED = {
    "cli/output.py",
    "cli/door.py",
    "cli/compare/command.py",
    "cli/report.py",
    "cli/rerun.py",
    "cli/rm.py",
    "export/consistency.py",
    "export/tables.py",
    "export/regression_cases.py",
    "report/comparison_files.py",
    "report/transcripts_document.py",
    "export/comparison_folder.py",
    "review/tables.py",
    "text/crash_file.py",
}
"""Writers that pass each text through the gate themselves."""

GIVEN = {
    "render/files.py": "documents of `render`, whose texts go through the gate where they are escaped",
    "cli/gate.py": "documents of `report/gate_comment.py`, which pass the gate",
    "cli/review/export.py": "opens the file that `review/tables.py` writes",
    "cli/review/run.py": "a question of its own, before it asks a model",
    "cli/review/run_output.py": "a prompt of `review/prompts.py`, character for character",
    "cli/progress.py": "counts and names of commands",
    "cli/lazy.py": "names of commands",
    "memory/actions.py": "a section of `memory/entries.py`, whose texts pass the gate, in a report",
    "review/reviewers/command.py": "the prompt and schema, for a reviewer's program",
    "verbs/map.py": "a mapping for a table of the user's own, beside it",
}
"""Writers of texts that others have passed through the gate."""

OWN = {
    "cluster/workers.py": "logs and rules as a worker got them: input",
    "fetch/objects.py": "a log as it was downloaded: input",
    "server/deriving.py": "an order to another process of errata",
    "server/deriving_process.py": "progress for the process of errata that gave the order",
    "fetch/transport.py": "a log as it was downloaded: input",
    "fetch/convex.py": "a log as it was downloaded: input",
    "runs/reader_processes.py": "records between two processes of errata",
    "settings/files.py": "hashes of trusted files",
    "store/database.py": "a constant",
    "testing.py": "the conformance kit: copies of fixtures",
    "writeback/edit_log.py": "a script that the user runs on a log of their own",
}
"""Writers of what is no output, or holds no text of a log."""

WRITES = {"write_text", "write_bytes", "mkstemp", "fdopen", "echo", "NamedTemporaryFile"}
OPENS = ("open", "print", "writer")
STREAMS = ("write", "confirm")
MODES = re.compile(r"[wax]b?\+?|r\+b?")


def writing_calls(tree):
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        texts = [
            one.value for one in (*node.args, *(key.value for key in node.keywords)) if isinstance(one, ast.Constant)
        ]
        opens = name == "open" and any(isinstance(one, str) and MODES.fullmatch(one) for one in texts)
        prints = name == "print" or (name == "writer" and "csv" in ast.dump(node.func))
        streams = name in STREAMS and re.search("'(?:std|click)", ast.dump(node.func))
        if name in WRITES or opens or prints or streams:
            yield name


@cache
def modules():
    """Name → source text."""
    return {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))}


def parsed(*patterns):
    """The modules in whose text one of these patterns is: parsing all of them takes seconds."""
    wanted = re.compile(rf"\b(?:{'|'.join(patterns)})")
    return ((name, ast.parse(text)) for name, text in modules().items() if wanted.search(text))


def imports(tree):
    return {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}


def test_every_module_that_writes_is_known():
    calls = [rf"{name}\)?\s*\(" for name in (*WRITES, *OPENS, *STREAMS)]
    writers = {name for name, tree in parsed(*calls) if any(writing_calls(tree))}

    assert writers - GATED - set(GIVEN) - set(OWN) == set()


@pytest.mark.parametrize("name", sorted(GATED))
def test_a_writer_imports_the_gate(name):
    assert GATE in imports(ast.parse((PACKAGE / name).read_text(encoding="utf-8")))


CUTS = {"beginning", "ending", "BEYOND", "with_equal_digits"}


def test_only_the_gate_and_what_reads_or_cuts_uses_redaction_itself():
    around = set()
    for name, tree in parsed(r"errata\.text\.redact\b"):
        if name.startswith(("text/", "sources/")):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == "errata.text.redact":
                around |= {name} if {one.name for one in node.names} - CUTS else set()

    assert around == {"triage/rulebook.py"}  # cuts a quote out of the middle of a line


@pytest.mark.req("B-96")
def test_commands_in_hints_are_quoted_for_a_shell():
    unquoted = re.compile(r"`errata (?:[a-z]+ ){1,3}\{(?!shell_word|shlex|handle\}|handles\}|names\}|command)")

    found = [name for name, text in modules().items() if unquoted.search(text)]

    assert found == []
