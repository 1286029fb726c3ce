"""The places that are other attempts: turns of the same conversation, parts, earlier sessions, repeated rows."""

from collections.abc import Iterator
from typing import Any

from errata.model import Attempt
from errata.review.budget import Wanted
from errata.review.calls import as_json, calls_made, results_got
from errata.review.clues import Clues, noteworthy, words
from errata.review.material import Material, name_of
from errata.review.places import EARLIER, KIN, REST, ROOT, where

LATER = 1
"""Followers that are shown; the others only repeat that nothing was done."""
PARTS = 8
PART_FILES = 3
TURNS = "turns of the conversation"
PARTS_OF = "parts and other attempts at the case"


def neighbour_places(material: Material, clues: Clues) -> list[Wanted]:
    return [*_earlier(material, clues), *_later(material), *_kin(material)]


def _earlier(material: Material, clues: Clues) -> Iterator[Wanted]:
    """Those that speak of the same things, that did something, and the last ones come first."""
    before = material.before
    texts = [as_json(_turn(turn)) for turn in before]
    by_worth = sorted(range(len(before)), key=lambda at: (-_worth(before[at], texts[at], clues), -at))
    places = {at: rank for rank, at in enumerate(by_worth)}
    for at, turn in enumerate(before):
        is_root = turn.id == material.attempt.follows
        text = as_json(_turn(turn) | _judged(turn)) if is_root else texts[at]
        rank = ROOT if is_root else EARLIER + min(places[at], 999)
        name = f"earlier/{name_of(material.run, turn.case)}"
        yield Wanted(place=name, source=where(turn.ref), text=text, rank=rank, most=1 / 16, group=TURNS)


def _worth(turn: Attempt, text: str, clues: Clues) -> int:
    acted = any(step.tool_calls for step in turn.steps)
    return len(words(text) & clues.words) + 2 * acted


def _later(material: Material) -> Iterator[Wanted]:
    for number, turn in enumerate(material.after[:LATER]):
        told = {"assistant_text": turn.output.text} if turn.output.text else {}
        yield Wanted(
            place=f"later/{name_of(material.run, turn.case)}",
            source=where(turn.ref),
            text=as_json(told | _judged(turn)),
            rank=ROOT + 1 + number,
            group=TURNS,
        )


def _turn(turn: Attempt) -> dict[str, Any]:
    """What was said and done, as the log of such a conversation has it."""
    told: dict[str, Any] = {
        "execution": "" if turn.execution == "completed" else turn.execution,
        "user_text": next((step.text for step in turn.steps if step.actor.role == "user"), ""),
        "assistant_text": turn.output.text,
        "tool_calls": calls_made(turn.steps),
        "tool_results": results_got(turn.steps),
    }
    return {name: value for name, value in told.items() if value}


def _judged(turn: Attempt) -> dict[str, Any]:
    said = [judgement.reasoning for judgement in turn.judgements if judgement.reasoning]
    return {"judge_reasoning": said[0]} if said else {}


def _kin(material: Material) -> Iterator[Wanted]:
    attempt = material.attempt
    sessions = {one.id: one.session for one in material.kin if one.superseded_by == attempt.id}
    parts = [one for one in material.kin if one.parent == attempt.id or one.parent in sessions]
    # those of this very attempt first, and of these the ones that failed
    parts.sort(key=lambda one: (one.parent != attempt.id, one.outcome == "pass"))
    for number, one in enumerate(parts[:PARTS]):
        above = "parts" if one.parent == attempt.id else f"earlier/session-{sessions.get(one.parent or '')}"
        name = f"{above}/{one.path or one.index}"
        yield _other(name, one, KIN + number)
        yield from _files(name, one, number)
    for one in material.kin:
        if one.id in sessions:
            yield _other(f"earlier/session-{one.session}", one, KIN)
        elif attempt.id in (one.duplicate_of, one.superseded_by) or one.id == attempt.duplicate_of:
            yield _other(f"repeated/{one.index}", one, ROOT)


def _other(place: str, attempt: Attempt, rank: int) -> Wanted:
    told: dict[str, Any] = {
        "execution": attempt.execution,
        "outcome": attempt.outcome,
        "errors": [f"{error.type}: {error.message}" for error in attempt.errors if not error.recovered],
        "checks": {check.name: check.explanation or check.status for check in attempt.checks if noteworthy(check)},
        "output": attempt.output.text,
        "judge_reasoning": list(dict.fromkeys(one.reasoning for one in attempt.judgements if one.reasoning)),
    }
    text = as_json({name: value for name, value in told.items() if value})
    return Wanted(place=place, source=where(attempt.ref), text=text, rank=rank, most=1 / 12, group=PARTS_OF)


def _files(name: str, attempt: Attempt, number: int) -> Iterator[Wanted]:
    for artefact in [one for one in attempt.artefacts if one.text][:PART_FILES]:
        yield Wanted(
            place=f"{name}/{artefact.path}",
            source=where(artefact.ref, attempt.ref),
            text=artefact.text or "",
            rank=REST + number,
            tail=0.8,
            most=1 / 24,
            group=PARTS_OF,
        )
