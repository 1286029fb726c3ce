"""Commands on a PostgreSQL store that are killed, or whose connections are cut: nothing half-visible, nothing lost.

What users see is read from a copy of the database in a file, with the checks of the kills on SQLite.
"""

import atexit
import os
import random
import shutil
import signal
import tempfile
import time
import traceback
from collections import Counter
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from sqlalchemy import Engine, event

from errata.model.store_address import StoreAddress
from errata.store.copying import copy_into_store
from errata.store.database import Store, open_store
from errata.store.postgres import engine_for
from soak import kills
from soak.kill_stages import DATABASE, ON_POSTGRES, Stage
from soak.postgres_server import PostgresServer, running_server
from soak.visible import STORE, Parts, check_between, left_behind, visible_in

MOST_BLOWS = 6
"""Of one database, before the command may complete."""
LOST = ("connection to the store was lost", "connection to the store failed")
Blow = Literal["kill", "cut"]


class Baseline(NamedTuple):
    """A stage that nothing disturbs."""

    folder: Path
    database: str
    before: Parts
    after: Parts
    seconds: float
    steps: int


class Moment(NamedTuple):
    """What happens to a command, and when: after this time, or before this statement."""

    blow: Blow = "kill"
    seconds: float | None = None
    step: int | None = None


UNDISTURBED = Moment()


def run(folder: Path, seed: str) -> Counter[str]:
    """Every stage once."""
    figures: Counter[str] = Counter()
    for number, stage in enumerate(ON_POSTGRES):
        place = folder / f"postgres-{os.getpid()}-{number}"
        figures += series(place, stage, baseline_of(number, place), random.Random(f"{seed}/{number}"))
    return figures


def series(folder: Path, stage: Stage, baseline: Baseline, chance: random.Random) -> Counter[str]:
    work, database = folder / "work", the_server().new_database(baseline.database)
    shutil.copytree(baseline.folder, work)
    figures: Counter[str] = Counter()
    try:
        for _ in range(chance.randint(1, MOST_BLOWS)):
            moment = _moment(baseline, chance)
            code = _fork(work, stage, database, moment)
            figures[_outcome(work, stage, moment, code)] += 1
            seen = _visible(work, database)
            check_between(baseline.before, seen, baseline.after, whole=stage.once)
            if code == 0 or (stage.once and seen == baseline.after):
                break
        if not stage.once or seen != baseline.after:
            code = _fork(work, stage, database)
            assert code == 0, f"the repeated command ended with {code}: {_printed(work)}"
        check_between(baseline.after, _visible(work, database, check_rest=True), baseline.after)
    finally:
        shutil.rmtree(work)
        the_server().drop(database)
    figures["kills"] = sum(count for name, count in figures.items() if name.startswith("killed"))
    figures["cut connections"] = sum(count for name, count in figures.items() if name.startswith("cut"))
    return figures


def _outcome(work: Path, stage: Stage, moment: Moment, code: int) -> str:
    if code == 0:
        return "finished before it"
    if moment.blow == "kill":
        assert code == -signal.SIGKILL, f"it ended with {code}: {_printed(work)}"
        return f"killed in {stage.name}"
    assert code == 2, f"it ended with {code}: {_printed(work)}"
    assert any(words in _printed(work) for words in LOST), _printed(work)
    return f"cut in {stage.name}"


@cache
def the_server() -> PostgresServer:
    """One for each process of the program."""
    stack = ExitStack()
    atexit.register(stack.close)
    server = stack.enter_context(running_server())
    server.execute("CREATE DATABASE empty_store")
    open_store(server.address("empty_store")).engine.dispose()
    return server


@cache
def baseline_of(number: int, folder: Path) -> Baseline:
    stage, server = ON_POSTGRES[number], the_server()
    kills._import_everything()
    template, database = folder / "before", server.new_database("empty_store")
    template.mkdir(parents=True)

    def errata(*arguments: object) -> None:
        code = _fork(template, stage._replace(command=tuple(map(str, arguments)), tune=kills._as_it_is), database)
        assert code == 0, f"{arguments} ended with {code}: {_printed(template)}"

    stage.prepare(template, errata)
    whole = folder / "after"
    for _ in range(2):  # the first one is slower
        shutil.rmtree(whole, ignore_errors=True)
        shutil.copytree(template, whole)
        other = server.new_database(database)
        started = time.perf_counter()
        assert _fork(whole, stage, other, count=True) == 0, _printed(whole)
        seconds = time.perf_counter() - started
    steps = int((folder / kills.STEPS).read_text())
    return Baseline(template, database, _visible(template, database), _visible(whole, other), seconds, steps)


def _moment(baseline: Baseline, chance: random.Random) -> Moment:
    blow: Blow = "kill" if chance.random() < 0.75 else "cut"
    if chance.random() < 0.5:
        return Moment(blow, seconds=chance.uniform(0, 1.05 * baseline.seconds))
    return Moment(blow, step=chance.randint(1, baseline.steps))


def _fork(work: Path, stage: Stage, database: str, moment: Moment = UNDISTURBED, *, count: bool = False) -> int:
    """The exit code, negative for a signal."""
    server = the_server()
    pid = os.fork()
    if pid == 0:
        code = 70
        try:
            address = server.address(database)
            os.environ |= {"ERRATA_STORE": address, "XDG_CACHE_HOME": str(work.parent / "cache")}
            steps = _count_statements(server, database, moment)
            command = tuple(address if word == DATABASE else word for word in stage.command)
            code = kills._in_child(work, stage._replace(command=command), None, count=False)
            if count:
                (work.parent / kills.STEPS).write_text(str(steps[0]))
        except BaseException:  # noqa: BLE001 a fork must not return into the program of its parent
            with suppress(OSError):
                (work.parent / kills.PROBLEM).write_text(traceback.format_exc())
        finally:
            os._exit(code)
    if moment.seconds is not None:
        time.sleep(moment.seconds)
        if moment.blow == "kill":
            os.kill(pid, signal.SIGKILL)
        else:
            server.cut_connections(database)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def _count_statements(server: PostgresServer, database: str, moment: Moment) -> list[int]:
    """Statements and commits; at the chosen one, the process ends itself or its connections."""
    steps = [0]

    def step(*_: object) -> None:
        steps[0] += 1
        if steps[0] == moment.step and moment.blow == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif steps[0] == moment.step:
            server.cut_connections(database)

    for name in ("before_cursor_execute", "commit"):
        event.listen(Engine, name, step)
    return steps


def _visible(work: Path, database: str, *, check_rest: bool = False) -> Parts:
    """Of the folder, and of the database through a copy of it in a file."""
    address = StoreAddress(the_server().address(database))
    with tempfile.TemporaryDirectory(dir=work.parent) as aside:
        copied = open_store(Path(aside) / "errata.db")
        copy_into_store(Store(address, engine_for(address)), copied)
        copied.engine.dispose()
        (work / STORE).parent.mkdir()
        shutil.copy(Path(aside) / "errata.db", work / STORE)
    try:
        left = left_behind(work) if check_rest else []
        assert not left, f"left behind: {', '.join(left)}"
        return visible_in(work)
    finally:
        shutil.rmtree((work / STORE).parent)


def _printed(work: Path) -> str:
    return kills._printed(work)
