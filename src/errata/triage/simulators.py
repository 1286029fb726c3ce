"""A simulated user that made its own case impossible, as its dialogue shows."""

import re
from collections.abc import Iterator

from errata.model import Attempt, Case, Step
from errata.triage.dialogues import writes_of
from errata.triage.expected import task_text
from errata.triage.limits import calls_with_results, results_by_step
from errata.triage.observed import Observed, signal

_STOP = re.compile(r"#{3}(?:STOP|TRANSFER|OUT-OF-SCOPE)#{3}")
# the agent asks before it acts, and the user agrees: the agent has still to act
_ASKS_TO_ACT = re.compile(
    r"\b(?:would you like|do you want|shall i|should i|may i|can i|i can|i(?:'|’)?ll|i will|let me know|please confirm"
    r"|do you confirm|proceed)\b",
    re.IGNORECASE,
)
_GRANTS = re.compile(
    r"\b(?:please |just |you (?:can|may) )?(?:go ahead|proceed)\b(?! (?:to|for) (?:the|my) (?:airport|gate))"
    r"|^\W*(?:yes|sure|okay|ok)\b[,.!]? (?:please\b|i (?:confirm|agree)|do (?:it|that|so)\b)",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"\b(?:i|we) (?:don['’]?t|do not|can['’]?t|cannot) (?:have|remember|recall|know|find|provide)\b"
    r"(?P<what>[^.?!]{0,120})",
    re.IGNORECASE,
)
_USER_ID = re.compile(r"\buser ?id\b", re.IGNORECASE)
_AN_ID = re.compile(r"\b[a-z]+(?:_[a-z]+)+_\d{2,}\b")


def stops_before_the_agent_can_act(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """The user grants what the agent asks for and ends the conversation in the same message."""
    last = _last_of_user(attempt)
    if last is None or not _STOP.search(last.text):
        return
    writes = writes_of(attempt, case)
    if writes is not None and (writes.unexpected or not writes.missing):
        return  # the agent has changed something wrongly before, or nothing was left to do
    asked = next((step for step in reversed(attempt.steps[:-1]) if step.actor.role == "assistant"), None)
    if asked is None or asked.tool_calls or not _ASKS_TO_ACT.search(asked.text):
        return
    if _GRANTS.search(_STOP.sub("", last.text)):
        evidence = signal("user_stopped_early", "likely", f"steps[{last.index}].text", last.text, attempt.ref)
        yield Observed(signal=evidence, owner="simulator", is_specific=True)


def denies_its_own_instruction(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """The user claims not to have the id that its instruction states, and so nothing could be looked up."""
    last = _last_of_user(attempt)
    if case is None or last is None or not _STOP.search(last.text):
        return
    stated = _AN_ID.findall(task_text(case))
    own = [step for step in attempt.steps if step.actor.role in ("user", "simulator")]
    if not stated or any(one in step.text for step in own for one in stated):
        return
    returned = results_by_step(attempt.steps)
    if any(_is_data(result) for step in attempt.steps for _, result in calls_with_results(step, returned)):
        return
    before = ""
    for step in attempt.steps:
        if step.actor.role == "assistant":
            before = step.text
        denied = _DENIES.search(step.text) if step in own else None
        if denied and _is_user_id(denied["what"], before):
            where = f"steps[{step.index}].text"
            evidence = signal("user_denies_instruction", "likely", where, step.text, attempt.ref)
            yield Observed(signal=evidence, owner="simulator", is_specific=True)
            return


def _is_user_id(denied: str, question: str) -> bool:
    """Whether the user ID is denied; `I don't have my reservation ID` leaves it open."""
    if _USER_ID.search(denied):
        return True
    return _USER_ID.search(question) is not None and not _ANOTHER.search(denied)


_ANOTHER = re.compile(r"\b(?:reservation|confirmation|booking|order|membership)\b", re.IGNORECASE)


def _is_data(result: str) -> bool:
    return result.lstrip().startswith(("{", "[{"))


def _last_of_user(attempt: Attempt) -> Step | None:
    """Of a conversation with a simulated user that could fail, its last message."""
    if attempt.outcome != "fail" or not attempt.steps or attempt.steps[-1].actor.role not in ("user", "simulator"):
        return None
    return attempt.steps[-1]


RULES = (stops_before_the_agent_can_act, denies_its_own_instruction)
