"""Every line that a command shows fits a page of 100 columns, JSON apart."""

import json
import shlex
from itertools import pairwise

import pytest
from tests.length import every

from errata.cli.fitting import WIDTH, columns
from errata.cli.output import put_command
from terminal import FIXTURES, done, errata, import_fixtures

MORE = ("harbor", "inspect_ai", "promptfoo", "generic/jsonl")
LONG = {
    "id": "a-very-long-name-of-a-case/" * 6,
    "model": "a-model-" * 20,
    "run": "a run with a name that goes on and on " * 4,
    "prompt": "漢字" * 200,
    "answer": "word " * 300 + "x" * 500,
    "ok": False,
    "error": "/".join(["a-folder"] * 60) + " was not found",
    "style": False,
}
MAP = (
    'suite = "suite"\n[run]\nname = { column = "run" }\nmodel = { column = "model" }\n'
    '[case]\nname = "id"\ninput = "prompt"\n'
    '[attempt]\noutput = "answer"\npassed = "ok"\nerror = "error"\n[checks]\nstyle = "style"\n'
)


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """One store with the fixtures of every source and a log in which every name is too long."""
    folder = tmp_path_factory.mktemp("everything")
    store = folder / "errata.db"
    (folder / "rows.jsonl").write_text(json.dumps(LONG) + "\n")
    (folder / "map.toml").write_text(MAP)
    errata("import", *(FIXTURES / name for name in MORE), "--store", store)
    errata("import", folder / "rows.jsonl", "--map", folder / "map.toml", "--store", store)
    return store


def too_wide(*texts: str) -> list[str]:
    """But for an id, a path or one word of a command, alone on its line: it is there to be copied."""
    lines = [("", "")]
    for text in texts:
        lines += pairwise(["", *text.splitlines()])
    wide = [(before, line) for before, line in lines if columns(line) > WIDTH]
    return [line for before, line in wide if not (is_one_name(line) or is_a_word_of_a_command(before, line))]


def is_one_name(line: str) -> bool:
    return len(line.split()) == 1 or line.strip() == LONG["run"].strip()


def is_a_word_of_a_command(before: str, line: str) -> bool:
    return before.endswith(" \\") and len(shlex.split(line.removesuffix(" \\"))) == 1


def runs_of(store):
    """Some of each harness: the others look alike."""
    found: dict[str, list[str]] = {}
    for row in done("runs", "--json", "--store", store).rows:
        found.setdefault(row["source"], []).append(row["run_id"])
    return [run for runs in found.values() for run in every(4, runs[:4])]


@pytest.fixture(params=["library", "everything"])
def store(request):
    return request.getfixturevalue(request.param)


def test_there_is_enough_to_look_at(library, everything):
    assert len(runs_of(library)) >= 4
    assert len({row["source"] for row in done("runs", "--json", "--store", everything).rows}) >= 4


@pytest.mark.parametrize("command", [["runs"], ["doctor"], ["triage"], ["sources"], ["--help"], ["failures", "--help"]])
def test_the_lines_about_all_runs_fit(store, command):
    options = [] if "--help" in command else ["--store", store]

    assert too_wide(errata(*command, *options).out) == []


@pytest.mark.parametrize("command", ["show", "check", "failures", "score", "failures --suspicious"])
def test_the_lines_about_a_run_fit(store, command):
    name, *options = command.split()
    for run in runs_of(store):
        assert too_wide(errata(name, run, *options, "--store", store).out) == []


@pytest.mark.parametrize("full", [[], ["--full"]], ids=["brief", "full"])
def test_the_lines_about_an_attempt_fit(store, full):
    for run in runs_of(store):
        for row in done("failures", run, "--limit", 1, "--json", "--store", store).rows:
            assert too_wide(errata("show", row["attempt_id"], *full, "--store", store).out) == []


@pytest.mark.parametrize("sample", ["convex_evals", "conversation_bench", "scylla", *MORE])
def test_the_lines_of_an_analysis_fit(sample):
    told = errata("analyze", FIXTURES / sample, "--no-report")

    assert told.out
    assert too_wide(told.out, told.err) == []


def test_the_lines_of_an_import_fit(tmp_path):
    (tmp_path / "rows.jsonl").write_text(json.dumps(LONG) + "\n")
    (tmp_path / "map.toml").write_text(MAP)

    assert too_wide(done("import", "rows.jsonl", "--map", "map.toml").out) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "nothing"],
        ["failures", "latest", "--owner", "nobody"],
        ["import", "nowhere", "neither", "and/not/here/either"],
        ["import", "rows.jsonl", "--source", "nothing of the kind"],
    ],
)
def test_the_lines_of_an_error_fit(arguments):
    import_fixtures(FIXTURES / "convex_evals" / "run_d" / "data")

    assert too_wide(errata(*arguments).err) == []


def test_a_command_is_never_broken_within_a_word(capsys):
    case = "a-run/instance_" + "0123456789abcdef" * 8 + " and more"
    put_command("Next", ["errata", "show", case, "--store", "~/a folder/errata.db"], "a note")
    out = capsys.readouterr().out

    assert too_wide(out) == []
    assert " ~/'a folder/errata.db'" in out
    assert shlex.split(out.replace("\\\n", ""))[1:5] == ["errata", "show", case, "--store"]


def test_a_command_is_broken_only_where_it_does_not_fit(capsys):
    put_command("Next", ["errata", "show", "x" * (WIDTH - len("Next     errata show "))])
    put_command("Next", ["errata", "show", "x" * 5], "a note")

    assert [columns(line) for line in capsys.readouterr().out.splitlines()] == [WIDTH, 35]
