"""The places beside the attempt's own fields: files, turns of the same conversation, and other attempts."""

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from errata.model import Artefact, Attempt, Evidence, LeftOut, SourceRef
from errata.model.run import case_name
from errata.review.material import Clues, Material, noteworthy, words
from errata.review.packet_size import READABLE, WantedPlace
from errata.review.places import (
    CONTEXT,
    EARLIER,
    GRADER,
    KIN,
    LOGS,
    NAMED_FILES,
    OTHER_FILES,
    REFERENCE,
    REST,
    ROOT,
    SYSTEM_PROMPT,
    kind_of,
    log_name,
    where,
)
from errata.review.transcript import calls_made, results_got
from errata.text.lazy_regex import lazy_regex
from errata.transcript.tool_use import as_json

MANY = 60
"""Files of one kind that are looked at; the others are counted."""
NEAR = 3
"""Lines of a log around an error."""
_REFERENCES = ("answer", "expected", "reference", "solution")
_ORDER = ("output", "log", "grader", "expected", "context")
LATER = 1
"""Followers that are shown; the others only repeat that nothing was done."""
PARTS = 8
PART_FILES = 3
TURNS = "turns of the conversation"
PARTS_OF = "parts and other attempts at the case"


class CaseFiles(NamedTuple):
    wanted: list[WantedPlace]
    left_out: list[LeftOut]


def file_places(material: Material, clues: Clues) -> CaseFiles:
    """In the order one reads them: output, logs, graders, references, context."""
    attempt, case = material.attempt, material.case
    own = sorted(attempt.artefacts, key=lambda one: not _is_named(one, clues))
    of_case = [one for one in case.artefacts if one.role != "task" or one.text != case.input] if case else []
    every = [*own[:MANY], *of_case[:MANY]]
    fallbacks = (attempt.ref, case.ref if case else None)
    wanted = [_file(one, clues, fallbacks) for one in every if one.text]
    wanted += _noted(material)
    wanted += [_context(one, clues) for one in material.run.context if one.text and _concerns(one, material)]
    more = len(own) + len(of_case) - len(every)
    left_out = [*_not_shown(every), *([LeftOut(what=f"{more} more files", why="too many files")] if more else [])]
    return CaseFiles(sorted(wanted, key=lambda one: _ORDER.index(kind_of(one.place))), left_out)


def _is_named(artefact: Artefact, clues: Clues) -> bool:
    return bool(artefact.path) and PurePosixPath(artefact.path).name in clues.trouble


def _file(artefact: Artefact, clues: Clues, fallbacks: tuple[SourceRef | None, ...]) -> WantedPlace:
    place, rank = _place_and_rank(artefact, clues)
    is_log = artefact.role == "log"
    return WantedPlace(
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


def _context(artefact: Artefact, clues: Clues) -> WantedPlace:
    """What every case of the run has in common; of a knowledge base the lines that this one is about."""
    file = PurePosixPath(artefact.path)
    is_prompt = file.stem.startswith("system")
    name = log_name(file.name) if artefact.role in ("log", "transcript") else f"context/{file.name}"
    by_rank = SYSTEM_PROMPT if is_prompt else CONTEXT if artefact.role == "context" else REST
    return WantedPlace(
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


def _noted(material: Material) -> Iterator[WantedPlace]:
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
        yield WantedPlace(
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


def neighbour_places(material: Material, clues: Clues) -> list[WantedPlace]:
    return [*_earlier(material, clues), *_later(material), *_kin(material), *_subjects(material)]


def _earlier(material: Material, clues: Clues) -> Iterator[WantedPlace]:
    """Those that speak of the same things, that did something, and the last ones come first."""
    before = material.before
    texts = [as_json(_turn(turn)) for turn in before]
    by_worth = sorted(range(len(before)), key=lambda at: (-_worth(before[at], texts[at], clues), -at))
    places = {at: rank for rank, at in enumerate(by_worth)}
    for at, turn in enumerate(before):
        is_root = turn.id == material.attempt.follows
        text = as_json(_turn(turn) | _judged(turn)) if is_root else texts[at]
        rank = ROOT if is_root else EARLIER + min(places[at], 999)
        name = f"earlier/{case_name(material.run, turn.case)}"
        yield WantedPlace(place=name, source=where(turn.ref), text=text, rank=rank, most=1 / 16, group=TURNS)


def _worth(turn: Attempt, text: str, clues: Clues) -> int:
    acted = any(step.tool_calls for step in turn.steps)
    return len(words(text) & clues.words) + 2 * acted


def _later(material: Material) -> Iterator[WantedPlace]:
    for number, turn in enumerate(material.after[:LATER]):
        shown = {"assistant_text": turn.output.text} if turn.output.text else {}
        yield WantedPlace(
            place=f"later/{case_name(material.run, turn.case)}",
            source=where(turn.ref),
            text=as_json(shown | _judged(turn)),
            rank=ROOT + 1 + number,
            group=TURNS,
        )


def _turn(turn: Attempt) -> dict[str, Any]:
    """The messages and tool calls of a turn, in the form of a conversation log."""
    shown: dict[str, Any] = {
        "execution": "" if turn.execution == "completed" else turn.execution,
        "user_text": next((step.text for step in turn.steps if step.actor.role == "user"), ""),
        "assistant_text": turn.output.text,
        "tool_calls": calls_made(turn.steps),
        "tool_results": results_got(turn.steps),
    }
    return {name: value for name, value in shown.items() if value}


def _judged(turn: Attempt) -> dict[str, Any]:
    reasons = [judgement.reasoning for judgement in turn.judgements if judgement.reasoning]
    return {"judge_reasoning": reasons[0]} if reasons else {}


def _kin(material: Material) -> Iterator[WantedPlace]:
    attempt = material.attempt
    sessions = {one.id: one.session for one in material.kin if one.superseded_by == attempt.id}
    parts = [one for one in material.kin if one.parent == attempt.id or one.parent in sessions]
    # those of this very attempt first, and of these the ones that failed
    parts.sort(key=lambda one: (one.parent != attempt.id, one.outcome == "pass"))
    for number, relative in enumerate(parts[:PARTS]):
        above = "parts" if relative.parent == attempt.id else f"earlier/session-{sessions.get(relative.parent or '')}"
        name = f"{above}/{relative.path or relative.index}"
        yield _other(name, relative, KIN + number)
        yield from _files(name, relative, number)
    for relative in material.kin:
        if relative.id in sessions:
            yield _other(f"earlier/session-{relative.session}", relative, KIN)
        elif attempt.id in (relative.duplicate_of, relative.superseded_by) or relative.id == attempt.duplicate_of:
            yield _other(f"repeated/{relative.index}", relative, ROOT)


def _subjects(material: Material) -> Iterator[WantedPlace]:
    """The answer and the results of each, then the files that show most: logs of the tests, answers, patches."""
    for number, (subject, attempt) in enumerate(material.subjects, 2):
        name = f"subjects/{number}"
        place = _other(name, attempt, ROOT + number)
        yield WantedPlace(
            place=name,
            source=f"{subject} · {place.source}",
            text=place.text,
            rank=ROOT + number,
            least=READABLE,
            most=1 / 12,
            group="answers of other subjects",
        )
        files = sorted((one for one in attempt.artefacts if one.text), key=_worth_of_file)
        for artefact in files[:PART_FILES]:
            yield WantedPlace(
                place=f"{name}/{artefact.path}",
                source=where(artefact.ref, attempt.ref),
                text=artefact.text or "",
                rank=OTHER_FILES + number,
                tail=0.8,
                most=1 / 16,
                group="files of other subjects",
            )


_OF_TESTS = lazy_regex(r"test|verif|grad|eval", re.IGNORECASE)


def _worth_of_file(artefact: Artefact) -> int:
    if artefact.role in ("output", "patch"):
        return 1
    return 0 if artefact.role == "log" and _OF_TESTS.search(artefact.path) else 2


def _other(place: str, attempt: Attempt, rank: int) -> WantedPlace:
    shown: dict[str, Any] = {
        "execution": attempt.execution,
        "outcome": attempt.outcome,
        "errors": [f"{error.type}: {error.message}" for error in attempt.errors if not error.recovered],
        "checks": {check.name: check.explanation or check.status for check in attempt.checks if noteworthy(check)},
        "output": attempt.output.text,
        "judge_reasoning": list(dict.fromkeys(one.reasoning for one in attempt.judgements if one.reasoning)),
    }
    text = as_json({name: value for name, value in shown.items() if value})
    return WantedPlace(place=place, source=where(attempt.ref), text=text, rank=rank, most=1 / 12, group=PARTS_OF)


def _files(name: str, attempt: Attempt, number: int) -> Iterator[WantedPlace]:
    for artefact in [one for one in attempt.artefacts if one.text][:PART_FILES]:
        yield WantedPlace(
            place=f"{name}/{artefact.path}",
            source=where(artefact.ref, attempt.ref),
            text=artefact.text or "",
            rank=REST + number,
            tail=0.8,
            most=1 / 24,
            group=PARTS_OF,
        )
