"""tau2-bench: one document with tasks and simulations, or a folder with a file for each simulation."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from errata.model import Attempt, Case, Item, Run, SourceRef, Unreadable, case_key
from errata.sources.base import Row, convert_each, json_file, of_run
from errata.sources.shared.facts import MISSING
from errata.sources.shared.json_rows import LongDocument, long_document
from errata.sources.shared.values import as_text, count, mapping, number
from errata.sources.tau_bench.endings import ending_of
from errata.sources.tau_bench.layout import NAME, RESULTS, simulation_files
from errata.sources.tau_bench.numbering import Number, Numbers
from errata.sources.tau_bench.tau2_attempts import attempt_of
from errata.sources.tau_bench.tau2_run import Tasks, run_of


def read(path: Path) -> Iterator[Item]:
    results = path / RESULTS if path.is_dir() else path
    root = results.parent
    document = long_document(results, "simulations", source=NAME, root=root)
    if isinstance(document, Unreadable):
        yield document
        return
    files = simulation_files(results)
    tasks = Tasks(document)
    name = root.name if files else results.stem
    info = tasks.field("info")
    run = run_of(mapping(info), tasks, name=name, n=_counted(document, files), origin=root, ref=document.ref)
    yield run
    yield from of_run(run.id, (*document.problems(), *tasks.problems()))
    simulations = Simulations(run, mapping(info), tasks)
    rows = document.rows() if not files else (json_file(file, source=NAME, root=root) for file in files)
    yield from of_run(run.id, convert_each(rows, simulations.items, source=NAME))
    yield from simulations.never_made()


class _Reward(msgspec.Struct):
    reward: float | None = None


class _Glance(msgspec.Struct):
    termination_reason: str = ""
    reward_info: _Reward | None = None


_glance = msgspec.json.Decoder(_Glance)


def _counted(document: LongDocument, files: list[Path]) -> int:
    """How many simulations tau2-bench averages."""
    pieces: Iterator[bytes] = (bytes(piece) for piece in document.items)
    if files:
        pieces = (file.read_bytes() for file in files)
    return sum(map(_is_counted, pieces))


def _is_counted(piece: bytes) -> bool:
    try:
        told = _glance.decode(piece)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    has_reward = told.reward_info is not None and told.reward_info.reward is not None
    return has_reward and ending_of(told.termination_reason).counted


class Simulations:
    """Turns one simulation after the other into an attempt, and its task, when it first comes, into a case."""

    def __init__(self, run: Run, info: dict[str, Any], tasks: Tasks) -> None:
        self._run = run
        self._info = info
        self._tasks = tasks
        self._numbers = Numbers()

    def items(self, row: Row) -> Iterator[Item]:
        simulation = row.data
        task = as_text(simulation["task_id"])
        number_ = self._numbers.next(self._run, task, simulation.get("trial"))
        attempt = attempt_of(self._run, simulation, number_, number(self._info.get("max_steps")), row.ref)
        yield from self._case(task, row.ref)
        self._numbers.take(number_)
        yield attempt

    def never_made(self) -> Iterator[Item]:
        """Trials that were planned and have no simulation."""
        trials = count(self._info.get("num_trials")) or 1
        for task in self._tasks.names():
            for index in range(1, min(trials, 1_000) + 1):
                if not self._numbers.is_taken(task, index):
                    ref = self._tasks.ref_of(task) or self._run.ref
                    yield from self._case(task, ref or SourceRef(file=RESULTS))
                    yield self._missing(task, index, ref)

    def _case(self, task: str, ref: SourceRef) -> Iterator[Case]:
        if self._numbers.is_first(task):
            yield self._tasks.case(self._run, task, ref)

    def _missing(self, task: str, index: int, ref: SourceRef | None) -> Attempt:
        self._numbers.take(Number(task, index))
        execution, measurement, outcome = MISSING
        return Attempt(
            run=self._run.id,
            case=case_key(self._run.suite, task),
            index=index,
            execution=execution,
            measurement=measurement,
            outcome=outcome,
            reported_counted=False,
            ref=ref,
        )
