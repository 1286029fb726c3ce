"""With the log deleted, `errata show` still has the messages of samples exactly as inspect-ai read them."""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench import measure

TALK = ("message", "tool_call", "tool_result")


def theirs(python: Path, log: Path, ids: Iterable[str]) -> dict[str, Any]:
    """To be asked before the log is deleted."""
    command = [str(python), "-m", "bench.inspect.theirs", "messages", str(log), *ids]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    messages: dict[str, Any] = json.loads(process.stdout)
    return messages


def compare(expected: dict[str, Any], store: Path) -> int:
    """How many are equal; the first that is not ends the benchmark."""
    for case, messages in expected.items():
        shown = _steps(case, store)
        if shown != messages:
            sys.exit(f"{case} differs:\n{_first_difference(shown, messages)}")
    return len(expected)


def _steps(case: str, store: Path) -> list[dict[str, Any]]:
    command = measure.errata("show", f"latest/{case}", "--json", "--raw", "--store", store)
    attempt = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return [_message(step) for step in attempt["attempt"]["steps"] if step["kind"] in TALK]


def _message(step: dict[str, Any]) -> dict[str, Any]:
    calls = [[call["name"], call["arguments"]] for call in step["tool_calls"]]
    return {"role": step["actor"]["role"], "text": step["text"], "calls": calls}


def _first_difference(shown: list[Any], messages: list[Any]) -> str:
    for at, (shown_message, other) in enumerate(zip(shown, messages, strict=False)):
        if shown_message != other:
            return f"message {at}:\n  errata  {shown_message}\n  inspect {other}"
    return f"errata has {len(shown)} messages, inspect-ai {len(messages)}"
