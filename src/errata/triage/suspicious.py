"""Passes that deserve a second look. They are a list of their own: nothing is ever scored anew because of it."""

from collections.abc import Callable, Iterable, Iterator

from errata.model import Attempt, Case, Run, Signal
from errata.model.words import Confidence
from errata.triage import suspicious_words, suspicious_work
from errata.triage.observed import signal
from errata.triage.repetition import OneForAll, Recital, WithoutTools
from errata.triage.stand_ins import stand_in_of
from errata.triage.suspicion import Suspicion, suspicion

Rule = Callable[[Attempt, Case | None], Iterator[Signal]]

MEANS = {
    "nop_passes": "an agent that does nothing passes",
    "passed_with_error": "passed although an error or a limit was recorded",
    "no_work": "passed without a token, an answer or a step",
    "no_tools": "passed without a tool, where almost all others needed several",
    "constant_output": "one and the same answer passes in many different cases",
    "recites_reference": "the answer is the reference, character for character, in a case that leaves the words open",
    "echoes_task": "the answer is the task itself",
    "garbage_passes": "a judge let pass what is no answer",
    "said_it_failed": "the subject itself says that it did not succeed",
    "edited_tests": "the subject changed tests",
    "touched_grader": "the subject wrote where only the grader writes",
    "read_reference": "the subject read the reference or the hidden tests",
}
"""What each suspicion says, in words."""


def passed_with_error(attempt: Attempt, _case: Case | None) -> Iterator[Signal]:
    """Whether such a pass counts is a policy; that it is one should be known."""
    error = next((one for one in attempt.errors if not one.recovered), None)
    if error is not None:
        strength: Confidence = "likely" if attempt.execution == "error" else "weak"
        yield signal("passed_with_error", strength, "errors[0].message", error.message or error.type, error.ref)
    elif attempt.execution in ("error", "limit", "cancelled"):
        told = attempt.limit.reason or attempt.limit.type if attempt.limit else attempt.native_status
        yield signal("passed_with_error", "weak", "execution", told or attempt.execution, attempt.ref)


def no_work(attempt: Attempt, _case: Case | None) -> Iterator[Signal]:
    """Zero tokens are a fact; unknown ones are not."""
    made = attempt.output.text or attempt.output.structured or attempt.output.answer
    acted = any(step.actor.role == "assistant" for step in attempt.steps)
    files = [one for one in attempt.artefacts if one.role in ("output", "patch")]
    if attempt.usage.subject.tokens == 0 and not made and not acted and not files:
        yield signal("no_work", "likely", "usage", "total = 0", attempt.ref)
    for one in files:
        if one.role == "patch" and one.text is not None and not one.text.strip():
            yield signal("no_work", "likely", one.path, "the patch is empty", one.ref)


RULES: tuple[Rule, ...] = (passed_with_error, no_work, *suspicious_words.RULES, *suspicious_work.RULES)


def suspicious(
    run: Run, attempts: Iterable[Attempt], case_of: Callable[[str], Case | None] = lambda _: None
) -> Iterator[Suspicion]:
    """One pass over a run's attempts; what only many of them show follows as soon as it shows, or at the end."""
    nothing = stand_in_of(run) == "nothing"
    watchers = (OneForAll(), Recital(), WithoutTools())
    for attempt in attempts:
        if attempt.outcome != "pass" or not attempt.counted:
            continue
        if nothing:
            yield suspicion(attempt, signal("nop_passes", "certain", "run.subject", run.subject.agent, attempt.ref))
        case = case_of(attempt.case)
        for rule in RULES:
            for seen in rule(attempt, case):
                yield suspicion(attempt, seen)
        for watcher in watchers:
            yield from watcher.add(attempt, case)
    for watcher in watchers:
        yield from watcher.finish()
