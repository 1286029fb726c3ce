"""A line for each step of a transcript: its number, its speaker, and how it begins; repetitions are folded.

Lines get shorter as a transcript gets longer. Where even short lines do not fit, neighbouring steps share one; steps
that are flagged, and those at both ends, keep their own as far as possible.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from errata.model import Step, ToolCall
from errata.review.excerpts import Tell, as_is, cut_line, in_short, weight

WIDTHS = (200, 140, 100, 70, 50, 36, 24)
"""Characters of a step, at most."""
NARROW = 50
"""Lines that are wider must fit into two thirds of the room: what is left is for the steps themselves."""
PERIOD = 4
"""Steps of the longest pattern that is recognised as a repetition: agents call, look, and call again."""
ENDS = 20
"""Steps at each end that keep lines of their own where others share one."""
NAMED = 3
_MARK = 3
"""Bytes of a line beside its text: quotes and a comma in JSON."""
OUTPUT = "(the output)"


class _StepLine(NamedTuple):
    first: int
    last: int
    text: str

    def __str__(self) -> str:
        return f"{self.first}-{self.last} {self.text}" if self.last > self.first else f"{self.first} {self.text}"


def timeline(
    steps: Sequence[Step], room: int, tell: Tell, *, flagged: Collection[int] = (), output: str = ""
) -> tuple[str, ...]:
    """Every step, in at most `room` bytes. `flagged` are indices of steps; `output` is the text that is shown whole."""
    for width in WIDTHS if len(steps) * WIDTHS[-1] < room else ():
        enough = room if width <= NARROW else room * 2 // 3
        lines = list(_folded(steps, partial(_raw_line, width=width, output=output)))
        if _size(lines) <= enough:
            redacted = _redacted_lines(lines, steps, partial(step_line, width=width, tell=tell, output=output))
            if _size(redacted) <= enough:
                return tuple(map(str, redacted))
    return _grouped(steps, room, tell, frozenset(flagged), output)


def step_line(step: Step, width: int, tell: Tell, output: str = "") -> str:
    """Who wrote or did what, and what came back, on one line."""
    calls = step.tool_calls
    if output and step.text.strip() == output.strip():
        text = OUTPUT
    else:
        text = in_short(step.text, width // 2 if calls else width, tell) if step.text.strip() else ""
    parts = [f"{step.speaker}: {text}".rstrip()]
    for call in calls[:NAMED]:
        given = call.arguments_raw if call.arguments is None else _argument_values(call)
        parts.append(f"→ {in_short(f'{call.name} {given}'.rstrip(), width // 2, tell)}")
        if came := _came_back(call):
            parts.append(f"← {in_short(came, width // 3, tell)}")
    if len(calls) > NAMED:
        parts.append(f"and {len(calls) - NAMED} more calls")
    if step.error is not None:
        parts.append(in_short(f"{step.error.type}: {step.error.message}", width // 2, tell))
    return cut_line(" ".join(parts), width + len(step.speaker), tell)


def _argument_values(call: ToolCall) -> str:
    """The values without their names: a command, a path, an id."""
    given = call.arguments
    if not isinstance(given, dict):
        return str(given)[:400]
    return ", ".join(str(value)[:200] for value in list(given.values())[:4])


def _came_back(call: ToolCall) -> str:
    if call.error is not None:
        return f"{call.error.type}: {call.error.message}"
    if call.parse_error:
        return f"not understood: {call.parse_error}"
    if call.result is None:
        return ""
    code = f"exit {call.result.exit_code}: " if call.result.exit_code else ""
    text = call.result.text if call.result.structured is None else str(call.result.structured)[:400]
    return f"{code}{text}".strip()


def _raw_line(step: Step, width: int, output: str) -> str:
    """As it will look, but not redacted: to see what is alike and how much room it takes."""
    return step_line(step, width, as_is, output)


def _folded(steps: Sequence[Step], line: Callable[[Step], str]) -> Iterator[_StepLine]:
    """A line for each step; steps that repeat those before them share one."""
    texts = [line(step) for step in steps]
    at = 0
    while at < len(texts):
        period, times = _repetition(texts, at)
        yield from (_StepLine(steps[one].index, steps[one].index, texts[one]) for one in range(at, at + period))
        if times > 1:
            end = at + period * times
            first, last = steps[at].index, steps[at + period - 1].index
            which = f"steps {first}-{last}" if period > 1 else f"step {first}"
            again = "once more" if times == 2 else f"{times - 1} more times"
            yield _StepLine(steps[at + period].index, steps[end - 1].index, f"(as {which}, {again})")
            at = end
        else:
            at += period


def _repetition(texts: Sequence[str], at: int) -> tuple[int, int]:
    """The length of the shortest pattern that begins there and is repeated, and how often it is there."""
    for period in range(1, PERIOD + 1):
        pattern, times = texts[at : at + period], 1
        while len(pattern) == period and texts[at + period * times : at + period * (times + 1)] == pattern:
            times += 1
        if times > 1:
            return period, times
    return 1, 1


def _redacted_lines(lines: Sequence[_StepLine], steps: Sequence[Step], line: Callable[[Step], str]) -> list[_StepLine]:
    by_index = {step.index: step for step in steps}
    return [one if one.text.startswith("(as ") else one._replace(text=line(by_index[one.first])) for one in lines]


def _size(lines: Sequence[_StepLine]) -> int:
    return sum(weight(str(one)) + _MARK for one in lines)


def _grouped(steps: Sequence[Step], room: int, tell: Tell, flagged: frozenset[int], output: str) -> tuple[str, ...]:
    """Too many steps for a line each: the others share lines, more of them to a line until they fit."""
    own = _with_own_line(steps, room, flagged)
    together = 4
    while True:
        lines: list[_StepLine] = []
        group: list[Step] = []
        for step in steps:
            if step.index in own:
                lines += [_group_line(group)] if group else []
                group = []
                lines.append(_StepLine(step.index, step.index, step_line(step, WIDTHS[-1], tell, output)))
                continue
            group.append(step)
            if len(group) == together:
                lines.append(_group_line(group))
                group = []
        lines += [_group_line(group)] if group else []
        if _size(lines) <= room or together > len(steps):
            return tuple(map(str, lines))
        together *= 2


def _with_own_line(steps: Sequence[Step], room: int, flagged: frozenset[int]) -> frozenset[int]:
    """As many as half of the room has: those that are flagged first, then from both ends."""
    most = max(room // (4 * WIDTHS[-1]), 2)
    ends = [one for pair in zip(steps[:ENDS], reversed(steps[-ENDS:]), strict=False) for one in pair]
    known = {step.index for step in steps}
    wanted = dict.fromkeys([*sorted(flagged & known), *(step.index for step in ends)])
    return frozenset(list(wanted)[:most])


def _group_line(group: Sequence[Step]) -> _StepLine:
    speakers = Counter(step.speaker for step in group)
    tools = Counter(call.name for step in group for call in step.tool_calls)
    counted = [", ".join(f"{name} {count}×" for name, count in of.most_common(NAMED)) for of in (speakers, tools) if of]
    return _StepLine(group[0].index, group[-1].index, f"({'; calls: '.join(counted)})")
