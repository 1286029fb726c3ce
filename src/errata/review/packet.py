"""A failure → the packet that a reviewer reads: the same bytes for the same failure, within a budget of tokens.

Where not everything fits, each text gets a readable part in the order of the ranks in `places.py`, then more of it:
errors of the harness, the task, broken tool calls, the output and the steps where the failure shows, the
expected answer, the judge, files that errors name, logs, graders, references, the turn that a failure follows from,
other files, earlier turns, other steps, context, other attempts, system prompts. A transcript that does not fit gets a
timeline with a line for each step. A note marks each cut and is listed under `left_out`. The task, the errors, the
output and the judge's words are never missing, and the tool calls of a turn that failed over its tools never cut, even
where that alone is more than the budget.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from errata.model import LeftOut, Observation, Packet, PacketPlace, Question
from errata.model.codec import to_json
from errata.review.context_places import LATER, PARTS, PARTS_OF, TURNS, file_places, neighbour_places
from errata.review.excerpts import Tell, in_short, opening, weight
from errata.review.facts import facts_of, key_of, run_facts, signals_of
from errata.review.labels import offered
from errata.review.material import ELSEWHERE, Clues, Material, clues_of, noteworthy
from errata.review.packet_size import BUDGET, BYTES_A_TOKEN, NAME, UNLIMITED, Fitted, Fitting, WantedPlace, cost, tokens
from errata.review.places import (
    CHECKS,
    STEPS_GROUP,
    SYSTEM_PROMPT,
    is_shown_elsewhere,
    own_places,
    prompt_places,
    shown_elsewhere,
)
from errata.review.redaction import Blindfold, redact_text, redacted
from errata.review.timeline import timeline
from errata.review.transcript import is_system_prompt
from errata.text.clean import clean
from errata.text.lazy_regex import lazy_regex
from errata.text.shell import shell_word

NAMED = 6
OVER = "too long"
_NUMBER = lazy_regex(r"(?<!\d)(\d++)(?:#\d++)?$")
QUOTE = 500
FACT = 1_000
"""Characters of any text that is not a place."""
SLACK = 64
OBSERVATIONS = 16
OBSERVED = 200
"""Characters of an observation, and of its quote."""
STEPS_NAMED = 20
TIMELINE = 1 / 2
"""Of the room, for the timeline, at most."""
SHORTEST_TIMELINE = 2_000
"""Bytes that it has in any case."""
REMEMBERED = 1 / 8
"""Of the budget, for what other runs and the rules tell."""
_TELLTALE = frozenset(("run", "model", "provider", "agent", "report"))


class PacketOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How packets are made."""

    question: Question | None = None
    """None for the taxonomy of the run's own source."""
    budget: int = BUDGET
    blind: bool = False
    raw: bool = False
    """Not redacted: for the eyes of whose log it is, never for a reviewer."""


class _Telling(NamedTuple):
    """How texts are redacted in one packet."""

    blindfold: Blindfold | None
    plain: Tell
    tell: Tell
    """Blind where that is asked for."""


def packet_for(
    material: Material, question: Question, *, budget: int = BUDGET, blind: bool = False, raw: bool = False
) -> Packet:
    """Redacted, unless it is asked for raw: such a packet is for its owner's eyes."""
    telling = _telling(material, blind=blind, raw=raw)
    clues = clues_of(material, telling.tell)
    files = file_places(material, clues)
    wanted = _places_to_show(material, clues, files.wanted, all_steps=budget >= UNLIMITED)
    packet = _without_places(material, question, clues, wanted, telling)
    packet = msgspec.structs.replace(packet, question=offered(packet))
    packet = packet if raw else redacted(packet)
    packet = packet if telling.blindfold is None else _masked(packet, telling.blindfold)
    fixed = len(to_json(packet))
    room = budget * BYTES_A_TOKEN - fixed - _kept_free(packet, fixed, budget)
    fitting = Fitting(wanted, telling.tell)
    fitted = fitting.within(room, budget)
    lines = _timeline(material, clues, fitted, int(room * TIMELINE), telling)
    given = room = room - (size_of_lines := _size_of_lines(lines))
    while True:
        fitted = fitting.within(given, budget)
        left_out = _left_out(material, fitted, files.left_out, telling)
        used = sum(map(_size, fitted.places)) + sum(len(to_json(one)) for one in left_out)
        if used <= room or given <= 0:
            break
        given -= used - room + SLACK
    made = msgspec.structs.replace(packet, timeline=lines, places=fitted.places, left_out=left_out)
    used_tokens = tokens(fixed + used + size_of_lines)
    size = {"characters": sum(len(place.text) for place in fitted.places), "tokens_estimated": used_tokens}
    left = {} if budget >= UNLIMITED else {"tokens_left": max(budget - used_tokens, 0)}
    return msgspec.structs.replace(made, size=size | left)


def _size_of_lines(lines: tuple[str, ...]) -> int:
    """With the name of the field."""
    return len(to_json(lines)) + len('"timeline":,') if lines else 0


def _places_to_show(
    material: Material, clues: Clues, files: Sequence[WantedPlace], *, all_steps: bool
) -> list[WantedPlace]:
    """In the order one reads them; system prompts come last, each once."""
    own = own_places(material, clues, all_steps=all_steps)
    in_steps = list(prompt_places(material))
    in_files = [one for one in files if one.rank == SYSTEM_PROMPT]
    known = {one.text.partition(": ")[2].strip() for one in in_steps}
    prompts = [*in_steps, *(one for one in in_files if one.text.strip() not in known)]
    others = (one for one in files if one.rank != SYSTEM_PROMPT)
    return [*own, *others, *neighbour_places(material, clues), *prompts]


def _timeline(material: Material, clues: Clues, fitted: Fitted, room: int, telling: _Telling) -> tuple[str, ...]:
    """Only where some of the transcript is missing from the places: else it would be there twice."""
    steps = material.attempt.steps
    if material.is_turn or len(steps) < 2 or not lacks_steps(material, fitted):
        return ()
    flagged = [steps[at].index for at in clues.flagged]
    output = material.attempt.output.text or ""
    return timeline(steps, max(room, SHORTEST_TIMELINE), telling.tell, flagged=flagged, output=output)


def lacks_steps(material: Material, fitted: Fitted) -> bool:
    elsewhere = shown_elsewhere(material)
    whole = {place.place for place in fitted.places} - {cut.place for cut in fitted.cut}
    prompts = {one.text.strip() for one in material.attempt.steps if is_system_prompt(one)}
    return any(
        f"steps/{step.index}" not in whole
        and step.text.strip() not in prompts
        and not is_shown_elsewhere(material, step, elsewhere)
        for step in material.attempt.steps
    )


def _kept_free(packet: Packet, fixed: int, budget: int) -> int:
    """Beside history and signals: the texts have the same room whatever is remembered of a case."""
    own = len(to_json(msgspec.structs.replace(packet, history=(), signals=(), observations=(), failure_key=None)))
    return max(int(budget * BYTES_A_TOKEN * REMEMBERED) - (fixed - own), 0)


def _telling(material: Material, *, blind: bool, raw: bool) -> _Telling:
    plain = clean if raw else redact_text
    if not blind:
        return _Telling(None, plain, plain)
    blindfold = Blindfold(material.run, [str(one["model"]) for one in material.history if one.get("model")])
    return _Telling(blindfold, plain, lambda text: blindfold.text(plain(text)))


def _without_places(
    material: Material, question: Question, clues: Clues, wanted: Sequence[WantedPlace], telling: _Telling
) -> Packet:
    attempt, run, attribution, tell = material.attempt, material.run, material.attribution, telling.tell
    blind = telling.blindfold is not None
    handle = material.handle if material.handle and not blind else run.id[:8]
    return Packet(
        id=f"{handle}/{material.case_name}#{attempt.index}" if attempt.counted else attempt.id,
        run=_redacted(run_facts(run, blind=blind), tell),
        case_key=attempt.case,
        attempt=attempt.index,
        attempt_id=attempt.id,
        facts=_redacted(facts_of(material, clues, tell), tell),
        failure_key=key_of(material, tell),
        signals=signals_of(attribution.signals, [one.text for one in wanted], tell) if attribution else (),
        question=question,
        observations=_observations(clues.observations, tell),
        history=tuple(_redacted(one, tell) for one in material.history),
    )


def _observations(log: Sequence[Observation], tell: Tell) -> tuple[Observation, ...]:
    return tuple(
        msgspec.structs.replace(
            observation,
            text=in_short(observation.text, OBSERVED, tell),
            quote=in_short(observation.quote, OBSERVED, tell),
            speaker=in_short(observation.speaker, NAME, tell),
            tool=in_short(observation.tool, NAME, tell),
            argument=in_short(observation.argument, NAME, tell),
            steps=observation.steps[:STEPS_NAMED],
            extra={},
            ref=None,
        )
        for observation in log[:OBSERVATIONS]
    )


def _redacted(value: Any, tell: Tell) -> Any:
    """Shortened. Short values are redacted with the whole packet, where their names are known."""
    if isinstance(value, str):
        if len(value) <= FACT:
            return clean(value)
        short = opening(value, FACT, tell)
        return short if len(short) <= FACT else f"{short[:FACT]}…"
    if isinstance(value, dict):
        return {_key(str(key)): _redacted(item, tell) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_redacted(item, tell) for item in value]
    if isinstance(value, int) and value.bit_length() > 63:  # more than can be written
        return f"{value:#x}"
    return value


@lru_cache(maxsize=1_024)
def _key(name: str) -> str:
    return in_short(name, NAME, redact_text)


def _masked(packet: Packet, blindfold: Blindfold) -> Packet:
    """The question and the ids stay unchanged. Of other runs, only the outcomes are shown."""
    kept = {"question", "attempt_id", "case_key", "id"}
    plain = msgspec.to_builtins(packet)
    changed = {name: value if name in kept else blindfold.tree(value) for name, value in plain.items()}
    history = [{name: one[name] for name in one if name not in _TELLTALE} for one in changed.get("history", ())]
    signals = [one | {"quote": ""} if one.get("where") == ELSEWHERE else one for one in changed.get("signals", ())]
    return msgspec.convert(changed | {"history": history, "signals": signals}, Packet)


def _left_out(material: Material, fitted: Fitted, files: Sequence[LeftOut], telling: _Telling) -> tuple[LeftOut, ...]:
    """Commands for the full text contain ids, which are not masked."""
    listed = [*files, *left_out_of(material, fitted)]
    return tuple(
        LeftOut(what=in_short(place.what, QUOTE, telling.tell), why=in_short(place.why, QUOTE, telling.plain))
        for place in listed
    )


def _size(place: PacketPlace) -> int:
    return cost(WantedPlace(place=place.place, source=place.source, text="", rank=0), max(weight(place.text), 1))


def left_out_of(material: Material, fitted: Fitted) -> Iterator[LeftOut]:
    cut = fitted.cut
    whole = f"errata show {shell_word(material.attempt.id)} --full"
    for place, missing, size in cut[:NAMED]:
        yield LeftOut(what=f"{place}: {missing:,} of {size:,} characters", why=f"{OVER}; {whole}")
    if len(cut) > NAMED:
        names = _listed([place for place, _, _ in cut[NAMED:]])
        yield LeftOut(what=f"parts of {names}", why=f"{OVER}; {whole}")
    silent = sum(noteworthy(check) and bool(check.explanation.strip()) for check in material.attempt.checks) - CHECKS
    if silent > 0:
        yield LeftOut(what=f"reasons of {silent} more failed checks", why=f"too many; {whole}")
    groups: dict[str, list[WantedPlace]] = {}
    for omitted in fitted.omitted:
        groups.setdefault(omitted.group or omitted.place, []).append(omitted)
    yield from _turns(material, groups.pop(TURNS, []))
    yield from _steps(material, frozenset(place.place for place in fitted.places), whole)
    groups.pop(STEPS_GROUP, None)
    parts = _parts(material)
    if groups.get(PARTS_OF) or parts:
        names = _listed([one.place for one in groups.pop(PARTS_OF, [])])
        more = f"{parts} more parts" if parts else ""
        yield LeftOut(what=" and ".join(one for one in (names, more) if one), why=f"{OVER}; {whole}")
    for name, members in groups.items():
        listed = _listed([one.place for one in members])
        yield LeftOut(what=listed if len(members) == 1 else f"{name}: {listed}", why=f"{OVER}; {whole}")


def ranges(numbers: Iterable[int]) -> str:
    """`0-12, 14, 20-23`."""
    spans: list[list[int]] = []
    for number in sorted(set(numbers)):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    listed = [str(first) if first == last else f"{first}-{last}" for first, last in spans]
    more = f" and {len(listed) - NAMED} more spans" if len(listed) > NAMED else ""
    return ", ".join(listed[:NAMED]) + more


def _turns(material: Material, omitted: list[WantedPlace]) -> Iterator[LeftOut]:
    numbers = [int(found[1]) for one in omitted if (found := _NUMBER.search(one.place))]
    numbers += [turn.position for turn in material.after[LATER:] if turn.position is not None]
    if material.before and material.before[0].position:
        numbers += range(material.before[0].position)
    if numbers:
        one_of_them = f"{material.run.id[:8]}/{_NUMBER.sub('N', material.case_name)}"
        turn = f"errata show {shell_word(one_of_them)}"
        yield LeftOut(what=f"turns {ranges(numbers)} of the conversation", why=f"the others tell more; one: {turn}")


def _steps(material: Material, shown: frozenset[str], whole: str) -> Iterator[LeftOut]:
    if thinned := material.attempt.thinned:
        yield LeftOut(what="steps of the transcript", why=f"thinned on {thinned[:10]}: only cited steps are kept")
    if material.is_turn:
        return
    names = {name.partition("#")[0] for name in shown}
    elsewhere = shown_elsewhere(material)
    missing = [
        step.index
        for step in material.attempt.steps
        if f"steps/{step.index}" not in names
        and not is_system_prompt(step)
        and not is_shown_elsewhere(material, step, elsewhere)
    ]
    if missing and len(missing) < len(material.attempt.steps):
        yield LeftOut(what=f"steps {ranges(missing)} of the transcript", why=f"in the timeline only; {whole}")
    elif missing:
        yield LeftOut(what=f"the transcript, {len(missing)} steps", why=f"in the timeline only; {whole}")


def _parts(material: Material) -> int:
    sessions = {one.id for one in material.kin if one.superseded_by == material.attempt.id}
    return max(sum(one.parent in {material.attempt.id, *sessions} for one in material.kin) - PARTS, 0)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
