"""Who acts in a transcript: the speakers with their steps, and the agents that can be named as decisive."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from errata.model import Attempt, Step
from errata.text.lazy_regex import lazy_regex

MOST = 40
"""Speakers, and agents, that a packet lists."""
SPANS = 50
"""Spans of steps in one text; longer texts in the facts of a packet are cut."""
SIMULATED = "simulated"
"""How sources mark a user that is a program; no name of an agent."""
_HAND_OVER = lazy_regex(r"->\s*+([^()]{0,200}[^()\s])\s*+\)?$")
_REMARK = lazy_regex(r"(?:(?<!\s)\s++)?\([^()]*+\)\s*+$")
_PROMPT = lazy_regex(r"system_prompt/(.+)\.md")
_TRANSFER = lazy_regex(r"(?:transfer|hand_?off|delegate)_to_(\w+)", re.IGNORECASE)
_PERSON = lazy_regex(r"(?:a_)?(?:live_|real_)?(?:human|person|people|operator|representative)", re.IGNORECASE)
"""Whoever such a call hands over to takes no part in the transcript."""
_SPAN = lazy_regex(r"(\d+)(?:-(\d+))?")


class Speakers(NamedTuple):
    """As a packet states them: step → speaker, and every agent by its name."""

    by_step: Mapping[int, str]
    agents: tuple[str, ...]


def facts_about_speakers(attempt: Attempt) -> dict[str, Any]:
    """For the facts of a packet: the speakers with their steps, and agents that are named but never speak."""
    by_speaker: dict[str, list[int]] = {}
    for step in attempt.steps:
        by_speaker.setdefault(step.speaker, []).append(step.index)
    spoken = {agent_name(speaker).casefold() for speaker in by_speaker}
    silent = dict.fromkeys(name for name in _named_agents(attempt) if name.casefold() not in spoken)
    speakers = [
        {"speaker": speaker, "steps": part}
        for speaker, steps in list(by_speaker.items())[:MOST]
        for part in _spans(steps)
    ]
    return {"speakers": speakers} | ({"other_agents": list(silent)[:MOST]} if silent else {})


def speakers_in(facts: Mapping[str, Any], places: Iterable[tuple[str, str]]) -> Speakers:
    """From the facts of a packet; the texts of its steps name their speakers, too."""
    by_step = dict(_in_places(places))
    steps = facts.get("steps")
    stated: dict[str, Any] = steps if isinstance(steps, dict) else {}
    for entry in stated.get("speakers") or ():
        by_step |= dict.fromkeys(_numbers(str(entry.get("steps", ""))), str(entry.get("speaker", "")))
    names = [agent_name(speaker) for _, speaker in sorted(by_step.items())]
    agents = dict.fromkeys((*names, *map(str, stated.get("other_agents") or ())))
    return Speakers(by_step, tuple(agent for agent in agents if agent))


def agent_name(speaker: str) -> str:
    """`assistant Planner (-> Coder)` is `Planner`; whoever has no name, and a simulated user, goes by the role."""
    role, _, name = speaker.partition(" ")
    if name == SIMULATED:
        return role
    return _REMARK.sub("", name).strip() or name.strip() or role


def match_agent(given: str, agents: Sequence[str]) -> str:
    """The agent that is meant, by name or as `role name`; empty where none or several are."""
    if given in agents:
        return given
    wanted = {_letters(given), _letters(agent_name(given)), _letters(_REMARK.sub("", given))}
    if given == SIMULATED and given not in agents:
        wanted = {"user"}
    meant = [agent for agent in agents if _letters(agent) in wanted]
    return meant[0] if len(meant) == 1 else ""


def _named_agents(attempt: Attempt) -> Iterator[str]:
    """Those whom others hand over to, and those who have a prompt of their own."""
    for step in attempt.steps:
        yield from _hand_overs(step)
    for artefact in attempt.artefacts:
        if artefact.role == "context" and (prompt := _PROMPT.fullmatch(artefact.path)):
            yield prompt[1]


def _hand_overs(step: Step) -> Iterator[str]:
    if target := _HAND_OVER.search(step.actor.name):
        yield target[1]
    for call in step.tool_calls:
        target = _TRANSFER.fullmatch(call.name)
        if target and not _PERSON.match(target[1]):
            yield target[1]


def _in_places(places: Iterable[tuple[str, str]]) -> Iterator[tuple[int, str]]:
    for name, text in places:
        number = name.removeprefix("steps/").partition("#")[0]
        if name.startswith("steps/") and number.isdecimal() and len(number) < 10:
            yield int(number), text.partition("\n")[0].partition(":")[0].strip()


def _spans(numbers: Sequence[int]) -> Iterator[str]:
    """`0-2, 5, 7`, in parts that no packet shortens."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    listed = [str(first) if first == last else f"{first}-{last}" for first, last in spans]
    return (", ".join(listed[at : at + SPANS]) for at in range(0, len(listed), SPANS))


def _numbers(spans: str) -> Iterator[int]:
    for first, last in _SPAN.findall(spans):
        yield from range(int(first), int(last or first) + 1)


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()
