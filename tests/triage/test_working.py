"""Could the subject work at all? Owners of failures in genuine sessions, and of those that only look alike."""

from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from errata import triage
from errata.model import (
    Actor,
    Attempt,
    Conduct,
    ErrorInfo,
    Obstacle,
    Run,
    Sighting,
    Step,
    ToolCall,
    ToolResult,
    Usage,
    UsageByRole,
)
from errata.model.obstacles import conduct_in
from errata.sources import RecognisedPath, harbor, read
from errata.testing import a_run, an_attempt

AGENTS = Path(__file__).parents[1] / "fixtures" / "agents" / "terminal_bench"
SLIP = Sighting(count=1, step=3, quote="Bash: :ls")


@cache
def attributed(run):
    """Task → the attribution of its attempt, as an import and a triage would give it."""
    path = AGENTS / run
    items = list(read(RecognisedPath(path, harbor, harbor.recognise(path))))
    (about,) = (item for item in items if isinstance(item, Run))
    return {one.native_id.partition(".1-of")[0]: decided(one, about) for one in items if isinstance(one, Attempt)}


def decided(attempt, run=None):
    rules = triage.built_in()
    attempt = replace(attempt, conduct=conduct_in(attempt), steps=())
    return triage.attribute(attempt, triage.observe(run or a_run(), attempt, None, None, rules))


def failed(conduct=None, **changes):
    given = {"execution": "completed", "measurement": "scored", "outcome": "fail", "conduct": conduct}
    return an_attempt(**given | changes)


def not_run(message, **changes):
    error = ErrorInfo(type="unknown_agent_error", message=message, phase="subject")
    given = {"execution": "error", "measurement": "not_run", "outcome": "none", "errors": (error,)}
    return an_attempt(**given | changes)


@pytest.mark.parametrize("task", ["vim-terminal-task", "solana-data"])
def test_a_session_that_claude_code_crashed_in_is_not_the_models(task):
    found = attributed("claude_code_c4")[task]

    assert (found.owner, found.also, found.decided_by) == ("harness", ("environment",), "agent_crashed")
    assert found.signals[0].quote == "Error: spawn ps ENOENT"
    assert "panes/post-agent.txt:" in found.signals[0].where


@pytest.mark.parametrize("task", ["run-pdp11-code", "sanitize-git-repo.hard", "git-workflow-hack"])
def test_a_session_whose_tool_call_arrived_as_text_is_not_the_models(task):
    found = attributed("claude_code_v3")[task]

    assert (found.owner, found.decided_by) == ("harness", "tool_channel_broken")
    assert "json {" in found.signals[0].quote
    assert found.signals[0].ref.line is not None


def test_a_session_that_an_empty_answer_ended_is_the_providers():
    found = attributed("claude_code_v3")["nginx-request-logging"]

    assert (found.owner, found.decided_by) == ("provider", "empty_final_turn")


@pytest.mark.parametrize(
    ("run", "task"), [("claude_code_v3", "raman-fitting.easy"), ("claude_code_c4", "polyglot-c-py")]
)
def test_a_session_whose_tools_worked_stays_the_models(run, task):
    found = attributed(run)[task]

    assert (found.owner, found.decided_by) == ("model", "check_failed")
    assert [signal.name for signal in found.signals] == ["check_failed"]


def test_an_agent_that_was_never_installed_is_the_harnesss():
    missing = Obstacle(kind="not_installed", where="agent/agent.txt:4", quote="bash: mini: command not found")
    found = decided(failed(Conduct(obstacle=missing)))

    assert (found.owner, found.also, found.decided_by) == ("harness", ("environment",), "agent_not_installed")
    assert found.signals[0].quote == "bash: mini: command not found"


def test_most_commands_mangled_are_the_harnesss_a_slip_is_not():
    broken = Conduct(turns=10, calls=10, mangled_calls=Sighting(count=9, step=1, quote="Bash: :ls"))

    assert decided(failed(broken)).owner == "harness"
    assert decided(failed(Conduct(turns=10, calls=10, mangled_calls=SLIP))).owner == "model"


def test_calls_that_only_look_mangled_may_be_the_providers_and_leaked_markup_shows_the_loss():
    odd = Sighting(count=9, step=1, quote="Bash(': [')")
    tokens = Sighting(count=1, step=3, quote="<|tool_call_end|>")
    found = decided(failed(Conduct(turns=10, calls=10, mangled_calls=odd)))
    leaked = decided(failed(Conduct(turns=10, calls=10, mangled_calls=odd, control_tokens=tokens)))

    assert (found.owner, found.also, found.decided_by) == ("harness", ("provider",), "tool_channel_broken")
    assert (leaked.owner, leaked.also, leaked.decided_by) == ("harness", (), "tool_channel_broken")


def test_many_empty_commands_leave_a_failure_with_the_model_but_in_doubt():
    waits = Conduct(turns=10, calls=10, empty_calls=Sighting(count=6, step=1, quote="Bash('')"))
    found = decided(failed(waits))

    assert (found.owner, found.also, found.proof_reason) == ("model", ("harness",), "in_doubt")


def test_an_empty_last_answer_after_a_token_limit_or_behind_mangled_calls_is_not_the_providers():
    empty = Sighting(count=1, step=9)

    assert decided(failed(Conduct(turns=9, calls=8, ended_empty=empty))).owner == "provider"
    assert decided(failed(Conduct(turns=9, calls=8, ended_empty=empty), stop_reason="max_tokens")).owner == "budget"
    mangled = Conduct(turns=9, calls=8, ended_empty=empty, mangled_calls=Sighting(count=7, step=1, quote=":ls"))
    assert decided(failed(mangled)).owner == "harness"


def test_a_session_that_ended_in_reasoning_alone_did_not_end_in_an_empty_answer():
    thought = Conduct(turns=9, calls=8, ended_empty=Sighting(count=1, step=9), ended_in_thought=True)
    found = decided(failed(thought))

    assert (found.owner, found.also) == ("model", ())
    assert "empty_final_turn" not in [signal.name for signal in found.signals]


def test_an_answer_that_writes_a_call_where_no_tools_were_offered_is_the_models():
    conduct = Conduct(turns=1, calls_as_text=SLIP, ends_in_text_call=True)

    assert decided(failed(conduct)).owner == "model"
    assert decided(failed(replace(conduct, tools_offered=4))).owner == "harness"


def test_an_error_before_the_first_token_is_the_providers_only_where_it_speaks_of_one():
    assert decided(not_run("the model endpoint returned nothing")).owner == "provider"
    assert decided(not_run("unknown_agent_error")).owner == "unknown"
    tokens = UsageByRole(subject=Usage(input=5, output=5))
    assert decided(not_run("the model endpoint returned nothing", usage=tokens)).owner != "provider"


def test_a_set_up_failure_in_the_runs_log_makes_it_the_environments():
    named = Obstacle(kind="not_set_up", where="run.log:2", quote="Error response from daemon: no such image")
    found = decided(not_run("unknown_agent_error", conduct=Conduct(obstacle=named)))

    assert (found.owner, found.decided_by) == ("environment", "setup_failed")


def test_a_call_written_as_text_is_the_harnesss_where_other_attempts_of_the_run_call_tools():
    written = failed(Conduct(turns=1, calls_as_text=SLIP, ends_in_text_call=True))
    calling = [failed(Conduct(turns=5, calls=4), case=f"suite/{number}") for number in range(3)]
    rules = triage.built_in()

    def owner(others):
        wide = triage.look_over([written, *others])
        return triage.attribute(written, triage.observe(a_run(), written, None, wide, rules)).owner

    assert owner(calling) == "harness"
    assert owner(calling[:1]) == "model"
    assert owner([]) == "model"


def mangled_session(case, *commands):
    """A failed session with these shell commands."""
    steps = tuple(
        Step(
            index=at,
            actor=Actor(role="assistant"),
            kind="tool_call",
            tool_calls=(ToolCall(name="Bash", arguments={"command": command}, result=ToolResult(text="")),),
        )
        for at, command in enumerate(commands)
    )
    attempt = failed(case=case, steps=steps)
    return replace(attempt, conduct=conduct_in(attempt))


def test_in_a_run_whose_calls_arrive_mangled_one_mangled_call_is_no_slip():
    broken = [mangled_session(f"case-{at}", ":ls", ",cat x", ">y") for at in range(4)]
    slip, sound = mangled_session("slip", "ls", ":cat x", "pwd"), mangled_session("sound", "ls", "pwd", "cat x")

    def owner(attempt, wide):
        return triage.attribute(attempt, triage.observe(a_run(), attempt, None, wide, triage.built_in())).owner

    assert owner(slip, triage.look_over([*broken, slip, sound])) == "harness"
    assert owner(sound, triage.look_over([*broken, slip, sound])) == "model"
    assert owner(slip, triage.look_over([slip, sound])) == "model"


def test_one_empty_call_over_and_over_is_no_loop_of_the_subject():
    steps = tuple(
        Step(
            index=at,
            actor=Actor(role="assistant"),
            kind="tool_call",
            tool_calls=(ToolCall(name="Bash", arguments={"command": ""}),),
        )
        for at in range(12)
    )

    assert decided(failed(steps=steps, execution="limit")).owner == "harness"


@pytest.mark.parametrize(
    "arguments",
    [{"keystrokes": ":wq\n"}, {"keystrokes": ":%d"}, {"path": "", "pattern": "foo"}],
    ids=["vim", "vim ex", "search everywhere"],
)
def test_keys_and_searches_without_a_folder_are_calls_like_others(arguments):
    steps = tuple(
        Step(
            index=at,
            actor=Actor(role="assistant"),
            kind="tool_call",
            tool_calls=(ToolCall(name="grep", arguments=arguments | {"n": at}),),
        )
        for at in range(5)
    )

    assert decided(failed(steps=steps)).owner == "model"


def test_an_empty_last_answer_after_a_mangled_call_is_a_doubt_only():
    ended = Sighting(count=1, step=9, quote="empty after 5 calls")
    mangled = Sighting(count=1, step=4, quote="Bash(': wc -c')")
    clean = decided(failed(Conduct(turns=6, calls=5, ended_empty=ended)))
    odd = decided(failed(Conduct(turns=6, calls=5, ended_empty=ended, mangled_calls=mangled)))

    assert (clean.owner, clean.decided_by) == ("provider", "empty_final_turn")
    assert (odd.owner, odd.proof, odd.also) == ("model", "presumed", ("provider",))
