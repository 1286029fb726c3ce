"""Passes that only look odd beside the others of their run: one answer for all, recited references, no tools used."""

from collections.abc import Iterator

from errata.model import Attempt, Case
from errata.model.words import Confidence
from errata.triage.equivalence import same
from errata.triage.expected import expected_texts
from errata.triage.observed import signal
from errata.triage.suspicion import Suspicion, suspicion
from errata.triage.suspicious_words import is_refusal

FEW = 5
MOST_HELD = 1_000
MOST_TEXTS = 50_000
MANY_TOOLS = 3
LONG = 10
"""So many words nobody says twice by chance."""


class OneForAll:
    """The same answer in many cases, none of which expects it."""

    def __init__(self) -> None:
        self._cases: dict[int, dict[str, Suspicion]] = {}

    def add(self, attempt: Attempt, case: Case | None) -> Iterator[Suspicion]:
        text = attempt.output.text
        if not text or not text.strip() or _acted(attempt) or not _is_odd(text, case):
            return
        key = hash(" ".join(text.split()).lower())
        if len(self._cases) >= MOST_TEXTS and key not in self._cases:
            self._cases = {one: held for one, held in self._cases.items() if len(held) > 1}
        held = self._cases.setdefault(key, {})
        strength: Confidence = "likely" if case is not None and any(expected_texts(case)) else "weak"
        new = suspicion(attempt, signal("constant_output", strength, "output.text", text, attempt.ref))
        if len(held) >= FEW:
            yield new
        else:
            held.setdefault(attempt.case, new)
            if len(held) == FEW:
                yield from held.values()

    def finish(self) -> Iterator[Suspicion]:
        yield from ()


def _is_odd(text: str, case: Case | None) -> bool:
    """A short answer out of few possible ones is the right one often; and many things are rightly refused."""
    wanted = list(expected_texts(case)) if case is not None else []
    if wanted:
        return not (case and case.choices) and not any(same(text, one) or one.strip() in text for one in wanted)
    return len(text.split()) > 3 and not is_refusal(text)


class Recital:
    """Answers to be judged, not compared, that repeat the reference character for character."""

    def __init__(self) -> None:
        self._comparable = 0
        self._recited: list[Suspicion] = []
        self._often = 0

    def add(self, attempt: Attempt, case: Case | None) -> Iterator[Suspicion]:
        text = attempt.output.text
        if not text or case is None or not any(check.judge for check in attempt.checks):
            return
        wanted = [one.strip() for one in expected_texts(case)]
        telling = any(len(one.split()) > 2 for one in wanted)  # of one word, everybody says the same
        self._comparable += telling
        if text.strip() in wanted:
            self._often += telling
            new = suspicion(attempt, signal("recites_reference", self._strength, "output.text", text, attempt.ref))
            if len(self._recited) < MOST_HELD:
                self._recited.append(new)
            elif self._strength == "likely":
                yield new

    @property
    def _strength(self) -> Confidence:
        return "likely" if self._often >= FEW and 2 * self._often >= self._comparable else "weak"

    def finish(self) -> Iterator[Suspicion]:
        strength = self._strength
        for one in self._recited:
            seen = one.signal
            if strength == "likely" or len(seen.quote.split()) > LONG:
                changed = signal(seen.name, strength, seen.where, seen.quote, seen.ref)
                yield Suspicion(one.attempt, one.case, one.index, one.session, changed)


class WithoutTools:
    """No tool was called, where almost every other pass of the run called several."""

    def __init__(self) -> None:
        self._with = 0
        self._without: list[Suspicion] = []
        self._count = 0

    def add(self, attempt: Attempt, _case: Case | None) -> Iterator[Suspicion]:
        if attempt.steps:
            called = sum(len(step.tool_calls) for step in attempt.steps)
            self._with += called >= MANY_TOOLS
            if not called:
                self._count += 1
                if len(self._without) < MOST_HELD:
                    seen = signal("no_tools", "weak", "steps", "no tool was called", attempt.ref)
                    self._without.append(suspicion(attempt, seen))
        yield from ()

    def finish(self) -> Iterator[Suspicion]:
        if self._with >= FEW and self._with >= 10 * self._count:
            yield from self._without


def _acted(attempt: Attempt) -> bool:
    """Whether the work is elsewhere, so that the last words may well be the same each time."""
    return any(one.role != "log" for one in attempt.artefacts) or any(step.tool_calls for step in attempt.steps)
