"""What a local run leaves: `output/<model>/<category>/<eval>/`, with the model's files and a `run.log` in each."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from errata.model import Artefact, Attempt, Case, Item, Output, Run, SourceInfo, SourceRef, Subject, Unreadable
from errata.model.identity import fingerprint
from errata.sources.base import describe, of_run, relative, unreadable
from errata.sources.convex_evals.artefacts import from_bytes, output_role, raw_response
from errata.sources.convex_evals.run_log import read_log
from errata.sources.convex_evals.runs import HEADLINE
from errata.sources.convex_evals.steps import facts, with_steps_never_started
from errata.sources.convex_evals.vocabulary import NAME, RUN_LOG, SUITE, not_counted
from errata.sources.shared.documents import folders

SHAPE = "output/<model>/<category>/<eval>/run.log"
FILE_CAP = 16 * 1024 * 1024
_NUMBERED = re.compile(r"\d{3}-")
_LOOKS = 60
_SLUG_PARTS = 3
"""A model's slug may hold slashes: `acme/nimbus-2-coder`."""
_LEFT_OUT = ("node_modules", "_generated")
"""The harness itself leaves these out of what it uploads."""


class Place(NamedTuple):
    """One model's output: where it lies, whose it is, and the name of the results folder."""

    folder: Path
    model: str
    results: str


def find(path: Path) -> list[Place] | None:
    """The models whose output lies at a path; none where there is no such thing."""
    path = path.absolute()
    named = path / "output"
    for root in (named, path):
        looks = [_LOOKS if root is path else 10 * _LOOKS]
        found = list(_model_folders(root, looks, 0)) if root.is_dir() else []
        if found:
            return [_place(folder, root) for folder in found]
    return None


def is_eval_folder(path: Path) -> bool:
    return bool(_NUMBERED.match(path.name) and (path / RUN_LOG).is_file())


def read(path: Path, places: list[Place]) -> Iterator[Item]:
    for place in places:
        evals = [folder for category in _numbered(place.folder) for folder in _numbered(category)]
        run = Run(
            native_id=place.results or fingerprint([folder.name for folder in evals]),
            group=place.results if len(places) > 1 else "",
            source=SourceInfo(name=NAME),
            subject=Subject(model=place.model),
            suite=SUITE,
            reported=(HEADLINE,),
            origin=str(path),
            extra={"answers": ["local output"]},
            ref=SourceRef(file=relative(place.folder, path)),
        )
        yield run
        for folder in evals:
            yield from of_run(run.id, _eval(run, folder, path))


def _model_folders(folder: Path, looks: list[int], depth: int) -> Iterator[Path]:
    """Folders whose numbered folders hold numbered folders with a log."""
    looks[0] -= 1
    if looks[0] < 0 or depth > _SLUG_PARTS:
        return
    categories = _numbered(folder)
    if any(is_eval_folder(child) for category in categories[:3] for child in _numbered(category)):
        yield folder
    elif not categories:
        for child in folders(folder):
            yield from _model_folders(child, looks, depth + 1)


def _place(folder: Path, root: Path) -> Place:
    """The slug is the path below `output`; the results folder is the one that holds `output`."""
    above = next((parent for parent in (root, *root.parents) if parent.name == "output"), None)
    if above is not None and folder != above:
        return Place(folder, folder.relative_to(above).as_posix(), above.parent.name)
    return Place(folder, folder.name if folder == root else folder.relative_to(root).as_posix(), root.name)


def _numbered(folder: Path) -> list[Path]:
    return [child for child in folders(folder) if _NUMBERED.match(child.name)]


def _eval(run: Run, folder: Path, root: Path) -> Iterator[Item]:
    path = f"{folder.parent.name}/{folder.name}"
    files = list(_files(folder, root))
    artefacts = [file for file in files if isinstance(file, Artefact)]
    ref = SourceRef(file=relative(folder / RUN_LOG, root))
    case = Case(run=run.id, suite=SUITE, native_id=path, name=folder.name, category=folder.parent.name, ref=ref)
    yield case
    yield _attempt(case, artefacts, ref)
    yield from (file for file in files if isinstance(file, Unreadable))


def _attempt(case: Case, artefacts: list[Artefact], ref: SourceRef) -> Attempt:
    text = next((artefact.text for artefact in artefacts if artefact.role == "log"), None)
    log = read_log(text or "", ref)
    judged = facts(log.kind, log.reason, log.checks)
    done = log.kind in ("passed", "failed")
    return Attempt(
        run=case.run,
        case=case.key,
        execution=judged.execution,
        measurement=judged.measurement,
        outcome=judged.outcome,
        native_status=log.kind,
        native_reason=log.reason,
        reported=float(log.kind == "passed") if done else None,
        reported_counted=not not_counted(log.reason) if done else None,
        output=Output(text=raw_response(artefacts)),
        errors=log.errors,
        checks=tuple(with_steps_never_started(log.checks, static=False)),
        artefacts=tuple(artefacts),
        ref=ref,
    )


def _files(folder: Path, root: Path) -> Iterator[Artefact | Unreadable]:
    for path in _walk(folder):
        ref = SourceRef(file=relative(path, root))
        try:
            if path.stat().st_size > FILE_CAP:
                yield unreadable(NAME, ref, f"larger than {FILE_CAP // 2**20} MB")
                continue
            yield from_bytes(relative(path, folder), path.read_bytes(), output_role, ref)
        except OSError as error:
            yield unreadable(NAME, ref, describe(error))


def _walk(folder: Path) -> Iterator[Path]:
    """Files in order; never through a link, which may lead out of the folder."""
    try:
        children = sorted(folder.iterdir())
    except OSError:
        return
    for child in children:
        if child.is_symlink() or child.name in _LEFT_OUT or child.name.startswith((".env", "bun.lock")):
            continue
        if child.is_file():
            yield child
        elif child.is_dir() and not child.name.startswith("."):
            yield from _walk(child)
