"""Readers for tests: a program that reads prompts, and answers as an agent would write them."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

from terminal import errata

READER = Path(__file__).parent / "fixtures" / "review" / "reader.py"
RUN_B = Path(__file__).parent / "fixtures" / "sources" / "convex_evals" / "run_b" / "data" / "run-b"


def program(*options: str) -> str:
    """The command line of the reader; see there for its options."""
    return shlex.join([sys.executable, str(READER), *options])


def a_quote(packet: dict[str, Any], *heads: str) -> dict[str, str]:
    """The longest line of the first place that is named so."""
    wanted = heads or ("output", "error", "status", "run.log")
    places = [place for head in wanted for place in packet["places"] if place["place"].startswith(head)]
    return {"place": places[0]["place"], "quote": max(places[0]["text"].split("\n"), key=len).strip()}


def an_answer(handed: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A verdict that can be taken, on what `errata review next` printed."""
    filled = {
        "label": "MODEL_FAULT",
        "cause": "The code does something else than the task asks for",
        "reasoning": "The quoted line shows it. The task asks for something else.",
        "evidence": [a_quote(handed["packet"])],
        "confidence": "likely",
    }
    return handed["answer"] | filled | changes


def submitted(path: Path, answer: dict[str, Any], *options: object) -> Any:
    path.write_text(json.dumps(answer), encoding="utf-8")
    return errata("review", "submit", path, *options)
