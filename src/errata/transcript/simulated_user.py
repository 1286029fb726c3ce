"""A simulated user against its own instruction: it stops early, contradicts it, or makes things up."""

import re
from collections.abc import Iterator, Sequence

from errata.model import Attempt, Case, Observation, Step
from errata.model.usage import NO_USAGE, NO_USAGE_BY_ROLE
from errata.text.lazy_regex import lazy_regex
from errata.transcript.actions import ActionComparison
from errata.transcript.mentions import Mentions, folded_text, task_texts
from errata.transcript.tool_use import ToolUse, is_agent, speaker_of
from errata.transcript.wording import sentence_around, shortened

TURNS = 500
"""Messages of a user that are compared with its instruction."""
STOP = lazy_regex(r"#{3}(?:STOP|TRANSFER|OUT-OF-SCOPE)#{3}")
# the agent asks before it acts, and the user agrees: the agent has still to act
ASKS_TO_ACT = lazy_regex(
    r"\b(?:would you like|do you want|shall i|should i|may i|can i|i can|i(?:'|’)?ll|i will|let me know|please confirm"
    r"|do you confirm|proceed)\b",
    re.IGNORECASE,
)
GRANTS = lazy_regex(
    r"\b(?:please |just |you (?:can|may) )?(?:go ahead|proceed)\b(?! (?:to|for) (?:the|my) (?:airport|gate))"
    r"|^\W*(?:yes|sure|okay|ok)\b[,.!]? (?:please\b|i (?:confirm|agree)|do (?:it|that|so)\b)",
    re.IGNORECASE,
)
_DENIES = lazy_regex(
    r"\b(?:i|we) (?:don['’]?t|do not|can['’]?t|cannot) (?:have|remember|recall|know|find|provide)\b"
    r"(?P<what>[^.?!]{0,120})",
    re.IGNORECASE,
)
_USER_ID = lazy_regex(r"\buser ?id\b", re.IGNORECASE)
_ANOTHER = lazy_regex(r"\b(?:reservation|confirmation|booking|order|membership)\b", re.IGNORECASE)
AN_ID = lazy_regex(r"\b[a-z]+(?:_[a-z]+)+_\d{2,}\b")
_SHAPES = {
    "user id": AN_ID,
    "code": lazy_regex(r"\b(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{6,8}\b"),
    "order number": lazy_regex(r"#[A-Z]?\d{4,}\b"),
    "email address": lazy_regex(r"\b[\w.+-]+@[\w-]+\.[\w.]+\b"),
    "zip code": lazy_regex(r"(?<![\d$.])\b\d{5}\b(?![\d.])"),
    "amount": lazy_regex(r"[$€£]\s?(\d[\d,]*)"),
}


def has_simulated_user(attempt: Attempt) -> bool:
    if attempt.usage is not NO_USAGE_BY_ROLE and attempt.usage.simulator != NO_USAGE:
        return True
    return bool(attempt.steps) and any(step.actor.name == "simulated" for step in attempt.steps[:4])


def is_user(step: Step) -> bool:
    return step.actor.role in ("user", "simulator")


def user_flags(
    attempt: Attempt,
    case: Case | None,
    uses: Sequence[ToolUse],
    mentions: Mentions,
    compared: ActionComparison | None,
) -> Iterator[Observation]:
    if case is None or not has_simulated_user(attempt):
        return
    yield from _stops(attempt, compared)
    yield from _contradictions(attempt.steps, case, mentions)
    denial = denial_of_own_id(attempt, case)
    if denial is not None and not any(use.worked for use in uses):
        match = _DENIES.search(denial.text)
        yield Observation(
            kind="user_contradicts_task",
            step=denial.index,
            speaker=speaker_of(denial),
            text="The simulated user denies having the id that its instruction states.",
            quote=sentence_around(denial.text, *match.span()) if match else denial.text[:160],
            strength="strong",
        )


def _stops(attempt: Attempt, compared: ActionComparison | None) -> Iterator[Observation]:
    """The last message ends the conversation while an expected action is open and the agent waits for an answer."""
    last = attempt.steps[-1]
    match = STOP.search(last.text) if is_user(last) else None
    if match is None or compared is None or not (compared.missing or compared.differing):
        return
    before = next((step for step in reversed(attempt.steps[:-1]) if is_agent(step)), None)
    if before is None or before.tool_calls or not compared.missing:
        return
    asks = before.text.rstrip().endswith("?") or ASKS_TO_ACT.search(before.text) is not None
    grants = GRANTS.search(STOP.sub("", last.text)) is not None
    if not asks or (not grants and not before.text.rstrip().endswith("?")):
        return
    open_action = compared.missing[0].name
    yield Observation(
        kind="user_stopped_early",
        step=last.index,
        speaker=speaker_of(last),
        text=f"The simulated user ends the conversation right after the agent's question; {open_action} is still open.",
        quote=last.text.strip()[-200:],
        related_step=before.index,
        strength="strong" if grants else "moderate",
    )


def _contradictions(steps: Sequence[Step], case: Case, mentions: Mentions) -> Iterator[Observation]:
    """Ids, codes and amounts that only the user can have brought up, and its instruction does not have."""
    task = "\n".join(task_texts(case))
    own = {shape: pattern.search(task) is not None for shape, pattern in _SHAPES.items()}
    for step in [step for step in steps if is_user(step)][:TURNS]:
        for shape, value, span in _values_of(step.text):
            if (first := mentions.first(value)) is None or first.step is not step:
                continue
            # an instruction may name one amount of several: another one contradicts nothing
            contradicts = own[shape] and shape != "amount"
            yield Observation(
                kind="user_contradicts_task" if contradicts else "user_invents",
                step=step.index,
                speaker=speaker_of(step),
                text=f"The simulated user gives the {shape} {shortened(step.text[slice(*span)])}; its instruction "
                + ("has another one." if contradicts else "does not name it."),
                quote=sentence_around(step.text, *span),
                argument=shape,
                strength="strong" if contradicts else "moderate",
            )
            break


def _values_of(text: str) -> Iterator[tuple[str, str, tuple[int, int]]]:
    for shape, pattern in _SHAPES.items():
        for match in pattern.finditer(text):
            yield shape, _plain(match[match.lastindex or 0]), match.span()


def _plain(value: str) -> str:
    return folded_text(value).strip(" .,")


def denial_of_own_id(attempt: Attempt, case: Case) -> Step | None:
    """The message that denies the user id of the instruction, by a user who never gives it."""
    stated = AN_ID.findall("\n".join(task_texts(case)))
    own = [step for step in attempt.steps if is_user(step)]
    if not stated or any(one in step.text for step in own for one in stated):
        return None
    before = ""
    for step in attempt.steps:
        if is_agent(step):
            before = step.text
        denied = _DENIES.search(step.text) if is_user(step) else None
        if denied and _is_user_id(denied["what"], before):
            return step
    return None


def _is_user_id(denied: str, question: str) -> bool:
    """Whether the user ID is denied; `I don't have my reservation ID` leaves it open."""
    if _USER_ID.search(denied):
        return True
    return _USER_ID.search(question) is not None and not _ANOTHER.search(denied)
