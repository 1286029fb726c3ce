"""A home-made log: one error cell for whatever went wrong, beside columns for the answer and the verdict."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.triage.logs import Harness, Place, Target, Twin, traceback
from bench.triage.templates import Template

FIXTURE = "generic/jsonl"
CRASHED, FAILED = ("wind-02", 0), ("tide-01", 1)
"""Task and trial of rows of the first model."""


def cell(root: Path, fault: Template) -> Target:
    error = {"type": fault.type or "Error", "message": fault.text}
    return on_row(root, CRASHED, lambda row: row.update(exception=error, state="crashed"))


def own_frames(root: Path, fault: Template) -> Target:
    frames = (("/home/user/evalkit/cli.py", 88, "main"), ("/home/user/evalkit/runner.py", 214, "run_row"))
    message = traceback(frames, f"{fault.type}: {fault.text}")
    error = {"type": fault.type, "message": fault.text, "traceback": message}
    return on_row(root, CRASHED, lambda row: row.update(exception=error, state="crashed"))


def answer(root: Path, decoy: Template) -> Target:
    return on_row(root, FAILED, lambda row: row.update(answer=decoy.text))


def case_input(root: Path, decoy: Template) -> Target:
    return on_row(root, FAILED, lambda row: row.update(prompt=decoy.text))


def case_name(root: Path, decoy: Template) -> Target:
    on_row(root, FAILED, lambda row: row.update(task_id=decoy.text, trial=0))
    return Target(decoy.text, run="alpha-1")


def tool_output(root: Path, decoy: Template) -> Target:
    messages = [
        {"role": "user", "content": "When is high water?"},
        {"role": "tool", "tool_call_id": "call_1", "content": decoy.text},
    ]
    return on_row(root, FAILED, lambda row: row.update(messages=messages))


def on_row(root: Path, where: tuple[str, int], change: Callable[[dict[str, Any]], Any]) -> Target:
    path = next(file for file in root.iterdir() if file.suffix == ".jsonl")
    lines = path.read_text(encoding="utf-8").splitlines()
    for at, line in enumerate(lines):
        if line.startswith("{") and line.endswith("}"):
            row = json.loads(line)
            if (row["task_id"], row["trial"], row["model"]) == (*where, "alpha-1"):
                change(row)
                lines[at] = json.dumps(row)
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return Target(where[0], index=where[1] + 1, run="alpha-1")


HARNESS = Harness(
    "generic",
    {
        name: Place(FIXTURE, inject)
        for name, inject in {
            "call": cell,
            "setup": cell,
            "world": cell,
            "harness": own_frames,
            "cell": cell,
            "answer": answer,
            "case_input": case_input,
            "case_name": case_name,
            "tool_output": tool_output,
        }.items()
    },
    (Twin(FIXTURE, Target("tide-01", index=2, run="alpha-1")),),
)
