"""Actions made beside actions expected: matched as multisets per tool, the rest paired by what they are about."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from errata.model import Attempt, Case
from errata.text.equivalence import same_value
from errata.text.lazy_regex import lazy_regex
from errata.transcript.calls import CalledFunction, calls_of, is_same_call, required_calls
from errata.transcript.tool_use import ToolUse, is_agent, object_ids, tool_uses

MOST_PAIRS = 60
"""Of longer lists only this many are paired."""
# by their verb: harnesses do not say which tools change anything
_READS = lazy_regex(
    r"(?:get|list|search|find|look_?up|calculate|think|check|verify|transfer|read|fetch|query|view|show|describe)(?:_|$)",
    re.IGNORECASE,
)


class MadeAction(NamedTuple):
    call: CalledFunction
    use: ToolUse


class ArgumentDifference(NamedTuple):
    argument: str
    """A path where it is nested: `flights[1].date`."""
    made: Any
    """None where it was left out."""
    wanted: Any


class DifferingAction(NamedTuple):
    made: MadeAction
    wanted: CalledFunction
    differences: tuple[ArgumentDifference, ...]


class ActionComparison(NamedTuple):
    made: tuple[MadeAction, ...]
    differing: tuple[DifferingAction, ...]
    unexpected: tuple[MadeAction, ...]
    missing: tuple[CalledFunction, ...]


class Unmatched(NamedTuple):
    """What is left after equal actions were matched, before the rest is paired."""

    made: tuple[MadeAction, ...]
    unexpected: tuple[MadeAction, ...]
    missing: tuple[CalledFunction, ...]


def is_write(name: str) -> bool:
    return not _READS.match(name)


def expected_actions(case: Case | None) -> tuple[CalledFunction, ...] | None:
    """None where the log does not list them. Of a dialogue's actions only those that change something."""
    expected = case.expected if case is not None else None
    if isinstance(expected, dict) and isinstance(expected.get("actions"), list):
        # what the simulated user has to do is not the subject's
        listed = [one for one in expected["actions"] if not (isinstance(one, dict) and one.get("requestor") == "user")]
        calls = calls_of(listed)
        return tuple(call for call in calls if is_write(call.name)) if calls or not listed else None
    return required_calls(expected) or None


def unmatched_actions(attempt: Attempt, case: Case | None, uses: Sequence[ToolUse] | None = None) -> Unmatched | None:
    """None where the log does not list what was expected, or has no transcript."""
    wanted = expected_actions(case)
    if wanted is None or not attempt.steps:
        return None
    reads_count = not (case is not None and isinstance(case.expected, dict) and "actions" in case.expected)
    made = tuple(_actions_in(tool_uses(attempt.steps) if uses is None else uses, reads_count=reads_count))
    left: dict[str, list[MadeAction]] = {}
    for action in made:
        left.setdefault(_tool(action.call), []).append(action)
    missing = []
    for call in wanted:
        alike = left.get(_tool(call), [])
        match = next((one for one in alike if is_same_call(one.call, call)), None)
        if match is None:
            missing.append(call)
        else:
            alike.remove(match)
    unexpected = sorted((action for alike in left.values() for action in alike), key=lambda one: one.use.at)
    return Unmatched(made, tuple(unexpected), tuple(missing))


def compare_actions(
    attempt: Attempt, case: Case | None, uses: Sequence[ToolUse] | None = None
) -> ActionComparison | None:
    rest = unmatched_actions(attempt, case, uses)
    if rest is None:
        return None
    unexpected, missing = list(rest.unexpected), list(rest.missing)
    pairs = sorted(
        (_likeness(action.call, call), -at, -number)
        for at, action in enumerate(unexpected[:MOST_PAIRS])
        for number, call in enumerate(missing[:MOST_PAIRS])
        if _tool(action.call) == _tool(call)
    )
    taken_made: set[int] = set()
    taken_wanted: set[int] = set()
    differing = []
    for (is_same_object, equal), at, number in reversed(pairs):
        if -at in taken_made or -number in taken_wanted:
            continue
        if not is_same_object and not equal and len(unexpected) > 1:
            continue
        taken_made.add(-at)
        taken_wanted.add(-number)
        made, wanted = unexpected[-at], missing[-number]
        differing.append(DifferingAction(made, wanted, tuple(differences(made.call, wanted))))
    return ActionComparison(
        rest.made,
        tuple(sorted(differing, key=lambda one: one.made.use.at)),
        tuple(action for at, action in enumerate(unexpected) if at not in taken_made),
        tuple(call for number, call in enumerate(missing) if number not in taken_wanted),
    )


def differences(made: CalledFunction, wanted: CalledFunction) -> Iterator[ArgumentDifference]:
    for name in dict.fromkeys((*wanted.arguments, *made.arguments)):
        given, value = made.arguments.get(name), wanted.arguments.get(name)
        if wanted.any_of and isinstance(value, list):
            if not any(same_value(given, one) for one in value):
                yield ArgumentDifference(name, given, value[0] if value else None)
        else:
            yield from _unequal(name, given, value)


def _unequal(path: str, made: Any, wanted: Any) -> Iterator[ArgumentDifference]:
    if same_value(made, wanted) or (made in _NOTHING and wanted in _NOTHING):
        return
    if isinstance(made, dict) and isinstance(wanted, dict):
        for key in dict.fromkeys((*wanted, *made)):
            yield from _unequal(f"{path}.{key}", made.get(key), wanted.get(key))
    elif isinstance(made, list) and isinstance(wanted, list) and len(made) == len(wanted):
        for at, (given, value) in enumerate(zip(made, wanted, strict=True)):
            yield from _unequal(f"{path}[{at}]", given, value)
    else:
        yield ArgumentDifference(path, made, wanted)


_NOTHING: tuple[Any, ...] = (None, "", [], {})


def _actions_in(uses: Sequence[ToolUse], *, reads_count: bool) -> Iterator[MadeAction]:
    for use in uses:
        if use.is_code or not is_agent(use.step) or not isinstance(use.arguments, dict) or use.error:
            continue
        if reads_count or is_write(use.name):
            yield MadeAction(CalledFunction(use.name, use.arguments), use)


def _tool(call: CalledFunction) -> str:
    return call.name.replace(".", "_")


def _likeness(made: CalledFunction, wanted: CalledFunction) -> tuple[bool, int]:
    is_same_object = not object_ids(made.arguments).isdisjoint(object_ids(wanted.arguments))
    equal = sum(same_value(made.arguments.get(name), value) for name, value in wanted.arguments.items())
    return is_same_object, equal
