"""convex-evals: saved answers of its deployment about one run, or the output folder that a local run leaves."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from errata.model import Item, Run, Unreadable
from errata.sources.base import Numbering, Row, convert_each, of_run
from errata.sources.convex_evals import local_output
from errata.sources.convex_evals.answers import Answer, read_answer
from errata.sources.convex_evals.collected import Collected, Said, collect
from errata.sources.convex_evals.evals import attempt_of, case_of, eval_of, missing
from errata.sources.convex_evals.recognition import answer_files, explain, recognise
from errata.sources.convex_evals.runs import run_of
from errata.sources.convex_evals.storage import Files, Storage
from errata.sources.convex_evals.vocabulary import NAME

__all__ = ["NAME", "TITLE", "explain", "read", "recognise"]

TITLE = (
    "convex-evals: saved answers about a run (getRunDetails, getFailedEvalsForRun, getEvalDebugInfo), or local output"
)


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    root = path if path.is_dir() else path.parent
    answers = [read_answer(file, root) for file in answer_files(path)]
    runs, lost = collect(answer for answer in answers if isinstance(answer, Answer))
    if not runs and (places := local_output.find(path)):
        yield from local_output.read(path, places)
        return
    storage = Storage(root)
    for collected in runs:
        run = run_of(collected, root, part=collected.part if path.is_file() else "")
        yield run
        yield from of_run(run.id, _read_run(run, collected, storage))
    yield from lost
    yield from (answer for answer in answers if isinstance(answer, Unreadable))


def _read_run(run: Run, collected: Collected, storage: Storage) -> Iterator[Item]:
    numbering = Numbering()
    evals = collected.evals()
    for sayings in evals.values():
        # outside of the conversion: a hostile archive is refused as a whole
        files = storage.files_of(sayings)
        yield from files.damaged
        row = Row([said.document for said in sayings], sayings[0].ref)
        yield from convert_each([row], partial(_eval, run, sayings, files, numbering), source=NAME)
    present = {said.document.get("evalPath") for sayings in evals.values() for said in sayings}
    for path, ref in collected.planned.items():
        if path not in present:
            yield from missing(run, path, ref)


def _eval(run: Run, sayings: list[Said], files: Files, numbering: Numbering, _: Row) -> Iterator[Item]:
    one = eval_of(sayings, files)
    index = numbering.next(one.path)
    if index == 1:
        yield case_of(run, one)
    yield attempt_of(run, one, index)
