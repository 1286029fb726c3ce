"""Sessions of Claude Code and Codex: read alone, and joined to results by a mapping."""

import json
import shutil
from pathlib import Path

import pytest

from errata.model import Attempt
from errata.sources import coding_sessions, generic

FOLDER = Path(__file__).parents[1] / "fixtures" / "sources"
CLAUDE = FOLDER / "coding_sessions" / "claude_code" / "data" / "5b0c1e7a-1111-4222-8333-944444444444.jsonl"
CODEX = FOLDER / "coding_sessions" / "codex" / "data" / "rollout-2026-03-01T11-00-00-019a-77.jsonl"
RESULTS = FOLDER / "generic" / "sessions" / "data" / "results.jsonl"


def attempt(path: Path) -> Attempt:
    (found,) = [item for item in coding_sessions.read(path) if isinstance(item, Attempt)]
    return found


def lines_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def written(path: Path, lines: list[dict]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.parametrize("path", [CLAUDE, CODEX], ids=["claude", "codex"])
def test_a_session_has_no_verdict(path):
    found = attempt(path)

    assert (found.execution, found.measurement, found.outcome) == ("completed", "not_run", "none")


@pytest.mark.parametrize("path", [CLAUDE, CODEX], ids=["claude", "codex"])
def test_the_task_is_what_a_person_asked_first(path):
    _, case, *_ = coding_sessions.read(path)

    assert "Fix the failing test" in case.input or case.input.startswith("<environment_context>")


def test_an_answer_that_is_split_over_lines_is_counted_once():
    usage = attempt(CLAUDE).usage.subject

    assert (usage.requests, usage.input, usage.output) == (4, 16, 45 + 30 + 25 + 12)
    assert (usage.cache_read, usage.cache_write, usage.includes_cache) == (3600, 480, False)


def test_a_result_stands_with_its_call():
    call = next(call for step in attempt(CLAUDE).steps for call in step.tool_calls if call.name == "Bash")

    assert (call.result.text, call.result.is_error) == ("Exit code 1\n1 failed", True)


def test_what_a_subagent_did_stands_below_the_call_of_it():
    steps = attempt(CLAUDE).steps
    (asked,) = [step.index for step in steps if any(call.name == "Task" for call in step.tool_calls)]

    assert [step.text for step in steps if step.parent == asked] == [
        "Read tide.py",
        "It adds where it should subtract.",
    ]


def test_a_subagent_s_own_file_is_no_run():
    file = CLAUDE.with_name("agent-a1b2c3.jsonl")

    assert coding_sessions.recognise(file) is None
    assert coding_sessions.explain(file).startswith("this is the transcript of a subagent")


def test_an_error_of_the_api_in_the_place_of_an_answer_is_an_error():
    found = attempt(RESULTS.parent / "sessions" / "dead-beef.jsonl")

    assert (found.execution, found.errors[0].type, found.errors[0].code) == ("error", "server_error", "529")
    assert found.output.text is None


def test_an_error_that_the_session_got_over_is_none(tmp_path):
    lines = lines_of(RESULTS.parent / "sessions" / "dead-beef.jsonl") + lines_of(CLAUDE)[4:]

    assert attempt(written(tmp_path / "s.jsonl", lines)).errors == ()


def test_a_session_that_a_person_interrupted_was_cancelled(tmp_path):
    lines = lines_of(CLAUDE)
    lines[-1] = lines[2] | {"message": {"role": "user", "content": "[Request interrupted by user]"}}

    assert attempt(written(tmp_path / "s.jsonl", lines)).execution == "cancelled"


def test_the_last_running_total_is_what_codex_used():
    usage = attempt(CODEX).usage.subject

    assert (usage.input, usage.cache_read, usage.output, usage.reasoning) == (5100, 4000, 210, 64)


def test_results_of_codex_tell_their_exit_code():
    calls = [call for step in attempt(CODEX).steps for call in step.tool_calls]

    assert [(call.name, call.result.exit_code) for call in calls] == [("shell", 1), ("apply_patch", 0)]


def test_a_turn_of_codex_that_was_aborted_is_cancelled(tmp_path):
    lines = lines_of(CODEX)[:-2]
    lines.append({"timestamp": "2026-03-01T11:00:20Z", "type": "event_msg", "payload": {"type": "turn_aborted"}})

    assert attempt(written(tmp_path / "s.jsonl", lines)).execution == "cancelled"


def test_an_error_that_ended_a_session_of_codex(tmp_path):
    error = {"type": "error", "message": "You've hit your usage limit.", "codex_error_info": "usage_limit_exceeded"}
    lines = [*lines_of(CODEX)[:-2], {"timestamp": "2026-03-01T11:00:20Z", "type": "event_msg", "payload": error}]
    found = attempt(written(tmp_path / "s.jsonl", lines))

    assert (found.execution, found.errors[0].type) == ("error", "usage_limit_exceeded")


# joined by a mapping


def joined(path: Path = RESULTS) -> list[Attempt]:
    return [item for item in generic.read(path) if isinstance(item, Attempt)]


def test_a_session_is_found_by_its_id_by_its_file_and_by_its_path():
    assert [len(found.steps) for found in joined()] == [10, 4, 5, 0]


def test_a_session_that_is_not_there_is_told():
    assert joined()[3].extra["not_understood"] == {"transcript": "never-kept"}


def test_a_session_that_ended_in_an_error_has_no_outcome_although_the_result_says_no():
    found = joined()[1]

    assert (found.execution, found.measurement, found.outcome) == ("error", "scored", "none")


def test_where_the_results_tell_errors_themselves_the_session_does_not(tmp_path):
    copy = Path(shutil.copytree(RESULTS.parent, tmp_path / "copy"))
    mapping = copy / "results.jsonl.map.toml"
    mapping.write_text(mapping.read_text() + 'error = { column = "crash", optional = true }\n')

    assert joined(copy / "results.jsonl")[1].execution == "completed"


def test_a_path_that_leads_out_of_the_folder_is_not_followed(tmp_path):
    copy = Path(shutil.copytree(RESULTS.parent, tmp_path / "copy"))
    (copy / "sessions" / "dead-beef.jsonl").rename(tmp_path / "outside.jsonl")
    (copy / "results.jsonl").write_text(
        '{"task": "a", "agent": "x", "solved": true, "session": "../../outside.jsonl"}\n'
    )

    assert joined(copy / "results.jsonl")[0].steps == ()


def test_sessions_below_a_mapping_that_joins_them_are_no_runs_of_their_own():
    session = RESULTS.parent / "sessions" / "dead-beef.jsonl"

    assert coding_sessions.recognise(session) is None
    assert coding_sessions.explain(session).startswith("it belongs to the results")


@pytest.mark.parametrize("index", [0, 2])
def test_the_session_gives_tokens_and_times_that_the_results_lack(index):
    found = joined()[index]

    assert found.usage.subject.output
    assert found.started_at.startswith("2026-03-01T1")
