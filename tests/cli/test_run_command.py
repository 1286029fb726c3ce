"""`errata run`, `errata models` and `errata rerun --execute`, with a program in Inspect's place and genuine logs."""

from pathlib import Path

import pytest

import stub_inspect
from terminal import errata

MODELS = """
[models.smollm2]
provider = "local"
base_url = "http://127.0.0.1:9/v1"
key_name = "LOCAL_KEY"
schedule = "weekly"

[suites.arithmetic]
task = "arithmetic.py"
"""


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    program = stub_inspect.install(tmp_path / "bin")
    monkeypatch.setenv("ERRATA_INSPECT", str(program))
    monkeypatch.setenv("STUB_NOTES", str(tmp_path / "notes"))
    monkeypatch.setenv("LOCAL_KEY", "not-a-real-key")
    Path("models.toml").write_text(MODELS, encoding="utf-8")
    return tmp_path


@pytest.mark.req("A-13")
@pytest.mark.req("A-15")
def test_a_new_model_is_tried_on_two_cases_then_run_imported_and_reported(project):
    result = errata("run", "arithmetic")

    assert result.code == 0, result
    calls = [words for words, _ in stub_inspect.notes()]
    assert ["--limit=2" in words for words in calls] == [True, False]
    assert "Run fc6bTYwd · openai-api/local/smollm2 · arithmetic" in result.out
    assert "Report   reports/" in result.out
    assert stub_inspect.notes()[1][1] == {
        "LOCAL_KEY": "not-a-real-key",
        "LOCAL_BASE_URL": "http://127.0.0.1:9/v1",
        "LOCAL_API_KEY": "not-a-real-key",
    }


def test_a_model_that_has_run_the_suite_needs_no_smoke_run(project):
    errata("run", "arithmetic", "--no-smoke")
    errata("run", "arithmetic")

    assert len(stub_inspect.notes()) == 2


@pytest.mark.req("A-15")
def test_a_model_that_can_not_be_reached_is_not_run(project, monkeypatch):
    monkeypatch.setenv("STUB_LOG", "unreachable")

    result = errata("run", "arithmetic")

    assert result.code == 1
    assert "INVALID smoke run: smollm2 on arithmetic: every attempt ended in the same error" in result.out
    assert len(stub_inspect.notes()) == 1
    assert errata("runs", "--json").out == ""


def test_a_run_without_tokens_is_excluded_and_has_no_score(project, monkeypatch):
    monkeypatch.setenv("STUB_LOG", "unreachable")

    row = errata("run", "arithmetic", "--no-smoke", "--json").row

    assert row["invalid"] == "unavailable"
    assert (row["strict"], row["clean"]) == (None, None)
    (run,) = errata("runs", "--json").rows
    assert run["excluded"]["reason"].startswith("invalid run:")


def test_a_program_that_writes_no_log_is_an_invalid_run(project, monkeypatch):
    monkeypatch.setenv("STUB_LOG", "")
    monkeypatch.setenv("STUB_CODE", "1")

    result = errata("run", "arithmetic", "--no-smoke")

    assert result.code == 1
    assert "Inspect wrote no log" in result.out
    assert "exit code 1" in result.out


def test_a_missing_key_stops_everything_before_it_starts(project, monkeypatch):
    monkeypatch.delenv("LOCAL_KEY")

    result = errata("run", "arithmetic")

    assert result.code == 2
    assert "LOCAL_KEY for `smollm2`" in result.talk
    assert stub_inspect.notes() == []
    assert errata("models", "check").code == 1


def test_without_inspect_the_extra_is_named(project, monkeypatch):
    monkeypatch.setenv("ERRATA_INSPECT", str(project / "nowhere"))

    result = errata("run", "arithmetic")

    assert result.code == 2
    assert "errata[inspect]" in result.talk


def test_a_dry_run_prints_the_command_and_runs_nothing(project):
    result = errata("run", "arithmetic", "--dry-run")

    assert result.code == 0
    assert "--model=openai-api/local/smollm2" in result.out
    assert "not-a-real-key" not in result.out
    assert stub_inspect.notes() == []


@pytest.mark.req("A-14")
def test_a_schedule_chooses_its_models(project):
    assert errata("run", "arithmetic", "--schedule", "weekly", "--dry-run").code == 0
    assert errata("run", "arithmetic", "--schedule", "daily", "--dry-run").code == 2


def test_models_are_listed_and_tried(project):
    (model,) = errata("models", "list", "--json").rows
    smoke = errata("models", "smoke", "arithmetic", "--json").row

    assert (model["inspect_model"], model["schedule"]) == ("openai-api/local/smollm2", "weekly")
    assert (smoke["smoke"]["cases"], smoke["smoke"]["invalid"]) == (6, None)


def test_a_rerun_is_executed_imported_and_compared(project, monkeypatch):
    errata("run", "arithmetic", "--no-smoke")
    monkeypatch.setenv("PATH", str(project / "bin"), prepend=":")

    row = errata("rerun", "latest", "--case", "1+1", "--execute", "--yes", "--json").row

    ((argv, _),) = stub_inspect.notes()[1:]
    assert argv[-1] == "--sample-id=1+1"
    assert [one["exit_code"] for one in row["commands"]] == [0]


def test_a_rerun_asks_first_and_a_script_has_to_say_yes(project, monkeypatch):
    errata("run", "arithmetic", "--no-smoke")
    monkeypatch.setenv("PATH", str(project / "bin"), prepend=":")

    result = errata("rerun", "latest", "--case", "1+1", "--execute")

    assert result.code == 2
    assert "--yes" in result.talk
    assert len(stub_inspect.notes()) == 1


def test_a_harness_that_is_not_installed_is_named_before_anything_runs(project, monkeypatch):
    errata("run", "arithmetic", "--no-smoke")
    monkeypatch.setenv("PATH", str(project / "empty"))

    result = errata("rerun", "latest", "--case", "1+1", "--execute", "--yes")

    assert result.code == 2
    assert "`inspect` is not on the PATH" in result.talk


def test_only_judging_leaves_out_commands_that_call_the_model(project):
    errata("run", "arithmetic", "--no-smoke")

    row = errata("rerun", "latest", "--case", "1+1", "--judge-only", "--json").row

    assert row["commands"] == []
