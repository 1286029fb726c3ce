"""Several files that tell of one evaluation: the fullest is read, the others are passed over, and that is said.

A source knows its own poorer forms (`fuller`), and which of its files it reads together (`read_with`). Reports of tests
are written in several forms at once, by pytest as by promptfoo: there the same tests with the same outcomes at the same
time are one evaluation.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from errata.model import Attempt, Item, Run
from errata.model.times import moment_of
from errata.sources.base import Found

Read = Callable[[Found], Iterable[Item]]

FORMS = ("promptfoo", "pytest-json", "allure", "junit")
"""The fullest first."""
WHOLE = 64 * 1024 * 1024
"""What is larger is not read a second time only to compare it."""
SLACK = 1.0
"""Seconds, as some forms leave out the fractions."""

_NUMBERED = re.compile(r"^test \d+: ")
_PARAMETERS = re.compile(r"\[.*\]$", re.DOTALL)
_BETWEEN = re.compile(r"(?:\.py)?::|[/\\#.]+")


class PassedOver(NamedTuple):
    path: Path
    instead: Path
    """Where the same evaluation is told, and more of it."""


def sifted(found: Sequence[Found], read: Read) -> tuple[list[Found], list[PassedOver]]:
    """What is to be read of all that was found. What lies there alone is read, whatever form it has."""
    if len(found) == 1:
        return list(found), []
    here = {one.path.absolute(): one.path for one in found}
    left = [one for one in found if not _told_by(one, "read_with", here)]
    poorer = {one.path: other for one in left if (other := _told_by(one, "fuller", here))}
    left = [one for one in left if one.path not in poorer]
    for group in _beside_each_other(left):
        poorer |= _retold(group, read)
    over = [PassedOver(path, _last(path, poorer)) for path in poorer]
    return [one for one in left if one.path not in poorer], over


def _told_by(one: Found, how: str, here: Mapping[Path, Path]) -> Path | None:
    """What its own source names, where that is among what was found."""
    asked = getattr(one.source, how, None)
    other = asked(one.path) if asked else None
    return here.get(other.absolute()) if other else None


def _last(path: Path, poorer: dict[Path, Path]) -> Path:
    while path in poorer:
        path = poorer[path]
    return path


def _beside_each_other(found: Iterable[Found]) -> Iterator[list[Found]]:
    """In one folder, where several kinds of reports are; the fullest kind first."""
    folders: dict[Path, list[Found]] = {}
    for one in found:
        if one.source.NAME in FORMS:
            folders.setdefault(one.path.absolute().parent, []).append(one)
    for group in folders.values():
        if len({one.source.NAME for one in group}) > 1:
            yield sorted(group, key=lambda one: FORMS.index(one.source.NAME))


def _retold(group: list[Found], read: Read) -> dict[Path, Path]:
    poorer: dict[Path, Path] = {}
    told: list[tuple[Found, Evaluation]] = []
    for one in group:
        evaluation = _evaluation(one, read)
        others = (other for other, known in told if other.source != one.source and evaluation.is_told_by(known))
        if (fuller := next(others, None)) is not None:
            poorer[one.path] = fuller.path
        else:
            told.append((one, evaluation))
    return poorer


class Evaluation(NamedTuple):
    """What every form tells of it: which test came out how, and when that was."""

    tests: Counter[tuple[str, str, str]]
    begun: float | None
    ended: float | None

    def is_told_by(self, other: "Evaluation") -> bool:
        if not self.tests or self.tests != other.tests:
            return False
        if self.begun is None or other.begun is None or self.ended is None or other.ended is None:
            return False
        return self.begun <= other.ended + SLACK and other.begun <= self.ended + SLACK


def _evaluation(found: Found, read: Read) -> Evaluation:
    tests: Counter[tuple[str, str, str]] = Counter()
    times: list[float] = []
    lasted = 0.0
    for item in read(found) if _size(found.path) <= WHOLE else ():
        if isinstance(item, Run):
            suite = item.suite
            times += [moment_of(one).timestamp() for one in (item.started_at, item.finished_at) if one]
        elif isinstance(item, Attempt) and item.counted:
            tests[_name(item.case.removeprefix(f"{suite}/")), item.execution, item.outcome] += 1
            lasted += item.duration or 0.0
    return Evaluation(tests, min(times, default=None), max(times) + lasted if times else None)


def _name(test: str) -> str:
    """Of a test, as every form can tell it: `test_a.py::test_b[1]`, `test_a.test_b[1]` and `test_a#test_b[x=1]`."""
    return _BETWEEN.sub(".", _PARAMETERS.sub("", _NUMBERED.sub("", test)))


def _size(path: Path) -> int:
    below = path.iterdir() if path.is_dir() else (path,)
    return sum(one.stat().st_size for one in below if one.is_file())
