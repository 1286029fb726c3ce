"""Several files of one evaluation: read the fullest and skip the others, or read all of them as their folder.

A source may define `fuller` (the path of a fuller form) and `read_with` (the path that is read together with this one).
pytest and promptfoo write several reports at once: equal tests, outcomes and times are one evaluation.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from errata.model import Attempt, Item, Run
from errata.model.times import moment_of
from errata.sources.base import RecognisedPath, Source, children
from errata.text.lazy_regex import lazy_regex

Read = Callable[[RecognisedPath], Iterable[Item]]

FORMS = ("promptfoo", "pytest-json", "allure", "junit")
"""Fullest first."""
WHOLE = 64 * 1024 * 1024
"""Larger files are not read a second time for the comparison."""
SLACK = 1.0
"""Seconds: some formats omit fractions."""
FEW = 2
"""The fewest files that can be read as a folder."""

_NUMBERED = lazy_regex(r"^test \d+: ")
_BETWEEN = lazy_regex(r"(?:\.py)?::|[/\\#.]+")


class PassedOver(NamedTuple):
    path: Path
    instead: Path
    """The fuller file of the same evaluation."""


def drop_overlaps(matches: Sequence[RecognisedPath], read: Read) -> tuple[list[RecognisedPath], list[PassedOver]]:
    """Split paths into those to read and those to skip. A single path is always read."""
    if len(matches) == 1:
        return list(matches), []
    asked = {match.source.NAME: match.source for match in matches}.values()
    speaks = any(hasattr(source, function) for source in asked for function in ("read_with", "fuller"))
    here = {match.path.absolute(): match.path for match in matches} if speaks else {}
    left = [match for match in matches if not _named_by_source(match, "read_with", here)]
    poorer = {match.path: other for match in left if (other := _named_by_source(match, "fuller", here))}
    left = [match for match in left if match.path not in poorer]
    for group in _reports_by_folder(left):
        poorer |= _repetitions(group, read)
    over = [PassedOver(path, _last(path, poorer)) for path in poorer]
    return [match for match in left if match.path not in poorer], over


def _named_by_source(match: RecognisedPath, function: str, here: Mapping[Path, Path]) -> Path | None:
    """The path that the source's `fuller` or `read_with` returns, if it is one of `here`."""
    ask = getattr(match.source, function, None)
    other = ask(match.path) if ask else None
    return here.get(other.absolute()) if other else None


def _last(path: Path, poorer: dict[Path, Path]) -> Path:
    while path in poorer:
        path = poorer[path]
    return path


def _reports_by_folder(matches: Iterable[RecognisedPath]) -> Iterator[list[RecognisedPath]]:
    """Reports in folders with several report formats, the fullest format first."""
    reports = [match for match in matches if match.source.NAME in FORMS]
    folders: dict[Path, list[RecognisedPath]] = {}
    for match in reports if len({match.source.NAME for match in reports}) > 1 else ():
        folders.setdefault(match.path.absolute().parent, []).append(match)
    for group in folders.values():
        if len({match.source.NAME for match in group}) > 1:
            yield sorted(group, key=lambda match: FORMS.index(match.source.NAME))


def _repetitions(group: list[RecognisedPath], read: Read) -> dict[Path, Path]:
    """Report → the fuller report that it repeats."""
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
    """The facts in every report format: tests with their outcomes, and when they ran."""

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
    """One name for `test_a.py::test_b[1]`, `test_a.test_b[1]` and `test_a#test_b[x=1]`."""
    bare = _NUMBERED.sub("", test)
    return _BETWEEN.sub(".", bare.partition("[")[0] if bare.endswith("]") else bare)


def _size(path: Path) -> int:
    below = path.iterdir() if path.is_dir() else (path,)
    return sum(file.stat().st_size for file in below if file.is_file())


def join_folders(matches: Sequence[RecognisedPath], named: Iterable[Path]) -> list[RecognisedPath]:
    """If the given files are all the readable files of a folder, read the folder instead: it is one run.

    The folder takes the place of its first file. `named` are all given paths, including those that no source reads
    alone.
    """
    beside: dict[Path, set[Path]] = {}
    for path in named:
        beside.setdefault(path.absolute().parent, set()).add(path.absolute())
    if all(len(paths) < FEW for paths in beside.values()):
        return list(dict.fromkeys(matches))
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
    """Whether the folder contains other files that the source reads."""
    others = (child for child in children(folder) if child.absolute() not in named)
    return any(source.recognise(child) is not None for child in others)
