"""Commands killed with SIGKILL at random moments: nothing half-visible, nothing lost, the repeated command completes.

A command runs in a fork of this process, which has imported everything: that takes a tenth of the time of a new one.
Half of the kills come after a random time, half before a random step: a statement in the store or a change of a file.
"""

import os
import pkgutil
import random
import shutil
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Engine, event

import errata as package
from errata.cli.door import run as run_command
from soak.kill_stages import STAGES, Stage
from soak.visible import Parts, check_between, left_behind, visible_in

MOST_KILLS = 4
"""Of one folder, before the command may complete: what a kill leaves behind is met by the next one."""
OUTPUT, PROBLEM, STEPS = "output.txt", "problem.txt", "steps.txt"


class Baseline(NamedTuple):
    """A stage without a kill."""

    folder: Path
    before: Parts
    after: Parts
    seconds: float
    steps: int


class Moment(NamedTuple):
    """When a command is killed: after this time, or before this step."""

    seconds: float | None = None
    step: int | None = None


NOT_AT_ALL = Moment()


def series(folder: Path, stage: Stage, baseline: Baseline, chance: random.Random) -> Counter[str]:
    """One to four kills of one command in one folder; then it is repeated and has to complete."""
    work = folder / "work"
    shutil.copytree(baseline.folder, work)
    figures: Counter[str] = Counter()
    try:
        for _ in range(chance.randint(1, MOST_KILLS)):
            code = _run(work, stage, _moment(baseline, chance))
            assert code in (0, -signal.SIGKILL), f"it ended with {code}: {_printed(work)}"
            figures[f"killed in {stage.name}" if code else "finished before the kill"] += 1
            seen = visible_in(work)
            check_between(baseline.before, seen, baseline.after, whole=stage.once)
            stage.check(work, baseline.folder)
            if code == 0 or (stage.once and seen == baseline.after):
                break
        if not stage.once or seen != baseline.after:
            code = _run(work, stage, NOT_AT_ALL)
            assert code == 0, f"the repeated command ended with {code}: {_printed(work)}"
        check_between(baseline.after, visible_in(work), baseline.after)
        stage.check(work, baseline.folder)
        left = left_behind(work)
        assert not left, f"left behind: {', '.join(left)}"
    finally:
        shutil.rmtree(work)
    figures["kills"] = sum(count for name, count in figures.items() if name.startswith("killed"))
    return figures


def run(folder: Path, seed: str) -> Counter[str]:
    """Every stage once."""
    figures: Counter[str] = Counter()
    for number, stage in enumerate(STAGES):
        place = folder / f"kills-{os.getpid()}-{number}"  # a baseline is made once in each process
        figures += series(place, stage, baseline_of(number, place), random.Random(f"{seed}/{number}"))
    return figures


@cache
def baseline_of(number: int, folder: Path) -> Baseline:
    stage = STAGES[number]
    _import_everything()
    template = folder / "before"
    template.mkdir(parents=True)

    def errata(*arguments: object) -> None:
        code = _fork(template, stage._replace(command=tuple(map(str, arguments)), tune=_as_it_is))
        assert code == 0, f"{arguments} ended with {code}: {_printed(template)}"

    stage.prepare(template, errata)
    whole = folder / "after"
    for _ in range(2):  # the first one is slower
        shutil.rmtree(whole, ignore_errors=True)
        shutil.copytree(template, whole)
        started = time.perf_counter()
        assert _run(whole, stage, NOT_AT_ALL, count=True) == 0, _printed(whole)
        seconds = time.perf_counter() - started
    steps = int((folder / STEPS).read_text())
    return Baseline(template, visible_in(template), visible_in(whole), seconds, steps)


def _moment(baseline: Baseline, chance: random.Random) -> Moment:
    if chance.random() < 0.5:
        return Moment(seconds=chance.uniform(0, 1.05 * baseline.seconds))
    return Moment(step=chance.randint(1, baseline.steps))


def _run(work: Path, stage: Stage, moment: Moment, *, count: bool = False) -> int:
    return _fork(work, stage, moment, count=count)


def _as_it_is() -> None:
    """A command that only prepares a folder is not tuned."""


def _fork(work: Path, stage: Stage, moment: Moment = NOT_AT_ALL, *, count: bool = False) -> int:
    """The exit code, negative for a signal."""
    pid = os.fork()
    if pid == 0:
        code = 70
        try:
            code = _in_child(work, stage, moment.step, count)
        except BaseException:  # noqa: BLE001 a fork must not return into the program of its parent
            with suppress(OSError):
                (work.parent / PROBLEM).write_text(traceback.format_exc())
        finally:
            os._exit(code)
    if moment.seconds is not None:
        time.sleep(moment.seconds)
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def _in_child(work: Path, stage: Stage, last_step: int | None, count: bool) -> int:
    os.chdir(work)
    output = os.open(work.parent / OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
    stage.tune()
    steps = _count_steps(last_step) if last_step is not None or count else None
    code = run_command(list(stage.command))
    if count and steps is not None:
        (work.parent / STEPS).write_text(str(steps()))
    return code


def _count_steps(last: int | None) -> Callable[[], int]:
    """Count statements in the store and changes of files; at the last one, the process kills itself."""
    steps = 0

    def step(*_: object) -> None:
        nonlocal steps
        steps += 1
        if steps == last:
            os.kill(os.getpid(), signal.SIGKILL)

    def audit(name: str, arguments: tuple[object, ...]) -> None:
        changes = name in ("os.rename", "os.remove", "os.mkdir", "os.truncate", "os.chmod")
        flags = arguments[2] if name == "open" else 0
        if changes or (isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)):
            step()

    event.listen(Engine, "connect", lambda driver, _: driver.set_trace_callback(step))
    sys.addaudithook(audit)
    return lambda: steps


def _printed(work: Path) -> str:
    texts = [path.read_text(errors="replace") for name in (OUTPUT, PROBLEM) for path in work.parent.glob(name)]
    return "\n".join(texts)[-2000:]


@cache
def _import_everything() -> None:
    for module in pkgutil.walk_packages(package.__path__, "errata."):
        if "__main__" not in module.name:
            with suppress(ImportError):  # an extra that is not installed
                import_module(module.name)
