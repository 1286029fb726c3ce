"""The commands that are killed: each starts in a prepared folder and changes something there."""

import gzip
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from errata.runs import importing
from errata.store import whole_runs
from errata.store.copying import PUT_ASIDE
from soak.visible import BESIDE, STORE, visible_in_store

FIXTURES = Path(__file__).parent.parent / "tests" / "fixtures"
RUN_A, RUN_B = (FIXTURES / "sources" / "convex_evals" / f"run_{name}" / "data" for name in "ab")
LONG = FIXTURES / "sources" / "tau_bench" / "tau_cut" / "data"
READER = FIXTURES / "review" / "reader.py"
OLD = FIXTURES / "old"
SMALL_FILES = 6

Errata = Callable[..., None]
"""Runs a command in the working folder; it has to succeed."""


class Stage(NamedTuple):
    name: str
    prepare: Callable[[Path, Errata], None]
    """Makes the folder where the command starts."""
    command: tuple[str, ...]
    tune: Callable[[], None] = lambda: None
    """Called in the process of the command before it starts."""
    once: bool = False
    """All of it or nothing is there, and the command refuses to do again what is done."""
    check: Callable[[Path, Path], None] = lambda _folder, _before: None
    """More that must hold in the folder after every kill; the second is the folder as it was before the command."""


def _empty(folder: Path, _errata: Errata) -> None:
    shutil.copytree(RUN_B, folder / "logs")


def _small_files(folder: Path, errata: Errata) -> None:
    """Some of the files are new, some have grown, some are as they were."""
    for number in range(SMALL_FILES):
        _write_report(folder, number, tests=1)
    errata("import", "logs")
    for number in range(SMALL_FILES // 2, 2 * SMALL_FILES):
        _write_report(folder, number, tests=2)


def _write_report(folder: Path, number: int, *, tests: int) -> None:
    """The time is what names the run of a report."""
    path = folder / "logs" / f"TEST-{number}.xml"
    path.parent.mkdir(exist_ok=True)
    suite = f'name="suite" timestamp="2026-03-01T10:00:{number:02}"'
    cases = "".join(f'<testcase classname="t" name="n{at}"><failure message="no"/></testcase>' for at in range(tests))
    path.write_text(f"<testsuites><testsuite {suite}>{cases}</testsuite></testsuites>", encoding="utf-8")


def _with_another_run(folder: Path, errata: Errata) -> None:
    _empty(folder, errata)
    errata("import", RUN_A)


def _with_an_earlier_revision(folder: Path, errata: Errata) -> None:
    """The same run as it was while it was still running: one failure fewer."""
    _empty(folder, errata)
    answers = folder / "logs" / "run-b" / "getRunDetails.envelope.json"
    whole = answers.read_bytes()
    document = json.loads(whole)
    document["value"]["evals"] = document["value"]["evals"][:-1]
    answers.write_text(json.dumps(document), encoding="utf-8")
    errata("import", "logs")
    answers.write_bytes(whole)


def _not_triaged(folder: Path, errata: Errata) -> None:
    _empty(folder, errata)
    errata("import", "logs", RUN_A, "--no-triage")


def _triaged(folder: Path, errata: Errata) -> None:
    _empty(folder, errata)
    errata("import", "logs", RUN_A)


def _grouped(folder: Path, errata: Errata) -> None:
    _triaged(folder, errata)
    errata("buckets", "list")


def _reported(folder: Path, errata: Errata) -> None:
    """A report that the command replaces: it was written before the failures were reviewed."""
    _grouped(folder, errata)
    errata("report", "latest", "--date", "2026-03-09", "--html")
    errata("review", "run", "latest", "--command", _reader(), "--yes", "--limit", "3")


def _transcripts(folder: Path, errata: Errata) -> None:
    """Long enough to be thinned."""
    shutil.copytree(LONG, folder / "logs")
    errata("import", "logs")


def _thinned(folder: Path, errata: Errata) -> None:
    _transcripts(folder, errata)
    errata("store", "thin", "latest")


def _backed_up(folder: Path, errata: Errata) -> None:
    """The backup has one run fewer than the store that it replaces."""
    _empty(folder, errata)
    errata("import", RUN_A)
    errata("store", "backup", "saved.db")
    errata("import", "logs")


def _store_elsewhere(folder: Path, errata: Errata) -> None:
    _empty(folder, errata)
    errata("import", "logs", RUN_A, "--store", "given.db")


def _replaced_store_is_kept(folder: Path, before: Path) -> None:
    """In its place or aside, whole."""
    stores = [folder / STORE, *(folder / STORE.parent).glob(f"{STORE.name}{PUT_ASIDE}*")]
    kept = [visible_in_store(path) for path in stores if not path.name.endswith(BESIDE)]
    assert visible_in_store(before / STORE) in kept, "the store that was replaced is not there any more"


def _old_store(folder: Path, _errata: Errata) -> None:
    (folder / STORE).parent.mkdir()
    (packed,) = sorted(OLD.glob("*/store.db.gz"))[:1]
    (folder / STORE).write_bytes(gzip.decompress(packed.read_bytes()))


def _reader() -> str:
    return f"{sys.executable} -I -S {READER}"


def _second_process_reads() -> None:
    """As for large logs."""
    importing.PARALLEL_FROM = 0
    importing.BATCHES_IN_MEMORY = 1


def _written_batch_by_batch() -> None:
    importing.BATCHES_IN_MEMORY = 1


def _written_in_small_groups() -> None:
    whole_runs.GROUP_RUNS = 3


STAGES = (
    Stage("import", _empty, ("import", "logs")),
    Stage("import", _with_another_run, ("import", "logs"), _written_batch_by_batch),
    Stage("import", _with_an_earlier_revision, ("import", "logs"), _written_batch_by_batch),
    Stage("import", _with_another_run, ("import", "logs"), _second_process_reads),
    Stage("import", _with_an_earlier_revision, ("import", "logs")),
    Stage("import", _small_files, ("import", "logs"), _written_in_small_groups),
    Stage("triage", _not_triaged, ("triage",)),
    Stage("review", _grouped, ("review", "run", "latest", "--command", _reader(), "--yes")),
    Stage("buckets", _triaged, ("buckets", "list")),
    Stage("report", _grouped, ("report", "latest", "--date", "2026-03-09", "--html")),
    Stage("report", _reported, ("report", "latest", "--date", "2026-03-09", "--html")),
    Stage("thin", _transcripts, ("store", "thin", "latest")),
    Stage("thin", _thinned, ("store", "thin", "--undo", "latest")),
    Stage("backup", _triaged, ("store", "backup", "saved.db"), once=True),
    Stage("copy", _triaged, ("store", "copy", str(STORE), "copies/errata.db"), once=True),
    Stage("restore", _backed_up, ("store", "restore", "saved.db", "--force"), check=_replaced_store_is_kept),
    Stage("migration", _old_store, ("runs",)),
)
DATABASE = "DATABASE"
"""In a command: the address of the store."""
ON_POSTGRES = (
    *(stage for stage in STAGES if stage.name not in ("copy", "restore", "migration")),
    Stage("copy", _store_elsewhere, ("store", "copy", "given.db", DATABASE), once=True),
)
