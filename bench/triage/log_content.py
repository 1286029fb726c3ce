"""The content of a template at a place, before a harness writes it down: the part `field` is made of these."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from bench.triage.logs import Harness, Place, Target, Twin, traceback
from bench.triage.templates import Template

APP = (("/home/user/demo/app.py", 31, "answer"),)


class Thrown(msgspec.Struct, frozen=True):
    """An exception, as each harness puts it."""

    type: str
    text: str

    @property
    def line(self) -> str:
        return f"{self.type}: {self.text}" if self.type else self.text

    @property
    def call(self) -> str:
        """As Python writes it: `ValueError('no')`."""
        return f"{self.type or 'Exception'}({self.text!r})"

    def stack(self, *frames: tuple[str, int, str]) -> str:
        return traceback(frames or APP, self.line)


class LogContent(msgspec.Struct, frozen=True, kw_only=True):
    """One failure; by default a plain wrong answer."""

    case: str = "tide-07"
    question: str = "When is high water?"
    expected: str = "14:05"
    answer: str = "noon"
    thrown: Thrown | None = None
    """By what was asked."""
    broken: Thrown | None = None
    """By what measured."""
    reason: str = ""
    """The reason that a check gives."""
    tool: str = ""
    """What a tool of the subject gave back."""
    recovered: Thrown | None = None
    stop: str = ""
    ending: str = ""
    """The harness's own word for how it ended."""
    parsed: str | None = None
    flexible: bool | None = None
    choices: tuple[str, ...] = ()
    log: str = ""
    """Of the verifier."""


Says = Callable[[Template], LogContent]
Write = Callable[[Path, LogContent], Target]


def _thrown(fault: Template) -> Thrown:
    return Thrown(fault.type, fault.text)


def _question_and_answer(fault: Template) -> LogContent:
    values = fault.values
    return LogContent(
        question=values["question"],
        expected=values["expected"],
        answer=values["answer"],
        parsed=values.get("parsed"),
        flexible=values.get("flexible"),
        choices=tuple(values.get("choices", ())),
    )


SAYS: dict[str, Says] = {
    **dict.fromkeys(
        ("call", "mid_call", "cell", "setup", "world", "simulator", "handler"),
        lambda one: LogContent(thrown=_thrown(one)),
    ),
    **dict.fromkeys(("scoring", "scorer"), lambda one: LogContent(broken=_thrown(one))),
    **dict.fromkeys(("strict", "decoder", "filters", "choices"), _question_and_answer),
    **dict.fromkeys(("check_text", "judge_reasoning", "test_output"), lambda one: LogContent(reason=one.text)),
    **dict.fromkeys(("tool_output", "tool_error", "trajectory"), lambda one: LogContent(tool=one.text)),
    **dict.fromkeys(("case_name", "test_name"), lambda one: LogContent(case=one.text)),
    "stop": lambda one: LogContent(stop=one.text, answer=one.values["answer"]),
    "ending": lambda one: LogContent(ending=one.type),
    "verifier_log": lambda one: LogContent(log=one.text),
    "answer": lambda one: LogContent(answer=one.text),
    "case_input": lambda one: LogContent(question=one.text),
    "expected": lambda one: LogContent(expected=one.text),
    "recovered": lambda one: LogContent(recovered=_thrown(one)),
}
"""Place → the content of a template there."""

ANSWERED = ("answer", "case_input", "expected", "strict")
"""Wherever answers are compared with a reference."""


def harness(name: str, fixture: str, write: Write, *places: str, twin: str = "") -> Harness:
    """Writes the content into a copy of a fixture; `twin` is a case of the fixture that the model failed."""
    made = {says: Place(fixture, _inject(write, says)) for says in map(SAYS.__getitem__, places)}
    twins = (Twin(fixture, Target(twin)),) if twin else ()
    return Harness(name, {place: made[SAYS[place]] for place in places}, twins)


def joined(*parts: Harness) -> Harness:
    """One harness that writes several kinds of logs."""
    places = {name: place for part in parts for name, place in part.places.items()}
    return Harness(parts[0].name, places, tuple(twin for part in parts for twin in part.twins))


def _inject(write: Write, says: Says) -> Callable[[Path, Template], Target]:
    return lambda root, template: write(root, says(template))
