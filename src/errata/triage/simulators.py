"""A simulated user that made its own case impossible, as its dialogue shows."""

import re
from collections.abc import Iterator

from errata.model import Attempt, Case, Step
from errata.text.lazy_regex import lazy_regex
from errata.transcript.simulated_user import ASKS_TO_ACT, GRANTS, STOP, denial_of_own_id, is_user
from errata.transcript.tool_use import is_agent
from errata.triage.dialogues import writes_of
from errata.triage.limits import calls_with_results, results_by_step
from errata.triage.observed import Observed, signal


def stops_before_the_agent_can_act(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """The user grants what the agent asks for and ends the conversation in the same message."""
    last = _last_of_user(attempt)
    if last is None or not STOP.search(last.text):
        return
    writes = writes_of(attempt, case)
    if writes is not None and (writes.unexpected or not writes.missing):
        return  # the agent has changed something wrongly before, or nothing was left to do
    asked = next((step for step in reversed(attempt.steps[:-1]) if is_agent(step)), None)
    if asked is None or asked.tool_calls or not ASKS_TO_ACT.search(asked.text):
        return
    if GRANTS.search(STOP.sub("", last.text)):
        evidence = signal("user_stopped_early", "likely", f"steps[{last.index}].text", last.text, attempt.ref)
        yield Observed(signal=evidence, owner="simulator", is_specific=True)


def denies_its_own_instruction(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """The user claims not to have the id that its instruction states, and so nothing could be looked up."""
    last = _last_of_user(attempt)
    if case is None or last is None or not STOP.search(last.text):
        return
    step = denial_of_own_id(attempt, case)
    if step is None:
        return
    returned = results_by_step(attempt.steps)
    calls = (pair for each in attempt.steps for pair in calls_with_results(each, returned))
    if not any(result.lstrip().startswith(("{", "[{")) and _ABOUT_A_USER.search(call.name) for call, result in calls):
        evidence = signal("user_denies_instruction", "likely", f"steps[{step.index}].text", step.text, attempt.ref)
        yield Observed(signal=evidence, owner="simulator", is_specific=True)


# a search that anybody can make, as for flights or products, needs no id of the user
_ABOUT_A_USER = lazy_regex(
    r"user|customer|account|profile|member|order|reserv|booking|ticket|line|bill|payment|certificate|details|status",
    re.IGNORECASE,
)


def _last_of_user(attempt: Attempt) -> Step | None:
    """Of a conversation with a simulated user that could fail, its last message."""
    if attempt.outcome != "fail" or not attempt.steps or not is_user(attempt.steps[-1]):
        return None
    return attempt.steps[-1]


RULES = (stops_before_the_agent_can_act, denies_its_own_instruction)
