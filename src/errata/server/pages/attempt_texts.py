"""The texts of an attempt as its page shows them: lines with addresses, and the quotes of evidence marked in them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any, NamedTuple

import msgspec

from errata.model import Attempt, Case, Step, ToolCall
from errata.model.places import anchor_of, log_names, slug
from errata.text.outgoing import page_lines

MOST = 200_000
"""Characters of a text up to which it is shown whole; of a longer one, the first and last lines."""
ENDS = 100
"""Lines of each end of a text that is not shown whole."""
SHORTEST = 4
"""Characters of a quote that is looked for."""


class Mark(NamedTuple):
    """A quote of evidence: `T1` is the first of triage, `A2` the second of the first reviewer."""

    name: str
    place: str
    quote: str


class MarkedSpan(NamedTuple):
    start: int
    end: int
    mark: str


class LinedText:
    """One text with its lines. `anchor` is the address of its first part, `first` the number of its first line."""

    def __init__(self, anchor: str, text: str, *, first: int = 1, separator: str = ":", kind: str = "") -> None:
        self.anchor, self.first, self.separator, self.kind = anchor, first, separator, kind
        self.text = page_lines(text).removesuffix("\n")
        self.spans: list[MarkedSpan] = []

    @property
    def count(self) -> int:
        return self.text.count("\n") + 1

    def find(self, quote: str) -> tuple[int, int] | None:
        """Where the quote is, whatever the white space in it."""
        if quote in self.text:
            at = self.text.index(quote)
            return at, at + len(quote)
        words = quote.split()
        if not words or len(words) > 400:
            return None
        match = re.search(r"\s+".join(map(re.escape, words)), self.text)
        return match.span() if match else None

    def line_of(self, offset: int) -> int:
        return self.first + self.text.count("\n", 0, offset)

    def address(self, line: int) -> str:
        return f"{self.anchor}{self.separator}{line}"

    def lines(self) -> Iterator[tuple[int, str, bool]]:
        """Number, HTML, and whether it holds evidence."""
        at = 0
        for number, line in enumerate(self.text.split("\n"), self.first):
            own = [span for span in self.spans if span.start <= at + len(line) and span.end > at]
            yield number, _marked(line, at, own), bool(own)
            at += len(line) + 1


def _marked(line: str, at: int, spans: Sequence[MarkedSpan]) -> str:
    """Marks do not nest: where two quotes overlap, the second begins behind the first."""
    parts, done = [], 0
    for span in sorted(spans):
        start, end = max(span.start - at, done), min(span.end - at, len(line))
        if start < end:
            parts.append(escape(line[done:start]))
            parts.append(f'<mark><span class="hidden">evidence {span.mark} </span>{escape(line[start:end])}</mark>')
            done = end
        if span.end <= at + len(line):
            parts.append(f'<sup><a href="#quote-{span.mark}" data-mark="{span.mark}">{span.mark}</a></sup>')
    parts.append(escape(line[done:]))
    return "".join(parts)


class AttemptTexts:
    """Every text of an attempt, by its anchor, in the order of the page."""

    def __init__(self, attempt: Attempt, case: Case | None) -> None:
        self.attempt, self.case = attempt, case
        self.logs = log_names(passage.path for passage in attempt.artefacts if passage.role == "log")
        self.steps: dict[int, list[LinedText]] = {step.index: list(_step_passages(step)) for step in attempt.steps}
        self.files: dict[str, LinedText] = {}
        for artefact in attempt.artefacts:
            if artefact.role == "log" and artefact.text is not None:
                self.files[artefact.path] = LinedText(
                    self.logs[artefact.path], artefact.text, first=artefact.lines_before + 1, separator="-"
                )
        self.checks = {
            check.name: LinedText(f"check-{slug(check.name)}", check.explanation)
            for check in attempt.checks
            if check.explanation
        }
        self.errors = [
            LinedText(f"error-{at}", "\n".join(filter(None, (error.message, error.traceback))))
            for at, error in enumerate(attempt.errors, 1)
        ]
        self.judges = [
            (passage, LinedText(f"judge-{slug(passage.judge)}", passage.reasoning))
            for passage in attempt.judgements
            if passage.reasoning
        ]
        text = attempt.output.text if attempt.output.text is not None else attempt.output.answer
        self.output = LinedText("output", text) if text is not None else None
        self.task = (
            LinedText("task", as_text(case.input)) if case is not None and case.input not in (None, "") else None
        )
        names = {step.actor.name for step in attempt.steps if step.actor.role == "assistant"}
        self.has_several_agents = len(names) > 1
        self.places: dict[str, str] = {}
        """Mark → the address of its quote."""

    def all(self) -> Iterator[LinedText]:
        yield from (passage for passage in (self.task,) if passage is not None)
        for passages in self.steps.values():
            yield from passages
        yield from (passage for passage in (self.output,) if passage is not None)
        yield from self.errors
        yield from self.checks.values()
        yield from (passage for _, passage in self.judges)
        yield from self.files.values()

    def put(self, marks: Iterable[Mark]) -> None:
        """Find each quote: at its own place first, then anywhere."""
        for mark in marks:
            anchor = anchor_of(mark.place, self.logs) if mark.place else ""
            self.places[mark.name] = self._put(mark, anchor) or (anchor or "facts")

    def _put(self, mark: Mark, anchor: str) -> str:
        if len(mark.quote.strip()) < SHORTEST:
            return ""
        every = list(self.all())
        base = anchor if any(passage.anchor == anchor for passage in every) else re.sub(r"-\d+$", "", anchor)
        own = [passage for passage in every if passage.anchor in (anchor, base)]
        variants = list(_variants(page_lines(mark.quote)))
        elsewhere = [(passage, variants[0]) for passage in every if passage not in own]
        for passage, quote in (*((passage, quote) for quote in variants for passage in own), *elsewhere):
            if (place := self._place(passage, quote, anchor)) is not None:
                passage.spans.append(MarkedSpan(*place, mark.name))
                return passage.address(passage.line_of(place[0]))
        return ""

    @staticmethod
    def _place(passage: LinedText, quote: str, anchor: str) -> tuple[int, int] | None:
        """In a log, at the line that the place names, if the quote is there."""
        number = anchor.rpartition("-")[2]
        if passage.separator == "-" and number.isdecimal():
            lines = passage.text.split("\n")
            at = int(number) - passage.first
            if 0 <= at < len(lines):
                start = sum(len(line) + 1 for line in lines[:at])
                inner = lines[at].find(quote)
                if inner >= 0:
                    return start + inner, start + inner + len(quote)
        return passage.find(quote)


def _variants(quote: str) -> Iterator[str]:
    """Triage quotes a call as `Bash: command` or `Bash('command')`; the log has the command alone."""
    yield quote
    name, colon, rest = quote.partition(": ")
    if colon and name.isidentifier() and len(rest) >= SHORTEST:
        yield rest
    called = re.fullmatch(r"\w+\((['\"])(.*)\1\)", quote, re.DOTALL)
    if called is not None and len(called[2]) >= SHORTEST:
        yield called[2]
    lines = [line.strip() for line in quote.split("\n") if len(line.strip()) >= 2 * SHORTEST]
    if len(lines) > 1:
        yield lines[0]


def _step_passages(step: Step) -> Iterator[LinedText]:
    anchor, first = f"step-{step.index}", 1
    for kind, text in _step_texts(step):
        passage = LinedText(anchor, text, first=first, kind=kind)
        first += passage.count
        yield passage


def _step_texts(step: Step) -> Iterator[tuple[str, str]]:
    if step.reasoning:
        yield "reasoning", step.reasoning
    if step.text:
        yield "text", step.text
    for at, call in enumerate(step.tool_calls):
        yield f"arguments {at}", arguments_of(call)
        result = result_of(call)
        if result:
            yield f"result {at}", result
    if step.error is not None:
        yield "error", f"{step.error.type}: {step.error.message}"


def arguments_of(call: ToolCall) -> str:
    """A call with one text is shown as this text; others as their fields."""
    if call.arguments_raw and call.arguments is None:
        return call.arguments_raw
    values = call.arguments
    if isinstance(values, dict):
        return "\n".join(
            f"{name}: {value if isinstance(value, str) else as_text(value)}" for name, value in values.items()
        )
    return as_text(values)


def result_of(call: ToolCall) -> str:
    if call.error is not None:
        return f"{call.error.type}: {call.error.message}"
    if call.result is None:
        return ""
    return call.result.text or (as_text(call.result.structured) if call.result.structured is not None else "")


def as_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return msgspec.json.format(msgspec.json.encode(value, enc_hook=str), indent=2).decode("utf-8", "replace")
