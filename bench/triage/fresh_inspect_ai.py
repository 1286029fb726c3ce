"""Inspect, for the fresh part: a log that ended well, other providers in the stack, right answers that are rejected."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.triage import inject_inspect_ai as old
from bench.triage.inject_inspect_ai import PACKAGES, PLAN, RUN, Frames, begin, fail, silent, tool_event
from bench.triage.logs import Place, Target, Twin, changed, traceback
from bench.triage.templates import Template

FIXTURE = "inspect_ai/demo_json"
SAMPLE = "ok"
OTHERS = ("anthropic/claude-opus-4-6", "google/gemini-2.5-pro", "mistral/mistral-large-latest")
JUDGES = ("openai/gpt-4.1", "anthropic/claude-sonnet-4-5")
GENERATE = (*PLAN, (f"{PACKAGES}/inspect_ai/model/_model.py", 958, "_generate"))
FILES = (
    (RUN, 2610, "_task_run_sample_attempt"),
    (f"{PACKAGES}/inspect_ai/_eval/task/sandbox.py", 142, "read_sandboxenv_file"),
    (f"{PACKAGES}/inspect_ai/_util/file.py", 61, "file"),
)


def call(root: Path, fault: Template) -> Target:
    return _change(root, lambda sample: fail(sample, fault, _provider(fault), until="model"))


def mid_call(root: Path, fault: Template) -> Target:
    return _change(root, lambda sample: fail(sample, fault, _provider(fault), until="scorers"))


def failed_event(root: Path, fault: Template) -> Target:
    """Only the event of the call shows what the top-level exception wraps."""

    def retries_used_up(sample: dict[str, Any]) -> None:
        event = next(event for event in sample["events"] if event["event"] == "model")
        thrown = Template(name="", text=fault.values["top"], type="RetryError", places=())
        fail(sample, thrown, (*GENERATE, (f"{PACKAGES}/tenacity/asyncio/__init__.py", 111, "__call__")), until="model")
        message = f"{fault.type}: {fault.text}"
        output = {"model": event["model"], "choices": [], "completion": "", "error": message}
        broken = event | {
            "output": output,
            "error": message,
            "traceback": traceback(_provider(fault), message),
            "retries": 5,
        }
        sample["events"].insert(-1, broken)

    return _change(root, retries_used_up)


def missing_file(root: Path, fault: Template) -> Target:
    """A file that the dataset names for the sample is not there."""
    return _change(root, lambda sample: fail(sample, fault, FILES, until="solvers"))


def strict(root: Path, fault: Template) -> Target:
    """A scorer of one's own, which compares text with text."""
    return _change(root, lambda sample: _score_sample(sample, fault, "exact_match", fault.values["answer"]))


def decoder(root: Path, fault: Template) -> Target:
    def not_matched(sample: dict[str, Any]) -> None:
        _score_sample(sample, fault, "pattern", f"Scoring pattern not matched in output: {fault.values['answer']}")
        sample["scores"]["pattern"].pop("answer")

    return _change(root, not_matched)


def choices(root: Path, fault: Template) -> Target:
    def ask_choice(sample: dict[str, Any]) -> None:
        _score_sample(sample, fault, "choice", fault.values["answer"])
        sample["choices"] = fault.values["choices"]
        sample["scores"]["choice"]["answer"] = fault.values["answer"].removeprefix("ANSWER: ")

    return _change(root, ask_choice)


def disagree(root: Path, fault: Template) -> Target:
    """Two judges grade the same answer; the one that counts fails it."""

    def judged(sample: dict[str, Any]) -> None:
        _score_sample(sample, fault, "model_graded_qa", f"{fault.values['no']}\n\nGRADE: I")
        other = f"{fault.values['yes']}\n\nGRADE: {fault.values['grade']}"
        sample["scores"]["model_graded_fact"] = sample["scores"]["model_graded_qa"] | {
            "value": fault.values["grade"],
            "explanation": other,
        }

    with changed(root) as log:
        log["eval"]["scorers"] = [_judge(name, model) for name, model in zip(_JUDGING, JUDGES, strict=True)]
        log["results"].pop("headline", None)
        log["results"]["scores"] = [{"name": name, "scorer": name, "metrics": {}} for name in _JUDGING]
        judged(_sample(log))
    return Target(SAMPLE)


def all_answer(root: Path, fault: Template) -> Target:
    """The same sample asked of several models, each in a log of its own."""
    log = json.loads(root.read_text(encoding="utf-8"))
    root.unlink()
    root.mkdir()
    for number, (model, answer) in enumerate(zip(OTHERS, fault.values["answers"], strict=True)):
        copy = json.loads(json.dumps(log))
        copy["eval"].update(model=model, eval_id=f"eval{number}", run_id=f"run{number}", task_id=f"task{number}")
        copy["samples"] = [_sample(copy)]
        template = Template(name="", text="", places=(), values=fault.values | {"answer": answer})
        _score_sample(copy["samples"][0], template, "exact_match", answer)
        (root / f"{number}.json").write_text(json.dumps(copy), encoding="utf-8")
    return Target(SAMPLE, run=OTHERS[0])


def recovered(root: Path, decoy: Template) -> Target:
    """The first try broke, the second was answered, and wrongly."""

    def retried(sample: dict[str, Any]) -> None:
        error = {"message": f"{decoy.type}({decoy.text!r})"}
        error["traceback"] = traceback(_provider(decoy), f"{decoy.type}: {decoy.text}")
        _wrong(sample)
        sample["error_retries"] = [error]

    return _change(root, retried)


def retried_call(root: Path, decoy: Template) -> Target:
    """A call failed inside the sample and was made again."""

    def again(sample: dict[str, Any]) -> None:
        _wrong(sample)
        at, event = next((at, event) for at, event in enumerate(sample["events"]) if event["event"] == "model")
        output = {"model": event["model"], "choices": [], "completion": ""}
        sample["events"].insert(at, event | {"uuid": "again", "output": output, "error": decoy.text, "retries": 1})

    return _change(root, again)


def tool_error(root: Path, decoy: Template) -> Target:
    """The subject's own command failed, as tools report it."""

    def failed(sample: dict[str, Any]) -> None:
        _wrong(sample)
        error = {"type": decoy.type, "message": decoy.text}
        asked = {"id": "call_9", "function": "bash", "arguments": {"cmd": "./run.sh"}, "type": "function"}
        sample["messages"][1:1] = [
            {"role": "assistant", "content": "", "tool_calls": [asked]},
            {"role": "tool", "content": "", "tool_call_id": "call_9", "function": "bash", "error": error},
        ]
        event = tool_event(sample, error=error) | {"completed": "2026-11-15T19:18:39.600000+00:00"}
        sample["events"].insert(begin(sample, "scorers"), event)

    return _change(root, failed)


def expected(root: Path, decoy: Template) -> Target:
    values = {"question": "What does the log say last?", "expected": decoy.text, "answer": "all is well"}
    asked = Template(name="", text="", places=(), values=values)
    return _change(root, lambda sample: _score_sample(sample, asked, "includes", "all is well"))


_JUDGING = ("model_graded_qa", "model_graded_fact")


def _judge(name: str, model: str) -> dict[str, Any]:
    return {"name": name, "options": {"model": {"model": model, "config": {}}}, "metrics": [], "metadata": {}}


def _provider(fault: Template) -> Frames:
    name = fault.values.get("provider", "openai_compatible")
    return (*GENERATE, (f"{PACKAGES}/inspect_ai/model/_providers/{name}.py", 214, "generate"))


def _change(root: Path, change: Callable[[dict[str, Any]], Any]) -> Target:
    with changed(root) as log:
        change(_sample(log))
    return Target(SAMPLE)


def _sample(log: dict[str, Any]) -> dict[str, Any]:
    chosen: dict[str, Any] = next(sample for sample in log["samples"] if sample["id"] == SAMPLE)
    return chosen


def _wrong(sample: dict[str, Any]) -> None:
    values = {"question": "What is 2+2?", "expected": "4", "answer": "22"}
    _score_sample(sample, Template(name="", text="", places=(), values=values), "includes", "22")


def _score_sample(sample: dict[str, Any], asked: Template, scorer: str, explanation: str) -> None:
    """The sample as if this had been asked and answered, and one scorer had failed it."""
    question, answer = asked.values["question"], asked.values["answer"]
    sample.update(input=question, target=asked.values["expected"], error=None)
    sample["events"] = sample["events"][: begin(sample, "scorers")]
    output = sample["output"]
    silent(sample)
    sample["messages"][0]["content"] = question
    choice = output["choices"][0]
    choice["message"]["content"] = output["completion"] = answer
    sample["messages"].append(choice["message"])
    sample["output"] = output
    for event in (event for event in sample["events"] if event["event"] == "model"):
        event["output"] = output
    for event in (event for event in sample["events"] if event["event"] == "sample_init"):
        event["sample"].update(input=question, target=asked.values["expected"])
        event["state"]["messages"][0]["content"] = question
    sample["scores"] = {scorer: {"value": "I", "answer": answer, "explanation": explanation, "history": []}}


HARNESS = old.HARNESS._replace(
    places=old.HARNESS.places
    | {
        name: Place(FIXTURE, inject)
        for name, inject in {
            "call": call,
            "mid_call": mid_call,
            "failed_event": failed_event,
            "missing_file": missing_file,
            "strict": strict,
            "decoder": decoder,
            "choices": choices,
            "disagree": disagree,
            "all_answer": all_answer,
            "recovered": recovered,
            "retried_call": retried_call,
            "tool_error": tool_error,
            "expected": expected,
        }.items()
    },
    twins=(
        Twin("inspect_ai/demo_json", Target("toolerr")),
        Twin("inspect_ai/real_converted", Target("arc_easy/2")),
        Twin("inspect_ai/real_converted", Target("arc_easy/3")),
    ),
)
