"""What errata answers about the labelled attempts: each sample is imported into a store of its own, as a user would."""

import json
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from bench.real.labels import Item

LOGS = Path(__file__).parent / "logs"
AT_ONCE = 2
BUG = 3


class Answer(NamedTuple):
    owner: str
    """`unread` where errata did not import the attempt; `not a failure` where it does not count it as one."""
    confidence: str = ""
    decided_by: str = ""
    proof: str = ""
    """For the owner `model`: shown or presumed."""
    also: tuple[str, ...] = ()
    suspicions: tuple[str, ...] = ()
    """Of a pass: why it is suspicious."""


def answers(items: Iterable[Item], folder: Path) -> dict[str, Answer]:
    """By the id of the item."""
    unpack(folder)
    by_store: dict[str, list[Item]] = {}
    for item in items:
        by_store.setdefault(store_of(item.sample), []).append(item)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = pool.map(lambda pair: list(_of_sample(pair[0], pair[1], folder)), by_store.items())
        return {name: answer for sample in found for name, answer in sample}


def unpack(folder: Path) -> None:
    for archive in sorted(LOGS.glob("*.tar.xz")):
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")


def store_of(sample: str) -> str:
    """Runs of one publication share a store, so that they are evidence about each other's cases."""
    if sample.startswith("real/codetracer_logs/claude_code"):
        return "real/codetracer_logs/claude_code"
    return sample


def _of_sample(sample: str, items: list[Item], folder: Path) -> Iterator[tuple[str, Answer]]:
    store = folder / f"{sample.replace('/', '_')}.db"
    _errata(store, "import", str(folder / sample))
    listed: dict[tuple[str, str, int], Answer] = {}
    for run in _lines(_errata(store, "runs", "--json")):
        name = run["run_id"]
        for row in _lines(_errata(store, "failures", name, "--json")):
            listed[_key(row)] = Answer(
                row["owner"] or "unknown",
                row["confidence"] or "",
                row["decided_by"] or "",
                row.get("proof") or "",
                tuple(row["also"]),
            )
        for row in _lines(_errata(store, "failures", name, "--suspicious", "--json")):
            known = listed.get(_key(row), Answer("-"))
            listed[_key(row)] = known._replace(suspicions=(*known.suspicions, row["suspicion"]))
    passed = Answer("-")
    imported = {run["run"] for run in _lines(_errata(store, "runs", "--json"))}
    for item in items:
        missing = passed if item.kind == "pass" else Answer("not a failure")
        default = missing if item.run in imported else Answer("unread")
        yield item.id, listed.get((item.run, item.case, item.attempt), default)


def _key(row: dict[str, Any]) -> tuple[str, str, int]:
    return row["run"], row["case_key"], row["attempt"]


def _errata(store: Path, *arguments: str) -> str:
    command = [sys.executable, "-c", "from errata.cli.door import main; main()", "--store", str(store), *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=store.parent)
    if ended.returncode == BUG:
        raise RuntimeError(f"errata {arguments[0]}: {ended.stderr}")
    return ended.stdout


def _lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]
