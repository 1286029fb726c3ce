"""Passes that deserve a second look. They are a list of their own: no score changes because of them."""

import re
from collections.abc import Callable, Iterable, Iterator

import msgspec

from errata.model import Attempt, Case, Run, Signal
from errata.model.attempt import stand_in_of
from errata.model.delivery import did_work
from errata.model.run import LISTS_EVERY_CHECK
from errata.model.words import Confidence
from errata.text.equivalence import same
from errata.text.lazy_regex import lazy_regex
from errata.text.mask import without_ids
from errata.triage import empty_passes, suspicious_work
from errata.triage.expected import expected_texts, is_about_safety
from errata.triage.observed import placed, signal


class Suspicion(msgspec.Struct, frozen=True, gc=False):
    """Light enough to be held back until more of the run was seen."""

    attempt: str
    case: str
    index: int
    session: int | None
    signal: Signal


def suspicion(attempt: Attempt, seen: Signal) -> Suspicion:
    return Suspicion(attempt.id, attempt.case, attempt.index, attempt.session, placed(seen, attempt))


TAIL = 600
_REFUSAL = lazy_regex(
    r"^\W*(?:(?:i['’]?m|i am) (?:very |so |really )?sorry\b|sorry,|as an ai\b"
    r"|(?:i|we) ?(?:can['’]?t|cannot|can not|won['’]?t|will not|(?:am|are|['’]m|['’]re) (?:un|not )able to)"
    r" (?:help|assist|comply|fulfil+|provide|do that|answer|discuss))",
    re.IGNORECASE,
)
_SAYS_NOTHING = lazy_regex(r"[\W_]*$|\[EMPTY_RESPONSE")


def is_refusal(text: str) -> bool:
    return _REFUSAL.match(text) is not None


def garbage_passes(attempt: Attempt, case: Case | None) -> Iterator[Signal]:
    """A judge passed an empty answer. An empty text is an answer where a tool was called."""
    text = attempt.output.text
    if text is None or len(text) > TAIL or not any(check.judge and check.status == "pass" for check in attempt.checks):
        return
    if _SAYS_NOTHING.match(text):
        acted = (
            any(one.role != "log" for one in attempt.artefacts)
            or attempt.output.structured
            or any(step.tool_calls for step in attempt.steps)
        )
        if not acted:
            quote, stated = text.strip(), "" if text.strip() else "the answer is empty"
            yield signal("garbage_passes", "likely", "output.text", quote, attempt.ref, stated=stated)
    elif is_refusal(text) and case is not None and not expects_a_refusal(attempt, case):
        yield signal("garbage_passes", "weak", "output.text", text, attempt.ref)


def expects_a_refusal(attempt: Attempt, case: Case) -> bool:
    """Many suites expect a refusal; it is suspicious only where a reference expects something else."""
    wanted = list(expected_texts(case))
    return not wanted or any(map(is_refusal, wanted)) or is_about_safety(attempt, case)


def echoes_task(attempt: Attempt, case: Case | None) -> Iterator[Signal]:
    text = (attempt.output.text or "").strip()
    if len(text.split()) < 3 or len(text) > TAIL:
        return
    asked = [step.text for step in attempt.steps if step.actor.role == "user"][-1:]
    if not asked and case is not None and isinstance(case.input, str):
        asked = [case.input]
    if not asked or asked[0].strip() != text or (case and any(same(text, one) for one in expected_texts(case))):
        return
    strength: Confidence = "weak" if _REPEAT.search(asked[0]) else "likely"
    yield signal("echoes_task", strength, "output.text", text, attempt.ref)


_REPEAT = lazy_regex(r"\b(?:repeat|echo|copy|verbatim|exactly|say|print|return|output|translate)\b", re.IGNORECASE)


FEW = 5
MOST_HELD = 1_000
MOST_TEXTS = 50_000
MANY_TOOLS = 3
LONG = 10
"""Nobody repeats this many words by chance."""


class OneForAll:
    """The same answer in many cases, expected in none of them."""

    def __init__(self) -> None:
        self._cases: dict[int, dict[str, Suspicion]] = {}

    def add(self, attempt: Attempt, case: Case | None) -> Iterator[Suspicion]:
        text = attempt.output.text
        # where the work is elsewhere, the last words may well be the same each time
        if not text or not text.strip() or did_work(attempt) or not _is_odd(text, case):
            return
        key = hash(without_ids(" ".join(text.split()).lower()))
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
        is_specific = any(len(one.split()) > 2 for one in wanted)  # short answers are often the same
        self._comparable += is_specific
        if text.strip() in wanted:
            self._often += is_specific
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
        for passage in self._recited:
            seen = passage.signal
            if strength == "likely" or len(seen.quote.split()) > LONG:
                changed = msgspec.structs.replace(seen, strength=strength)
                yield Suspicion(passage.attempt, passage.case, passage.index, passage.session, changed)


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
                    seen = signal("no_tools", "weak", "steps", "", attempt.ref, stated="no tool was called")
                    self._without.append(suspicion(attempt, seen))
        yield from ()

    def finish(self) -> Iterator[Suspicion]:
        if self._with >= FEW and self._with >= 10 * self._count:
            yield from self._without


Rule = Callable[[Attempt, Case | None], Iterator[Signal]]

MEANS = {
    "prompt_not_delivered": "the prompt did not reach the subject",
    "error_body": "the answer is the error of a failed request",
    "empty_criteria": "the checks have nothing to look at, so they pass by themselves",
    "nothing_asserted": "no check looked at the answer",
    "judge_not_asked": "the judge's model was never asked",
    "skipped_tests": "tests that were skipped count as passed",
    "nop_passes": "an agent that does nothing passes",
    "passed_with_error": "passed although an error or a limit was recorded",
    "no_work": "passed without a token, an answer or a step",
    "no_tools": "passed without a tool, where almost all others needed several",
    "constant_output": "one and the same answer passes in many different cases",
    "recites_reference": "the answer is the reference, character for character, although any wording is allowed",
    "echoes_task": "the answer is the task itself",
    "garbage_passes": "a judge let pass what is not an answer",
    "edited_tests": "the subject changed tests",
    "touched_grader": "the subject wrote where only the grader writes",
    "read_reference": "the subject read the reference or the hidden tests",
}
"""The meaning of each suspicion, in words."""


def passed_with_error(attempt: Attempt, _case: Case | None) -> Iterator[Signal]:
    """Whether such a pass counts is a policy; that it is one should be known."""
    error = next((one for one in attempt.errors if not one.recovered), None)
    if error is not None:
        strength: Confidence = "likely" if attempt.execution == "error" else "weak"
        yield signal("passed_with_error", strength, "errors[0].message", error.quotable, error.ref, stated=error.stated)
    elif attempt.execution in ("error", "limit", "cancelled"):
        quote = attempt.limit.reason if attempt.limit else ""
        stated = "" if quote else attempt.limit.type if attempt.limit else attempt.native_status or attempt.execution
        yield signal("passed_with_error", "weak", "execution", quote, attempt.ref, stated=stated)


def no_work(attempt: Attempt, _case: Case | None) -> Iterator[Signal]:
    """Zero tokens are a fact; unknown ones are not."""
    made = attempt.output.text or attempt.output.structured or attempt.output.answer
    acted = any(step.actor.role == "assistant" for step in attempt.steps)
    files = [file for file in attempt.artefacts if file.role in ("output", "patch")]
    if attempt.usage.subject.tokens == 0 and not made and not acted and not files:
        yield signal("no_work", "likely", "usage", "", attempt.ref, stated="total = 0")
    for file in files:
        if file.role == "patch" and file.text is not None and not file.text.strip():
            yield signal("no_work", "likely", file.path, "", file.ref, stated="the patch is empty")


RULES: tuple[Rule, ...] = (
    *empty_passes.RULES,
    passed_with_error,
    no_work,
    garbage_passes,
    echoes_task,
    *suspicious_work.RULES,
)


CaseLookup = Callable[[Attempt], Case | None]
"""The case as an attempt had it."""


def _no_case(_attempt: Attempt) -> None:
    return None


class SuspicionWatch:
    """One pass over a run's attempts; what only many of them show follows as soon as it shows, or at the end."""

    def __init__(self, run: Run, case_of: CaseLookup = _no_case) -> None:
        self._run, self._case_of = run, case_of
        self._nothing = stand_in_of(run) == "nothing"
        self._watchers = (OneForAll(), Recital(), WithoutTools())
        listed = (empty_passes.nothing_was_asserted,) if run.source.name in LISTS_EVERY_CHECK else ()
        self._rules: tuple[Rule, ...] = (*listed, *RULES)

    def add(self, attempt: Attempt) -> Iterator[Suspicion]:
        if attempt.outcome != "pass" or not attempt.counted:
            return
        if self._nothing:
            agent = self._run.subject.agent
            yield suspicion(attempt, signal("nop_passes", "certain", "run.subject", agent, self._run.ref))
        case = self._case_of(attempt)
        for rule in self._rules:
            for seen in rule(attempt, case):
                yield suspicion(attempt, seen)
        for watcher in self._watchers:
            yield from watcher.add(attempt, case)

    def finish(self) -> Iterator[Suspicion]:
        for watcher in self._watchers:
            yield from watcher.finish()


def suspicious(run: Run, attempts: Iterable[Attempt], case_of: CaseLookup = _no_case) -> Iterator[Suspicion]:
    watch = SuspicionWatch(run, case_of)
    for attempt in attempts:
        yield from watch.add(attempt)
    yield from watch.finish()


def is_strong(seen: Suspicion) -> bool:
    """Weak signs are listed, but one alone does not make a pass suspicious: most such passes are sound."""
    return seen.signal.strength != "weak"
