"""Processes of Python that work for this one: they get an order, answer as they go, and never outlive it."""

import os
import subprocess
import sys
import threading
from contextlib import suppress
from typing import IO

import msgspec


def start_process(program: str, order: msgspec.Struct) -> "subprocess.Popen[bytes]":
    """The program reads the order from its stdin, and answers on its stdout."""
    # -P: nothing in the working folder is to be imported; a group of its own: Ctrl-C is for this process
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        process_group=0,
    )
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        process.stdin.write(msgspec.json.encode(order) + b"\n")
        process.stdin.flush()
    return process


def end_process(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    with process, suppress(BrokenPipeError):
        assert process.stdin is not None
        process.stdin.close()


def end_with_parent(request: IO[bytes]) -> None:
    """In the other process: when the one that gave the order is gone, so is the reason to go on."""
    threading.Thread(target=_end_with, args=(request,), daemon=True).start()


def _end_with(request: IO[bytes]) -> None:
    request.read()
    os._exit(1)


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
