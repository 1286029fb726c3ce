"""Inspect: `sample.error` with its traceback, scores, limits, and events; a swallowed time-out is only a log event."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.triage.logs import Harness, Place, Target, Twin, changed, traceback
from bench.triage.templates import Template

FIXTURE = "inspect_ai/failed_json"
SAMPLE = "wrong"
PACKAGES = "/opt/venv/lib/python3.12/site-packages"
RUN = f"{PACKAGES}/inspect_ai/_eval/task/run.py"
PLAN = ((RUN, 2847, "run"), (f"{PACKAGES}/inspect_ai/solver/_plan.py", 109, "__call__"))
GENERATE = (
    *PLAN,
    (f"{PACKAGES}/inspect_ai/model/_model.py", 712, "_generate"),
    (f"{PACKAGES}/inspect_ai/model/_providers/openai.py", 231, "generate"),
    (f"{PACKAGES}/openai/_base_client.py", 1594, "request"),
)
TOOL = (
    *PLAN,
    (f"{PACKAGES}/inspect_ai/model/_call_tools.py", 340, "call_tool"),
    (f"{PACKAGES}/inspect_ai/tool/_tools/_execute.py", 64, "execute"),
    (f"{PACKAGES}/inspect_ai/util/_sandbox/docker/docker.py", 310, "exec"),
)
SANDBOX = (
    (RUN, 2610, "_task_run_sample_attempt"),
    (f"{PACKAGES}/inspect_ai/_eval/task/sandbox.py", 88, "sandboxenv_context"),
    (f"{PACKAGES}/inspect_ai/util/_sandbox/docker/compose.py", 71, "compose_up"),
)
OWN = (
    (RUN, 3240, "_task_run_sample_attempt"),
    (f"{PACKAGES}/inspect_ai/_eval/task/log.py", 190, "complete_sample"),
    (f"{PACKAGES}/inspect_ai/log/_recorders/eval.py", 222, "log_sample"),
)
JUDGE = (
    (RUN, 3094, "_task_run_sample_attempt"),
    (f"{PACKAGES}/inspect_ai/scorer/_model.py", 188, "score"),
    (f"{PACKAGES}/inspect_ai/model/_model.py", 712, "_generate"),
    (f"{PACKAGES}/openai/_base_client.py", 1594, "request"),
)
SCORER = ((RUN, 3094, "_task_run_sample_attempt"), ("/home/user/demo/task.py", 41, "score"))
USER = (
    *PLAN,
    (f"{PACKAGES}/tau2/orchestrator/orchestrator.py", 402, "step"),
    (f"{PACKAGES}/tau2/user/user_simulator.py", 118, "generate_next_message"),
)
Frames = tuple[tuple[str, int, str], ...]


def call(root: Path, fault: Template) -> Target:
    return _change(root, lambda sample: fail(sample, fault, GENERATE, until="model"))


def mid_call(root: Path, fault: Template) -> Target:
    return _change(root, lambda sample: fail(sample, fault, GENERATE, until="scorers"))


def every_call(root: Path, fault: Template) -> Target:
    with changed(root) as log:
        for sample in log["samples"]:
            fail(sample, fault, GENERATE, until="model")
    return Target(SAMPLE)


def setup(root: Path, fault: Template) -> Target:
    return _change(root, lambda sample: fail(sample, fault, SANDBOX, until="solvers"))


def world(root: Path, fault: Template) -> Target:
    def breaks(sample: dict[str, Any]) -> None:
        fail(sample, fault, TOOL, until="scorers")
        sample["events"].insert(-1, tool_event(sample, failed=True))

    return _change(root, breaks)


def own_frames(root: Path, fault: Template) -> Target:
    return _change(root, lambda sample: fail(sample, fault, OWN, until="scorers"))


def judge(root: Path, fault: Template) -> Target:
    return _change(root, lambda sample: fail(sample, fault, JUDGE, until=""))


def scorer(root: Path, fault: Template) -> Target:
    return _change(root, lambda sample: fail(sample, fault, SCORER, until=""))


def simulator(root: Path, fault: Template) -> Target:
    return _change(root, lambda sample: fail(sample, fault, USER, until="scorers"))


def cancelled(root: Path, fault: Template) -> Target:
    return _change(root, lambda sample: fail(sample, fault, PLAN, until="scorers"))


def judge_answer(root: Path, fault: Template) -> Target:
    """Before this was fixed, a judge without a grade counted as a wrong answer."""
    return _change(root, lambda sample: graded(sample, "model_graded_qa", fault.text))


def no_verdict(root: Path, fault: Template) -> Target:
    def unscored(sample: dict[str, Any]) -> None:
        graded(sample, "model_graded_qa", "", value=float("nan"), reason="grader_failed")
        sample["scores"]["model_graded_qa"]["metadata"] = {"unscored_reason": fault.text}

    return _change(root, unscored)


def limit(root: Path, fault: Template) -> Target:
    def reached(sample: dict[str, Any]) -> None:
        sample["limit"] = {"type": fault.type, "limit": 40.0, "reason": fault.text}
        event = {"event": "sample_limit", "type": fault.type, "message": fault.text, "limit": 40.0}
        sample["events"].insert(begin(sample, "scorers"), event)

    return _change(root, reached)


def swallowed(root: Path, fault: Template) -> Target:
    def scored_all_the_same(sample: dict[str, Any]) -> None:
        message = {
            "level": "warning",
            "message": f"sample={SAMPLE}\n{fault.text}",
            "filename": "run.py",
            "module": "run",
        }
        sample["events"].insert(begin(sample, "scorers"), {"event": "logger", "message": message})
        silent(sample)
        sample["scores"]["includes"] |= {"answer": "", "explanation": "", "reason": "no_response"}

    return _change(root, scored_all_the_same)


def stop(root: Path, fault: Template) -> Target:
    return _change(root, lambda sample: sample["output"]["choices"][0].update(stop_reason=fault.type))


def case_input(root: Path, decoy: Template) -> Target:
    def asks(sample: dict[str, Any]) -> None:
        sample["input"] = sample["messages"][0]["content"] = decoy.text

    return _change(root, asks)


def case_name(root: Path, decoy: Template) -> Target:
    _change(root, lambda sample: sample.update(id=decoy.text))
    return Target(decoy.text)


def answer(root: Path, decoy: Template) -> Target:
    def says(sample: dict[str, Any]) -> None:
        sample["output"]["completion"] = sample["output"]["choices"][0]["message"]["content"] = decoy.text
        sample["messages"][-1]["content"] = decoy.text
        sample["scores"]["includes"] |= {"answer": decoy.text, "explanation": decoy.text}

    return _change(root, says)


def tool_output(root: Path, decoy: Template) -> Target:
    def returned(sample: dict[str, Any]) -> None:
        event = tool_event(sample) | {"result": decoy.text, "completed": "2026-11-15T19:18:39.600000+00:00"}
        sample["events"].insert(begin(sample, "scorers"), event)
        message = {"role": "tool", "content": decoy.text, "tool_call_id": "call_9", "function": "bash"}
        sample["messages"].insert(1, message)

    return _change(root, returned)


def test_output(root: Path, decoy: Template) -> Target:
    """Scorers of code put what the subject's program printed into their explanation."""
    code = "```python\nassert solve(3) == 9\n```"
    explanation = f"The following verification code was executed:\n{code}\nThe submission was incorrect\n\n{decoy.text}"
    return _change(root, lambda sample: graded(sample, "verify", explanation))


def judge_reasoning(root: Path, decoy: Template) -> Target:
    return _change(root, lambda sample: graded(sample, "model_graded_qa", f"{decoy.text}\n\nGRADE: I"))


def _change(root: Path, change: Callable[[dict[str, Any]], Any]) -> Target:
    with changed(root) as log:
        change(next(sample for sample in log["samples"] if sample["id"] == SAMPLE))
    return Target(SAMPLE)


def fail(sample: dict[str, Any], fault: Template, frames: Frames, *, until: str) -> None:
    """An exception reached the top of the sample: no scores; the events end with it."""
    message = f"{fault.type}({fault.text!r})" if fault.text else f"{fault.type}()"
    text = traceback(frames, f"{fault.type}: {fault.text}")
    if frames is JUDGE or frames is SCORER:
        text = text.replace(
            ", in _task_run_sample_attempt\n", ", in _task_run_sample_attempt\n    score_result = await scorer(\n", 1
        )
    sample["error"] = {"message": message, "traceback": text, "traceback_ansi": text}
    sample["error_retries"] = []
    sample["scores"] = {}
    sample["events"] = [*_before(sample, until), {"event": "error", "error": sample["error"]}]
    if until in ("model", "solvers"):
        silent(sample)
        sample["model_usage"] = {}


def _before(sample: dict[str, Any], until: str) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = sample["events"]
    if until == "model":
        place = next((at for at, event in enumerate(events) if event["event"] == "model"), len(events))
    elif until:
        place = begin(sample, until)
    else:
        place = 1 + next((at for at, event in enumerate(events) if event.get("type") == "scorer"), len(events) - 1)
    return events[:place]


def begin(sample: dict[str, Any], kind: str) -> int:
    """Where a phase begins; the end where it never did."""
    events = enumerate(sample["events"])
    return next((at for at, event in events if event.get("type") == kind), len(sample["events"]))


def silent(sample: dict[str, Any]) -> None:
    sample["output"] = {"model": sample["output"].get("model", ""), "choices": [], "completion": ""}
    sample["messages"] = sample["messages"][:1]


def graded(sample: dict[str, Any], name: str, explanation: str, *, value: Any = "I", reason: str | None = None) -> None:
    score = {"value": value, "answer": sample["output"]["completion"], "explanation": explanation, "history": []}
    sample["scores"] = {name: score | ({"reason": reason} if reason else {})}


def tool_event(sample: dict[str, Any], **more: Any) -> dict[str, Any]:
    called = {"event": "tool", "type": "function", "id": "call_9", "function": "bash", "arguments": {"cmd": "./run.sh"}}
    return called | {"timestamp": sample.get("started_at"), "result": "", "events": []} | more


HARNESS = Harness(
    "inspect-ai",
    {
        name: Place(FIXTURE, inject)
        for name, inject in {
            "call": call,
            "mid_call": mid_call,
            "every_call": every_call,
            "setup": setup,
            "world": world,
            "harness": own_frames,
            "judge": judge,
            "scorer": scorer,
            "simulator": simulator,
            "cancelled": cancelled,
            "judge_answer": judge_answer,
            "no_verdict": no_verdict,
            "limit": limit,
            "swallowed": swallowed,
            "stop": stop,
            "case_input": case_input,
            "case_name": case_name,
            "answer": answer,
            "tool_output": tool_output,
            "test_output": test_output,
            "judge_reasoning": judge_reasoning,
        }.items()
    },
    (
        Twin(FIXTURE, Target(SAMPLE)),
        Twin("inspect_ai/demo_eval", Target("wrong")),
        Twin("inspect_ai/demo_eval", Target("toolerr")),
        Twin("inspect_ai/real_scout", Target("7")),
        Twin("inspect_ai/real_scout", Target("13")),
    ),
)
