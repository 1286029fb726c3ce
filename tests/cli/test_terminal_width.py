"""Every command at four widths: no line is wider than the terminal, but for an id or a path alone on its line.

A short pass has two of the widths.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
from itertools import pairwise

import click
import pytest
from tests.length import every

from errata.cli import fitting
from errata.cli.app import COMMANDS, app
from errata.cli.fitting import IN_A_PIPE, NARROWEST_PAGE, WIDEST_PAGE, columns, page_width
from errata.cli.output import put_command
from terminal import FIXTURES, done

RUN_COMMANDS = """
import importlib, io, json, os, sys
from contextlib import redirect_stdout, redirect_stderr
commands, folders = json.loads(sys.stdin.read())
printed = {}
for width, folder in folders.items():
    # as in a new process: pages take the width of the terminal when they are imported
    os.chdir(folder)
    os.environ |= {"COLUMNS": width, "ERRATA_STORE": f"{folder}/errata.db"}
    for name in [name for name in sys.modules if name.startswith("errata.cli")]:
        del sys.modules[name]
    run = importlib.import_module("errata.cli.door").run
    printed[width] = []
    for arguments in commands:
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = run(arguments)
        printed[width].append([arguments, code, out.getvalue(), err.getvalue()])
    assert str(sys.modules["errata.cli.fitting"].WIDTH) == width
print(json.dumps(printed))
"""
WIDTHS = every(2, (60, 80, 100, 160))
SAMPLES = (
    "convex_evals/run_b/data",
    "conversation_bench/comparison/data",
    "scylla/batch-cascade/data",
    "harbor/demo-job/data",
    "inspect_ai/mixed_json/data",
    "promptfoo/export/data",
    "swe_bench/pro/data",
)
LONG_ID = "instance_owner__repository-" + "0123456789abcdef" * 5 + "-vnan"
ID_WITH_BLANKS = "a case whose name is a whole sentence with blanks in it, as promptfoo writes them"
WIDE_ID = "漢字の名前" * 12
NAMES = {LONG_ID, ID_WITH_BLANKS, WIDE_ID, "a run with a name that goes on and on " * 4}
ODD_ROWS = [
    {"run": run, "model": model, "id": name, "prompt": "漢字" * 200, "answer": "word " * 99 + "x" * 500, "ok": ok}
    | {"error": "/".join(["a-folder"] * 60) + " was not found", "style": ok}
    for run, model in (("a run with a name that goes on and on " * 4, "a-model-" * 20), ("second", "模型" * 30))
    for name, ok in ((LONG_ID, False), (ID_WITH_BLANKS, model != "模型" * 30), (WIDE_ID, False))
]
MAP = (
    'suite = "odd"\n[run]\nname = { column = "run" }\nmodel = { column = "model" }\n'
    '[case]\nname = "id"\ninput = "prompt"\n'
    '[attempt]\noutput = "answer"\npassed = "ok"\nerror = "error"\n[checks]\nstyle = "style"\n'
)
CONVEX, CASE, TURNS = "jn7mqywb", "003-mutations/005-batch_insert", ("1a2b3c4d", "5e6f7a8b", "9c0d1e2f")


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """A folder with a store of samples, and of a log in which every name is too long or in wide characters."""
    folder = tmp_path_factory.mktemp("widths")
    (folder / "odd.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ODD_ROWS))
    (folder / "map.toml").write_text(MAP)
    store = folder / "errata.db"
    done("import", *(FIXTURES / sample for sample in SAMPLES), "--store", store)
    done("import", folder / "odd.jsonl", "--map", folder / "map.toml", "--store", store)
    runs = done("runs", "--json", "--store", store).rows
    # what every width would compute again: owners, causes and suspicious passes
    done("buckets", "suggest", "--store", store)
    for row in runs:
        done("show", row["run_id"], "--store", store)
    return folder, [row["run_id"] for row in runs if row["counts"]["failures"]]


def every_command(runs):
    odd = [f"second@{'模型' * 30}", "a-model-" * 20]
    yield from (["runs"], ["doctor"], ["triage"], ["sources"], ["taxonomies"], ["buckets", "list"], ["demo"])
    yield ["analyze", "odd.jsonl", "--map", "map.toml", "--no-report"]
    yield ["import", "odd.jsonl", "--map", "map.toml"]
    yield ["analyze", FIXTURES / SAMPLES[0], "--no-report"]
    for run in every(2, runs):
        yield from (["failures", run], ["show", run], ["check", run], ["score", run, "--by-category"])
    for run in (*odd, CONVEX, TURNS[0]):
        yield from (["rerun", run], ["sessions", run], ["review", "status", run], ["failures", run, "--suspicious"])
        yield from (["buckets", "list", run, "--all"], ["consistency", run])
    yield from (["show", f"{odd[1]}/{name}"] for name in (LONG_ID, ID_WITH_BLANKS, WIDE_ID))
    yield ["show", f"{CONVEX}/{CASE}", "--full"]
    yield from (
        ["failures", "--like", like] for like in (f"{odd[1]}/{LONG_ID}", "empty response", f"{TURNS[0]}/turn-11")
    )
    yield from (["compare", *TURNS], ["compare", *TURNS, "--by-model", "--all"], ["compare", *odd])
    yield from (["consistency", *TURNS[:2]], ["consistency", *odd])
    yield from (["gate", TURNS[1], "--baseline", TURNS[0], "--no-record"], ["gate", odd[1], "--allow-no-baseline"])
    yield from (["skill", "list"], ["models", "list"], ["token", "list"], ["store", "size"], ["run", "nowhere"])
    yield ["watch", ".", "--once", "--settle", "0"]
    yield from (
        ["review", "next", CONVEX, "--format", "text"],
        ["review", "tasks", CONVEX],
        ["buckets", "suggest", CONVEX],
    )
    yield ["action", "add", "--for", CASE, "--what", "a long text " * 20, "--path", "evals/003-mutations/TASK.txt"]
    yield ["action", "list"]
    yield ["known", "add", CASE, "--text", "a long note " * 20]
    yield ["known", "list"]
    yield from (["report", odd[1], "-o", "reports"], ["issues", odd[1], "-o", "issues"])
    yield from (["export", odd[1], "--to", "csv", "-o", "tables"], ["writeback", odd[1]])
    yield from (["map", "odd.jsonl"], ["fetch", "jn7nowhere"], ["trust"])
    yield from (["exclude", odd[1], "--reason", "a long reason " * 20], ["score", odd[1]], ["rm", odd[1], "--yes"])
    yield from (["show", "nothing-of-the-kind"], ["failures", "latest", "--owner", "nobody"], ["compare", *odd])
    yield from ([*names, "--help"] for names in all_commands(app))


def all_commands(group, *names):
    yield names
    for name in group.table if isinstance(group, click.Group) else ():
        yield from all_commands(group.get_command(click.Context(group, info_name="errata"), name), *names, name)


@pytest.fixture(scope="module")
def printed(samples, tmp_path_factory):
    """Width of the terminal → what each command prints: arguments, exit code, stdout, stderr."""
    folder, runs = samples
    folders = {width: tmp_path_factory.mktemp(f"width-{width}") for width in WIDTHS}
    for copy in folders.values():
        shutil.copytree(folder, copy, dirs_exist_ok=True)
    commands = [[str(word) for word in command] for command in every_command(runs)]
    ended = subprocess.run(
        [sys.executable, "-c", RUN_COMMANDS],
        input=json.dumps([commands, {str(width): str(copy) for width, copy in folders.items()}]),
        capture_output=True,
        text=True,
        env=os.environ | {"NO_COLOR": "1"},
        check=True,
    )
    return json.loads(ended.stdout)


def too_wide(text, width):
    """But for an id, a path or one word of a command, alone on its line: it is there to be copied."""
    lines = pairwise(["", *text.splitlines()])
    wide = [(before, line) for before, line in lines if columns(line) > width]
    return [line for before, line in wide if not (is_one_name(line) or is_a_word_of_a_command(before, line))]


def is_one_name(line):
    return len(line.split()) == 1 or line.strip() in {name.strip() for name in NAMES}


def is_a_word_of_a_command(before, line):
    return before.endswith(" \\") and len(shlex.split(line.removesuffix(" \\"))) == 1


@pytest.mark.req("B-82")
def test_no_line_is_wider_than_the_terminal(printed):
    """One test for all widths: two workers would each print everything."""
    wide, broken = {}, []
    for width in WIDTHS:
        for arguments, code, out, err in printed[str(width)]:
            broken += [(width, arguments, err)] if code == 3 or not out + err else []
            if lines := too_wide(f"{out}\n{err}", width):
                wide[width, " ".join(arguments)] = lines

    assert broken == []
    assert wide == {}


def test_a_command_is_never_broken_within_a_word(capsys):
    case = "a-run/instance_" + "0123456789abcdef" * 8 + " and more"
    put_command("Next", ["errata", "show", case, "--store", "~/a folder/errata.db"], "a note")
    out = capsys.readouterr().out

    assert too_wide(out, fitting.WIDTH) == []
    assert " ~/'a folder/errata.db'" in out
    assert shlex.split(out.replace("\\\n", ""))[1:5] == ["errata", "show", case, "--store"]


def test_every_command_is_looked_at():
    elsewhere = {"mcp", "serve"}  # these speak a protocol
    looked_at = {command[0] for command in every_command(["a-run"]) if command[-1] != "--help"}
    assert looked_at | elsewhere == set(COMMANDS)


@pytest.mark.parametrize(
    ("given", "width"),
    [("60", 60), ("133", 133), ("20", NARROWEST_PAGE), ("400", WIDEST_PAGE), ("many", IN_A_PIPE)],
)
def test_the_page_is_as_wide_as_the_terminal_within_limits(monkeypatch, given, width):
    monkeypatch.setenv("COLUMNS", given)
    monkeypatch.setattr(fitting.shutil.sys, "__stdout__", None)

    assert page_width() == width
