"""Agents at work, for the part `field`: SWE-bench with its agents, tau2-bench, aider and Who&When."""

import json
from pathlib import Path
from typing import Any

from bench.triage.log_content import LogContent, harness, joined
from bench.triage.logs import Target, changed

INSTANCE = "django__django-{}"
PACKAGES = "/opt/venv/lib/python3.11/site-packages"
QUERY = (
    (f"{PACKAGES}/minisweagent/agents/default.py", 149, "query"),
    (f"{PACKAGES}/minisweagent/models/litellm_model.py", 88, "_query"),
    (f"{PACKAGES}/litellm/main.py", 1000, "completion"),
)
EXECUTE = (
    (f"{PACKAGES}/minisweagent/agents/default.py", 161, "execute_actions"),
    (f"{PACKAGES}/minisweagent/environments/docker.py", 97, "execute"),
)


def _mini(root: Path, content: LogContent, frames: tuple[tuple[str, int, str], ...]) -> Target:
    """mini-swe-agent ends with the exception that nobody caught."""
    assert content.thrown
    kind = content.thrown.type or "Exception"
    with changed(_trajectory(root, 3)) as document:
        end = {"exit_status": kind, "submission": "", "exception_str": content.thrown.text}
        document["info"]["exit_status"] = kind
        document["messages"][-1].update(
            content=content.thrown.text, extra=end | {"traceback": content.thrown.stack(*frames)}
        )
    return Target(INSTANCE.format(3))


def agent_call(root: Path, content: LogContent) -> Target:
    return _mini(root, content, QUERY)


def agent_world(root: Path, content: LogContent) -> Target:
    return _mini(root, content, EXECUTE)


def agent_ending(root: Path, content: LogContent) -> Target:
    """SWE-agent's own word; the patch was measured and did not help."""
    with changed(_trajectory(root, 2)) as document:
        document["info"]["exit_status"] = content.ending
    return Target(INSTANCE.format(2))


def _trajectory(root: Path, number: int) -> Path:
    return next(path for path in (root / "trajectories" / INSTANCE.format(number)).iterdir() if ".traj" in path.name)


def patch_measured(root: Path, content: LogContent) -> Target:
    """The report has the failed tests, the log has their output."""
    folder = next(root.rglob(INSTANCE.format(8)))
    with changed(folder / "report.json") as report:
        status: dict[str, dict[str, list[str]]] = {
            name: {"success": [], "failure": []} for name in ("FAIL_TO_PASS", "PASS_TO_PASS")
        }
        status["FAIL_TO_PASS"]["failure"] = [content.case]
        # where nothing ran, nothing that passed before has passed
        status["PASS_TO_PASS"]["failure" if content.log else "success"] = ["test_harbour"]
        report[folder.name].update(tests_status=status, resolved=False, infra_failure=False)
    report_file = next(root.glob("*.nightly.json"))
    with changed(report_file) as summary:  # of harnesses before 5, which know no reasons
        for name in ("failure_reasons", "ambiguous_failure_ids", "infra_failure_ids"):
            del summary[name]
    (folder / "test_output.txt").write_text(content.log or content.reason or "1 failed", encoding="utf-8")
    with changed(_trajectory(root, 1)) as document:
        document["instance_id"] = folder.name
        document["messages"][1]["content"] = content.question
        document["messages"][3].update(content=f"<returncode>1</returncode>\n<output>\n{content.tool}</output>")
        document["messages"][3]["extra"].update(raw_output=content.tool, returncode=1)
        document["messages"][-1]["content"] = content.answer
    moved = root / "trajectories" / folder.name
    _trajectory(root, 1).parent.rename(moved)
    next(moved.iterdir()).rename(moved / f"{folder.name}.traj.json")
    return Target(folder.name)


def patch_environment(root: Path, content: LogContent) -> Target:
    """No report: the log of the instance ends in the exception that kept it from being measured."""
    assert content.thrown
    folder = next(root.rglob(INSTANCE.format(7)))
    frame = (f"{PACKAGES}/swebench/harness/run_evaluation.py", 229, "run_instance")
    (folder / "run_instance.log").write_text(f"ERROR - {content.thrown.stack(frame)}", encoding="utf-8")
    with changed(next(root.glob("*.nightly.json"))) as summary:
        del summary["failure_reasons"][folder.name]
    return Target(folder.name)


def tau2(root: Path, content: LogContent) -> Target:
    """A conversation that reached its end."""
    with changed(root / "simulations" / "sim-2.json") as simulation:
        if content.ending:
            simulation["termination_reason"] = content.ending
            simulation["reward_info"].update(env_assertions=[], reward_breakdown=None)
        *_, result = [one for one in simulation["messages"] if one["role"] == "tool" and "content" in one]
        result.update(content=content.tool or "off", error=bool(content.tool))
        replies = [one for one in simulation["messages"] if one["role"] == "assistant" and one["content"]]
        replies[-1]["content"] = content.answer
    with changed(root / "results.json") as results:
        results["tasks"][0]["user_scenario"]["instructions"]["reason_for_call"] = content.question
    return Target("line-1", index=2)


def tau2_call(root: Path, content: LogContent) -> Target:
    return _tau2_broke(root, 7, Target("line-4"), content)


def tau2_user(root: Path, content: LogContent) -> Target:
    return _tau2_broke(root, 6, Target("line-3", index=2), content)


def _tau2_broke(root: Path, number: int, target: Target, content: LogContent) -> Target:
    assert content.thrown
    with changed(root / "simulations" / f"sim-{number}.json") as simulation:
        simulation["info"] = {"error": content.thrown.text, "error_type": content.thrown.type, "retries": 3}
    return target


def aider(root: Path, content: LogContent) -> Target:
    folder = next(root.rglob("alphametics" if content.thrown else "forth"))
    if content.thrown:
        frames = (
            ("/aider/benchmark/benchmark.py", 690, "run_test"),
            (f"{PACKAGES}/litellm/main.py", 1000, "completion"),
        )
        results_text = {"exception": content.thrown.stack(*frames)}
        (folder / ".aider.results.json").write_text(json.dumps(results_text), encoding="utf-8")
        return Target("alphametics")
    with changed(folder / ".aider.results.json") as results:
        results.update(test_timeouts=0, num_exhausted_context_windows=int(content.ending == "context"))
    history = folder / ".aider.chat.history.md"
    asked = f"\n\n#### {content.reason}\n\n{content.answer}\n" if content.reason else f"\n\n{content.answer}\n"
    history.write_text(history.read_text(encoding="utf-8") + asked, encoding="utf-8")
    (folder / ".docs" / "instructions.md").write_text(content.question, encoding="utf-8")
    return Target("forth")


def who_and_when(root: Path, content: LogContent) -> Target:
    path = min(root.iterdir())
    with changed(path) as log:
        log.update(question=content.question, ground_truth=content.expected, question_ID=content.case)
        turns: list[dict[str, Any]] = log["history"]
        turns[-2].update(name="Computer_terminal", role="user", content=content.tool or "exitcode: 0")
        turns[-1]["content"] = content.answer
    return Target(content.case)


BENCH, SIMULATED = "swe_bench/joined", "tau_bench/tau2_endings"
FIELD = (
    joined(
        harness("swe-bench", BENCH, agent_call, "call", "mid_call", "cell"),
        harness("swe-bench", BENCH, agent_world, "world"),
        harness("swe-bench", BENCH, agent_ending, "ending"),
        harness("swe-bench", BENCH, patch_environment, "setup"),
        harness("swe-bench", BENCH, patch_measured, "verifier_log", "test_output", "test_name", "tool_output",
                "tool_error", "trajectory", "case_input", "answer", twin=INSTANCE.format(6)),
    ),
    joined(
        harness("tau-bench", SIMULATED, tau2, "ending", "tool_output", "tool_error", "answer", "case_input"),
        harness("tau-bench", SIMULATED, tau2_call, "call", "mid_call"),
        harness("tau-bench", SIMULATED, tau2_user, "simulator"),
        harness("tau-bench", "tau_bench/tau2", tau2, twin="25"),
    ),
    harness("aider", "aider/run", aider, "call", "mid_call", "ending", "test_output", "answer", "case_input",
            twin="forth"),
    harness("who-and-when", "who_and_when/generated", who_and_when, "answer", "case_input", "expected", "tool_output",
            twin="ed58682d-bc52-4baa-9eb0-4eb81e1edacc"),
)  # fmt: skip
