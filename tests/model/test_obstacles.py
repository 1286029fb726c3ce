"""What kept the subject from working, in the logs of any agent program."""

import pytest

from errata.model import Artefact, Conduct, Sighting
from errata.model.obstacles import channel_state, obstacle_in
from errata.testing import an_attempt

NODE = """node:events:502
      throw er; // Unhandled 'error' event
      ^

Error: spawn ps ENOENT
    at ChildProcess._handle.onexit (node:internal/child_process:285:19)
Emitted 'error' event on ChildProcess instance at:
    at ChildProcess._handle.onexit (node:internal/child_process:291:12) {
  errno: -2,
  code: 'ENOENT'
}

Node.js v20.19.4
root@box:/app# """
PYTHON = """Starting
Traceback (most recent call last):
  File "/root/.local/bin/mini", line 5, in <module>
    from minisweagent.run.mini import app
  File "/root/.local/lib/python3.12/site-packages/minisweagent/run/mini.py", line 9, in <module>
    import typer
ModuleNotFoundError: No module named 'typer'
"""
KEYS = """["source /installed-agent/install-agent.sh || echo 'INSTALL_FAIL_STATUS'", 'Enter']
['mini -m some/model -t task', 'Enter']
['bash ', '/tests/run-tests.sh', 'Enter']
"""


def log(text, path="agent/agent.txt"):
    return Artefact(role="log", path=path, text=text)


def found_in(*logs, conduct=None, **attempt):
    return obstacle_in(
        an_attempt(execution="completed", measurement="scored", outcome="fail", artefacts=logs, **attempt), conduct
    )


@pytest.mark.parametrize(
    ("text", "line", "at"),
    [
        (f'{{"type":"assistant"}}\n{NODE}', "Error: spawn ps ENOENT", 6),
        (NODE.partition("\nNode.js")[0], "Error: spawn ps ENOENT", 5),
        (PYTHON, "ModuleNotFoundError: No module named 'typer'", 7),
        (
            "thinking\n╭── Traceback (most recent call last) ──╮\n│ /x/site-packages/agent/main.py:7 in run │\n╰──╯\n"
            "ConnectionError: refused\n",
            "ConnectionError: refused",
            5,
        ),
        ("go\nthread 'main' panicked at src/main.rs:4:5:\nno home\nnote: run with RUST_BACKTRACE=1\n",
         "thread 'main' panicked at src/main.rs:4:5:", 2),
        ("\x1b[31mpanic: nil map\x1b[0m\n\ngoroutine 1 [running]:\nmain.main()\n", "panic: nil map", None),
    ],
)  # fmt: skip
def test_a_program_that_ends_in_its_own_exception_has_crashed(text, line, at):
    obstacle = found_in(log(text))

    assert (obstacle.kind, obstacle.quote) == ("crashed", line)
    assert obstacle.where == (f"agent/agent.txt:{at}" if at else "agent/agent.txt:1")


@pytest.mark.req("B-06")
@pytest.mark.parametrize(
    "text",
    [
        f"{NODE}\nI see that the server crashed. Let me fix it.\n",
        f'{NODE.removesuffix("root@box:/app# ")}{{"type":"result","result":"done"}}\n',
        PYTHON.replace("/root/.local/bin/mini", "/app/solve.py"),
        "Done. The program raised\nValueError: as the task demands\n",
        "all good\n",
    ],
)
def test_an_exception_that_the_agent_went_on_from_or_of_another_program_is_no_crash(text):
    assert found_in(log(text)) is None


def test_a_program_that_was_stopped_from_outside_has_not_crashed():
    attempt = an_attempt(execution="limit", measurement="scored", outcome="fail", artefacts=(log(PYTHON),))

    assert obstacle_in(attempt, None) is None


def test_the_terminal_that_the_subject_itself_works_in_is_no_log_of_an_agent():
    pane = log(NODE, "task/trial/panes/post-agent.txt")

    assert found_in(pane) is None
    assert found_in(pane, log(KEYS, "task/trial/commands.txt")).kind == "crashed"


@pytest.mark.parametrize(
    "line",
    ["bash: mini: command not found", "bash: line 1: mini: command not found", "/bin/sh: 1: mini: not found",
     "/usr/bin/env: ‘node’: No such file or directory", "INSTALL_FAIL_STATUS"],
)  # fmt: skip
def test_an_agent_whose_program_is_not_found_was_not_installed(line):
    pane = log(f"installing\npip: error\nINSTALL_SUCCESS\n{line}\nroot@box:/app# ", "t/panes/post-agent.txt")
    obstacle = found_in(pane, log(KEYS, "t/commands.txt"))

    assert (obstacle.kind, obstacle.quote, obstacle.where) == ("not_installed", line, "t/panes/post-agent.txt:4")
    assert found_in(log(f"{line}\n")).kind == "not_installed"


@pytest.mark.req("B-05")
def test_a_program_that_the_subject_did_not_find_is_its_own_affair():
    pane = log("bash: tmuxx: command not found\nroot@box:/app# ", "t/panes/post-agent.txt")
    keys = log(KEYS, "t/commands.txt")

    assert found_in(pane, keys) is None
    assert found_in(log("bash: mini: command not found\n"), conduct=Conduct(turns=3)) is None
    assert found_in(log("bash: mini: command not found\n" + "working\n" * 9)) is None
    assert found_in(log(f"{KEYS}\nroot@box:/app# ", "t/panes/post-agent.txt"), keys) is None


def test_a_set_up_that_failed_by_name_in_the_runs_log_is_found_where_nothing_was_done():
    text = "2025-11-08 13:10:33 INFO Running t\n2025-11-08 13:10:40 ERROR Error response from daemon: no such image\n"
    nothing = an_attempt(execution="error", measurement="not_run", outcome="none", artefacts=(log(text, "run.log"),))

    obstacle = obstacle_in(nothing, None)
    assert (obstacle.kind, obstacle.where) == ("not_set_up", "run.log:2")
    assert obstacle_in(nothing, Conduct(turns=1)) is None
    assert found_in(log(text, "run.log")) is None
    assert found_in(log(text, "agent/agent.txt")) is None


def seen(count):
    return Sighting(count=count, step=3, quote="Bash: :ls")


@pytest.mark.parametrize(
    ("conduct", "state"),
    [
        (Conduct(turns=10, calls=10, mangled_calls=seen(9)), "likely"),
        (Conduct(turns=12, calls=12, mangled_calls=seen(3)), "likely"),
        (Conduct(turns=10, calls=10, mangled_calls=seen(2), empty_calls=seen(4)), "likely"),
        (Conduct(turns=10, calls=10, empty_calls=seen(9)), "likely"),
        (Conduct(turns=10, calls=10, empty_calls=seen(6)), "weak"),
        (Conduct(turns=10, calls=10, empty_calls=seen(4)), None),
        (Conduct(turns=40, calls=40, mangled_calls=seen(3)), None),
        (Conduct(turns=2, calls=2, mangled_calls=seen(2)), None),
        (Conduct(turns=1, tools_offered=16, calls_as_text=seen(1), ends_in_text_call=True), "likely"),
        (Conduct(turns=9, calls=8, calls_as_text=seen(1), ends_in_text_call=True), "likely"),
        (Conduct(turns=9, calls=8, calls_as_text=seen(1)), None),
        (Conduct(turns=1, calls_as_text=seen(1), ends_in_text_call=True), None),
        (Conduct(turns=1, tools_offered=16, control_tokens=seen(1)), "likely"),
        (Conduct(turns=9, calls=8, control_tokens=seen(1)), None),
        (Conduct(turns=9, calls=8), None),
    ],
)
def test_a_tool_channel_is_broken_where_many_calls_do_not_arrive(conduct, state):
    assert channel_state(conduct)[0] == state
