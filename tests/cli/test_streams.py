"""Data goes to stdout and talk to stderr; lines fit the page; `--json` is JSON wherever something is shown."""

import msgspec
import pytest

from errata.cli.app import COMMANDS
from terminal import FIXTURES, done, errata, import_fixtures

RUN_A = FIXTURES / "convex_evals" / "run_a" / "data" / "run-a"
RUN_B = FIXTURES / "convex_evals" / "run_b" / "data" / "run-b"
SETTINGS = FIXTURES.parent / "settings"
FIELDS = (
    "run",
    "run_id",
    "model",
    "case",
    "case_key",
    "attempt",
    "attempt_id",
    "execution",
    "measurement",
    "outcome",
    "failed_checks",
    "owner",
    "confidence",
    "signals",
    "failure_key",
    "bucket",
    "verdict",
)
SHOWING = {
    "analyze": ["analyze", RUN_B],
    "import": ["import", RUN_B],
    "runs": ["runs"],
    "show": ["show", "latest"],
    "check": ["check", RUN_B],
    "score": ["score", RUN_B],
    "consistency": ["consistency", RUN_B],
    "compare": ["compare", RUN_A, RUN_B],
    "gate": ["gate", RUN_B, "--allow-no-baseline"],
    "failures": ["failures", RUN_B],
    "triage": ["triage", RUN_B],
    "review": ["review", "status", RUN_B],
    "review next": ["review", "next", RUN_B],
    "review export": ["review", "export", RUN_B],
    "sessions": ["sessions", RUN_B],
    "buckets": ["buckets", "list", RUN_B, "--all"],
    "buckets suggest": ["buckets", "suggest", RUN_B],
    "rerun": ["rerun", RUN_B],
    "action": ["action", "add", "--what", "allows it", "--path", "lint.mjs", "--for", "002-http_greeting"],
    "known": ["known", "add", "006-pagination_shape", "--text", "the guidelines do not tell the shape"],
    "report": ["report", RUN_B],
    "issues": ["issues", RUN_B],
    "writeback": ["writeback", FIXTURES / "inspect_ai" / "all_errored" / "data"],
    "export": ["export", RUN_B, "--force"],
    "exclude": ["exclude", "latest", "--reason", "too old"],
    "rm": ["rm", "latest", "--yes"],
    "trust": ["trust", SETTINGS],
    "sources": ["sources"],
    "map": ["map", FIXTURES / "generic/jsonl/data/nightly/nightly.jsonl", "--dry-run"],
    "taxonomies": ["taxonomies"],
    "doctor": ["doctor"],
    "store": ["store", "size"],
    "demo": ["demo"],
}


def test_this_list_names_every_command():
    # what needs a deployment, a harness, a client, or writes outside of the store has tests of its own
    elsewhere = {"fetch", "run", "models", "mcp", "serve", "skill", "token", "watch"}
    assert set(SHOWING) | elsewhere >= set(COMMANDS)


@pytest.mark.parametrize("command", SHOWING.values(), ids=SHOWING)
def test_json_is_one_object_a_line_and_nothing_else(command):
    import_fixtures(RUN_B)

    result = done(*command, "--json")

    assert result.rows
    assert all(isinstance(row, dict) for row in result.rows)


@pytest.mark.parametrize("command", SHOWING.values(), ids=SHOWING)
def test_what_is_shown_is_shown_without_json_too(command):
    import_fixtures(RUN_B)

    assert done(*command).out


def test_an_analysis_as_json_is_silent():
    assert done("analyze", RUN_B, "--json").err == ""


def test_an_empty_store_lists_nothing_and_says_what_to_do():
    result = done("runs")

    assert result.out == ""
    assert "`errata import PATH…`" in result.err


def test_an_empty_store_is_no_line_of_json():
    assert done("runs", "--json") == (0, "", "")


def test_no_failures_is_no_line_of_json(library):
    assert done("failures", "jn7maewn", "--json", "--store", library).out == ""


@pytest.mark.parametrize("run", ["jn709tmj", "9c0d1e2f", "batch-gen2"])
def test_a_failure_has_every_field_that_programs_rely_on(library, run):
    rows = done("failures", run, "--json", "--store", library).rows

    assert rows
    assert all(set(FIELDS) <= set(row) for row in rows)


def test_a_failure_names_its_run_and_case_as_the_harness_does(library):
    row = done("failures", "jn7mqywb", "--case", "005-batch_insert", "--json", "--store", library).row

    assert row["run"] == "jn7mqywbwe952an46zjcswtz9r7by5p7"
    assert row["case"] == "003-mutations/005-batch_insert"
    assert row["case_key"] == "convex-evals/003-mutations/005-batch_insert"
    assert row["attempt"] == 1
    assert row["attempt_id"] == f"{row['run_id']}:convex-evals/003-mutations/005-batch_insert#1"
    assert (row["execution"], row["measurement"], row["outcome"]) == ("error", "not_run", "none")


def test_an_attempt_named_by_a_failure_can_be_shown(library):
    for row in done("failures", "9c0d1e2f", "--json", "--store", library).rows:
        shown = done("show", row["attempt_id"], "--json", "--store", library).row

        assert shown["attempt"]["id"] == row["attempt_id"]


def test_the_listing_cuts_no_date(library):
    assert "2026-03-01 14:00" in done("runs", "--store", library).out


def test_the_listing_names_runs_so_that_they_can_be_typed(library):
    rows = [line for line in done("runs", "--store", library).out.splitlines()[1:] if not line.startswith(" ")]
    names = [line.split()[0] for line in rows]

    assert len(set(names)) == len(names) == 15
    assert all(errata("show", name, "--store", library).code == 0 for name in names)


def test_a_long_name_of_a_model_does_not_break_the_page(tmp_path):
    row = {"id": "one", "model": "a-model-" * 20, "ok": False, "error": "boom " * 40}
    (tmp_path / "rows.jsonl").write_bytes(msgspec.json.encode(row) + b"\n")
    (tmp_path / "map.toml").write_text(
        '[run]\nmodel = { column = "model" }\n[case]\nname = "id"\n[attempt]\npassed = "ok"\nerror = "error"\n'
    )
    done("import", "rows.jsonl", "--map", "map.toml")

    for command in ("runs", "failures latest"):
        lines = done(*command.split()).out.splitlines()
        assert all(len(line) <= 100 or line.strip() == row["model"] for line in lines)


def test_a_name_that_a_shell_would_act_on_is_quoted_in_what_to_do_next(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"id": "`id` $HOME", "run": "x; touch owned", "ok": false}\n')
    (tmp_path / "map.toml").write_text(
        '[run]\nname = { column = "run" }\n[case]\nname = "id"\n[attempt]\npassed = "ok"\n'
    )

    row = done("analyze", "rows.jsonl", "--map", "map.toml").out

    assert "Next     errata failures 'x; touch owned'   " in row
    page = done("failures", "x; touch owned").out
    assert "Next     errata show 'x; touch owned/`id` $HOME'   show the evidence of one failure\n" in page
