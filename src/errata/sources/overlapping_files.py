"""Several files of one evaluation: the fullest is read and the others are skipped, or all are read as their folder.

A source knows its own poorer forms (`fuller`), and which of its files it reads together (`read_with`). pytest and
promptfoo write several reports at once: the same tests with the same outcomes at the same time are one evaluation.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from errata.model import Attempt, Item, Run
from errata.model.times import moment_of
from errata.sources.base import RecognisedPath, Source, children

Read = Callable[[RecognisedPath], Iterable[Item]]

FORMS = ("promptfoo", "pytest-json", "allure", "junit")
"""The fullest first."""
WHOLE = 64 * 1024 * 1024
"""What is larger is not read a second time only to compare it."""
SLACK = 1.0
"""Seconds, as some forms leave out the fractions."""
FEW = 2
"""One file alone stands for itself, whatever folder it lies in."""

_NUMBERED = re.compile(r"^test \d+: ")
_PARAMETERS = re.compile(r"\[.*\]$", re.DOTALL)
_BETWEEN = re.compile(r"(?:\.py)?::|[/\\#.]+")


class PassedOver(NamedTuple):
    path: Path
    instead: Path
    """Where the same evaluation is read from, with more of it."""


def drop_overlaps(matches: Sequence[RecognisedPath], read: Read) -> tuple[list[RecognisedPath], list[PassedOver]]:
    """What is to be read of several paths. A path that lies there alone is read, whatever form it has."""
    if len(matches) == 1:
        return list(matches), []
    here = {match.path.absolute(): match.path for match in matches}
    left = [match for match in matches if not _named_by_source(match, "read_with", here)]
    poorer = {match.path: other for match in left if (other := _named_by_source(match, "fuller", here))}
    left = [match for match in left if match.path not in poorer]
    for group in _reports_by_folder(left):
        poorer |= _repetitions(group, read)
    over = [PassedOver(path, _last(path, poorer)) for path in poorer]
    return [match for match in left if match.path not in poorer], over


def _named_by_source(match: RecognisedPath, function: str, here: Mapping[Path, Path]) -> Path | None:
    """The path that `fuller` or `read_with` of its source names, where it is among `here`."""
    ask = getattr(match.source, function, None)
    other = ask(match.path) if ask else None
    return here.get(other.absolute()) if other else None


def _last(path: Path, poorer: dict[Path, Path]) -> Path:
    while path in poorer:
        path = poorer[path]
    return path


def _reports_by_folder(matches: Iterable[RecognisedPath]) -> Iterator[list[RecognisedPath]]:
    """Folders that hold several kinds of reports; the fullest kind first."""
    folders: dict[Path, list[RecognisedPath]] = {}
    for match in matches:
        if match.source.NAME in FORMS:
            folders.setdefault(match.path.absolute().parent, []).append(match)
    for group in folders.values():
        if len({match.source.NAME for match in group}) > 1:
            yield sorted(group, key=lambda match: FORMS.index(match.source.NAME))


def _repetitions(group: list[RecognisedPath], read: Read) -> dict[Path, Path]:
    """A report that repeats a fuller one → that one."""
    poorer: dict[Path, Path] = {}
    kept: list[tuple[RecognisedPath, TestOutcomes]] = []
    for match in group:
        evaluation = _evaluation(match, read)
        others = (other for other, known in kept if other.source != match.source and evaluation.is_same_as(known))
        if (fuller := next(others, None)) is not None:
            poorer[match.path] = fuller.path
        else:
            kept.append((match, evaluation))
    return poorer


class TestOutcomes(NamedTuple):
    """What every form holds: which test had which outcome, and when."""

    tests: Counter[tuple[str, str, str]]
    begun: float | None
    ended: float | None

    def is_same_as(self, other: "TestOutcomes") -> bool:
        if not self.tests or self.tests != other.tests:
            return False
        if self.begun is None or other.begun is None or self.ended is None or other.ended is None:
            return False
        return self.begun <= other.ended + SLACK and other.begun <= self.ended + SLACK


def _evaluation(match: RecognisedPath, read: Read) -> TestOutcomes:
    tests: Counter[tuple[str, str, str]] = Counter()
    times: list[float] = []
    duration = 0.0
    for item in read(match) if _size(match.path) <= WHOLE else ():
        if isinstance(item, Run):
            suite = item.suite
            times += [moment_of(time).timestamp() for time in (item.started_at, item.finished_at) if time]
        elif isinstance(item, Attempt) and item.counted:
            tests[_name(item.case.removeprefix(f"{suite}/")), item.execution, item.outcome] += 1
            duration += item.duration or 0.0
    return TestOutcomes(tests, min(times, default=None), max(times) + duration if times else None)


def _name(test: str) -> str:
    """The name of a test in all forms: `test_a.py::test_b[1]`, `test_a.test_b[1]` and `test_a#test_b[x=1]`."""
    return _BETWEEN.sub(".", _PARAMETERS.sub("", _NUMBERED.sub("", test)))


def _size(path: Path) -> int:
    below = path.iterdir() if path.is_dir() else (path,)
    return sum(file.stat().st_size for file in below if file.is_file())


def join_folders(matches: Sequence[RecognisedPath], named: Iterable[Path]) -> list[RecognisedPath]:
    """Files that are named one by one and are all that a folder holds are read as the folder, which is one run.

    A folder takes the place of the first of its files. `named` are all paths, also those that no source reads alone.
    """
    beside: dict[Path, set[Path]] = {}
    for path in named:
        beside.setdefault(path.absolute().parent, set()).add(path.absolute())
    wholes: dict[tuple[Path, str], RecognisedPath | None] = {}
    for match in matches:
        place = match.path.absolute().parent, match.source.NAME
        if place not in wholes:
            wholes[place] = _whole_folder(match, beside.get(place[0], set()))
    return list(dict.fromkeys(wholes[match.path.absolute().parent, match.source.NAME] or match for match in matches))


def _whole_folder(file: RecognisedPath, named: set[Path]) -> RecognisedPath | None:
    folder = file.path.parent
    match = file.source.recognise(folder) if len(named) >= FEW else None
    return RecognisedPath(folder, file.source, match) if match and not _leaves_out(folder, file.source, named) else None


def _leaves_out(folder: Path, source: Source, named: set[Path]) -> bool:
    """Whether the folder holds more that the source would read."""
    others = (child for child in children(folder) if child.absolute() not in named)
    return any(source.recognise(child) is not None for child in others)
