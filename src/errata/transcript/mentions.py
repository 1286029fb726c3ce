"""Who named a value first: an index of everything that task, agents, users and tools wrote."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, Literal, NamedTuple

from errata.model import Artefact, Case, Step
from errata.text.lazy_regex import lazy_regex
from errata.transcript.tool_use import as_json

Origin = Literal["task", "system", "user", "agent", "call", "result"]
LONGEST = 50_000
"""Characters of one text that are searched."""
MOST = 4_000_000
"""Characters of a whole transcript that are searched. A value that comes up later counts as named by nobody."""
DECIMALS = 2_000
"""Decimal numbers of one text that can be the source of a rounded one."""
_THOUSANDS = lazy_regex(r"(\d)[,_](?=\d{3}(?!\d))")
_ZEROS = lazy_regex(r"(?<![\d.])(\d+)\.(\d{1,40})(?![\d.]\d|\d)")
_DECIMAL = lazy_regex(r"(?<![\w.])\d{1,15}\.\d{1,40}(?!\d|\.\d)")
_QUOTES = str.maketrans({"“": '"', "”": '"', "’": "'", "‘": "'", "–": "-", "—": "-", "\u00a0": " "})


class ValueMention(NamedTuple):
    origin: Origin
    at: int
    """The position of the step; -1 for the task and the context of the run."""
    step: Step | None


class Mentions:
    """Built once for an attempt; each question is one search through the whole text."""

    def __init__(self, steps: Sequence[Step], case: Case | None = None, context: Sequence[Artefact] = ()) -> None:
        self._steps = steps
        self._starts: list[int] = []
        self._pieces: list[tuple[Origin, int]] = []
        texts, size = [], 0
        for origin, at, text in _texts(steps, case, context):
            folded = folded_text(text[:LONGEST])
            if size + len(folded) > MOST:
                break
            self._starts.append(size)
            self._pieces.append((origin, at))
            texts.append(folded)
            size += len(folded) + 1
        self._text = "\n".join(texts)

    def each(self, value: str) -> Iterator[ValueMention]:
        """Every text that has the value as words of its own, in order; each text once."""
        wanted = folded_text(value).strip()
        at = self._text.find(wanted) if wanted else -1
        while at >= 0:
            if self._is_whole(at, wanted):
                number = bisect_right(self._starts, at) - 1
                origin, place = self._pieces[number]
                yield ValueMention(origin, place, self._steps[place] if place >= 0 else None)
                if number + 1 >= len(self._starts):
                    return
                at = self._text.find(wanted, self._starts[number + 1])
            else:
                at = self._text.find(wanted, at + 1)

    def _is_whole(self, at: int, wanted: str) -> bool:
        """No part of a longer word or number. A number may have a unit behind it, `11pm`, and a currency before it."""
        text, end = self._text, at + len(wanted)
        before, after = text[at - 1 : at] if at else "", text[end : end + 2]
        if wanted[0].isdigit():
            is_start = not (before.isdigit() or before == ".")
        else:
            is_start = not (_is_word(wanted[0]) and _is_word(before))
        if wanted[-1].isdigit():
            return is_start and not (after[:1].isdigit() or (after[:1] == "." and after[1:].isdigit()))
        return is_start and not (_is_word(wanted[-1]) and _is_word(after[:1]))

    def ends_an_id(self, digits: str) -> bool:
        """Whether a longer number or an id in a task, a result or a user's words ends in these digits."""
        at = self._text.find(digits, 1)
        while at >= 0:
            before, after = self._text[at - 1], self._text[at + len(digits) : at + len(digits) + 1]
            if _is_word(before) and not _is_word(after):
                number = bisect_right(self._starts, at) - 1
                if self._pieces[number][0] not in ("agent", "call"):
                    return True
            at = self._text.find(digits, at + len(digits))
        return False

    def has_source(self, number: float, decimals: int) -> bool:
        """Whether a task, a result or a user has a number that is this one when rounded."""
        return any(abs(round(one, decimals) - number) < 1e-9 for one in self._source_decimals)

    @cached_property
    def _source_decimals(self) -> frozenset[float]:
        decimals: set[float] = set()
        for number, (start, (origin, _)) in enumerate(zip(self._starts, self._pieces, strict=True)):
            if origin not in ("agent", "call"):
                end = self._starts[number + 1] if number + 1 < len(self._starts) else len(self._text)
                decimals.update(
                    float(match[0]) for match in islice(_DECIMAL.finditer(self._text, start, end), DECIMALS)
                )
        return frozenset(decimals)

    def first(self, value: str) -> ValueMention | None:
        return next(self.each(value), None)


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def folded_text(text: str) -> str:
    """For comparing: lower case, plain quotation marks, `2,499.00` and `2499.0` as `2499`."""
    if not text.isascii():
        text = text.translate(_QUOTES)
    text = _THOUSANDS.sub(r"\1", text) if "," in text or "_" in text else text
    return (_ZEROS.sub(_without_zeros, text) if "." in text else text).lower()


def _without_zeros(match: re.Match[str]) -> str:
    decimals = match[2].rstrip("0")
    return f"{match[1]}.{decimals}" if decimals else match[1]


def _texts(steps: Sequence[Step], case: Case | None, context: Sequence[Artefact]) -> Iterator[tuple[Origin, int, str]]:
    if case is not None:
        yield from (("task", -1, text) for text in task_texts(case))
    yield from (("system", -1, artefact.text) for artefact in context if artefact.text)
    for at, step in enumerate(steps):
        role = step.actor.role
        origin: Origin = "agent" if role == "assistant" else "system" if role == "system" else "result"
        if role in ("user", "simulator"):
            origin = "user"
        if step.text:
            yield origin, at, step.text
        for call in step.tool_calls:
            if call.arguments is not None or call.arguments_raw:
                yield "call", at, call.arguments_raw if call.arguments is None else as_json(call.arguments)
            if call.result is not None:
                result = call.result
                yield "result", at, result.text if result.structured is None else as_json(result.structured)
            if call.error is not None:
                yield "result", at, call.error.message


def task_texts(case: Case) -> Iterator[str]:
    yield from _strings(case.input)
    yield from case.choices
    for artefact in case.artefacts:
        if artefact.role == "task" and artefact.text:
            yield artefact.text


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
