"""The rows of one sample → its case and its attempt.

There is a row for each number that a sample is in. The format has no place for a sample that was never measured: an
error is written with a score of 0, and a row that belongs to no number is in none.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from errata.model import Attempt, Case, Check, ErrorInfo, Item, Output, Run, SourceRef, Step, UsageByRole, case_key
from errata.model.words import CheckStatus, Outcome
from errata.sources.base import Row
from errata.sources.every_eval_ever.runs import Result
from errata.sources.every_eval_ever.written_rows import facts_told
from errata.sources.shared.chat import last_answer, steps_of_chat, steps_of_tries
from errata.sources.shared.exceptions import frames_of, own_frame
from errata.sources.shared.facts import Facts, despite_error
from errata.sources.shared.usage import usage_of
from errata.sources.shared.values import (
    as_text,
    mapping,
    name_of,
    non_empty,
    number,
    plain,
    rest,
    seconds,
    sequence,
    text,
)

_ROW = frozenset(
    ("schema_version", "evaluation_id", "model_id", "evaluation_name", "evaluation_result_id", "sample_id",
     "sample_hash", "interaction_type", "input", "output", "messages", "answer_attribution", "evaluation",
     "token_usage", "performance", "error", "metadata")
)  # fmt: skip
_TIMES = ("latency_ms", "time_to_first_token_ms", "generation_time_ms")
# `ConnectionError('upstream 503')`, or `ConnectionError: upstream 503`
_SHOWN = re.compile(r"(?P<type>[A-Za-z_][\w.]*)\((?P<quote>['\"])(?P<message>.*)(?P=quote)\)\s*$", re.DOTALL)
_WRITTEN = re.compile(
    r"(?P<type>[A-Za-z_][\w.]*(?:Error|Exception|Timeout|Interrupt)\w*):\s*(?P<message>.*)", re.DOTALL
)
_TRACEBACK = re.compile(r"^[\s+|]*(?:Exception Group )?Traceback \(most recent call last\):", re.MULTILINE)


class Sample(msgspec.Struct):
    """What tells which rows belong together."""

    evaluation_name: Any = None
    sample_id: Any = None

    def key(self) -> Any:
        return None if self.sample_id is None else (self.evaluation_name, as_text(self.sample_id))


class Reading(NamedTuple):
    run: Run
    results: list[Result]

    @property
    def primary(self) -> str:
        return self.results[0].id if self.results else ""


def items_of(reading: Reading, group: Row) -> Iterator[Item]:
    for index, rows in enumerate(_tries(group.data), start=1):
        if index == 1:
            yield _case(reading.run, rows[0])
        yield _attempt(reading, rows, index)


def _tries(rows: tuple[Row, ...]) -> list[list[Row]]:
    """By epoch, where that is told; else a number that comes again begins another try."""
    tries: dict[Any, list[Row]] = {}
    for row in rows:
        epoch = mapping(row.data.get("metadata")).get("epoch")
        number_ = row.data.get("evaluation_result_id")
        key: Any = epoch
        if epoch is None:
            key = sum(one.data.get("evaluation_result_id") == number_ for those in tries.values() for one in those)
        tries.setdefault(key, []).append(row)
    return list(tries.values())


def _case(run: Run, row: Row) -> Case:
    asked = mapping(row.data["input"])
    wanted = asked.get("reference")
    choices = [one for one in sequence(asked.get("choices")) if isinstance(one, str)]
    return Case(
        run=run.id,
        suite=run.suite,
        native_id=name_of(row.data["sample_id"]),
        input=plain(asked.get("raw")),
        choices=tuple(choices),
        expected=plain(wanted[0] if isinstance(wanted, list) and len(wanted) == 1 else wanted),
        extra=rest(asked, ("raw", "reference", "choices"))
        | non_empty(sample_hash=row.data.get("sample_hash"), interaction_type=row.data.get("interaction_type")),
        ref=row.ref,
    )


def _attempt(reading: Reading, rows: list[Row], index: int) -> Attempt:
    main = next((row for row in rows if row.data.get("evaluation_result_id") == reading.primary), rows[0])
    data = main.data
    error = next((found for row in rows if (found := error_of(row.data.get("error"), row.ref))), None)
    counted = not reading.primary or data.get("evaluation_result_id") == reading.primary
    value, said = number(mapping(data.get("evaluation")).get("score")), _outcome(data)
    facts = _facts(data, said, error, counted=counted)
    steps = _steps(data)
    times = mapping(data.get("performance"))
    return Attempt(
        run=reading.run.id,
        case=case_key(reading.run.suite, name_of(data["sample_id"])),
        index=index,
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        native_status=_native(data) if counted else "",
        reported=value if counted else None,
        reported_counted=counted and value is not None,
        output=_output(data, steps),
        stop_reason=text(mapping(data.get("metadata")).get("stop_reason")),
        errors=(error,) if error else (),
        checks=tuple(_checks(reading, rows, main, facts)),
        steps=steps,
        usage=UsageByRole(subject=usage_of(data.get("token_usage"))),
        duration=seconds(times.get("latency_ms")),
        durations={name.removesuffix("_ms"): told for name in _TIMES if (told := seconds(times.get(name))) is not None},
        extra=_extra(reading, data),
        ref=main.ref,
    )


def _facts(data: dict[str, Any], said: Outcome, error: ErrorInfo | None, *, counted: bool) -> Facts:
    if (told := facts_told(mapping(data.get("metadata")))) is not None:
        return told
    if not counted:
        return Facts("error" if error else "completed", "not_run", "none")
    return Facts("error", "scored", despite_error(said)) if error else Facts("completed", "scored", said)


def _outcome(data: dict[str, Any]) -> Outcome:
    told = mapping(data.get("evaluation"))
    value = number(told.get("score"))
    if told.get("is_correct") is True:
        return "pass"
    return "partial" if value is not None and 0 < value < 1 else "fail"


def _native(data: dict[str, Any]) -> str:
    correct = mapping(data.get("evaluation")).get("is_correct")
    return "correct" if correct is True else "incorrect" if correct is False else ""


def _checks(reading: Reading, rows: list[Row], main: Row, facts: Facts) -> Iterator[Check]:
    texts = _said(main.data)
    for order, row in enumerate(rows):
        name = text(row.data.get("evaluation_result_id"))
        if not name and reading.primary:
            continue
        value = number(mapping(row.data.get("evaluation")).get("score"))
        # a judge's words stand where the answer should
        other = _said(row.data) if _said(row.data) != texts else []
        status: CheckStatus = "pass" if _outcome(row.data) == "pass" else "fail"
        yield Check(
            name=name or text(row.data.get("evaluation_name")),
            status="not_run" if facts.execution == "error" and status == "fail" else status,
            order=order,
            value=value,
            is_primary=row is main,
            counts=row is main,
            explanation="\n".join(other),
            extra=rest(mapping(row.data.get("evaluation")), ("score",)),
            ref=row.ref.below("evaluation"),
        )


def _said(data: dict[str, Any]) -> list[str]:
    return [as_text(one) for one in sequence(mapping(data.get("output")).get("raw")) if one is not None]


def _steps(data: dict[str, Any]) -> tuple[Step, ...]:
    messages = [_message(mapping(one), at) for at, one in enumerate(sequence(data.get("messages")))]
    return steps_of_chat(messages) if messages else steps_of_tries(_said(data))


def _message(message: dict[str, Any], at: int) -> dict[str, Any]:
    """With the usual names: one id for an answer of a tool, thoughts as `reasoning_content`, and no number."""
    told = {key: value for key, value in message.items() if value not in (None, [])}
    answered = told.get("tool_call_id")
    if isinstance(answered, list) and len(answered) == 1:
        told["tool_call_id"] = answered[0]
    if "reasoning_trace" in told:
        told["reasoning_content"] = as_text(told.pop("reasoning_trace"))
    if told.get("turn_idx") == at:
        del told["turn_idx"]
    return told


def _output(data: dict[str, Any], steps: tuple[Step, ...]) -> Output:
    texts = _said(data)
    taken = [mapping(one) for one in sequence(data.get("answer_attribution"))]
    answer = taken[-1].get("extracted_value") if taken else None
    return Output(
        text=texts[0] if texts else last_answer(steps),
        answer=answer if isinstance(answer, str) else None,
        extraction=text(taken[-1].get("extraction_method")) if taken else "",
        extra=non_empty(
            attribution=taken,
            reasoning=mapping(data.get("output")).get("reasoning_trace"),
        ),
    )


def _extra(reading: Reading, data: dict[str, Any]) -> dict[str, Any]:
    model = data.get("model_id")
    names = (reading.run.subject.model, reading.run.subject.extra.get("id"))
    evaluation = data.get("evaluation_id")
    return rest(data, _ROW) | non_empty(
        metadata=rest(mapping(data.get("metadata")), ("stop_reason",)),
        performance=rest(mapping(data.get("performance")), _TIMES),
        model_id=model if model not in names else None,
        evaluation_id=evaluation if evaluation not in (reading.run.native_id, reading.run.group) else None,
        schema_version=data.get("schema_version")
        if data.get("schema_version") != reading.run.source.format_version
        else None,
    )


def error_of(told: Any, ref: SourceRef) -> ErrorInfo | None:
    said = text(told)
    if not said:
        return None
    below = _TRACEBACK.search(said)
    head = said[: below.start()].strip() if below else said.strip()
    traceback = said[below.start() :].strip("\n") if below else ""
    last = traceback.rstrip().rpartition("\n")[2]
    shown = _SHOWN.match(head) or _WRITTEN.match(head) or _WRITTEN.match(last)
    frame = own_frame(frames_of(traceback))
    return ErrorInfo(
        type=shown["type"].rpartition(".")[2] if shown else "error",
        message=shown["message"] if shown else head or last,
        traceback=traceback,
        frame=frame.location() if frame else "",
        phase="subject",
        ref=ref.below("error"),
    )
