"""Readers for tests: a program that reads prompts, answers as an agent would write them, a person at a terminal."""

import json
import os
import pty
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from terminal import PROGRAM, errata

SECONDS = 20

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


def reviewed_next(*options: object, thing: object = "latest", reviewer: str = "agent", **fields: Any) -> Any:
    """The next failure, reviewed; what `submit --json` printed."""
    got = errata("review", "next", thing, "--format", "json", *as_model(reviewer), *options)
    assert got.code == 0, got
    taken = submitted(Path("verdict.json"), an_answer(got.row, **fields), *as_model(reviewer), "--json")
    assert taken.code == 0, taken
    return taken.row


def at_a_terminal(*arguments: str, answers: Sequence[str] = (), interrupt: bool = False) -> tuple[int, str]:
    """What is shown on the terminal, and the exit code; each answer is typed when a question waits for it."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"ERRATA_AUTHOR": "ada", "NO_COLOR": "1", "COLUMNS": "100"}
    process = subprocess.Popen(
        [str(PROGRAM), *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        start_new_session=True,
        # who runs the tests in the background of a shell hands down that interrupts are ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    os.close(theirs)
    shown, waiting = "", list(answers)
    while True:
        if not select.select([ours], [], [], SECONDS)[0]:
            process.kill()
            break
        try:
            shown += os.read(ours, 65_536).decode("utf-8", "replace")
        except OSError:  # the other side has closed the terminal
            break
        if shown.endswith(": ") and waiting:
            os.write(ours, f"{waiting.pop(0)}\n".encode())
            shown += "\n"
        elif shown.endswith(": ") and interrupt:
            # a signal that comes just before a line is waited for is seen only with the next
            time.sleep(0.2)
            for _ in range(10):
                process.send_signal(signal.SIGINT)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(3)
                    break
            else:
                process.kill()
            break
    process.wait(SECONDS)
    os.close(ours)
    return process.returncode, shown.replace("\r\n", "\n")


def as_model(name):
    """A reviewer of this name, and of a model of its own: what makes two reviewers of one user."""
    return "--reviewer", name, "--model", f"{name}@1"
