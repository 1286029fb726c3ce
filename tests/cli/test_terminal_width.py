"""Ten commands at four widths: no line is wider than the terminal, but for an id or a path alone on its line."""

import json
import os
import shlex
import subprocess
import sys
from itertools import pairwise

import pytest

from errata.cli import fitting
from errata.cli.fitting import IN_A_PIPE, NARROWEST_PAGE, WIDEST_PAGE, columns, page_width
from terminal import FIXTURES, done

RUN_COMMANDS = """
import io, json, sys
from contextlib import redirect_stdout, redirect_stderr
from errata.cli.door import run
printed = []
for arguments in json.loads(sys.stdin.read()):
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(arguments)
    printed.append([arguments, code, out.getvalue(), err.getvalue()])
print(json.dumps(printed))
"""
PATHS = {
    "convex_evals": FIXTURES / "convex_evals" / "run_b" / "data",
    "conversation_bench": FIXTURES / "conversation_bench" / "comparison" / "data",
    "scylla": FIXTURES / "scylla" / "large" / "batch-gen1" / "data",
    "inspect_ai": FIXTURES / "inspect_ai",
    "promptfoo": FIXTURES / "promptfoo",
    "swe_bench": FIXTURES / "swe_bench",
}


@pytest.fixture(scope="module")
def sample_store(tmp_path_factory):
    store = tmp_path_factory.mktemp("widths") / "errata.db"
    done("import", *PATHS.values(), "--store", store)
    return store


def printed_at(width, commands):
    """What commands print on a terminal of so many columns: arguments, exit code, stdout, stderr."""
    environment = os.environ | {"COLUMNS": str(width), "NO_COLOR": "1"}
    told = subprocess.run(
        [sys.executable, "-c", RUN_COMMANDS],
        input=json.dumps([[str(word) for word in command] for command in commands]),
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    return json.loads(told.stdout)


def ten_commands(store):
    runs = done("runs", "--json", "--store", store).rows
    first = {row["source"]: row["run_id"] for row in runs if row["counts"]["failures"]}
    compared = [row["run_id"] for row in runs if row["source"] == "conversation-bench"]
    at = ["--store", store]
    yield ["runs", *at]
    yield ["buckets", "list", *at]
    yield ["compare", *compared, *at]
    yield ["compare", *compared, "--by-model", "--all", *at]
    for run in first.values():
        yield from (["failures", run, *at], ["show", run, *at], ["check", run, *at], ["sessions", run, *at])
        yield from (["score", run, "--by-category", *at], ["review", "status", run, *at])
        case = done("failures", run, "--limit", 1, "--json", *at).row
        yield ["show", case["attempt_id"], *at]
    for path in PATHS.values():
        yield ["analyze", path, "--no-report", *at]


def names_in(store):
    """Ids with a blank in them, which a line may hold whole."""
    runs = done("runs", "--json", "--store", store).rows
    names = {value for row in runs for value in (row["run"], row["model"], row["suite"], row["origin"])}
    for run in runs:
        names |= {row["case"] for row in done("failures", run["run_id"], "--json", "--store", store).rows}
    return names


def too_wide(text, width, names):
    lines = pairwise(["", *text.splitlines()])
    wide = [(before, line) for before, line in lines if columns(line) > width and line.strip() not in names]
    return [line for before, line in wide if len(line.split()) > 1 and not is_a_word_of_a_command(before, line)]


def is_a_word_of_a_command(before, line):
    return before.endswith(" \\") and len(shlex.split(line.removesuffix(" \\"))) == 1


@pytest.mark.req("B-82")
@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_no_line_is_wider_than_the_terminal(sample_store, width):
    names = names_in(sample_store)
    wide = {}
    for arguments, code, out, err in printed_at(width, ten_commands(sample_store)):
        assert code in (0, 1), (arguments, err)
        if lines := too_wide(f"{out}\n{err}", width, names):
            wide[" ".join(arguments[:-2])] = lines

    assert wide == {}


@pytest.mark.parametrize(
    ("given", "width"),
    [("60", 60), ("133", 133), ("20", NARROWEST_PAGE), ("400", WIDEST_PAGE), ("many", IN_A_PIPE)],
)
def test_the_page_is_as_wide_as_the_terminal_within_limits(monkeypatch, given, width):
    monkeypatch.setenv("COLUMNS", given)
    monkeypatch.setattr(fitting.shutil.sys, "__stdout__", None)

    assert page_width() == width
