"""The places of a packet: their names, which of them come first, and those made of the attempt's own fields.

task, input, choices               what was asked; a turn of a conversation has an input
error, status, checks/<name>       errors of the harness
output, output/<path>              what was answered
tool_calls, tool_results, steps/<index>
judge_reasoning, judge_reasoning/<judge>
expected, reference/<path>, grader/<path>
<path>.log, log/<path>             logs
system_prompt, context/<path>      the subject's instructions
earlier/<case>, later/<case>       turns of the same conversation
parts/<path>, earlier/session-<n>, repeated/<n>   other attempts at the same case
subjects/<n>                       attempts of other subjects, in a packet about a task
"""

from collections.abc import Iterator
from typing import Literal

from msgspec.structs import replace

from errata.model import Attempt, ErrorInfo, Judgement, SourceRef, Step
from errata.review.material import SAYS_NOTHING, Clues, Material, noteworthy
from errata.review.packet_size import READABLE, WantedPlace
from errata.review.transcript import (
    WANTED,
    as_text,
    by_relevance,
    calls_made,
    is_broken,
    is_system_prompt,
    is_tool_failure,
    mattering,
    results_got,
    step_text,
)
from errata.transcript.tool_use import as_json

STATUS, TASK, CALLS, OUTPUT, EXPECTED, JUDGE, NAMED_FILES, LOGS, GRADER, REFERENCE, ROOT = (
    rank * 1_000 for rank in range(11)
)
OTHER_FILES, EARLIER, STEPS, CONTEXT, KIN, SYSTEM_PROMPT, REST = (rank * 1_000 for rank in range(11, 18))
"""Who gets room first where a packet would be too large."""

WHOLE = 64_000
"""Bytes of a turn's tool calls, or their results, that are shown whatever the budget is."""
STEPS_GROUP = "steps of the transcript"
CHECKS = 20
CHECKS_FOR_SURE = 4

Kind = Literal["task", "error", "output", "judge", "expected", "grader", "log", "context", "neighbour"]
_KINDS: dict[str, Kind] = {
    "task": "task",
    "input": "task",
    "choices": "task",
    "error": "error",
    "status": "error",
    "checks": "error",
    "output": "output",
    "tool_calls": "output",
    "tool_results": "output",
    "steps": "output",
    "parts": "output",
    "subjects": "output",
    "judge_reasoning": "judge",
    "expected": "expected",
    "reference": "expected",
    "grader": "grader",
    "log": "log",
    "system_prompt": "context",
    "context": "context",
    "earlier": "neighbour",
    "later": "neighbour",
    "repeated": "neighbour",
}


def kind_of(place: str) -> Kind:
    """The kind of text in a place; `log` if the name fits no other kind."""
    return _KINDS.get(place.partition("/")[0].partition("#")[0], "log")


def log_name(path: str) -> str:
    """A log goes by its own name, where nothing else can be meant by it."""
    return path if path.endswith(".log") and path.partition("/")[0] not in _KINDS else f"log/{path}"


def where(*refs: SourceRef | None) -> str:
    """The first place that is known."""
    return next((str(ref) for ref in refs if ref is not None), "")


def own_places(material: Material, clues: Clues, *, all_steps: bool) -> Iterator[WantedPlace]:
    """What was asked, what went wrong, what was answered, in the order one reads them.

    Without `all_steps`, the least relevant steps of a very long transcript are not even tried.
    """
    yield from _input_places(material)
    yield from _trouble(material, clues)
    yield from _answered(material, clues, all_steps=all_steps)


def _input_places(material: Material) -> Iterator[WantedPlace]:
    attempt, case = material.attempt, material.case
    step = next((step for step in attempt.steps if step.actor.role == "user" and step.text.strip()), None)
    task = task_text(material)
    if step is not None and (material.is_turn or not task):
        yield _must("input" if material.is_turn else "task", where(step.ref, attempt.ref), step.text, TASK)
    if case is None:
        return
    if task and not (material.is_turn and step is not None and step.text.strip() == task.strip()):
        file = next((one for one in case.artefacts if one.role == "task" and one.text == task), None)
        yield _must("task", where(file.ref if file else None, case.ref), task, TASK)
    if case.choices:
        yield _must("choices", where(case.ref), "\n".join(case.choices), TASK)


def task_text(material: Material) -> str:
    """From the case; empty if only the transcript has the task."""
    asked = material.case.input if material.case is not None else None
    return as_text(asked) if asked not in (None, "", [], {}) else ""


def shown_elsewhere(material: Material) -> dict[str, str]:
    """Texts that need not be shown again as a step, with the names of their places."""
    steps = material.attempt.steps
    first = next((step.text for step in steps if step.actor.role == "user" and step.text.strip()), "")
    task = task_text(material)
    texts = {task or first: "task", material.attempt.output.text or "": "output"}
    return {text.strip(): place for text, place in texts.items() if text.strip()}


def _trouble(material: Material, clues: Clues) -> Iterator[WantedPlace]:
    attempt = material.attempt
    errors = list(dict.fromkeys(_error_text(error) for error in attempt.errors))
    if errors:
        ref = next((error.ref for error in attempt.errors if error.ref), None)
        yield _must("error", where(ref, attempt.ref), "\n\n".join(errors), STATUS, tail=0.6, most=1 / 6)
    if status := "\n".join(_status(attempt)):
        yield _must("status", where(attempt.ref), status, STATUS)
    known = {
        text.strip() for text in (attempt.output.text, *errors, *(one.reasoning for one in attempt.judgements)) if text
    }
    checks = [check for check in attempt.checks if noteworthy(check) and check.explanation.strip() not in known | {""}]
    for number, check in enumerate(checks[:CHECKS]):
        yield WantedPlace(
            place=f"checks/{check.name}",
            source=where(check.ref, attempt.ref),
            text=check.explanation,
            rank=STATUS + 1 + number,
            least=READABLE if number < CHECKS_FOR_SURE else 0,
            needles=clues.needles,
            tail=0.7,
            most=1 / 12,
            group="reasons of failed checks",
        )


def _answered(material: Material, clues: Clues, *, all_steps: bool) -> Iterator[WantedPlace]:
    attempt = material.attempt
    source = where(attempt.output.ref, attempt.ref)
    if attempt.output.text:
        yield _must("output", source, attempt.output.text, OUTPUT)
    if attempt.output.structured is not None:
        yield _must("output/structured", source, as_text(attempt.output.structured), OUTPUT)
    if material.is_turn:
        yield from _turn_calls(attempt)
    elif attempt.steps:
        yield from _steps(material, clues, all_steps=all_steps)
    for judgement in attempt.judgements:
        name = "judge_reasoning" if len(attempt.judgements) == 1 else f"judge_reasoning/{judgement.judge}"
        text = judgement.reasoning or ("" if judgement.valid else as_text(judgement.raw))
        if text.strip():
            yield _must(name, where(judgement.ref, attempt.ref), text, JUDGE)
    if material.case is not None and material.case.expected not in (None, "", [], {}):
        yield _must("expected", where(material.case.ref), as_text(material.case.expected), EXPECTED)
    # messages are the judge's prompt; everything else repeats its answer
    prompts = [one for one in attempt.judgements if isinstance(one.raw, list) and one.valid and one.reasoning]
    yield from (_judge_prompt(attempt, one) for one in prompts)


def _turn_calls(attempt: Attempt) -> Iterator[WantedPlace]:
    """For a failure of tools always in full: what was called is what has to be judged."""
    least = WHOLE if is_tool_failure(attempt) else READABLE
    for place, listed in (("tool_calls", calls_made(attempt.steps)), ("tool_results", results_got(attempt.steps))):
        if listed:
            yield WantedPlace(
                place=place, source=where(attempt.ref), text=as_json(listed), rank=CALLS, least=least, share=WHOLE
            )


def _steps(material: Material, clues: Clues, *, all_steps: bool) -> Iterator[WantedPlace]:
    """Those where the failure shows get room first, then those near them and near both ends."""
    attempt = material.attempt
    steps = attempt.steps
    first = mattering(attempt, clues.needles, clues.flagged)
    others = by_relevance(first, len(steps))
    ranked = {at: OUTPUT + min(len(steps) - at, 999) for at in first}
    ranked |= {at: STEPS + min(rank, 999) for rank, at in enumerate(others if all_steps else others[:WANTED])}
    elsewhere = shown_elsewhere(material)
    for at in sorted(ranked):
        step = steps[at]
        if is_system_prompt(step) or is_shown_elsewhere(material, step, elsewhere):
            continue
        yield WantedPlace(
            place=f"steps/{step.index}",
            source=where(step.ref, attempt.ref),
            text=_step_text(step, steps[at - 1] if at - 1 in ranked else None, elsewhere),
            rank=CALLS if is_broken(step) and at in first else ranked[at],
            needles=clues.needles,
            share=6_000 if is_broken(step) else 2_000,
            most=1 / 3 if is_broken(step) else 1 / 8,
            group=STEPS_GROUP,
        )


def prompt_places(material: Material) -> Iterator[WantedPlace]:
    """System prompts in the transcript, each once; they come last."""
    attempt = material.attempt
    known: set[str] = set()
    for step in () if material.is_turn else filter(is_system_prompt, attempt.steps):
        if step.text.strip() not in known:
            known.add(step.text.strip())
            source, text = where(step.ref, attempt.ref), step_text(step)
            yield WantedPlace(
                place=f"steps/{step.index}", source=source, text=text, rank=SYSTEM_PROMPT, most=1 / 8, group=STEPS_GROUP
            )


def is_shown_elsewhere(material: Material, step: Step, elsewhere: dict[str, str]) -> bool:
    """Whether a step adds nothing to another place, not even which step it is: there is only one answer."""
    if step.tool_calls or step.error or step.reasoning.strip() or step.parts:
        return False
    text = step.text.strip()
    if text and text not in elsewhere:
        return False
    return sum(one.actor.role == "assistant" for one in material.attempt.steps[:WANTED]) < 2


def _step_text(step: Step, before: Step | None, elsewhere: dict[str, str]) -> str:
    """What another place shows whole is not repeated; number and speaker stay."""
    place = elsewhere.get(step.text.strip())
    return step_text(replace(step, text=same_as(place)) if place else step, before)


def same_as(place: str) -> str:
    """A note that errata writes in place of a text."""
    return f"[… the text of `{place}` …]"


def _judge_prompt(attempt: Attempt, judgement: Judgement) -> WantedPlace:
    """What the judge was asked is a grader's source."""
    return WantedPlace(
        place=f"grader/{judgement.judge or 'judge'}",
        source=where(judgement.ref, attempt.ref),
        text=as_text(judgement.raw),
        rank=REST,
        most=1 / 12,
        group="what judges were asked",
    )


def _must(place: str, source: str, text: str, rank: int, *, tail: float = 0.4, most: float = 1.0) -> WantedPlace:
    return WantedPlace(place=place, source=source, text=text, rank=rank, least=READABLE, tail=tail, most=most)


def _error_text(error: ErrorInfo) -> str:
    head = error.message if error.message.startswith(error.type) else f"{error.type}: {error.message}"
    notes = [f"code {error.code}" if error.code else "", "recovered" if error.recovered else ""]
    noted = ", ".join(note for note in notes if note)
    return "\n".join(part for part in (f"{head} ({noted})" if noted else head, error.traceback) if part)


def _status(attempt: Attempt) -> Iterator[str]:
    for text in (attempt.native_status, attempt.native_reason):
        if text.strip().lower() not in SAYS_NOTHING:
            yield text
    if attempt.stop_reason:
        yield f"stop_reason: {attempt.stop_reason}"
    if attempt.limit is not None:
        value = "" if attempt.limit.value is None else f" {attempt.limit.value:g}"
        yield f"limit: {attempt.limit.type}{value} {attempt.limit.reason}".rstrip()
    if attempt.exit_code not in (None, 0) and "exit code" not in attempt.native_reason.lower():
        yield f"exit_code: {attempt.exit_code}"
    if attempt.invalidated is not None:
        yield f"invalidated: {attempt.invalidated.why}"
