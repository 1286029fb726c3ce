"""Where the fixtures of ProjectScylla are, and the items that they give."""

import shutil
from functools import cache
from pathlib import Path

from errata.model import Attempt, Item, Run
from errata.sources import RecognisedPath, read, scylla

FIXTURES = Path(__file__).parents[1] / "fixtures" / "sources" / "scylla"
GEN1 = FIXTURES / "large" / "batch-gen1" / "data" / "batch-gen1"
GEN2 = FIXTURES / "batch-gen2" / "data" / "batch-gen2"
CASCADE = FIXTURES / "batch-cascade" / "data" / "batch-cascade"
TREE = FIXTURES / "large" / "dryrun-tree" / "data" / "raw"
TABLES = FIXTURES / "dryrun-tables" / "data" / "tables"
HAIKU = FIXTURES / "haiku-tables" / "data" / "tables"
ALL = (GEN1, GEN2, CASCADE, TREE, TABLES, HAIKU)


def items(path: Path) -> list[Item]:
    match = scylla.recognise(path)
    assert match is not None
    return list(read(RecognisedPath(path, scylla, match)))


@cache
def items_of(path: Path) -> tuple[Item, ...]:
    return tuple(items(path))


def run_of(found) -> Run:
    return next(item for item in found if isinstance(item, Run))


def attempts(found) -> list[Attempt]:
    return [item for item in found if isinstance(item, Attempt)]


def by_test(found, session: int) -> dict[str, Attempt]:
    """Test → its attempt in a session, children left out."""
    mine = (one for one in attempts(found) if one.session == session and one.parent is None)
    return {one.case.removeprefix("projectscylla/"): one for one in mine}


def facts(attempt: Attempt) -> tuple[str, str, str]:
    return (attempt.execution, attempt.measurement, attempt.outcome)


def copied(path: Path, to: Path) -> Path:
    target = to / path.name
    shutil.copytree(path, target)
    return target
