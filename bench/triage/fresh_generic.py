"""A home-made log, for the fresh part: more columns, stacks of other languages, a case asked of several models."""

import json
from pathlib import Path
from typing import Any

from bench.triage import inject_generic as old
from bench.triage.inject_generic import CRASHED, FAILED, FIXTURE, on_row
from bench.triage.logs import Place, Target, Twin, traceback
from bench.triage.templates import Template

CASE = "tide-04"
MODELS = ("alpha-1", "beta-2", "gamma-3")
USER = (("/home/user/evalkit/runner.py", 214, "run_row"), ("/home/user/evalkit/simulated_user.py", 77, "next_turn"))


def text_cell(root: Path, fault: Template) -> Target:
    """The error is a text, as a logger prints an exception."""
    message = f"{fault.type}: {fault.text}" if fault.type else fault.text
    return on_row(root, CRASHED, lambda row: row.update(exception=message, state="crashed"))


def own_stack(root: Path, fault: Template) -> Target:
    error = {"type": fault.type, "message": fault.text, "stack": fault.values["stack"]}
    return on_row(root, CRASHED, lambda row: row.update(exception=error, state="crashed"))


def simulator(root: Path, fault: Template) -> Target:
    message = traceback(USER, f"{fault.type}: {fault.text}")
    error = {"type": fault.type, "message": fault.text, "traceback": message}
    return on_row(root, CRASHED, lambda row: row.update(exception=error, state="crashed"))


def scoring_cell(root: Path, fault: Template) -> Target:
    """A column of its own for what the scorer threw."""
    _map(root, "attempt", 'scoring_error = { column = "grader_error", optional = true }')
    error = {"type": fault.type, "message": fault.text}
    return on_row(root, FAILED, lambda row: row.update(grader_error=error, correct=None, score=None, answer="14:05"))


def cancelled(root: Path, fault: Template) -> Target:
    error = {"type": fault.type, "message": fault.text}
    return on_row(root, CRASHED, lambda row: row.update(exception=error, state="cancelled"))


def cut(root: Path, fault: Template) -> Target:
    cut_off = {"state": "max_tokens", "answer": fault.values["answer"], "correct": False, "score": 0.0}
    return on_row(root, FAILED, lambda row: row.update(cut_off))


def stop(root: Path, fault: Template) -> Target:
    _map(root, "attempt", 'stop_reason = { column = "finish", optional = true }')
    fields = {"finish": fault.text, "answer": fault.values["answer"], "usage": {"completion_tokens": 512}}
    return on_row(root, FAILED, lambda row: row.update(fields))


def swallowed(root: Path, fault: Template) -> Target:
    """The harness put its own crash in the place of the answer, and scored it."""
    return _change_row(root, answer=fault.text, usage={"prompt_tokens": 0, "completion_tokens": 0})


def strict(root: Path, fault: Template) -> Target:
    values = fault.values
    return _change_row(root, prompt=values["question"], gold=values["expected"], answer=values["answer"])


def decoder(root: Path, fault: Template) -> Target:
    """The extracted answer is a column of its own."""
    _map(root, "attempt", 'answer = { column = "parsed", optional = true }')
    values = fault.values
    asked = {"prompt": values["question"], "gold": values["expected"], "answer": values["answer"]}
    return _change_row(root, **asked, parsed=values["parsed"])


def filters(root: Path, fault: Template) -> Target:
    """The answer is extracted in two ways; the stricter one decides."""
    _map(root, "checks", 'strict = { column = "strict_match", optional = true }')
    _map(root, "checks", 'flexible = { column = "flexible_extract", optional = true, counts = false }')
    values = fault.values
    asked = {"prompt": values["question"], "gold": values["expected"], "answer": values["answer"]}
    return _change_row(root, **asked, strict_match=False, flexible_extract=values["flexible"])


def choices(root: Path, fault: Template) -> Target:
    _map(root, "case", 'choices = { column = "options", optional = true }')
    values = fault.values
    asked = {"prompt": values["question"], "gold": values["expected"], "answer": values["answer"]}
    return _change_row(root, **asked, options=values["choices"])


def all_answer(root: Path, fault: Template) -> Target:
    values = fault.values
    for model, answer in zip(MODELS, values["answers"], strict=True):
        _change_row(root, model=model, prompt=values["question"], gold=values["expected"], answer=answer)
    return Target(CASE, run=MODELS[0])


def case_input(root: Path, decoy: Template) -> Target:
    """In the only row of its case."""
    return _change_row(root, prompt=decoy.text, answer="noon")


def expected(root: Path, decoy: Template) -> Target:
    return _change_row(root, prompt="What does the log say last?", gold=decoy.text, answer="all is well")


def category(root: Path, decoy: Template) -> Target:
    return _change_row(root, topic=decoy.text, labels=[decoy.text], answer="noon")


def _change_row(root: Path, **changes: Any) -> Target:
    """A further row, answered and found wrong."""
    path = next(file for file in root.iterdir() if file.suffix == ".jsonl")
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
    row = json.loads(lines[0]) | {"task_id": CASE, "correct": False, "score": 0.0, "messages": None}
    path.write_text("\n".join([*lines, json.dumps(row | changes), ""]), encoding="utf-8")
    return Target(CASE, run=MODELS[0])


def _map(root: Path, section: str, line: str) -> None:
    path = next(file for file in root.iterdir() if file.name.endswith(".map.toml"))
    mapping = path.read_text(encoding="utf-8")
    path.write_text(mapping.replace(f"[{section}]\n", f"[{section}]\n{line}\n"), encoding="utf-8")


HARNESS = old.HARNESS._replace(
    places=old.HARNESS.places
    | {
        name: Place(FIXTURE, inject)
        for name, inject in {
            "text_cell": text_cell,
            "own_stack": own_stack,
            "simulator": simulator,
            "scoring": scoring_cell,
            "cancelled": cancelled,
            "cut": cut,
            "stop": stop,
            "swallowed_answer": swallowed,
            "strict": strict,
            "decoder": decoder,
            "filters": filters,
            "choices": choices,
            "all_answer": all_answer,
            "case_input": case_input,
            "expected": expected,
            "category": category,
        }.items()
    },
    twins=(Twin("generic/csv", Target("2")),),
)
