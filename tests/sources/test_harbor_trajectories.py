"""ATIF trajectories as steps: calls with their results, parts, subagents, further files, and malformed ones."""

import json

import pytest
from harbor_fixtures import DEMO, FIXTURES, KIMI, STEPS, a_job, a_result, attempts, by_task, items, items_of, write

from errata.model import Unreadable
from errata.model.conduct import conduct_of
from errata.sources.harbor.atif import in_order


def deploy():
    return by_task(items_of(STEPS))["deploy"].steps


def told_by(folder, trajectory, **files):
    """The items of a trial with this trajectory, and further files beside it."""
    job = a_job(folder, a_result())
    write(job / "task__a1" / "agent" / "trajectory.json", trajectory)
    for name, content in files.items():
        write(job / "task__a1" / "agent" / f"{name}.json", content)
    return items(job)


def test_a_step_has_reasoning_model_time_and_usage():
    step = next(one for one in attempts(items_of(DEMO)) if one.steps).steps[2]

    assert (step.reasoning, step.model, step.started_at[:19]) == ("need a file", "mock-model", "2026-11-15T19:26:19")
    assert (step.usage.input, step.usage.output, step.usage.cache_read, step.usage.cost) == (500, 60, 0, 0.004)


LATE = json.loads((FIXTURES.parents[1] / "agents/harbor/late_calls.json").read_text())


def test_calls_without_a_result_come_where_they_were_made_and_are_marked_late(tmp_path):
    """14 of the 45 published trajectories of this agent have such calls behind the last turn."""
    (attempt,) = attempts(told_by(tmp_path, LATE))
    times = [step.started_at for step in attempt.steps]
    late = [step for step in attempt.steps if step.extra.get("late")]

    assert len(attempt.steps) == len(LATE["steps"]) == 15
    assert times == sorted(times)
    assert [step.extra["step_id"] for step in late] == [14, 15]
    assert all(call.result is None for step in late for call in step.tool_calls)


def test_the_last_turn_is_the_last_by_time(tmp_path):
    (attempt,) = attempts(told_by(tmp_path, LATE))
    last = attempt.steps[-1]

    assert (last.text, last.tool_calls, last.usage.output) == ("", (), 0)
    assert conduct_of(attempt.steps).ended_empty is not None


def at(second, **more):
    return {"source": "agent", "message": "", "timestamp": f"2026-04-01T18:02:{second:02d}Z", **more}


CALL = {"tool_calls": [{"tool_call_id": "c", "function_name": "bash", "arguments": {}}]}
ANSWERED = CALL | {"observation": {"results": [{"source_call_id": "c", "content": "done"}]}}


@pytest.mark.parametrize(
    ("steps", "order"),
    [
        ([at(1), at(5), at(9), at(3, **CALL)], [0, 3, 1, 2]),
        ([at(1), at(9), at(5, **CALL), at(3, **CALL)], [0, 2, 3, 1]),
        ([at(1), at(9), at(3, **ANSWERED), at(4)], [0, 1, 2, 3]),
        ([at(5), at(9), at(3, **CALL)], [0, 2, 1]),
        ([{"source": "user"}, at(9), {"source": "agent", **CALL}], [0, 1, 2]),
        ([at(2), "no object", at(1, **CALL)], [0, 2, 1]),
        ([], []),
    ],
)
def test_only_calls_without_a_result_are_moved(steps, order):
    assert [place for place, _, _ in in_order(steps)] == order


def test_an_agents_own_word_on_a_failed_call_is_taken():
    steps = by_task(items_of(KIMI))["pypi-server"].steps

    assert steps[3].tool_calls[0].result.is_error is True
    assert deploy()[1].tool_calls[0].result.is_error is False
    assert deploy()[1].tool_calls[1].result.is_error is None


def test_pictures_and_sounds_are_parts_beside_the_text():
    first, second, *_ = deploy()

    assert first.text == "Look at the picture and deploy."
    assert [part["type"] for part in first.parts] == ["image"]
    assert second.tool_calls[0].result.text == "port 80"
    assert [part["type"] for part in second.tool_calls[0].result.structured] == ["audio"]


def test_a_result_without_its_call_is_a_step_of_its_own():
    late, screen = deploy()[2:4]

    assert (late.actor.role, late.text, late.parent) == ("tool", "late answer", 2)
    assert (screen.actor.role, screen.text, screen.kind) == ("environment", "root@box:/# ", "tool_result")


def test_the_steps_of_a_subagent_stand_below_the_call():
    below = [step for step in deploy() if step.actor.name == "helper"]

    assert [(step.text, deploy()[step.parent - 1].text) for step in below] == [("port 80", "Asking a helper")]
    assert deploy()[1].tool_calls[0].result.extra["subagent_trajectory_ref"][0]["trajectory_id"] == "sub-1"


def test_a_trajectory_goes_on_in_the_file_that_it_names():
    last = deploy()[-2:]

    assert [(step.actor.role, step.text) for step in last] == [
        ("system", "summary of what was"),
        ("assistant", "All is deployed."),
    ]
    assert last[0].extra["is_copied_context"] is True


def test_what_the_agent_said_last_is_the_output():
    one = by_task(items_of(STEPS))["deploy"]

    assert (one.output.text, one.stop_reason) == ("All is deployed.", "end_turn")


def test_what_a_trajectory_says_of_itself_is_kept():
    main, sub, more = by_task(items_of(STEPS))["deploy"].extra["trajectories"]

    assert (main["schema_version"], main["notes"], main["final_metrics"]["total_steps"]) == ("ATIF-v1.8", "made up", 3)
    assert main["agent"]["tool_definitions"][0]["function"]["name"] == "task"
    assert sub["trajectory_id"] == "sub-1"
    assert more["file"] == "deploy__aa1/agent/trajectory.cont-1.json"


def test_a_subagent_in_a_file_of_its_own_is_read(tmp_path):
    ref = {"session_id": "s2", "trajectory_path": "/logs/agent/helper.json"}
    step = {"step_id": 1, "source": "agent", "observation": {"results": [{"subagent_trajectory_ref": [ref]}]}}
    helper = {"agent": {"name": "helper"}, "steps": [{"step_id": 1, "source": "agent", "message": "done"}]}

    (one,) = attempts(told_by(tmp_path / "job", {"steps": [step]}, helper=helper))

    assert [(step.actor.name, step.text) for step in one.steps][-1] == ("helper", "done")


def test_files_that_go_on_in_each_other_are_read_once(tmp_path):
    trajectory = {"steps": [{"step_id": 1, "source": "user"}], "continued_trajectory_ref": "trajectory.json"}

    (one,) = attempts(told_by(tmp_path / "job", trajectory))

    assert len(one.steps) == 1


def test_no_file_outside_of_the_agents_folder_is_read(tmp_path):
    write(tmp_path / "outside.json", {"steps": [{"source": "user", "message": "secret"}]})
    trajectory = {"steps": [], "continued_trajectory_ref": "../../../outside.json"}

    (one,) = attempts(told_by(tmp_path / "job", trajectory))

    assert one.steps == ()


@pytest.mark.parametrize(
    ("trajectory", "why"),
    [
        ("{", "truncated"),
        ("[]", "expected an object"),
        ({"schema_version": "ATIF-v1.0"}, "a trajectory without steps"),
        ({"steps": {"a": 1}}, "a trajectory without steps"),
        ({"steps": [{"source": "user", "message": "hello"}, "no step"]}, "a step that is not an object"),
    ],
)
def test_a_malformed_trajectory_is_unreadable_and_the_trial_is_kept(tmp_path, trajectory, why):
    found = told_by(tmp_path / "job", trajectory)

    assert len(attempts(found)) == 1
    assert [why in item.why for item in found if isinstance(item, Unreadable)] == [True]


def test_values_of_wrong_types_do_not_hinder_a_step(tmp_path):
    step = {
        "step_id": "one",
        "source": "robot",
        "message": {"odd": 1},
        "tool_calls": [None, {"arguments": [1]}],
        "observation": {"results": [None, {"content": 5}]},
        "metrics": [1],
        "timestamp": "yesterday",
    }

    (one,) = attempts(told_by(tmp_path / "job", {"agent": None, "steps": [step]}))

    assert one.steps[0].actor.role == "environment"
    assert one.steps[0].extra["timestamp"] == "yesterday"
    assert len(one.steps) == 3
