"""Sessions as Claude Code prints them: plain, wrapped by a terminal, damaged; and the log of a whole run."""

import json
from pathlib import Path

import pytest
from harbor_fixtures import a_job, a_result, attempts, items, write

from errata.model import Run
from errata.sources.shared.transcripts.stream import stream_at, stream_objects

AGENTS = Path(__file__).parents[1] / "fixtures" / "agents" / "terminal_bench"
TEXT = "I look at the files  and then, with care, at what is in them: a table of all ports, and the harbours' names"
LINES = [
    {"type": "system", "subtype": "init", "session_id": "s", "tools": ["Bash", "Read"]},
    {"type": "assistant", "message": {"id": "m1", "role": "assistant", "content": [{"type": "text", "text": TEXT}]}},
    {
        "type": "assistant",
        "message": {
            "id": "m1",
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls -la /app"}}],
        },
    },
    {
        "type": "user",
        "message": {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": True}],
        },
    },
    {"type": "result", "subtype": "success", "is_error": False, "result": "All is done, and the files are listed"},
]
NOISE = "[log_1] sending request {\n  method: 'post',\n  body: {\n    model: 'x'\n  }\n}"


def printed(lines=LINES):
    return "\n".join(f"{json.dumps(line, separators=(',', ':'))}\n{NOISE}" for line in lines)


def wrapped(text, width=60):
    """As a terminal shows it: cut at the width, without the spaces at the end of a row."""
    rows = [line[at : at + width].rstrip() for line in text.split("\n") for at in range(0, max(1, len(line)), width)]
    return "\n".join(rows)


def stream_in(folder, text):
    path = folder / "agent.txt"
    path.write_text(text, encoding="utf-8")
    return stream_at(path, root=folder)


@pytest.mark.parametrize("width", [0, 47, 60, 80, 160])
def test_a_session_is_the_same_at_every_width(tmp_path, width):
    stream = stream_in(tmp_path, wrapped(printed(), width) if width else printed())

    result, called = stream.steps
    assert result.text == TEXT
    assert called.tool_calls[0].arguments == {"command": "ls -la /app"}
    assert (called.tool_calls[0].result.text, called.tool_calls[0].result.is_error) == ("no", True)
    assert (stream.tools, stream.has_result) == (2, True)
    assert stream.answer == "All is done, and the files are listed"


@pytest.mark.parametrize("width", range(40, 60))
def test_braces_quotes_and_backslashes_in_a_text_end_no_object(width):
    code = {"type": "result", "result": 'f"{x}" \\"}" \\\\ { "\\" } \\n' * 300}
    text = wrapped(json.dumps(code, separators=(",", ":")).replace(" ", "_"), width)

    assert [line for line, _ in stream_objects(f"{text}\n{text}")] == [1, text.count("\n") + 2]


def test_a_text_without_a_session_is_none(tmp_path):
    assert stream_in(tmp_path, NOISE) is None
    assert stream_in(tmp_path, '{"type":"other"}\n{"type":"assistant"') is None
    assert stream_at(tmp_path / "absent.txt", root=tmp_path) is None


def test_an_error_in_the_last_line_is_the_programs_own_report(tmp_path):
    failed = {"type": "result", "subtype": "success", "is_error": True, "result": "API Error: Connection error."}

    assert stream_in(tmp_path, printed([*LINES[:-1], failed])).error == "API Error: Connection error."


def test_a_subagents_steps_are_below_the_call(tmp_path):
    below = LINES[1] | {"parent_tool_use_id": "t1"}
    stream = stream_in(tmp_path, printed([*LINES[:3], below, *LINES[3:]]))

    assert [step.parent for step in stream.steps] == [None, None, 1]


@pytest.mark.parametrize("pane", sorted(AGENTS.glob("*/*/*/panes/post-agent.txt")), ids=lambda path: path.parts[-4])
def test_every_line_of_a_genuine_pane_is_read(pane):
    text = pane.read_text(encoding="utf-8")
    begun = [line for line in text.split("\n") if line.startswith('{"type":"')]

    assert len(list(stream_objects(text))) == len(begun) > 0


def test_the_panes_of_terminal_bench_become_steps():
    found = {one.native_id.partition(".1-of")[0]: one for one in attempts(items(AGENTS / "claude_code_v3"))}

    assert found["run-pdp11-code"].steps[-1].text.endswith('{"file_path":"/app/data.hex"}\n')
    assert found["run-pdp11-code"].conduct.tools_offered == 16
    assert found["nginx-request-logging"].output.text == ""
    assert [len(one.steps) for one in found.values()] == [1, 7, 6, 1, 1]


def test_a_git_lfs_pointer_is_no_log_of_the_run():
    assert [item.context for item in items(AGENTS / "claude_code_v3") if isinstance(item, Run)] == [()]


@pytest.mark.req("B-03")
def test_the_entries_of_run_log_that_name_a_trial_are_its_log(tmp_path):
    row = {"task_id": "a", "is_resolved": None, "failure_mode": "unknown_agent_error"}
    rows = [row | {"trial_name": "a.1-of-2.r"}, row | {"trial_name": "a.1-of-20.r"}]
    write(tmp_path / "results.json", {"id": "r", "results": rows})
    (tmp_path / "run.log").write_text(
        "2025-11-08 13:10:33,1 INFO Starting\n"
        "2025-11-08 13:10:34,1 ERROR a.1-of-2.r failed\nTraceback (most recent call last):\n  docker\n"
        "2025-11-08 13:10:35,1 ERROR a.1-of-20.r failed: Error response from daemon\n"
        "2025-11-08 13:10:36,1 INFO container a-1-of-2-r removed\n"
    )

    found = items(tmp_path)
    (run,) = (item for item in found if isinstance(item, Run))
    first, second = (one.artefacts[0] for one in attempts(found))
    assert run.context[0].path == "run.log"
    assert first.text.splitlines()[1:3] == ["Traceback (most recent call last):", "  docker"]
    assert first.text.endswith("container a-1-of-2-r removed")
    assert (first.role, first.ref.line) == ("log", 2)
    assert second.text == "2025-11-08 13:10:35,1 ERROR a.1-of-20.r failed: Error response from daemon"


def test_harbor_reads_the_printed_session_where_there_is_no_trajectory(tmp_path):
    job = a_job(tmp_path, a_result())
    agent = job / "task__a1" / "agent"
    agent.mkdir(parents=True, exist_ok=True)
    (agent / "claude-code.txt").write_text(printed())

    (one,) = attempts(items(job))
    assert [step.text for step in one.steps] == [TEXT, ""]
    assert one.output.text == "All is done, and the files are listed"
    assert one.conduct.tools_offered == 2

    write(agent / "trajectory.json", {"agent": {"name": "x"}, "steps": [{"source": "agent", "message": "from ATIF"}]})
    (one,) = attempts(items(job))
    assert [step.text for step in one.steps] == ["from ATIF"]


def test_the_logs_of_an_agents_installation_are_files_of_the_attempt(tmp_path):
    job = a_job(tmp_path, a_result())
    setup = job / "task__a1" / "agent" / "setup"
    setup.mkdir(parents=True)
    (setup / "stdout.txt").write_text("bash: npm: command not found\n")

    (one,) = attempts(items(job))
    assert "agent/setup/stdout.txt" in [artefact.path for artefact in one.artefacts]
