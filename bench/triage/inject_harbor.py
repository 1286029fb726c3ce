"""Harbor: a trial's `exception_info`, its reward and its verifier's log; terminal-bench: `failure_mode`."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.triage.logs import Harness, Place, Target, Twin, changed, traceback
from bench.triage.templates import Template

JOB = "harbor/old-job"
OLD = "harbor/terminal-bench"
TASK = "break-filter-js-from-html"
TRIAL = f"{TASK}__U92hUwr"
PACKAGES = "/opt/venv/lib/python3.12/site-packages"
TRIAL_RUN = (f"{PACKAGES}/harbor/trial/trial.py", 512, "run")
AGENT = (
    TRIAL_RUN,
    (f"{PACKAGES}/harbor/trial/trial.py", 288, "_execute_agent"),
    (f"{PACKAGES}/harbor/agents/terminus_2/terminus_2.py", 1103, "run"),
    (f"{PACKAGES}/harbor/llms/lite_llm.py", 176, "call"),
    (f"{PACKAGES}/litellm/main.py", 601, "acompletion"),
)
ENVIRONMENT = (
    TRIAL_RUN,
    (f"{PACKAGES}/harbor/trial/trial.py", 214, "_setup_environment"),
    (f"{PACKAGES}/harbor/environments/docker/docker.py", 243, "_run_docker_compose_command"),
)
EXEC = (
    TRIAL_RUN,
    (f"{PACKAGES}/harbor/trial/trial.py", 288, "_execute_agent"),
    (f"{PACKAGES}/harbor/environments/docker/docker.py", 401, "exec"),
)
OWN = (TRIAL_RUN, (f"{PACKAGES}/harbor/trial/trial.py", 163, "_init_agent"))
VERIFIER = (TRIAL_RUN, (f"{PACKAGES}/harbor/verifier/verifier.py", 118, "verify"))
PHASES = ("environment_setup", "agent_setup", "agent_execution", "verifier")
Frames = tuple[tuple[str, int, str], ...]


def call(root: Path, fault: Template) -> Target:
    message = f"litellm.{fault.type}: {fault.text}" if not fault.type.startswith("Api") else fault.text
    return throw(root, fault.type, message, AGENT, last="agent_execution")


def mid_call(root: Path, fault: Template) -> Target:
    target = throw(root, fault.type, f"litellm.{fault.type}: {fault.text}", AGENT, last="agent_execution")
    with changed(root / TRIAL / "result.json") as result:
        result["agent_result"] = {"n_input_tokens": 207150, "n_output_tokens": 9174, "n_cache_tokens": 0}
    return target


def setup(root: Path, fault: Template) -> Target:
    message = fault.text
    if fault.type in ("RuntimeError", "BuildImageError", "DockerException"):
        failed = f"Docker compose command failed for environment {TASK}. Command: docker compose up --detach --wait."
        message = f"{failed} Return code: 1. Stdout: {message}. "
    kind = "RuntimeError" if message != fault.text else fault.type
    last = "agent_setup" if fault.type == "AgentSetupTimeoutError" else "environment_setup"
    return throw(root, kind, message, ENVIRONMENT, last=last)


def world(root: Path, fault: Template) -> Target:
    return throw(root, fault.type, fault.text, EXEC, last="agent_execution")


def own_frames(root: Path, fault: Template) -> Target:
    return throw(root, fault.type, fault.text, OWN, last="agent_setup")


def verifier(root: Path, fault: Template) -> Target:
    return throw(root, fault.type, fault.text, VERIFIER, last="verifier")


def verifier_silent(root: Path, fault: Template) -> Target:
    """The verifier printed this and left no reward."""
    missing = f"No reward file found at /jobs/demo/{TRIAL}/verifier/reward.txt"
    target = throw(root, "RewardFileNotFoundError", missing, VERIFIER, last="verifier")
    print_verifier(root, fault.text)
    return target


def verifier_log(root: Path, fault: Template) -> Target:
    """The verifier printed this instead of running any test; its script wrote a reward of 0 all the same."""
    print_verifier(root, fault.text)
    (root / TRIAL / "verifier" / "ctrf.json").unlink()
    return Target(TASK)


def out_of_time(root: Path, fault: Template) -> Target:
    """The tests ran on what was there."""
    with changed(root / TRIAL / "result.json") as result:
        result["exception_info"] = _exception(fault.type, fault.text, AGENT)
    return Target(TASK)


def cancelled(root: Path, fault: Template) -> Target:
    return throw(root, fault.type, fault.text, (TRIAL_RUN,), last="agent_execution")


def failure_mode(root: Path, fault: Template) -> Target:
    with changed(root / "results.json") as document:
        trial = next(row for row in document["results"] if row["task_id"] == "polyglot-c-py")
        trial["failure_mode"] = fault.text
        if fault.owner == "grader":
            trial.update(is_resolved=None, parser_results=None)
    return Target("polyglot-c-py")


def test_output(root: Path, decoy: Template) -> Target:
    """What the subject's program printed while it was tested."""
    print_verifier(root, f"{printed_by_verifier(root)}\nE   {decoy.text}\n1 failed in 6.66s")
    with changed(root / TRIAL / "verifier" / "ctrf.json") as report:
        tests_of(report, lambda test: test.update(trace=decoy.text, message=decoy.text))
    return Target(TASK)


def test_name(root: Path, decoy: Template) -> Target:
    print_verifier(root, printed_by_verifier(root).replace("test_out_html_bypasses_filter", decoy.text))
    with changed(root / TRIAL / "verifier" / "ctrf.json") as report:
        tests_of(report, lambda test: test.update(name=f"test_outputs.py::{decoy.text}"))
    return Target(TASK)


def case_name(root: Path, decoy: Template) -> Target:
    name = decoy.text.replace("_", "-")
    (root / TRIAL).rename(root / f"{name}__U92hUwr")
    for file in root.rglob("result.json"):
        file.write_text(file.read_text(encoding="utf-8").replace(TASK, name), encoding="utf-8")
    return Target(name)


def tool_output(root: Path, decoy: Template) -> Target:
    """What the subject saw in its terminal, as the agent's own log keeps it."""
    folder = root / TRIAL / "agent"
    folder.mkdir(exist_ok=True)
    seen = {"type": "user", "message": {"content": [{"type": "tool_result", "content": decoy.text, "is_error": True}]}}
    (folder / "claude-code.txt").write_text(f"{json.dumps(seen)}\n{decoy.text}\n", encoding="utf-8")
    return Target(TASK)


def throw(root: Path, kind: str, message: str, frames: Frames, *, last: str) -> Target:
    """An exception ended the trial in a phase: what comes later did not happen, and there is no reward."""
    with changed(root / TRIAL / "result.json") as result:
        result.update(exception_info=_exception(kind, message, frames), verifier_result=None)
        for phase in PHASES[PHASES.index(last) + 1 :]:
            result[phase] = None
        if last != "verifier":
            result["agent_result"] = None
    shutil.rmtree(root / TRIAL / "verifier")
    text = traceback(frames, f"{kind}: {message}")
    (root / TRIAL / "exception.txt").write_text(text, encoding="utf-8")
    return Target(TASK)


def _exception(kind: str, message: str, frames: Frames) -> dict[str, str]:
    return {
        "exception_type": kind,
        "exception_message": message,
        "exception_traceback": traceback(frames, f"{kind}: {message}"),
        "occurred_at": "2026-04-01T13:29:40.333694",
    }


def print_verifier(root: Path, text: str) -> None:
    path = root / TRIAL / "verifier" / "test-stdout.txt"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{text}\n", encoding="utf-8")


def printed_by_verifier(root: Path) -> str:
    return (root / TRIAL / "verifier" / "test-stdout.txt").read_text(encoding="utf-8")


def tests_of(report: dict[str, Any], change: Callable[[dict[str, Any]], Any]) -> None:
    for test in report["results"]["tests"]:
        if test["status"] == "failed":
            change(test)


HARNESS = Harness(
    "harbor",
    {
        name: Place(OLD if name == "failure_mode" else JOB, inject)
        for name, inject in {
            "call": call,
            "mid_call": mid_call,
            "setup": setup,
            "world": world,
            "harness": own_frames,
            "verifier": verifier,
            "verifier_silent": verifier_silent,
            "verifier_log": verifier_log,
            "out_of_time": out_of_time,
            "cancelled": cancelled,
            "failure_mode": failure_mode,
            "test_output": test_output,
            "test_name": test_name,
            "case_name": case_name,
            "tool_output": tool_output,
        }.items()
    },
    (
        Twin(JOB, Target(TASK)),
        Twin(OLD, Target("polyglot-c-py")),
        Twin(OLD, Target("incompatible-python-fasttext")),
        Twin("harbor/demo-job", Target("hello-world", index=2)),
    ),
)
