"""Harbor, for the fresh part: agents that exit, multi-step trials, rewards against tests, and the oracle's own run."""

import json
import shutil
from pathlib import Path
from typing import Any

from bench.triage import inject_harbor as old
from bench.triage.inject_harbor import (
    JOB,
    OLD,
    PACKAGES,
    TASK,
    TRIAL,
    TRIAL_RUN,
    print_verifier,
    printed_by_verifier,
    tests_of,
    throw,
)
from bench.triage.logs import Place, Target, Twin, changed, traceback
from bench.triage.templates import Template

STEPS = "harbor/steps-job"
INSTALLED = (
    TRIAL_RUN,
    (f"{PACKAGES}/harbor/trial/trial.py", 288, "_execute_agent"),
    (f"{PACKAGES}/harbor/agents/installed/claude_code.py", 1043, "run"),
    (f"{PACKAGES}/harbor/agents/installed/base.py", 377, "_exec"),
)
SPEAKS = (
    TRIAL_RUN,
    (f"{PACKAGES}/harbor/trial/trial.py", 288, "_execute_agent"),
    (f"{PACKAGES}/harbor/agents/terminus_2/terminus_2.py", 1103, "run"),
    (f"{PACKAGES}/httpx/_client.py", 1629, "send"),
)
ENDED = "=========================== short test summary info ============================"


def call(root: Path, fault: Template) -> Target:
    """An agent of Harbor's own speaks to the provider's library itself."""
    return throw(root, fault.type, fault.text, SPEAKS, last="agent_execution")


def mid_call(root: Path, fault: Template) -> Target:
    target = call(root, fault)
    with changed(root / TRIAL / "result.json") as result:
        result["agent_result"] = {"n_input_tokens": 207150, "n_output_tokens": 9174, "n_cache_tokens": 0}
    return target


def agent_exit(root: Path, fault: Template) -> Target:
    """An agent inside of the container ended with its own words for what was wrong."""
    code = fault.values.get("exit", 1)
    command = "claude --verbose --output-format=stream-json --print -- 'Break the filter' 2>&1 </dev/null"
    message = f"Command failed (exit {code}): {command} | tee claude-code.txt\nstdout: {fault.text}\nstderr: None"
    return throw(root, "NonZeroAgentExitCodeError", message, INSTALLED, last="agent_execution")


def step(root: Path, fault: Template) -> Target:
    """A multi-step trial keeps the exception with the step; the trial itself has none."""
    with changed(root / "deploy__aa1" / "result.json") as result:
        result["verifier_result"] = None
        result["step_results"][1].update(
            verifier_result=None,
            verifier=None,
            exception_info={
                "exception_type": fault.type,
                "exception_message": fault.text,
                "exception_traceback": traceback((TRIAL_RUN,), f"{fault.type}: {fault.text}"),
                "occurred_at": "2026-05-04T10:18:30Z",
            },
        )
    return Target("deploy")


def tests_break(root: Path, fault: Template) -> Target:
    """Every test ended in this, which is about the tests' own files."""
    lines = (ENDED, f"ERROR ../tests/test_outputs.py::test_out_html_bypasses_filter - {fault.text}")
    print_verifier(root, "\n".join((f"E   {fault.text}", *lines, "1 error in 0.12s")))
    outcome = {"status": "failed", "raw_status": "setup_failed", "trace": f"E   {fault.text}"}
    with changed(root / TRIAL / "verifier" / "ctrf.json") as report:
        tests_of(report, lambda test: test.update(outcome | {"message": "The test failed in the setup phase"}))
    return Target(TASK)


def against_tests(root: Path, fault: Template) -> Target:
    """In the report every test passed; the reward is zero."""
    print_verifier(root, fault.text)
    with changed(root / TRIAL / "verifier" / "ctrf.json") as report:
        report["results"]["summary"].update(passed=1, failed=0)
        tests_of(report, lambda test: test.update(status="passed", raw_status="call_passed", trace="", message=""))
    return Target(TASK)


def oracle(root: Path, _fault: Template) -> Target:
    """Beside the subject's job is a job of the reference solution, which failed the same tests."""
    job = _apart(root, "kimi", "oracle")
    ids = {"3f50c6a3-dae3-4188-b18f-4f89edca7a67": "0a0a0a0a-dae3-4188-b18f-4f89edca7a67", "U92hUwr": "oRaCle1"}
    for trial in job.iterdir():
        if trial.is_dir() and trial.name != TRIAL:
            shutil.rmtree(trial)
    with changed(job / TRIAL / "result.json") as result:
        result["agent_info"] = {"name": "oracle", "version": "1.0.0", "model_info": None}
        result["config"]["agent"] |= {"name": "oracle", "model_name": None}
        result["agent_result"] = None
    with changed(job / "result.json") as result:
        stats = {"n_trials": 1, "n_errors": 0, "metrics": [{"mean": 0.0}], "reward_stats": {"0.0": 1}}
        result["n_total_trials"] = 1
        result["stats"] = {"n_trials": 1, "n_errors": 0, "evals": {"oracle__terminal-bench": stats}}
    _renamed(job, ids)
    (job / TRIAL).rename(job / f"{TASK}__oRaCle1")
    return Target(TASK, run="kimi")


def old_oracle(root: Path, _fault: Template) -> Target:
    run = _apart(root, "coder", "oracle")
    with changed(run / "run_metadata.json") as metadata:
        metadata.update(agent_name="oracle", model_name="oracle", run_id="2025-11-08__01-00-00", accuracy=0.0)
        metadata.update(uuid="00000000-122b-43e8-bc73-64f8f7ba93c5", task_ids=["polyglot-c-py"], dataset_size=1)
    with changed(run / "results.json") as document:
        document["results"] = [row for row in document["results"] if row["task_id"] == "polyglot-c-py"]
        document.update(id="oracle-run", accuracy=0.0, n_resolved=0, n_unresolved=1, resolved_ids=[])
    return Target("polyglot-c-py", run="app-dsw4xd")


def recovered(root: Path, decoy: Template) -> Target:
    """The log of the trial shows a retried call; then the tests ran and failed."""
    log_text = (
        f"WARNING harbor.llms.lite_llm: attempt 1 of 3 failed: {decoy.type}: {decoy.text}\nINFO attempt 2 of 3: ok\n"
    )
    (root / TRIAL / "trial.log").write_text(log_text, encoding="utf-8")
    return Target(TASK)


def trajectory(root: Path, decoy: Template) -> Target:
    """What the subject's command printed, as ATIF keeps it."""
    call = {"tool_call_id": "c1", "function_name": "bash", "arguments": {"command": "./run.sh"}}
    seen = {"results": [{"source_call_id": "c1", "content": decoy.text}]}
    steps = [
        {"step_id": 1, "source": "user", "message": "Break the filter"},
        {"step_id": 2, "source": "agent", "message": "", "tool_calls": [call], "observation": seen},
        {"step_id": 3, "source": "agent", "message": "It is done."},
    ]
    agent = {"name": "claude-code", "version": "2.1.89", "model_name": "kimi-k2.5"}
    trajectory = {"schema_version": "ATIF-v1.2", "session_id": "s1", "agent": agent, "steps": steps}
    folder = root / TRIAL / "agent"
    folder.mkdir(exist_ok=True)
    (folder / "trajectory.json").write_text(json.dumps(trajectory), encoding="utf-8")
    return Target(TASK)


def passed_tests_beside(root: Path, decoy: Template) -> Target:
    """One test fails for what the subject did, and names what it looked for."""
    print_verifier(root, f"{printed_by_verifier(root)}\n{decoy.text}")
    with changed(root / TRIAL / "verifier" / "ctrf.json") as report:
        more = report["results"]["tests"][0] | {"name": "test_outputs.py::test_starts", "status": "passed"}
        report["results"]["tests"].append(more | {"raw_status": "call_passed", "trace": "", "message": ""})
    return Target(TASK)


def _apart(root: Path, *names: str) -> Path:
    """The log in a folder of its own, and a copy of it beside; the copy."""
    first, second = (root / name for name in names)
    within = list(root.iterdir())
    first.mkdir()
    for child in within:
        child.rename(first / child.name)
    shutil.copytree(first, second, copy_function=shutil.copyfile)
    return second


def _renamed(folder: Path, names: dict[str, str]) -> None:
    for file in folder.rglob("*.json"):
        document: Any = file.read_text(encoding="utf-8")
        for name, other in names.items():
            document = document.replace(name, other)
        file.write_text(document, encoding="utf-8")


HARNESS = old.HARNESS._replace(
    places=old.HARNESS.places
    | {
        "call": Place(JOB, call),
        "mid_call": Place(JOB, mid_call),
        "agent_exit": Place(JOB, agent_exit),
        "step": Place(STEPS, step),
        "tests_break": Place(JOB, tests_break),
        "against_tests": Place(JOB, against_tests),
        "oracle": Place(JOB, oracle),
        "old_oracle": Place(OLD, old_oracle),
        "recovered": Place(JOB, recovered),
        "trajectory": Place(JOB, trajectory),
        "passed_tests_beside": Place(JOB, passed_tests_beside),
    },
    twins=(
        Twin("harbor/large/kimi-job", Target("dna-assembly")),
        Twin("harbor/large/kimi-job", Target("write-compressor")),
        Twin("harbor/large/kimi-job", Target("db-wal-recovery")),
    ),
)
