"""Load: several processes import into and read from one store at the same time."""

import io
import json
import random
import subprocess
import time
from collections import Counter
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench import generate
from bench.measure import errata

from errata.cli.door import run as run_command

MB = 1024 * 1024
PAUSE = 0.05
"""Seconds between two reads, so that the importers get on."""


def run(folder: Path, seed: str, *, writers: int = 4, size: int = 8 * MB) -> Counter[str]:
    with TemporaryDirectory(dir=folder) as place:
        return _load(Path(place), random.Random(seed).randrange(10**6), writers, size)


def _load(folder: Path, seed: int, writers: int, size: int) -> Counter[str]:
    paths = [generate.judged_run(folder / f"load-{number}", size, seed=seed + number) for number in range(writers)]
    store = folder / "load.db"
    processes = [
        subprocess.Popen(errata("import", path, "--store", store), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for path in paths
    ]
    reads = 0
    while any(process.poll() is None for process in processes):
        for row in _runs_in(store):
            lines = (folder / row["run"] / "openai_judged.jsonl").read_bytes().count(b"\n")
            assert row["counts"]["counted"] == lines, "a run was seen before it was whole"
        reads += 1
        time.sleep(PAUSE)
    for process in processes:
        _, errors = process.communicate()
        assert process.returncode == 0, errors.decode()
    assert len(_runs_in(store)) == writers
    return Counter({"imports at once": writers, "reads meanwhile": reads})


def _runs_in(store: Path) -> list[dict[str, Any]]:
    """As a command in this process shows them: starting one takes ten times as long as the command."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        code = run_command(["runs", "--json", "--store", str(store)])
    assert code == 0, f"`errata runs` ended with {code}"
    return [json.loads(line) for line in printed.getvalue().splitlines()]
