"""Running a command and watching what it costs: seconds, and the memory of its whole process tree."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

SAMPLE = 0.05


class Cost(NamedTuple):
    seconds: float
    peak_mb: float
    cpu_seconds: float = 0.0
    """Of the processor, of the command and all its processes."""


def run(command: Sequence[str], settings: Mapping[str, str] = {}) -> Cost:
    """The command must succeed; its output is thrown away. `settings` are added to its environment."""
    return run_and_listen(command, settings)[0]


def run_and_listen(command: Sequence[str], settings: Mapping[str, str] = {}) -> tuple[Cost, str]:
    """The same with what it printed, which goes to a file: nobody listens while it runs."""
    started, used = time.perf_counter(), _cpu_of_children()
    with (
        tempfile.TemporaryFile() as out,
        subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, env={**_as_installed(), **settings}) as process,
    ):
        peak = 0.0
        while process.poll() is None:
            peak = max(peak, _tree_mb(process.pid))
            time.sleep(SAMPLE)
        seconds = time.perf_counter() - started
        assert process.stderr is not None
        errors = process.stderr.read().decode()
        out.seek(0)
        printed = out.read().decode()
    if process.returncode:
        sys.exit(f"{command} failed: {errors}")
    return Cost(seconds, peak, _cpu_of_children() - used), printed


def _cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _as_installed() -> dict[str, str]:
    """An installed program is compiled once, whatever is set where it is developed."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def errata(*arguments: str | Path) -> list[str]:
    return [str(Path(sys.executable).parent / "errata"), *map(str, arguments)]


def _tree_mb(pid: int) -> float:
    total, waiting = 0.0, [pid]
    while waiting:
        process = waiting.pop()
        try:
            total += int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
            waiting += [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
        except (OSError, IndexError):
            continue
    return total
