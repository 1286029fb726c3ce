"""A run of aider's benchmark: a folder for each exercise. Several tries at one exercise are one attempt."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from errata.model import Case, Code, Item, Reported, Run, SourceInfo, Subject
from errata.sources.aider.attempts import attempt_of
from errata.sources.aider.layout import NAME, RESULTS, SUITE, exercises
from errata.sources.base import Row, convert_each, of_run, text_file
from errata.sources.shared.documents import TEXT_CAP, Documents
from errata.sources.shared.values import known, parts, sequence, text

_DOCS = ("introduction.md", "instructions.md", "instructions.append.md")
_DATED = re.compile(r"^\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d--")


def read(folder: Path) -> Iterator[Item]:
    documents = Documents(folder, NAME)
    found = [*exercises(folder)]
    first, tries = _look(found, documents)
    run = _run(folder, first, tries, documents)
    yield run

    def items(row: Row) -> Iterator[Item]:
        language, exercise = row.data
        name = f"{language}/{exercise.name}" if language else exercise.name
        asked = _instructions(exercise)
        yield Case(run=run.id, suite=run.suite, native_id=name, category=language, input=asked, ref=row.ref)
        yield attempt_of(run, name, exercise, documents)
        yield from of_run(run.id, documents.problems())

    rows = (Row(one, documents.ref(one[1] / RESULTS)) for one in found)
    yield from of_run(run.id, convert_each(rows, items, source=NAME))


def _look(found: list[tuple[str, Path]], documents: Documents) -> tuple[dict[str, Any], int]:
    """The first result that says what was run, and the most tries that any exercise had."""
    first: dict[str, Any] = {}
    tries = 0
    for _, exercise in found:
        told = documents.get(exercise / RESULTS)
        first = first or (told if "model" in told else {})
        tries = max(tries, len(sequence(told.get("tests_outcomes"))))
    # what can't be read is told when its own turn comes
    [*documents.problems()]
    return first, tries


def _run(folder: Path, first: dict[str, Any], tries: int, documents: Documents) -> Run:
    dated = [part for part in parts(first.get("testdir")) if _DATED.match(part)]
    name = dated[-1] if dated else folder.name
    commit = text(first.get("commit_hash"))
    effort = first.get("reasoning_effort")
    ref = documents.ref(folder)
    # as `summarize_results` prints it: passed at the last try, of all exercises that left a result
    headline = Reported(name=f"pass_rate_{tries or 1}", metric="pass_rate", headline=True, ref=ref)
    return Run(
        native_id=name,
        source=SourceInfo(name=NAME),
        name=name,
        subject=Subject(model=text(first.get("model")), agent="aider"),
        variant=known(edit_format=text(first.get("edit_format")), reasoning_effort=text(effort)),
        suite=SUITE,
        reported=(headline,),
        code=Code(commit=commit) if commit else None,
        origin=str(folder),
        ref=ref,
    )


def _instructions(exercise: Path) -> str | None:
    """As aider puts them together."""
    told = [text_file(exercise / ".docs" / name, cap=TEXT_CAP) for name in _DOCS]
    return "".join(one for one in told if one) or None
