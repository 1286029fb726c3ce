"""A summary with the instances beside it, a summary alone, or instances alone → runs, cases and attempts."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from errata.model import Attempt, Case, Check, ErrorInfo, Item, Output, Run, SourceRef, Step, UsageByRole, case_key
from errata.model.words import CheckStatus, Outcome
from errata.sources.base import Row, convert_each, head_of, is_file, json_file, json_lines, unreadable
from errata.sources.every_eval_ever import HEAD, NAME, SAMPLES, is_samples, read_with
from errata.sources.every_eval_ever.runs import EvaluationResult, EvaluationSummary, run_of
from errata.sources.shared.chat import last_answer, steps_of_chat, steps_of_tries
from errata.sources.shared.exceptions import frames_of, own_frame
from errata.sources.shared.facts import Facts, despite_error, outcome_of
from errata.sources.shared.row_groups import read_groups, repeated_rows, repetitions, split_copies
from errata.sources.shared.usage import usage_of
from errata.sources.shared.values import (
    as_text,
    last_part,
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
from errata.text.lazy_regex import lazy_regex


class EvaluationContext(NamedTuple):
    run: Run
    results: list[EvaluationResult]

    @property
    def primary(self) -> str:
        return self.results[0].id if self.results else ""


class _RowHead(msgspec.Struct):
    """The fields of a row about its evaluation."""

    schema_version: Any = None
    evaluation_id: Any = None
    model_id: Any = None
    evaluation_name: Any = None


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    path = read_with(path) or path
    if is_samples(head_of(path, HEAD)):
        yield from _evaluation(EvaluationSummary({}, SourceRef(file=path.name)), path, path)
        return
    document = json_file(path, source=NAME, root=path)
    if not isinstance(document, Row):
        yield document
    elif not isinstance(document.data, dict):
        yield unreadable(NAME, document.ref, "expected an object")
    else:
        summary = EvaluationSummary(document.data, document.ref)
        yield from _evaluation(summary, path, samples_of(path, text(summary.detailed_results.get("file_path"))))


def _evaluation(summary: EvaluationSummary, path: Path, samples: Path | None) -> Iterator[Item]:
    heads = _heads(samples) if samples else {}
    if not summary.data and heads:
        summary.data |= _summary_of_head(next(iter(heads.values())))
    names = list(dict.fromkeys((*summary.names, *heads))) or [""]
    if samples is None and len(names) > 1:
        # a summary alone: all of its results belong to one run
        yield run_of(summary, text(summary.data.get("evaluation_id")), summary.results, path, several=False)
        return
    runs = {name: run_of(summary, name, summary.of(name), path, several=len(names) > 1) for name in names}
    yield from runs.values()
    if samples is not None:
        contexts = {name: EvaluationContext(run, summary.of(name)) for name, run in runs.items()}
        rows = read_groups(samples, SampleKey, SampleKey.key, source=NAME, root=path.parent)
        yield from convert_each(rows, partial(_items, contexts), source=NAME, owner=partial(_owner, runs))


def _heads(samples: Path) -> dict[str, _RowHead]:
    """The first row of each evaluation, by its name."""
    heads: dict[str, _RowHead] = {}
    for row in json_lines(samples, source=NAME, root=samples, usual=_RowHead):
        if isinstance(row, Row) and isinstance(row.data, _RowHead):
            heads.setdefault(text(row.data.evaluation_name), row.data)
    return heads


def _summary_of_head(head: _RowHead) -> dict[str, Any]:
    return {
        "schema_version": head.schema_version,
        "evaluation_id": head.evaluation_id,
        "model_info": {"name": head.model_id},
    }


def _items(contexts: dict[str, EvaluationContext], row: Row) -> Iterator[Item]:
    return items_of(contexts[text(row.data[0].data.get("evaluation_name"))], row)


def _owner(runs: dict[str, Run], row: Row) -> str:
    return runs[text(row.data[0].data.get("evaluation_name"))].id


def samples_of(summary: Path, file_path: str) -> Path | None:
    """The instances beside a summary; `file_path` is its own path to them, on the machine that wrote it."""
    names = [name for name in (last_part(file_path), f"{summary.stem}{SAMPLES}") if name]
    return next((found for name in names if is_file(found := summary.with_name(name))), None)


# --- the rows of one sample → its case and its attempt
# A sample has one row per result that includes it. The format has no field for an unmeasured sample: an error has a
# score of 0, and a row without a result id counts for no result.


_ROW = frozenset(
    ("schema_version", "evaluation_id", "model_id", "evaluation_name", "evaluation_result_id", "sample_id",
     "sample_hash", "interaction_type", "input", "output", "messages", "answer_attribution", "evaluation",
     "token_usage", "performance", "error", "metadata")
)  # fmt: skip
_TIMES = ("latency_ms", "time_to_first_token_ms", "generation_time_ms")
# `ConnectionError('upstream 503')`, or `ConnectionError: upstream 503`
_SHOWN = lazy_regex(r"(?P<type>[A-Za-z_][\w.]*)\((?P<quote>['\"])(?P<message>.*)(?P=quote)\)\s*$", re.DOTALL)
_WRITTEN = lazy_regex(
    r"(?P<type>[A-Za-z_][\w.]{0,200}(?:Error|Exception|Timeout|Interrupt)\w{0,50}):\s*(?P<message>.*)", re.DOTALL
)
_TRACEBACK = lazy_regex(r"^(?:[+|]|[^\S\n])*+(?:Exception Group )?Traceback \(most recent call last\):", re.MULTILINE)


class SampleKey(msgspec.Struct):
    """The key that groups the rows of one sample."""

    evaluation_name: Any = None
    sample_id: Any = None

    def key(self) -> Any:
        return None if self.sample_id is None else (self.evaluation_name, as_text(self.sample_id))


def items_of(context: EvaluationContext, group: Row) -> Iterator[Item]:
    last = ""
    for index, tried in enumerate(_tries(group.data), start=1):
        name = text(tried[0].data.get("sample_id"))
        rows, copies = split_copies(tried, name, source=NAME)
        yield from copies
        yield from (_case(context.run, row) for row in repetitions(rows, _result_id))
        case = _case(context.run, rows[0])
        if index == 1 or case.digest != last:
            yield case
        last = case.digest
        yield _attempt(context, list(rows), index)
        yield from repeated_rows(rows, f"a result of {name}", source=NAME, key=_result_id)


def _result_id(data: dict[str, Any]) -> str:
    return repr(data.get("evaluation_result_id"))


def _tries(rows: tuple[Row, ...]) -> list[list[Row]]:
    """Grouped by epoch; without epochs, a repeated result id starts another try."""
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


def _attempt(context: EvaluationContext, rows: list[Row], index: int) -> Attempt:
    main = next((row for row in rows if row.data.get("evaluation_result_id") == context.primary), rows[0])
    data = main.data
    error = next((found for row in rows if (found := error_of(row.data.get("error"), row.ref))), None)
    counted = not context.primary or data.get("evaluation_result_id") == context.primary
    value, outcome = number(mapping(data.get("evaluation")).get("score")), _outcome(data)
    facts = _facts(outcome, error, counted=counted)
    steps = _steps(data)
    times = mapping(data.get("performance"))
    return Attempt(
        run=context.run.id,
        case=case_key(context.run.suite, name_of(data["sample_id"])),
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
        checks=tuple(_checks(context, rows, main, facts)),
        steps=steps,
        usage=UsageByRole(subject=usage_of(data.get("token_usage"))),
        duration=seconds(times.get("latency_ms")),
        durations={name.removesuffix("_ms"): time for name in _TIMES if (time := seconds(times.get(name))) is not None},
        extra=_extra(context, data),
        ref=main.ref,
    )


def _facts(outcome: Outcome, error: ErrorInfo | None, *, counted: bool) -> Facts:
    if not counted:
        return Facts("error" if error else "completed", "not_run", "none")
    return Facts("error", "scored", despite_error(outcome)) if error else Facts("completed", "scored", outcome)


def _outcome(data: dict[str, Any]) -> Outcome:
    evaluation = mapping(data.get("evaluation"))
    value = number(evaluation.get("score"))
    correct = evaluation.get("is_correct")
    return outcome_of(value) if correct is None else "pass" if correct is True else "fail"


def _native(data: dict[str, Any]) -> str:
    correct = mapping(data.get("evaluation")).get("is_correct")
    return "correct" if correct is True else "incorrect" if correct is False else ""


def _checks(context: EvaluationContext, rows: list[Row], main: Row, facts: Facts) -> Iterator[Check]:
    texts = _raw_output(main.data)
    for order, row in enumerate(rows):
        name = text(row.data.get("evaluation_result_id"))
        if not name and context.primary:
            continue
        value = number(mapping(row.data.get("evaluation")).get("score"))
        # a judge's explanation is in the field of the answer
        other = _raw_output(row.data) if _raw_output(row.data) != texts else []
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


def _raw_output(data: dict[str, Any]) -> list[str]:
    return [as_text(one) for one in sequence(mapping(data.get("output")).get("raw")) if one is not None]


def _steps(data: dict[str, Any]) -> tuple[Step, ...]:
    messages = [_message(mapping(one), at) for at, one in enumerate(sequence(data.get("messages")))]
    return steps_of_chat(messages) if messages else steps_of_tries(_raw_output(data))


def _message(message: dict[str, Any], at: int) -> dict[str, Any]:
    """In the usual chat form: one id for a tool result, `reasoning_content` for reasoning, no turn number."""
    fields = {key: value for key, value in message.items() if value not in (None, [])}
    answered = fields.get("tool_call_id")
    if isinstance(answered, list) and len(answered) == 1:
        fields["tool_call_id"] = answered[0]
    if "reasoning_trace" in fields:
        fields["reasoning_content"] = as_text(fields.pop("reasoning_trace"))
    if fields.get("turn_idx") == at:
        del fields["turn_idx"]
    return fields


def _output(data: dict[str, Any], steps: tuple[Step, ...]) -> Output:
    texts = _raw_output(data)
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


def _extra(context: EvaluationContext, data: dict[str, Any]) -> dict[str, Any]:
    model = data.get("model_id")
    names = (context.run.subject.model, context.run.subject.extra.get("id"))
    evaluation = data.get("evaluation_id")
    return rest(data, _ROW) | non_empty(
        metadata=rest(mapping(data.get("metadata")), ("stop_reason",)),
        performance=rest(mapping(data.get("performance")), _TIMES),
        model_id=model if model not in names else None,
        evaluation_id=evaluation if evaluation not in (context.run.native_id, context.run.group) else None,
        schema_version=data.get("schema_version")
        if data.get("schema_version") != context.run.source.format_version
        else None,
    )


def error_of(error: Any, ref: SourceRef) -> ErrorInfo | None:
    message = text(error)
    if not message:
        return None
    below = _TRACEBACK.search(message)
    head = message[: below.start()].strip() if below else message.strip()
    traceback = message[below.start() :].strip("\n") if below else ""
    last = traceback.rstrip().rpartition("\n")[2]
    shown = _SHOWN.match(head) or _WRITTEN.match(head) or _WRITTEN.match(last)
    frame = own_frame(frames_of(traceback))
    return ErrorInfo(
        type=shown["type"].rpartition(".")[2] if shown else "error",
        derived=() if shown else ("type",),
        message=shown["message"] if shown else head or last,
        traceback=traceback,
        frame=frame.location() if frame else "",
        ref=ref.below("error"),
    )
