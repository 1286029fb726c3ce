"""Imports killed with SIGKILL at random moments: no half-visible run, no damage, the repeated import completes."""

import json
import random
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from pathlib import Path

from bench import generate
from bench.measure import errata

from soak.commands import printed

MB = 1024 * 1024


def run(folder: Path, rounds: int, size: int = 24 * MB) -> None:
    """One store for all rounds: what a kill leaves behind is met by the next import."""
    chance = random.Random(11)
    small = generate.judged_run(folder / "small", size // 12, seed=3)
    large = generate.judged_run(folder / "large", size, seed=4)
    store = folder / "kills.db"
    truth = {name: _import_whole(path, folder / f"{name}.db") for name, path in (("small", small), ("large", large))}
    typical = {name: seconds for name, (seconds, _) in truth.items()}
    counts = {name: counted for name, (_, counted) in truth.items()}
    results: Counter[str] = Counter()
    for number in range(rounds):
        name, path = ("large", large) if number % 4 == 0 else ("small", small)
        results[_killed_import(path, store, chance.uniform(0, 1.1 * typical[name]))] += 1
        seen = _visible(store)
        for run_name, attempts in seen.items():
            assert attempts == counts[run_name], f"round {number}: {run_name} is visible with {attempts} attempts"
        assert _sound(store), f"round {number}: the store is damaged"
        if number % 10 == 9:
            _forget(store)
    for name, path in (("small", small), ("large", large)):
        subprocess.run(errata("import", path, "--store", store), check=True, stdout=subprocess.DEVNULL)
        assert _visible(store)[name] == counts[name], "the repeated import did not complete"
    printed("doctor", "--store", store)
    left = _left_behind(store)
    assert left == 0, f"{left} rows of dead imports stayed behind"
    outcomes = ", ".join(f"{word} {often}" for word, often in sorted(results.items()))
    print(f"kills: {rounds} imports ({outcomes})")
    print("       no half-visible run, no damage, repeated imports complete, nothing left behind")


def _import_whole(path: Path, store: Path) -> tuple[float, int]:
    started = time.perf_counter()
    subprocess.run(errata("import", path, "--store", store), check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started, _visible(store)[path.name]


def _killed_import(path: Path, store: Path, after: float) -> str:
    """The result of one import that is killed after this many seconds."""
    with subprocess.Popen(
        errata("import", path, "--store", store), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
    return "killed" if process.returncode == -signal.SIGKILL else "finished" if process.returncode == 0 else "failed"


def _visible(store: Path) -> dict[str, int]:
    """Run → counted attempts, as a user sees them: read back one by one, not from the kept counts."""
    if not store.exists():
        return {}
    seen = {}
    for line in printed("runs", "--json", "--store", store).splitlines():
        row = json.loads(line)
        failures = printed("failures", row["run_id"], "--json", "--store", store)
        assert len(failures.splitlines()) == row["counts"]["failures"], "failures can't all be read back"
        seen[row["run"]] = row["counts"]["counted"]
    return seen


def _sound(store: Path) -> bool:
    if not store.exists():
        return True
    connection = sqlite3.connect(store)
    try:
        return bool(connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok")
    finally:
        connection.close()


def _forget(store: Path) -> None:
    for name in _visible(store):
        subprocess.run(errata("rm", name, "--yes", "--store", store), check=True, stdout=subprocess.DEVNULL)


def _left_behind(store: Path) -> int:
    connection = sqlite3.connect(store)
    try:
        runs = "SELECT pk FROM runs WHERE state = 'current'"
        tables = ("attempts", "checks", "blocks", "cases", "attributions", "summaries")
        queries = [f"SELECT count(*) FROM {table} WHERE run_pk NOT IN ({runs})" for table in tables]
        return sum(connection.execute(query).fetchone()[0] for query in queries)
    finally:
        connection.close()
