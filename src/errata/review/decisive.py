"""The decisive step of a transcript: its definition, what a reviewer is asked about it, and what is checked."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from errata.model import Packet, Quote
from errata.model.verdict import CandidateStep
from errata.review.speakers import Speakers, match_agent, speakers_in
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex
from errata.text.outgoing import for_others

DEFINITION = (
    "The decisive step is the first act that was never corrected and after which the expected result became "
    "unreachable."
)
QUESTIONS = (
    "act: what is the false or harmful act? It may be a false statement, a wrong call or argument, a skipped check, or "
    "a hand-over that drops a requirement.",
    "corrected: did anybody correct it later in the transcript?",
    "sufficient: would correcting this act alone have led to the expected result?",
)
FOR_EACH = "For each false or harmful act, in the order of the steps, answer:"
CHOICE = (
    "The decisive act is the first one that was not corrected and whose correction would have been sufficient. If no "
    "correction is sufficient alone, it is the first act that was not corrected."
)
RULINGS = (
    "A wrong statement that leads to a wrong call: the statement, if the call follows from it; otherwise the call.",
    "An error that one introduces and another repeats or confirms: the step that introduced it, even if the other had "
    "to check it.",
    "An error that was corrected is never decisive, nor is the step that corrected it.",
    "A turn of a simulated user can be decisive; the owner is then the simulator.",
    "Step 0 can be decisive, for example a plan or hand-over that already excludes the expected result.",
    "Give null if no step is decisive, as when the harness or the provider failed.",
)
GUIDANCE = "\n".join(
    (
        DEFINITION,
        FOR_EACH,
        *(f"- {question}" for question in QUESTIONS),
        CHOICE,
        *(f"- {ruling}" for ruling in RULINGS),
    )
)
"""For packets and prompts."""
MOST = 12
TEXT = 400
SHOWN = 40
LARGEST = 10**9
_SAME_AS = lazy_regex(r"\[… the text of `([^`]+)` …\]")


class DecisiveStep(NamedTuple):
    candidates: tuple[CandidateStep, ...] = ()
    step: int | None = None
    agent: str = ""
    reason: str = ""
    second: int | None = None


class _DecisiveCandidate(msgspec.Struct):
    step: Any
    act: str = ""
    corrected: bool = False
    sufficient: bool = False


class DecisiveFields:
    """The fields of an answer about the decisive step; problems go to `reasons`, omissions to `notes`."""

    def __init__(self, given: dict[str, Any], packet: Packet) -> None:
        self._given, self._packet = given, packet
        self._speakers = speakers_in(packet.facts, ((place.place, place.text) for place in packet.places))
        self._last = _last_step(packet, self._speakers)
        self.reasons: list[str] = []
        self.notes: list[str] = []

    def read(self, quotes: Sequence[Quote], *, trusted: bool) -> DecisiveStep:
        """A step needs a quote of it or a reason, unless the reviewer is trusted. Whether quotes are right is checked
        elsewhere."""
        step = self._step("decisive_step")
        second = self._step("second_candidate")
        if second is not None and second == step:
            self.notes.append("the second candidate is the decisive step and was dropped")
            second = None
        decisive = DecisiveStep(self._candidates(), step, self._agent(step), self._text("decisive_reason"), second)
        self._require_choice(decisive)
        if step is not None:
            self._require_support(decisive, quotes, trusted=trusted)
        return decisive

    def _require_choice(self, decisive: DecisiveStep) -> None:
        """The step has to be the one that follows from the reviewer's own candidates."""
        step = decisive.step
        same = [one for one in decisive.candidates if one.step == step]
        if same and all(one.corrected for one in same):
            self.reasons.append(
                f"`decisive_step` {step} was corrected later, by your own `candidates`: an error that was corrected is "
                "never decisive"
            )
            return
        chosen = chosen_candidate(decisive.candidates)
        if chosen is None or chosen.step == step or (step is None and not chosen.sufficient):
            return
        why = "is the first that was not corrected and is sufficient" if chosen.sufficient else _NONE_SUFFICIENT
        given = "null" if step is None else step
        self.reasons.append(
            f"`decisive_step` {given} contradicts your own `candidates`: step {chosen.step} {why}. Change the step, or "
            "the candidates"
        )

    def _step(self, name: str) -> int | None:
        given = self._given.get(name)
        if given is None or (isinstance(given, str) and not given.strip()):
            return None
        number = _whole_number(given)
        if isinstance(number, bool) or not isinstance(number, int) or not self._is_step(number):
            right = "there are none, give null" if self._last is None else f"they go from 0 to {self._last}"
            self.reasons.append(f"`{name}` does not name a step, `{one_line(str(given), SHOWN)}`: {right}")
            return None
        return number

    def _is_step(self, number: int) -> bool:
        return self._last is not None and 0 <= number <= self._last

    def _agent(self, step: int | None) -> str:
        """The one that is named, else the speaker of the step."""
        given, agents = self._text("decisive_agent"), self._speakers.agents
        if not given:
            speaker = self._speakers.by_step.get(step, "") if step is not None else ""
            return match_agent(speaker, agents) if speaker else ""
        agent = match_agent(given, agents)
        if not agent:
            listed = ", ".join(f"`{one}`" for one in agents)
            right = f"one of {listed}" if agents else "there are none, give null"
            self.reasons.append(f"`decisive_agent` names nobody in the transcript, `{one_line(given, SHOWN)}`: {right}")
        return agent

    def _candidates(self) -> tuple[CandidateStep, ...]:
        try:
            listed = msgspec.convert(self._given.get("candidates") or [], list[_DecisiveCandidate])[:MOST]
        except msgspec.ValidationError:
            self.reasons.append(
                "`candidates` must be a list of objects with `step`, `act`, `corrected` and `sufficient`: a number, "
                "a text, and true or false"
            )
            return ()
        candidates = []
        for candidate in listed:
            number = _whole_number(candidate.step)
            if isinstance(number, bool) or not isinstance(number, int) or not self._is_step(number):
                self.notes.append(
                    f"the candidate `{one_line(str(candidate.step), SHOWN)}` is not a step and was dropped"
                )
                continue
            act, corrected = one_line(for_others(candidate.act), TEXT), candidate.corrected
            candidates.append(CandidateStep(step=number, act=act, corrected=corrected, sufficient=candidate.sufficient))
        return tuple(candidates)

    def _require_support(self, decisive: DecisiveStep, quotes: Sequence[Quote], *, trusted: bool) -> None:
        step = decisive.step
        places = self._places_of(step)
        quoted = any(quote.place.partition("#")[0].strip("` ") in places for quote in quotes)
        if not quoted and not decisive.reason and not trusted:
            self.reasons.append(
                f"`decisive_step` {step} has no evidence: quote `steps/{step}`, or give the reason in `decisive_reason`"
            )

    def _places_of(self, step: int | None) -> frozenset[str]:
        """Its own place, and the one that shows its text instead."""
        name = f"steps/{step}"
        texts = [place.text for place in self._packet.places if place.place.partition("#")[0] == name]
        return frozenset((name, *(match for text in texts for match in _SAME_AS.findall(text))))

    def _text(self, name: str) -> str:
        given = self._given.get(name)
        if given is None or isinstance(given, str):
            return one_line(for_others(given or ""), TEXT)
        self.reasons.append(f"`{name}` must be a text")
        return ""


_NONE_SUFFICIENT = "is the first that was not corrected, and none is sufficient"


def chosen_candidate(candidates: Sequence[CandidateStep]) -> CandidateStep | None:
    """The candidate that is decisive by the definition: see `CHOICE`."""
    lasting = sorted((one for one in candidates if not one.corrected), key=lambda one: one.step)
    return next((one for one in lasting if one.sufficient), lasting[0] if lasting else None)


def _last_step(packet: Packet, speakers: Speakers) -> int | None:
    """The transcript may be longer than what of it is in the packet."""
    steps = packet.facts.get("steps")
    last = steps.get("last") if isinstance(steps, dict) else None
    return max([*speakers.by_step, *([last] if isinstance(last, int) else [])], default=None)


def _whole_number(given: Any) -> Any:
    """`"3"` and `3.0` are 3; anything else is what it is."""
    if isinstance(given, str) and given.strip().isdecimal() and len(given) < SHOWN:
        number = int(given)
        return number if number < LARGEST else given
    return int(given) if isinstance(given, float) and given.is_integer() else given
