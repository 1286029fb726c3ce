"""A failure → the packet that a reviewer reads: the same bytes for the same failure, within a budget of tokens.

Where not everything fits, each text gets a readable part in the order of the ranks in `places.py`, then more of it:
what the harness says went wrong, the task, broken tool calls, the output and the steps where the failure shows, the
expected answer, the judge, files that errors name, logs, graders, references, the turn that a failure follows from,
the system prompt, other files, earlier turns, other steps, context, other attempts. What is cut says so in its place
and is listed under `left_out`. The task, the errors, the output and the judge's words are never missing, and the tool
calls of a turn that failed over its tools never cut, even where that alone is more than the budget.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from errata.model import FailureKey, LeftOut, Packet, Place, Question, Signal
from errata.model.codec import to_json
from errata.review.blind import Blindfold
from errata.review.budget import BUDGET, BYTES_A_TOKEN, Wanted, cost, rooms, tokens
from errata.review.clues import clues_of
from errata.review.facts import facts_of, run_facts
from errata.review.files import file_places
from errata.review.left_out import told
from errata.review.material import Material
from errata.review.neighbours import neighbour_places
from errata.review.places import own_places
from errata.review.windows import excerpt, weight
from errata.text.clean import clean, one_line

SIGNALS = 12
QUOTE = 500
NAME = 160
FACT = 1_000
"""Characters of any text that is no place."""
SLACK = 64
ELSEWHERE = "other runs"
"""Where triage saw a signal that names the subjects of other runs."""
_TELLTALE = frozenset(("run", "model", "provider", "agent", "report"))


def packet_for(material: Material, question: Question, *, budget: int = BUDGET, blind: bool = False) -> Packet:
    blindfold = _blindfold(material) if blind else None
    clues = clues_of(material)
    files = file_places(material, clues)
    wanted = _tidy([*own_places(material, clues), *files.wanted, *neighbour_places(material, clues)], blindfold)
    packet = _without_places(material, question, facts_of(material, clues), blindfold)
    fixed = len(to_json(packet))
    given = room = budget * BYTES_A_TOKEN - fixed
    while True:
        shares = rooms(wanted, given, budget)
        places, left_out = _fitted(material, wanted, shares, files.left_out, blindfold)
        used = sum(map(_size, places)) + sum(len(to_json(one)) for one in left_out)
        if used <= room or given <= 0:
            break
        given -= used - room + SLACK
    size = {"characters": sum(len(place.text) for place in places), "tokens_estimated": tokens(fixed + used)}
    return msgspec.structs.replace(packet, places=places, left_out=left_out, size=size)


def _without_places(
    material: Material, question: Question, facts: dict[str, Any], blindfold: Blindfold | None
) -> Packet:
    attempt, run, said = material.attempt, material.run, material.attribution
    handle = material.handle if material.handle and not blindfold else run.id[:8]
    key = said.failure_key if said else None
    packet = Packet(
        id=f"{handle}/{material.case_name}#{attempt.index}" if attempt.counted else attempt.id,
        run=_cleaned(run_facts(run, blind=blindfold is not None)),
        case_key=attempt.case,
        attempt=attempt.index,
        attempt_id=attempt.id,
        facts=_cleaned(facts),
        failure_key=FailureKey(exact=clean(key.exact), coarse=clean(key.coarse)) if key else None,
        signals=tuple(_signal(one) for one in said.signals[:SIGNALS]) if said else (),
        question=question,
        history=tuple(_cleaned(one) for one in material.history),
    )
    return packet if blindfold is None else _masked(packet, blindfold)


def _signal(signal: Signal) -> Signal:
    """Without the version of the rules: a packet changes only with what it says."""
    quote = one_line(signal.quote, QUOTE)
    return Signal(name=signal.name, where=one_line(signal.where, NAME), quote=quote, strength=signal.strength)


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        told = clean(value[: 2 * FACT])
        return told if len(told) <= FACT else f"{told[:FACT]}…"
    if isinstance(value, dict):
        return {one_line(str(key), NAME): _cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(item) for item in value]
    if isinstance(value, int) and value.bit_length() > 63:  # more than can be written
        return f"{value:#x}"
    return value


def _blindfold(material: Material) -> Blindfold:
    return Blindfold(material.run, [str(one["model"]) for one in material.history if one.get("model")])


def _masked(packet: Packet, blindfold: Blindfold) -> Packet:
    """The question and the ids stay as they are. Of other runs no more is told than how they did."""
    kept = {"question", "attempt_id", "case_key", "id"}
    plain = msgspec.to_builtins(packet)
    changed = {name: value if name in kept else blindfold.tree(value) for name, value in plain.items()}
    told = [{name: one[name] for name in one if name not in _TELLTALE} for one in changed.get("history", ())]
    signals = [one | {"quote": ""} if one.get("where") == ELSEWHERE else one for one in changed.get("signals", ())]
    return msgspec.convert(changed | {"history": told, "signals": signals}, Packet)


def _tidy(wanted: Iterable[Wanted], blindfold: Blindfold | None) -> list[Wanted]:
    """Blind where that is asked for, without what is empty, and every name once."""
    names: set[str] = set()
    tidied = []
    for one in wanted:
        text, place, source = one.text, one_line(one.place, NAME), one_line(one.source, 2 * NAME)
        if blindfold is not None:
            text, place, source = blindfold.text(text), blindfold.text(place), blindfold.text(source)
        if text.strip():
            tidied.append(msgspec.structs.replace(one, place=_unique(place, names), source=source, text=text))
    return tidied


def _unique(name: str, names: set[str]) -> str:
    number, made = 1, name
    while made in names:
        number += 1
        made = f"{name}#{number}"
    names.add(made)
    return made


def _fitted(
    material: Material,
    wanted: Sequence[Wanted],
    shares: Sequence[int],
    left_out: Sequence[LeftOut],
    blindfold: Blindfold | None,
) -> tuple[tuple[Place, ...], tuple[LeftOut, ...]]:
    places, cut, omitted = [], [], []
    for one, given in zip(wanted, shares, strict=True):
        if not given:
            omitted.append(one)
            continue
        text, missing = excerpt(one.text, given, needles=one.needles, tail=one.tail)
        if missing:
            cut.append((one.place, missing, len(one.text)))
        # a text becomes no longer by that
        places.append(Place(place=one.place, source=one.source, text=clean(text)))
    listed = [*left_out, *told(material, cut, omitted, [place.place for place in places])]
    if blindfold is not None:
        listed = [LeftOut(what=blindfold.text(one.what), why=one.why) for one in listed]
    return tuple(places), tuple(LeftOut(what=one_line(one.what, QUOTE), why=one_line(one.why, QUOTE)) for one in listed)


def _size(place: Place) -> int:
    return cost(Wanted(place=place.place, source=place.source, text="", rank=0), max(weight(place.text), 1))
