"""The places that are files: what the subject wrote, logs, graders, references, and what it was told."""

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from errata.model import Artefact, Evidence, LeftOut, SourceRef
from errata.review.budget import READABLE, Wanted
from errata.review.clues import Clues
from errata.review.material import Material
from errata.review.places import (
    CONTEXT,
    GRADER,
    LOGS,
    NAMED_FILES,
    OTHER_FILES,
    REFERENCE,
    REST,
    SYSTEM_PROMPT,
    kind_of,
    log_name,
    where,
)

MANY = 60
"""Files of one kind that are looked at; the others are counted."""
NEAR = 3
"""Lines of a log around an error."""
_REFERENCES = ("answer", "expected", "reference", "solution")


class Files(NamedTuple):
    wanted: list[Wanted]
    left_out: list[LeftOut]


def file_places(material: Material, clues: Clues) -> Files:
    """In the order one reads them: output, logs, graders, references, context."""
    attempt, case = material.attempt, material.case
    own = _by_trouble(attempt.artefacts, clues)
    of_case = [one for one in case.artefacts if one.role != "task" or one.text != case.input] if case else []
    every = [*own[:MANY], *of_case[:MANY]]
    fallbacks = (attempt.ref, case.ref if case else None)
    wanted = [_file(one, clues, fallbacks) for one in every if one.text]
    wanted += _noted(material)
    wanted += [_context(one, clues) for one in material.run.context if one.text and _concerns(one, material)]
    more = len(own) + len(of_case) - len(every)
    left_out = [*_not_shown(every), *([LeftOut(what=f"{more} more files", why="too many to be read")] if more else [])]
    return Files(sorted(wanted, key=lambda one: _ORDER.index(kind_of(one.place))), left_out)


_ORDER = ("output", "log", "grader", "expected", "context")


def _by_trouble(artefacts: Iterable[Artefact], clues: Clues) -> list[Artefact]:
    """Those that errors and logs name come first."""
    return sorted(artefacts, key=lambda one: not _is_named(one, clues))


def _is_named(artefact: Artefact, clues: Clues) -> bool:
    return bool(artefact.path) and PurePosixPath(artefact.path).name in clues.trouble


def _file(artefact: Artefact, clues: Clues, fallbacks: tuple[SourceRef | None, ...]) -> Wanted:
    place, rank = _place_and_rank(artefact, clues)
    is_log = artefact.role == "log"
    return Wanted(
        place=place,
        source=where(artefact.ref, *fallbacks),
        text=artefact.text or "",
        rank=rank,
        least=READABLE if rank == NAMED_FILES else 0,
        needles=clues.needles,
        tail=0.8 if is_log else 0.4,
        most=1 / 4 if rank < REST else 1 / 24,
        group="logs" if is_log else f"{place.partition('/')[0]} files",
    )


def _place_and_rank(artefact: Artefact, clues: Clues) -> tuple[str, int]:
    path = artefact.path
    match artefact.role:
        case "output" | "patch":
            return f"output/{path}", NAMED_FILES if _is_named(artefact, clues) else OTHER_FILES
        case "log":
            return log_name(path), LOGS
        case "grader":
            return f"grader/{path}", GRADER
        case "expected":
            head, _, below = path.partition("/")
            return f"reference/{below if head in _REFERENCES and below else path}", REFERENCE
        case "transcript":
            return log_name(path), REST
        case _:
            return f"context/{path}", REST


def _context(artefact: Artefact, clues: Clues) -> Wanted:
    """What every case of the run has in common; of a knowledge base the lines that this one is about."""
    file = PurePosixPath(artefact.path)
    is_prompt = file.stem.startswith("system")
    name = log_name(file.name) if artefact.role in ("log", "transcript") else f"context/{file.name}"
    by_rank = SYSTEM_PROMPT if is_prompt else CONTEXT if artefact.role == "context" else REST
    return Wanted(
        place="system_prompt" if is_prompt else name,
        source=where(artefact.ref) or artefact.path,
        text=artefact.text or "",
        rank=by_rank,
        needles=clues.needles + _rare_words(artefact.text or "", clues),
        most=1 / 4 if by_rank < REST else 1 / 24,
        group="context files",
    )


def _rare_words(text: str, clues: Clues) -> tuple[str, ...]:
    lowered = text.lower() if len(text) < 1_000_000 else ""
    counted = sorted((lowered.count(word), word) for word in clues.words if word in lowered)
    starts = [lowered.find(word) for _, word in counted[:8]]
    return tuple(text[at : at + len(word)] for at, (_, word) in zip(starts, counted, strict=False))


def _concerns(artefact: Artefact, material: Material) -> bool:
    """A log of the whole run only where it speaks of this case."""
    if artefact.role not in ("log", "transcript"):
        return True
    return _mention(material).search(artefact.text or "") is not None


def _mention(material: Material) -> re.Pattern[str]:
    names = [re.escape(material.case_name)] if len(material.case_name) > 3 else []
    if material.attempt.position is not None:
        names.append(rf"turn[ =:#_-]*{material.attempt.position}")
    return re.compile(rf"(?<!\w)(?:{'|'.join(names) or '(?!)'})(?!\w)")


def _noted(material: Material) -> Iterator[Wanted]:
    """Lines of the run's logs that name this case or stand beside its errors; logs that are kept whole say more."""
    if not material.run.log_evidence:
        return
    kept = {one.path for one in material.attempt.artefacts}
    by_file: dict[str, list[Evidence]] = {}
    mention = _mention(material)
    errors = {(one.ref.file, one.ref.line) for one in material.attempt.errors if one.ref and one.ref.line is not None}
    for evidence in material.run.log_evidence:
        if evidence.ref is not None and evidence.ref.file not in kept and _belongs(evidence, mention, errors):
            by_file.setdefault(evidence.ref.file, []).append(evidence)
    for file, lines in by_file.items():
        numbers = [line.ref.line for line in lines if line.ref and line.ref.line is not None]
        span = f":{min(numbers)}-{max(numbers)}" if numbers else ""
        text = "\n".join(line.quote for line in lines[:MANY])
        yield Wanted(
            place=log_name(file), source=f"{file}{span}", text=text, rank=LOGS, tail=0.8, most=1 / 6, group="logs"
        )


def _belongs(evidence: Evidence, mention: re.Pattern[str], errors: set[tuple[str, int]]) -> bool:
    ref = evidence.ref
    if ref is not None and ref.line is not None:
        number = ref.line
        if any(file == ref.file and abs(line - number) <= NEAR for file, line in errors):
            return True
    return mention.search(evidence.quote) is not None


def _not_shown(artefacts: Iterable[Artefact]) -> Iterator[LeftOut]:
    absent = [one for one in artefacts if one.text is None]
    for why, files in (
        ("not text", [one for one in absent if one.binary]),
        ("the log does not hold its text", [one for one in absent if not one.binary]),
    ):
        if files:
            more = f" and {len(files) - 5} more" if len(files) > 5 else ""
            yield LeftOut(what=", ".join(one.path for one in files[:5]) + more, why=why)
    cut = [one.path for one in artefacts if one.text and one.truncated]
    if cut:
        yield LeftOut(what=f"the rest of {', '.join(cut[:5])}", why="the log itself was cut there")
