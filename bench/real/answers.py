"""What errata answers about the labelled attempts: each sample is imported into a store of its own, as a user would."""

import tarfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

import errata
from bench.real.labels import Item

LOGS = Path(__file__).parent / "logs"
AT_ONCE = 2
Key = tuple[str, str, int]
"""Run, case and number of an attempt."""


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
    signals: tuple[str, ...] = ()
    """Of a failure: every rule that saw something."""


UNREAD = Answer("unread")


def answers(items: Iterable[Item], folder: Path) -> dict[str, Answer]:
    """By the id of the item."""
    unpack(folder)
    by_store: dict[str, list[Item]] = {}
    for item in items:
        by_store.setdefault(store_of(item.sample), []).append(item)
    with ProcessPoolExecutor(AT_ONCE) as pool:
        samples = pool.map(_of_sample, by_store, by_store.values(), repeat(folder))
        return {name: answer for sample in samples for name, answer in sample}


def unpack(folder: Path) -> None:
    for archive in sorted(LOGS.glob("*.tar.xz")):
        with tarfile.open(archive) as packed:
            packed.extractall(folder)  # an archive of this repository


def store_of(sample: str) -> str:
    """Runs of one publication share a store, so that they are evidence about each other's cases."""
    if sample.startswith("real/codetracer_logs/claude_code"):
        return "real/codetracer_logs/claude_code"
    return sample


def _of_sample(sample: str, items: list[Item], folder: Path) -> list[tuple[str, Answer]]:
    """In a process of its own."""
    try:
        store = errata.open(folder / f"{sample.replace('/', '_')}.db")
        runs = store.import_(folder / sample)
    except errata.ErrataError:
        return [(item.id, UNREAD) for item in items]
    listed = {key: answer for run in runs for key, answer in answers_of_run(run)}
    ids = {run.name: run.id for run in runs} | {run.id: run.id for run in runs}
    return [(item.id, _answer(item, ids.get(item.run_id or item.run), listed)) for item in items]


def answers_of_run(run: errata.AnalyzedRun) -> Iterator[tuple[Key, Answer]]:
    signals: dict[Key, tuple[str, ...]] = {}
    for view in run._views():
        for failure in view.failures():
            names = failure.attribution.signals if failure.attribution is not None else ()
            signals[view.run.id, failure.attempt.case, failure.attempt.index] = tuple([one.name for one in names])
    for row in run.failures():
        key = (row.run_id, row.case_key, row.attempt)
        judged = (row.owner or "unknown", row.confidence or "", row.decided_by or "", row.proof or "", row.also)
        yield key, Answer(*judged, signals=signals.get(key, ()))
    suspicions: dict[Key, list[str]] = {}
    for view in run._views():
        for seen in view.suspicious_passes():
            attempt = seen.as_json()
            suspicions.setdefault((attempt.run_id, attempt.case_key, attempt.attempt), []).append(attempt.suspicion)
    yield from ((key, Answer("-", suspicions=tuple(names))) for key, names in suspicions.items())


def _answer(item: Item, run: str | None, listed: dict[Key, Answer]) -> Answer:
    if run is None:
        return UNREAD
    otherwise = Answer("-") if item.kind == "pass" else Answer("not a failure")
    return listed.get((run, item.case, item.attempt), otherwise)
