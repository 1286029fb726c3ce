"""Where an error of a sample was raised: in the harness itself, or in what it called for somebody else."""

import pytest
from inspect_ai_logs import first_with

INSTALLED = "/opt/venv/lib/python3.11/site-packages"


def a_traceback(*places, error="KeyError: 'store'"):
    frames = [f'  File "{file}", line {at}, in {name}\n    do()\n' for at, (file, name) in enumerate(places, 10)]
    return "Traceback (most recent call last):\n" + "".join(frames) + error + "\n"


def crashed(tmp_path, *places):
    error = {"message": "KeyError('store')", "traceback": a_traceback(*places)}
    return first_with(tmp_path, error=error, scores={}).errors[-1]


RUN = (f"{INSTALLED}/inspect_ai/_eval/task/run.py", "task_run_sample")
PLAN = (f"{INSTALLED}/inspect_ai/solver/_plan.py", "__call__")


def test_a_crash_of_the_harness_has_its_frame(tmp_path):
    error = crashed(tmp_path, RUN, (f"{INSTALLED}/inspect_ai/util/_store.py", "store_jsonable"))

    assert error.frame == "inspect_ai/util/_store.py:11 in store_jsonable"


@pytest.mark.parametrize(
    "last",
    [
        ("/usr/lib/python3.11/json/decoder.py", "decode"),
        (f"{INSTALLED}/pydantic/main.py", "__init__"),
        (f"{INSTALLED}/anyio/_core/_tasks.py", "_run_coro"),
    ],
)
def test_what_the_harness_only_called_is_passed_over(tmp_path, last):
    assert crashed(tmp_path, RUN, last).frame == "inspect_ai/_eval/task/run.py:10 in task_run_sample"


def test_a_harness_that_runs_from_its_sources_is_the_harness(tmp_path):
    error = crashed(tmp_path, ("/home/user/inspect_ai/src/inspect_ai/_eval/task/run.py", "task_run_sample"))

    assert error.frame == "inspect_ai/_eval/task/run.py:10 in task_run_sample"


def test_a_crash_while_the_log_is_written_is_of_the_aggregation(tmp_path):
    error = crashed(tmp_path, RUN, (f"{INSTALLED}/inspect_ai/log/_recorders/eval.py", "log_sample"))

    assert error.phase == "aggregation"


@pytest.mark.parametrize(
    ("place", "frame"),
    [
        (("/home/user/demo/task.py", "solve"), "task.py:12 in solve"),
        ((f"{INSTALLED}/inspect_ai/model/_providers/openai.py", "generate"), ""),
        ((f"{INSTALLED}/inspect_ai/tool/_tools/_execute.py", "execute"), ""),
        ((f"{INSTALLED}/inspect_ai/agent/_react.py", "execute"), ""),
        ((f"{INSTALLED}/inspect_ai/scorer/_model.py", "score"), ""),
        ((f"{INSTALLED}/inspect_ai/util/_sandbox/docker/docker.py", "exec"), ""),
        ((f"{INSTALLED}/httpx/_client.py", "send"), ""),
    ],
    ids=("solver", "provider", "tool", "agent", "scorer", "sandbox", "library"),
)
def test_what_the_harness_did_for_others_is_no_crash_of_its_own(tmp_path, place, frame):
    assert crashed(tmp_path, RUN, PLAN, place).frame == frame
