"""Passes whose own words speak against them: nothing said, a refusal, the task repeated, an admission of failure."""

import re
from collections.abc import Iterator

from errata.model import Attempt, Case, Signal
from errata.triage.equivalence import same
from errata.triage.expected import expected_texts
from errata.triage.observed import signal

TAIL = 600
_REFUSAL = re.compile(
    r"^\W*(?:(?:i['’]?m|i am) (?:very |so |really )?sorry\b|sorry,|as an ai\b"
    r"|(?:i|we) ?(?:can['’]?t|cannot|can not|won['’]?t|will not|(?:am|are|['’]m|['’]re) (?:un|not )able to)"
    r" (?:help|assist|comply|fulfil+|provide|do that|answer|discuss))",
    re.IGNORECASE,
)
_GAVE_UP = re.compile(
    r"\bi ?(?:(?:was|am|have been|['’]m) (?:still )?(?:un|not )able to|could not|couldn['’]t"
    r"|did(?: not|n['’]t) manage to|(?:have |['’]ve )?failed to)"
    r" (?:complete|finish|solve|fix|resolve|get|make|implement|find a)"
    r"|\bi (?:give|gave) up\b|\bthe (?:task|work|fix|implementation) (?:is|remains|was) (?:not |in)complete\b"
    r"|\btests? (?:are |is )?still fail",
    re.IGNORECASE,
)
_SAFETY = re.compile(r"refus|harm|safe|red.?team|jailbreak|policy|toxic|moderation|inject|abus", re.IGNORECASE)
_SAYS_NOTHING = re.compile(r"[\W_]*$|\[EMPTY_RESPONSE")


def is_refusal(text: str) -> bool:
    return _REFUSAL.match(text) is not None


def garbage_passes(attempt: Attempt, case: Case | None) -> Iterator[Signal]:
    """A judge said yes to what is no answer. Nothing said is an answer where a tool was called."""
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
            yield signal("garbage_passes", "likely", "output.text", text.strip() or "the answer is empty", attempt.ref)
    elif is_refusal(text) and case is not None and not _expects_a_refusal(attempt, case):
        yield signal("garbage_passes", "weak", "output.text", text, attempt.ref)


def _expects_a_refusal(attempt: Attempt, case: Case) -> bool:
    """Many suites ask for a refusal; only where a reference says something else is one odd."""
    wanted = list(expected_texts(case))
    named = " ".join((case.suite, case.category, *case.tags, *(check.name for check in attempt.checks)))
    return not wanted or any(map(is_refusal, wanted)) or _SAFETY.search(named) is not None


def echoes_task(attempt: Attempt, case: Case | None) -> Iterator[Signal]:
    text = (attempt.output.text or "").strip()
    if len(text.split()) < 3 or len(text) > TAIL:
        return
    asked = [step.text for step in attempt.steps if step.actor.role == "user"][-1:]
    if not asked and case is not None and isinstance(case.input, str):
        asked = [case.input]
    if asked and asked[0].strip() == text and not (case and any(same(text, one) for one in expected_texts(case))):
        yield signal("echoes_task", "weak", "output.text", text, attempt.ref)


def said_it_failed(attempt: Attempt, _case: Case | None) -> Iterator[Signal]:
    """By the last words alone; what was tried in between and did not work is nothing odd."""
    text = attempt.output.text
    if text is None:
        text = next((step.text for step in reversed(attempt.steps) if step.actor.role == "assistant" and step.text), "")
    found = _GAVE_UP.search(text[-TAIL:])
    if found is not None:
        tail = text[-TAIL:]
        start = tail.rfind("\n", 0, found.start()) + 1
        yield signal("said_it_failed", "weak", "output.text", tail[start:].partition("\n")[0], attempt.ref)


RULES = (garbage_passes, echoes_task, said_it_failed)
