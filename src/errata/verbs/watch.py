"""`watch`: import finished runs as they appear below folders, and hand a summary of each to a program or an address."""

import os
import shlex
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from errata import sources
from errata.client.webhook import check_address, post_json
from errata.errors import ErrataError, NotFoundError, SettingsError
from errata.model import Run
from errata.model.codec import to_whole
from errata.model.output.gate import WatchOutput
from errata.model.run import is_running
from errata.runs.importing import import_paths
from errata.runs.log_search import find, found_by
from errata.runs.new_runs import find_new
from errata.runs.view import RunView
from errata.store.database import Store
from errata.text.outgoing import tree_for_others
from errata.verbs.analyze import analyze_stored

PROGRAM_TIMEOUT = 60.0
SHOWN = 300
_Mark = tuple[int, int, float]
"""Of everything at a path: how many files, their size, and when one was changed last."""


class FinishedRun(msgspec.Struct, frozen=True):
    view: RunView
    change: str
    """`new` or `grown`."""
    path: str
    source: str


class Poll(msgspec.Struct, frozen=True):
    finished: tuple[FinishedRun, ...] = ()
    waiting: tuple[tuple[Path, str], ...] = ()
    """Paths that are not finished, and why; each is named once for each reason."""
    problems: tuple[tuple[Path, str], ...] = ()


class Watcher:
    """Looks again whenever it is polled. What was tried is not tried again until it changes."""

    def __init__(
        self,
        folders: Sequence[Path],
        store: Store,
        *,
        settle: float,
        source: str = "",
        now: Callable[[], float] = time.time,
    ) -> None:
        self._folders, self._store, self._settle, self._source, self._now = folders, store, settle, source, now
        self._tried: dict[Path, _Mark] = {}
        self._named: dict[Path, str] = {}

    def poll(self) -> Poll:
        search = find_new(self._folders, self._store, source=self._source)
        finished: list[FinishedRun] = []
        waiting: list[tuple[Path, str]] = []
        problems = [one for one in search.problems if self._is_news(*one)]
        for path in search.new:
            mark = _mark_of(path)
            if self._tried.get(path) == mark:
                continue
            try:
                if why := self._why_wait(path, mark):
                    waiting += [(path, why)] if self._is_news(path, why) else []
                    continue
                self._tried[path] = mark
                finished += self._import(path)
            except ErrataError as problem:
                self._tried[path] = mark
                problems.append((path, problem.message))
        return Poll(tuple(finished), tuple(waiting), tuple(problems))

    def polls(self, *, every: float, once: bool) -> Iterator[Poll]:
        """One after the other, for as long as they are asked for."""
        while True:
            yield self.poll()
            if once:
                return
            time.sleep(every)

    def _why_wait(self, path: Path, mark: _Mark) -> str:
        """Empty where it is finished: nothing changes any more, and the harness does not call it running."""
        if self._now() - mark[2] < self._settle:
            return "still being written"
        running = next((run for run in _first_runs(path, self._source) if is_running(run)), None)
        return f"the harness reports it as `{running.native_status}`" if running is not None else ""

    def _import(self, path: Path) -> list[FinishedRun]:
        summaries = import_paths([path], self._store, source=self._source)
        imported = [(run, summary) for summary in summaries for run in summary.runs if run.change in ("new", "grown")]
        views = {view.run.id: view for view in analyze_stored((run.id for run, _ in imported), self._store)}
        return [FinishedRun(views[run.id], run.change, summary.path, summary.source) for run, summary in imported]

    def _is_news(self, path: Path, what: str) -> bool:
        is_news = self._named.get(path) != what
        self._named[path] = what
        return is_news


def _first_runs(path: Path, source: str) -> Iterable[Run]:
    """The head of each log at a path: a source yields the run before its attempts."""
    for order in find(path, source=source):
        run = next((item for item in sources.read(found_by(order)) if isinstance(item, Run)), None)
        if run is not None:
            yield run


def _mark_of(path: Path) -> _Mark:
    places = [path, *(Path(folder, name) for folder, _, names in os.walk(path) for name in names)]
    count = size = 0
    newest = 0.0
    for place in places:
        try:
            status = place.lstat()
        except OSError:
            continue
        count, size, newest = count + 1, size + status.st_size, max(newest, status.st_mtime)
    return count, size, newest


def require_folders(folders: Iterable[Path]) -> None:
    for folder in folders:
        if not folder.is_dir():
            raise NotFoundError(f"No such folder: `{folder}`", hint="name the folder that the harness writes to")


class Hooks(msgspec.Struct, frozen=True):
    """What gets the summary of each run: a program with its arguments, an address."""

    program: tuple[str, ...] = ()
    webhook: str = ""

    def call(self, summary: WatchOutput) -> Iterator[ErrataError]:
        """The failures."""
        body = msgspec.json.encode(tree_for_others(to_whole(summary)))
        calls: list[Callable[[], None]] = []
        if self.program:
            calls.append(partial(call_program, self.program, body))
        if self.webhook:
            calls.append(partial(post_json, self.webhook, body))
        for call in calls:
            try:
                call()
            except ErrataError as problem:
                yield problem


def hooks_of(program: str, webhook: str) -> Hooks:
    """The program of `--exec` and the address of `--webhook`, checked before anything is imported."""
    try:
        arguments = tuple(shlex.split(program))
    except ValueError as error:
        raise SettingsError(f"`--exec {program}` can't be split into words: {error}", hint="close the quotes") from None
    if webhook:
        check_address(webhook)
    return Hooks(arguments, webhook)


def call_program(arguments: Sequence[str], given: bytes, *, timeout: float = PROGRAM_TIMEOUT) -> None:
    """Started without a shell; gets the summary on stdin. What it prints goes to stderr, so that stdout stays JSON."""
    try:
        done = subprocess.run(arguments, input=given, capture_output=True, timeout=timeout, check=False)
    except FileNotFoundError as error:
        raise SettingsError(f"No such program: `{arguments[0]}`", hint="name it with its path") from error
    except OSError as error:
        raise SettingsError(
            f"`{arguments[0]}` can't be started: {error.strerror}", hint="check its permissions"
        ) from error
    except subprocess.TimeoutExpired:
        raise ErrataError(f"`{arguments[0]}` was stopped after {timeout:g} s", hint="let it return sooner") from None
    if done.returncode:
        last = (done.stderr or done.stdout).decode(errors="replace").strip()[-SHOWN:]
        raise ErrataError(f"`{arguments[0]}` exited with {done.returncode}" + (f": {last}" if last else ""))
