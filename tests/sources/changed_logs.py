"""Logs of a fixture that a test bends to its needs, and what a source reads of them."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from errata import sources
from errata.model import Attempt, Case, Item, Run, Unreadable

FIXTURES = Path(__file__).parents[1] / "fixtures" / "sources"


def copy_of(name: str, to: Path) -> Path:
    """The data of a fixture, where they may be changed."""
    return Path(shutil.copytree(FIXTURES / name / "data", to / "log"))


def change(path: Path, how: Callable[[Any], Any]) -> None:
    """A document; what `how` returns, if anything, takes its place."""
    data = json.loads(path.read_text())
    path.write_text(json.dumps(how(data) or data))


def change_rows(path: Path, how: Callable[[Any], Any]) -> None:
    """Each row of a file of lines."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(how(row) or row) + "\n" for row in rows))


def write_rows(path: Path, *rows: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def items(path: Path) -> list[Item]:
    return [item for found in sources.find(path) for item in sources.read(found)]


def runs(path: Path) -> list[Run]:
    return [item for item in items(path) if isinstance(item, Run)]


def cases(path: Path) -> dict[str, Case]:
    return {item.native_id: item for item in items(path) if isinstance(item, Case)}


def attempts(path: Path) -> list[Attempt]:
    return [item for item in items(path) if isinstance(item, Attempt)]


def by_case(path: Path) -> dict[str, Attempt]:
    """The name of a case without its suite → its last attempt."""
    suites = {run.id: run.suite for run in runs(path)}
    return {one.case.removeprefix(f"{suites[one.run]}/"): one for one in attempts(path)}


def unreadables(path: Path) -> list[Unreadable]:
    return [item for item in items(path) if isinstance(item, Unreadable)]


def facts(attempt: Attempt) -> tuple[str, str, str]:
    return attempt.execution, attempt.measurement, attempt.outcome
