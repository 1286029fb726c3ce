"""One long program of many small units: each has a seed of its own, and what is done is kept in a state file.

A second call continues where the first one stopped. Totals go over all seeds.
"""

import json
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from soak.limits import TooSlowError, limit_memory

Figures = Mapping[str, float]
"""What a unit counted. A figure that starts with `peak` is a maximum."""
PROGRESS = 60.0
"""Seconds between two lines of progress."""


class Part(NamedTuple):
    name: str
    units: int
    """Of one seed."""
    run: Callable[[Path, str], Figures]
    """Folder to work in and seed of the unit. `AssertionError` where a promise does not hold."""


class UnitResult(NamedTuple):
    figures: dict[str, float]
    seconds: float
    problem: str


class State:
    """The state file: what is done of each seed, and the totals over all of them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        self.seed: str = kept.get("seed", "")
        """The seed in work; empty where all is done."""
        self.done: dict[str, dict[str, list[int]]] = kept.get("done", {})
        """Seed → part → its units."""
        self.totals: dict[str, dict[str, dict[str, float]]] = kept.get("totals", {})
        """Seed → part → what its units counted."""
        self.problems: list[dict[str, Any]] = kept.get("problems", [])

    def units_done(self, part: str, seed: str) -> list[int]:
        return self.done.setdefault(seed, {}).setdefault(part, [])

    def add(self, part: str, seed: str, unit: int, result: UnitResult) -> None:
        if result.problem:
            self.problems.append({"part": part, "seed": seed, "unit": unit, "problem": result.problem})
        self.units_done(part, seed).append(unit)
        totals = self.totals.setdefault(seed, {}).setdefault(part, {})
        _add(totals, {**result.figures, "units": 1, "seconds": round(result.seconds, 1)})
        self.save()

    def save(self) -> None:
        content = {"seed": self.seed, "totals": self.totals, "problems": self.problems, "done": self.done}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".part")
        new.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        new.replace(self.path)


def _add(totals: dict[str, float], figures: Figures) -> None:
    for name, value in figures.items():
        before = totals.get(name, 0)
        totals[name] = max(before, value) if name.startswith("peak") else round(before + value, 1)


def new_seed() -> str:
    return str(random.SystemRandom().randrange(10**6))


def run(parts: Sequence[Part], state: State, folder: Path, *, until: float, processes: int) -> None:
    """Units of all parts in turn, the part that is furthest behind first. Starts no unit after `until`."""
    waiting = _waiting(parts, state)
    running: dict[Future[UnitResult], tuple[Part, int]] = {}
    show_at = time.monotonic() + PROGRESS
    with ProcessPoolExecutor(processes, mp_context=get_context("fork"), initializer=limit_memory) as pool:
        while True:
            while len(running) < processes and time.monotonic() < until:
                following = next(waiting, None)
                if following is None:
                    break
                part, unit = following
                running[pool.submit(run_unit, part, folder, state.seed, unit)] = part, unit
            if not running:
                return
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                part, unit = running.pop(future)
                result = future.result()
                state.add(part.name, state.seed, unit, result)
                if result.problem:
                    again = f"--only {part.name} --seed {state.seed} --unit {unit}"
                    print(f"{part.name} FAILED, repeat with `python -m soak {again}`:\n{result.problem}", flush=True)
            if time.monotonic() >= show_at:
                print(_progress(parts, state), flush=True)
                show_at = time.monotonic() + PROGRESS


def _progress(parts: Sequence[Part], state: State) -> str:
    done = (f"{part.name} {len(state.units_done(part.name, state.seed)):,}/{part.units:,}" for part in parts)
    return f"units done: {', '.join(done)}; failures {len(state.problems):,}"


def run_unit(part: Part, folder: Path, seed: str, unit: int) -> UnitResult:
    started = time.perf_counter()
    figures: Figures = {}
    problem = ""
    try:
        figures = part.run(folder, f"{seed}/{part.name}/{unit}") or {}
    except (Exception, TooSlowError):  # noqa: BLE001 the other units go on
        problem = traceback.format_exc(limit=-6)
    return UnitResult(dict(figures), time.perf_counter() - started, problem)


def _waiting(parts: Sequence[Part], state: State) -> Iterator[tuple[Part, int]]:
    left = {part: [unit for unit in range(part.units) if unit not in state.units_done(part.name, state.seed)]
            for part in parts}  # fmt: skip
    while any(left.values()):
        part = max((part for part in left if left[part]), key=lambda part: len(left[part]) / part.units)
        yield part, left[part].pop(0)


def is_done(parts: Sequence[Part], state: State) -> bool:
    return all(len(state.units_done(part.name, state.seed)) >= part.units for part in parts)


def summary(state: State) -> list[str]:
    """The totals as a table in Markdown."""
    lines = ["| part | seeds | figures | minutes | failures |", "|---|---|---|---:|---:|"]
    by_part: dict[str, dict[str, float]] = {}
    for parts in state.totals.values():
        for name, figures_of_seed in parts.items():
            _add(by_part.setdefault(name, {}), figures_of_seed)
    for name, totals in by_part.items():
        seeds = [seed for seed, parts in state.done.items() if parts.get(name)]
        figures = [
            f"{value:,.0f} {figure}" if not figure.startswith("peak") else f"{figure} {value:,.0f} MB"
            for figure, value in totals.items()
            if figure not in ("units", "seconds")
        ]
        failed = sum(problem["part"] == name for problem in state.problems)
        minutes = totals.get("seconds", 0) / 60
        lines.append(f"| {name} | {', '.join(seeds)} | {', '.join(figures)} | {minutes:.1f} | {failed} |")
    return lines


def show(lines: Sequence[str]) -> None:
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def counted(**figures: float) -> Counter[str]:
    return Counter({name.replace("_", " "): int(value) for name, value in figures.items()})
