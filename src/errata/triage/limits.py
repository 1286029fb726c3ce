"""Limits: whether one explains a failure, and whether the subject only repeated itself until it was reached."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from errata.model import Attempt, Case, Limit, Step, ToolCall
from errata.model.obstacles import channel_state
from errata.model.words import Confidence
from errata.text.lazy_regex import lazy_regex
from errata.transcript.calls import CalledFunction, is_same_call, required_calls
from errata.transcript.tool_use import is_waiting
from errata.triage.dialogues import writes_of
from errata.triage.expected import expected_texts
from errata.triage.observed import Observed, signal

REPEATED = 10
"""From this many identical calls or messages in a row on, nobody calls it progress."""
REFUSED = 3
"""At a limit, identical calls that were refused with the same error are a loop earlier than that."""
LAST_STEPS = 6
"""A loop that ended long before the limit did not use it up."""
SHORTEST_MESSAGE = 20
_encode = msgspec.json.Encoder(order="deterministic").encode
_ERROR = lazy_regex(r"\W{0,3}(?:error|exception|traceback|failed|failure|invalid|refused|denied)\b", re.IGNORECASE)


def repeated_call(attempt: Attempt) -> tuple[str, int] | None:
    """The call or message that the subject repeated without progress, and how often."""
    conduct = attempt.conduct
    if conduct is not None and channel_state(conduct)[0] is not None:
        return None  # calls that did not arrive as they were written are not a loop of the subject
    repeated = conduct.repeated_call if conduct is not None else None
    called = (repeated.stated or repeated.quote) if repeated is not None else ""
    if repeated is not None and repeated.count >= REPEATED and not is_waiting(called):
        return called, repeated.count
    return _find_loop(attempt.steps, was_cut=attempt.execution == "limit") if attempt.steps else None


def _find_loop(steps: Sequence[Step], *, was_cut: bool) -> tuple[str, int] | None:
    own = [step for step in steps if step.actor.role == "assistant"]
    returned = results_by_step(steps)
    moves = [move for step in own for move in _moves(step, returned)]
    longest, often = _longest_run(moves)
    if often >= REPEATED:
        return _first_line(longest), often
    if not was_cut:
        return None
    refused = Counter(move for step in own for move in _refused_calls(step, returned))
    for move in dict.fromkeys(move for step in own[-LAST_STEPS:] for move in _refused_calls(step, returned)):
        if refused[move] >= REFUSED and not is_waiting(_first_line(move)):
            return _first_line(move), refused[move]
    return None


def results_by_step(steps: Sequence[Step]) -> dict[int, list[str]]:
    """What the calls of a step returned, where the log has the results as steps of their own."""
    returned: dict[int, list[str]] = {}
    for step in steps:
        if step.kind == "tool_result" and step.parent is not None:
            returned.setdefault(step.parent, []).append(step.text)
    return returned


def calls_with_results(step: Step, returned: Mapping[int, list[str]]) -> Iterator[tuple[ToolCall, str]]:
    texts = returned.get(step.index, [])
    for at, call in enumerate(step.tool_calls):
        if call.error:
            yield call, call.error.message
        elif call.result:
            yield call, call.result.text
        else:
            yield call, texts[at] if at < len(texts) else ""


def _moves(step: Step, returned: Mapping[int, list[str]]) -> Iterator[str]:
    """What the subject did in one step: its calls with what they returned, or its message."""
    for call, result in calls_with_results(step, returned):
        yield f"{_call_text(call)}\n{result}"
    if not step.tool_calls and len(step.text) >= SHORTEST_MESSAGE:
        yield step.text


def _refused_calls(step: Step, returned: Mapping[int, list[str]]) -> Iterator[str]:
    for call, result in calls_with_results(step, returned):
        if call.error or (call.result and call.result.is_error) or _ERROR.match(result):
            yield f"{_call_text(call)}\n{result}"


def _longest_run(moves: list[str]) -> tuple[str, int]:
    """What was done most often in a row; waiting is not a loop."""
    longest, most, often, last = "", 0, 0, ""
    for move in moves:
        often, last = (often + 1 if move == last else 1), move
        if often > most and not is_waiting(_first_line(move)):
            longest, most = move, often
    return longest, most


def _call_text(call: ToolCall) -> str:
    return f"{call.name}({call.arguments_raw or _arguments(call.arguments)})"


def _arguments(arguments: Any) -> str:
    return "" if arguments is None else _encode(arguments).decode()


def _first_line(move: str) -> str:
    return move.partition("\n")[0]


TAIL = 1_500
SHORTEST_LOOP = 200
TIMES = 8
_END = 16


def repeated_text(text: str) -> str:
    """The piece that a text repeats up to its end; empty where it does not."""
    tail = text[-TAIL:].rstrip()
    end = tail[-_END:]
    if len(tail) < SHORTEST_LOOP or tail.find(end, -TAIL // 4, -1) < 0 or tail.count(end) < TIMES:
        return ""
    # the shortest distance at which the end comes again, and how far back that holds
    period = len(tail) - _END - tail.rfind(end, 0, len(tail) - 1)
    unit, start = tail[-period:], len(tail)
    while start >= period and tail[start - period : start] == unit:
        start -= period
    if (len(tail) - start) // period < TIMES or len(tail) - start < SHORTEST_LOOP:
        return ""
    return unit if any(letter.isalnum() for letter in unit) else ""


def loops(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """One call, message or piece of text over and over: a mistake of the subject that needs no comparison."""
    if attempt.outcome == "pass":
        return
    repeated = repeated_call(attempt)
    if repeated is not None:
        call, often = repeated
        evidence = signal("loop", "likely", "steps", "", attempt.ref, stated=f"{often} times: {call}")
        yield Observed(signal=evidence, owner="model", is_self_evident=True, is_specific=True)
        return
    unit = repeated_text(attempt.output.text) if attempt.output.text else ""
    if unit and not any(unit * 2 in wanted for wanted in (expected_texts(case) if case is not None else ())):
        # the reason that a check gives, where it gives one, stays the reason that is shown
        has_reason = any(check.failed and check.explanation for check in attempt.checks)
        evidence = signal("loop", "likely", "output.text", unit, attempt.ref, stated="the text ends in repetitions of")
        yield Observed(signal=evidence, owner="model", is_self_evident=True, is_specific=not has_reason)


def _name_of(limit: Limit) -> str:
    kind = limit.type if "limit" in limit.type else f"{limit.type} limit"
    return kind if limit.value is None else f"{kind} of {limit.value:g}"


def ran_into_a_limit(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    if attempt.execution == "limit":
        quote, stated = (attempt.limit.reason, _name_of(attempt.limit)) if attempt.limit else ("", "limit")
        explains = explains_failure(attempt, case)
        strength: Confidence = "likely" if explains else "weak"
        is_dialogue = _is_unscored_dialogue(attempt, case)
        name = "limit_during_changes" if explains and is_dialogue else "limit_reached"
        evidence = signal(name, strength, "limit", quote, attempt.ref, stated=stated)
        yield Observed(signal=evidence, owner="budget", is_specific=True)
        if not explains and is_dialogue:
            used_up = signal("turns_used_up", "likely", "limit", quote, attempt.ref, stated=stated)
            yield Observed(signal=used_up, owner="model", also=("budget",))


# a check that misses what the subject had still to make
_MISSING = lazy_regex(
    r"does(?: not|n['’]t) exist|no such file|not found|\bmissing\b|was not (?:created|written|found|produced)"
    r"|no (?:answer|output|submission|patch|solution|response)\b|(?:answer|output|submission|patch) is empty"
    r"|empty (?:answer|output|submission|patch|response)",
    re.IGNORECASE,
)
_CUTS_TEXT = lazy_regex(r"token|length|context|output", re.IGNORECASE)


def explains_failure(attempt: Attempt, case: Case | None) -> bool:
    """Whether what was still to be done when the limit was reached explains why the attempt failed."""
    if any(loops(attempt, case)):
        return False
    if attempt.conduct is not None and channel_state(attempt.conduct)[0] == "likely":
        return False  # without its tools it could not have finished in any time
    is_measured = attempt.measurement == "scored" and attempt.outcome in ("fail", "partial")
    if not is_measured and not _is_unscored_dialogue(attempt, case):
        return True
    # a transcript may hold only the task
    if any(step.actor.role == "assistant" for step in attempt.steps) or (attempt.steps and not attempt.output.text):
        return _has_done_its_part(attempt, case) or _was_at_work(
            attempt.steps, required_calls(case.expected) if case is not None else ()
        )
    if attempt.output.answer:
        return False
    if _CUTS_TEXT.search(attempt.limit.type if attempt.limit else attempt.stop_reason):
        return True
    text = attempt.output.text
    failed = [check for check in attempt.checks if check.failed]
    if failed and text is None:  # what the subject had made is not in the log: only the checks can tell
        return all(_MISSING.search(check.explanation) for check in failed)
    return not (text and text.strip())


def _is_unscored_dialogue(attempt: Attempt, case: Case | None) -> bool:
    """A conversation that was cut off and never scored, while the calls that it should have made are known."""
    if attempt.measurement == "scored" or attempt.limit is None or attempt.limit.type != "turn":
        return False
    return bool(attempt.steps) and writes_of(attempt, case) is not None


def _has_done_its_part(attempt: Attempt, case: Case | None) -> bool:
    """Whether everything had been changed as expected, and nothing else, when the limit was reached."""
    writes = writes_of(attempt, case)
    return writes is not None and not writes.missing and not writes.unexpected


def _was_at_work(steps: Sequence[Step], required: tuple[CalledFunction, ...]) -> bool:
    """Whether the last thing the subject did was a new call; where the right calls are known, one of those."""
    own = [step for step in steps if step.actor.role == "assistant"]
    if not own or not own[-1].tool_calls:
        return not own
    if not required:
        earlier = {_call_text(call) for step in own[:-1] for call in step.tool_calls}
        return any(_call_text(call) not in earlier for call in own[-1].tool_calls)
    earlier_calls = [_called(call) for step in own[:-1] for call in step.tool_calls]
    return any(
        is_same_call(made, wanted) and not any(is_same_call(one, wanted) for one in earlier_calls)
        for made in map(_called, own[-1].tool_calls)
        for wanted in required
    )


def _called(call: ToolCall) -> CalledFunction:
    return CalledFunction(call.name, call.arguments if isinstance(call.arguments, dict) else {})


def only_a_limit_failed(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    """The answer was good enough; it was too dear or too slow."""
    failed = [check for check in attempt.checks if check.status == "fail" and check.counts]
    if failed and all(check.kind == "limit" for check in failed):
        evidence = signal(
            "limit_exceeded", "certain", f"checks[{failed[0].name}]", failed[0].explanation, failed[0].ref
        )
        yield Observed(signal=evidence, owner="budget")
