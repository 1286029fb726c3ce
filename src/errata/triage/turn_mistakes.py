"""Judged turns: the mistake behind the failed dimensions.

A penalty lands in one dimension, and the dimensions that are scored for the turn decide where. So required calls are
compared with made ones first, then it counts what was scored and failed. The judge's words decide only what
both leave open.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from errata.model import Attempt, Case
from errata.text.lazy_regex import lazy_regex
from errata.transcript.actions import is_write
from errata.transcript.calls import CalledFunction, is_same_call, required_calls
from errata.triage import judge_commentary as commentary
from errata.triage.observed import Observed, signal

TOOLS, ORDERS, FACTS, UNCLEAR, STATE = commentary.DIMENSIONS

MEANS = {
    "ended_early": "the model ended the conversation although nothing called for it",
    "no_content": "the turn has neither words nor a call",
    "calls_incomplete": "only some of the required calls were made",
    "call_missing": "a required call was not made",
    "call_differs": "a call was made with other arguments than required",
    "call_unexpected": "a call was made that was not required",
    "forgot_state": "something from an earlier turn was forgotten",
    "unclear_request": "an unclear request was not clarified, or a clear one was",
    "wrong_fact": "a statement contradicts the knowledge base",
}


class Calls(NamedTuple):
    """Required calls beside made ones, by name: whether other arguments mean the same is for the judge to decide."""

    required: tuple[CalledFunction, ...] | None
    """None where no contract lists them."""
    made: tuple[CalledFunction, ...]

    @property
    def missing(self) -> list[CalledFunction]:
        return _left_over(self.required or (), self.made)

    @property
    def unexpected(self) -> list[CalledFunction]:
        return _left_over(self.made, self.required or ())

    @property
    def differing(self) -> list[CalledFunction]:
        return [one for one in self.made if not any(is_same_call(one, wanted) for wanted in self.required or ())]


def _left_over(calls: Sequence[CalledFunction], others: Sequence[CalledFunction]) -> list[CalledFunction]:
    """Calls that have no counterpart of their name among the others."""
    counterparts = Counter(call.name for call in others)
    left = []
    for call in calls:
        counterparts[call.name] -= 1
        if counterparts[call.name] < 0:
            left.append(call)
    return left


class Turn(NamedTuple):
    asked: str
    """By the user."""
    says: str
    judge: str
    """The reasoning of the judge who decided."""
    place: str
    failed: frozenset[str]
    scored: frozenset[str]
    calls: Calls


class TurnMistake(NamedTuple):
    name: str
    where: str
    quote: str
    stated: str = ""


def is_judged_turn(attempt: Attempt) -> bool:
    return any(check.kind == "dimension" and check.name == TOOLS for check in attempt.checks)


def turn_mistake(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """What went wrong in a judged turn. It names no owner, only what a failed dimension mixes up."""
    if not is_judged_turn(attempt) or not attempt.failed_checks or attempt.native_status:
        return
    mistake = _mistake(_turn(attempt, case))
    if mistake is not None:
        seen = signal(mistake.name, "likely", mistake.where, mistake.quote, attempt.ref, stated=mistake.stated)
        yield Observed(signal=seen)


def _turn(attempt: Attempt, case: Case | None) -> Turn:
    judged = next((one for one in attempt.objections or attempt.judgements if one.reasoning), None)
    asked = next((step.text for step in attempt.steps if step.actor.role == "user"), "")
    return Turn(
        asked=asked or (case.input if case is not None and isinstance(case.input, str) else ""),
        says=attempt.output.text or "",
        judge=judged.reasoning if judged is not None else "",
        place=f"judgements[{judged.judge}].reasoning" if judged is not None else "checks",
        failed=frozenset(attempt.failed_checks),
        scored=frozenset(check.name for check in attempt.checks if check.counts and check.status in ("pass", "fail")),
        calls=Calls(_required(case), _distinct_calls(attempt)),
    )


def _required(case: Case | None) -> tuple[CalledFunction, ...] | None:
    return required_calls(case.expected) if case is not None and isinstance(case.expected, dict) else None


def _distinct_calls(attempt: Attempt) -> tuple[CalledFunction, ...]:
    """One of several equal calls."""
    calls = [call for step in attempt.steps for call in step.tool_calls]
    distinct = {json.dumps([call.name, call.arguments], sort_keys=True, default=str): call for call in calls}
    return tuple(
        CalledFunction(call.name, call.arguments if isinstance(call.arguments, dict) else {})
        for call in distinct.values()
    )


def _mistake(turn: Turn) -> TurnMistake | None:
    if not _has_words(turn.says) and not turn.calls.made:
        return TurnMistake("no_content", "output.text", turn.says)
    ended = _ended_early(turn)
    if ended is not None:
        return ended
    if TOOLS in turn.failed and (incomplete := _incomplete(turn)):
        return incomplete
    for dimension, name in ((STATE, "forgot_state"), (UNCLEAR, "unclear_request")):
        if dimension in turn.failed:
            return _by_dimension(name, dimension, turn)
    if FACTS in turn.failed and not (TOOLS in turn.failed and _made_up_for_a_call(turn)):
        return _by_dimension("wrong_fact", FACTS, turn)
    return _wrong_call(turn) if TOOLS in turn.failed else None


def _by_dimension(name: str, dimension: str, turn: Turn) -> TurnMistake:
    quote = commentary.sentence_about(dimension, turn.judge)
    return TurnMistake(name, turn.place, quote, "" if quote else f"{dimension}: failed")


_MARKER = lazy_regex(r"\[[A-Z_]*RESPONSE\b[^\]]*\]?")


def _has_words(text: str) -> bool:
    return any(letter.isalnum() for letter in _MARKER.sub("", text))


# tools that end a conversation
_ENDS = lazy_regex(
    r"(?:end|close|finish|terminate)_(?:the_)?(?:session|conversation|call|chat)|hang_?up", re.IGNORECASE
)


def _ended_early(turn: Turn) -> TurnMistake | None:
    wanted = _expected_names(turn)
    if not turn.failed & {TOOLS, ORDERS} or any(_ENDS.fullmatch(name) for name in wanted):
        return None
    call = next((call for call in turn.calls.made if _ENDS.fullmatch(call.name)), None)
    if call is not None:
        return TurnMistake("ended_early", "tool calls", "", _call_text(call))
    ended = commentary.ended_the_talk(turn.judge) if ORDERS in turn.failed and not turn.calls.made else ""
    return TurnMistake("ended_early", turn.place, ended) if ended else None


def _expected_names(turn: Turn) -> tuple[str, ...]:
    """From the contract, else from the commentary."""
    if turn.calls.required is None:
        return commentary.expected_functions(turn.judge)
    return tuple(call.name for call in turn.calls.required)


def _incomplete(turn: Turn) -> TurnMistake | None:
    """Some of several required calls were made, but not all."""
    calls = turn.calls
    if not calls.made:
        return None
    if calls.required is not None:
        if not 0 < len(calls.missing) < len(calls.required):
            return None
        return TurnMistake("calls_incomplete", "tool calls", "", _not_made(calls.missing))
    expected, made = _expected_names(turn), {call.name for call in calls.made}
    if expected and made.isdisjoint(expected):
        return None
    absent = [name for name in expected if name not in made]
    if absent:
        return TurnMistake("calls_incomplete", turn.place, "", f"not made: {', '.join(absent)}")
    part = commentary.more_calls_expected(turn.judge, len(calls.made)) or commentary.done_in_part(turn.judge)
    return TurnMistake("calls_incomplete", turn.place, part) if part else None


def _made_up_for_a_call(turn: Turn) -> bool:
    """A required lookup was skipped, and what it would have returned was made up.

    Before an action it is the other way round: who believes that a tour is sold out does not book it.
    """
    missing = [call.name for call in turn.calls.missing]
    if turn.calls.required is None and not turn.calls.made:
        missing += commentary.expected_functions(turn.judge)
    return any(not is_write(name) for name in missing)


def _wrong_call(turn: Turn) -> TurnMistake:
    """A missed call is forgotten state or a needless question where that dimension is not scored to show it."""
    calls = turn.calls
    reason = _reason_in_words(turn)
    if reason is not None:
        return reason
    if calls.required is None:
        return _by_dimension("call_differs" if calls.made else "call_missing", TOOLS, turn)
    if calls.unexpected:
        return TurnMistake("call_unexpected", "tool calls", "", ", ".join(map(_call_text, calls.unexpected)))
    if calls.missing:
        return TurnMistake("call_missing", "tool calls", "", _not_made(calls.missing))
    if calls.differing:
        return TurnMistake("call_differs", "tool calls", "", ", ".join(map(_call_text, calls.differing)))
    return _by_dimension("call_differs", TOOLS, turn)


def _reason_in_words(turn: Turn) -> TurnMistake | None:
    is_open = {STATE, UNCLEAR} - turn.scored
    calls = turn.calls
    acted = bool(calls.made) and (calls.required is None or not calls.missing)
    question = "" if acted else _question(turn.says)
    if STATE in is_open and (forgot := _forgotten(turn, question, acted=acted)):
        return TurnMistake("forgot_state", turn.place, forgot)
    if UNCLEAR in is_open and question and (needless := commentary.asked_needlessly(turn.judge)):
        return TurnMistake("unclear_request", turn.place, needless)
    return None


def _forgotten(turn: Turn, question: str, *, acted: bool) -> str:
    """The words about something that was known before and is asked for or denied now."""
    before = commentary.known_before(turn.judge)
    if forgot := commentary.forgotten(turn.judge):
        return forgot
    if question and commentary.was_clear_in_itself(turn.judge) and not (before and _asks_who(turn, question)):
        return ""
    if question and _asks_who(turn, question):
        return before or question
    return before if question or (not acted and _DENIES.search(turn.says)) else ""


_DENIES = lazy_regex(
    r"\bI (?:do not|don['’]t|can['’]?not|can['’]t|could not|couldn['’]t|have no|haven['’]t)\b[^.?!]{0,30}"
    r"\b(?:see|seen|have|got|find|found|know|recall|record|locate)\b"
    r"|\b(?:there is|there['’]s|have) no (?:record|trace)\b",
    re.IGNORECASE,
)
_COURTESY = lazy_regex(
    r"\b(?:any|some)thing (?:else|more|further)\b|\bwhat else\b|\belse (?:can|may|could)\b"
    r"|\b(?:can|may|could) I (?:help|assist)\b|\b(?:sound|look|work)s? (?:good|right|okay|ok|for you)\b",
    re.IGNORECASE,
)
_SENTENCE = lazy_regex(r"[^.!?]+[.!?]*")
_REQUEST = lazy_regex(
    r"\?|\b(?:please|kindly) (?:tell|give|provide|confirm|specify|share|spell|repeat|state|let)\b|\blet me know\b"
    r"|\bI(?:'ll|'d| will| would)? (?:just |first |also )*need (?:your|the|a|to know)\b",
    re.IGNORECASE,
)


def _question(says: str) -> str:
    """What the model asks for, without courtesies."""
    asking = [one for one in _SENTENCE.findall(says) if _REQUEST.search(one) and not _COURTESY.search(one)]
    return " ".join(" ".join(asking).split())


_WHO = lazy_regex(
    r"\byour (?:\w+ ){0,2}(?:name|e-?mail|phone|card|account|member(?:ship)?|customer|id|number|address)\b"
    r"|\bwho(?:'s| is|m? am I)(?: I)? (?:calling|speaking|this|talking)\b|\bwhose \w+ (?:is|was) (?:this|that|it)\b",
    re.IGNORECASE,
)


def _asks_who(turn: Turn, question: str) -> bool:
    """The model asks who the user is. The user gives a name once, at the start, unless it is in this very turn."""
    values = [
        value for call in turn.calls.required or () for value in call.arguments.values() if isinstance(value, str)
    ]
    given_now = any(" " in value and value.lower() in turn.asked.lower() for value in values)
    return _WHO.search(question) is not None and not given_now


def _not_made(calls: Sequence[CalledFunction]) -> str:
    return f"not made: {', '.join(map(_call_text, calls))}"


def _call_text(call: CalledFunction) -> str:
    return f"{call.name} {json.dumps(call.arguments, ensure_ascii=False, default=str)}" if call.arguments else call.name
