"""A result row and its score → its case and its attempt.

Score files list only failures: every other counted row is correct. BFCL's checkers treat the text of an inference
error like any answer: mostly wrong, but correct where no call should be made.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from errata.model import (
    Actor,
    Attempt,
    Case,
    Check,
    ErrorInfo,
    Item,
    Limit,
    Output,
    Run,
    SourceRef,
    Step,
    ToolCall,
    Usage,
    UsageByRole,
    case_key,
)
from errata.model.words import CheckStatus, Outcome
from errata.sources.base import Row, decode
from errata.sources.shared.chat import CHAT_ROLES
from errata.sources.shared.exceptions import frames_of, own_frame
from errata.sources.shared.facts import Facts
from errata.sources.shared.values import as_text, mapping, non_empty, number, plain, rest, sequence, text
from errata.text.lazy_regex import lazy_regex

BROKE = "Error during inference:"
_TERMINATED = "force_terminated"
_RESULT = frozenset(("id", "result", "input_token_count", "output_token_count", "latency", "traceback",
                     "reasoning_content", "inference_log"))  # fmt: skip
_SCORE = frozenset(("id", "model_name", "test_category", "valid", "error", "error_type", "prompt", "model_result_raw",
                    "model_result", "model_result_decoded", "decoded_result", "possible_answer",
                    "inference_log"))  # fmt: skip
_RAISED = lazy_regex(r"^(?P<type>[A-Za-z_][\w.]*?)(?::|\s*$)")
_CODE = lazy_regex(r"(?i)\b(?:error )?code\W{1,3}(\d{3})\b")


class CategoryScores(NamedTuple):
    """The scores of a category: whether there are any, and whether they list every failure."""

    exists: bool
    names_all: bool
    """Whether all failures are listed: then the other rows are correct."""
    checker: str


def items_of(
    run: Run, scores: CategoryScores, name: str, result: tuple[Row, ...], failed: tuple[Row, ...]
) -> Iterator[Item]:
    """The rows of one case: `result` is empty if there are only scores, `failed` if it did not fail."""
    first = (*failed, *result)[0]
    score = failed[0].data if failed else {}
    yield _case(run, name, score, first.ref)
    for index, row in enumerate(result or (Row({}, first.ref),), start=1):
        yield _attempt(run, name, index, row, scores, failed)


def _case(run: Run, name: str, score: dict[str, Any], ref: SourceRef) -> Case:
    prompt = score.get("prompt")
    question = mapping(prompt).get("question", prompt)
    other = score.get("test_category") if score.get("test_category") != run.name else None
    return Case(
        run=run.id,
        suite=run.suite,
        native_id=name,
        category=run.name,
        input=plain(_only_turn(question)),
        expected=plain(score.get("possible_answer")),
        extra=non_empty(prompt=rest(mapping(prompt), ("question",)), test_category=other),
        ref=ref,
    )


def _only_turn(question: Any) -> Any:
    """The question is a list of turns, each a chat; usually there is only one."""
    return question[0] if isinstance(question, list) and len(question) == 1 else question


def _attempt(run: Run, name: str, index: int, row: Row, scores: CategoryScores, failed: tuple[Row, ...]) -> Attempt:
    data, score = row.data, failed[0].data if failed else {}
    answer = data.get("result", score.get("model_result_raw", score.get("model_result")))
    error = _error(answer, data, row.ref)
    facts = _facts(scores, error, score)
    counted = facts.measurement == "scored"
    log = data.get("inference_log") or score.get("inference_log")
    return Attempt(
        run=run.id,
        case=case_key(run.suite, name),
        index=index,
        duplicate_of=None if index == 1 else f"{run.id}:{case_key(run.suite, name)}#1",
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        native_status=_kind(score),
        reported=float(_is_right(score)) if counted else None,
        reported_counted=counted and index == 1,
        output=output_of(None if error else answer, score.get("model_result_decoded", score.get("decoded_result"))),
        limit=_limit(score, failed[0].ref) if facts.execution == "limit" else None,
        errors=(error,) if error else (),
        checks=tuple(_checks(scores, failed, facts, row.ref)),
        steps=steps_of_log(log) if sequence(log) else steps_of(answer),
        usage=UsageByRole(subject=_usage(data)),
        duration=_total(data.get("latency")),
        extra=_extra(data, score) | _other_model(run, score) | _other_id(name, score),
        ref=row.ref,
    )


def _facts(scores: CategoryScores, error: ErrorInfo | None, score: dict[str, Any]) -> Facts:
    if error is not None:
        return Facts("error", "scored" if scores.exists else "not_run", "none")
    if score:
        outcome: Outcome = "pass" if _is_right(score) else "fail"
        return Facts("limit" if _TERMINATED in _kind(score) else "completed", "scored", outcome)
    if not scores.exists:
        return Facts("completed", "not_run", "none")
    # a verdict that the log does not show is not a failure of the grader
    return Facts("completed", "scored", "pass") if scores.names_all else Facts("completed", "not_run", "none")


def _is_right(score: dict[str, Any]) -> bool:
    """True without a score row: only failures have one."""
    return not score or score.get("valid") is True


def _error(answer: Any, data: dict[str, Any], ref: SourceRef) -> ErrorInfo | None:
    """A model may answer with these words, too, but then there is a token count."""
    if not isinstance(answer, str) or not answer.startswith(BROKE) or number(data.get("output_token_count")):
        return None
    message, traceback = answer.removeprefix(BROKE).strip(), text(data.get("traceback"))
    lines = [line for line in traceback.splitlines() if line.strip()]
    raised = _RAISED.match(lines[-1]) if lines else None
    code, frame = _CODE.search(message), own_frame(frames_of(traceback), ("bfcl_eval",))
    return ErrorInfo(
        type=raised["type"].rpartition(".")[2] if raised else "inference_error",
        derived=() if raised else ("type",),
        message=message,
        code=code[1] if code else "",
        traceback=traceback,
        frame=frame.location() if frame else "",
        phase="subject",
        ref=ref,
    )


def _kind(score: dict[str, Any]) -> str:
    return text(score.get("error_type")) or text(mapping(score.get("error")).get("error_type"))


def _explanation(score: dict[str, Any]) -> str:
    error = score.get("error")
    listed = mapping(error).get("error_message") if isinstance(error, dict) else error
    return "\n".join(map(as_text, listed)) if isinstance(listed, list) else as_text(listed) if listed else ""


def _limit(score: dict[str, Any], ref: SourceRef) -> Limit:
    return Limit(type="steps", reason=_explanation(score), ref=ref)


def _checks(scores: CategoryScores, failed: tuple[Row, ...], facts: Facts, ref: SourceRef) -> Iterator[Check]:
    """A failure may be listed twice: an inference error in a multi-turn case is."""
    if facts.measurement != "scored":
        return
    for at, row in enumerate(failed or (None,)):
        score = row.data if row else {}
        # BFCL also checks the text of an inference error; that result is meaningless
        status: CheckStatus = "not_run" if facts.execution == "error" else "pass" if _is_right(score) else "fail"
        yield Check(
            name=scores.checker if at == 0 else f"{scores.checker} {at + 1}",
            status=status,
            scorer=scores.checker,
            order=at,
            value=_is_right(score),
            is_primary=at == 0,
            counts=at == 0,
            explanation=_explanation(score),
            reason_code=_kind(score),
            extra=rest(mapping(score.get("error")), ("error_message", "error_type")),
            ref=row.ref if row else ref,
        )


def _usage(data: dict[str, Any]) -> Usage:
    asked, answered = _total(data.get("input_token_count")), _total(data.get("output_token_count"))
    return Usage(input=None if asked is None else int(asked), output=None if answered is None else int(answered))


def _total(value: Any) -> float | None:
    """The value is one number, or nested lists with one number per step of each turn."""
    if not isinstance(value, list):
        return number(value)
    totals = [total for inner in value if (total := _total(inner)) is not None]
    return sum(totals) if totals else None


def _extra(data: dict[str, Any], score: dict[str, Any]) -> dict[str, Any]:
    details = {name: data[name] for name in ("input_token_count", "output_token_count", "latency")
               if isinstance(data.get(name), list)}  # fmt: skip
    raw = score.get("model_result_raw", score.get("model_result"))
    facts = non_empty(
        reasoning=data.get("reasoning_content"),
        details=details,
        model_result=raw if data and raw != data.get("result") else None,
    )
    return facts | rest(data, _RESULT) | rest(score, _SCORE)


def _other_model(run: Run, score: dict[str, Any]) -> dict[str, Any]:
    """The model's name in the score, if it differs from the folder's."""
    model = score.get("model_name")
    return {} if model == run.subject.model else non_empty(model_name=model)


def _other_id(name: str, score: dict[str, Any]) -> dict[str, Any]:
    """The id in the score, if it is not the case's: a place in the results."""
    return {} if score.get("id") == name else non_empty(score_id=score.get("id"))


_ASSISTANT = Actor(role="assistant")


def output_of(result: Any, decoded: Any) -> Output:
    """`decoded` are the parsed calls, which BFCL keeps only for failures."""
    if isinstance(result, str):
        return Output(text=result, structured=plain(decoded))
    if _are_calls(result):
        return Output(structured=plain(decoded if decoded is not None else result))
    texts = [step.text for step in steps_of(result) if step.text]
    return Output(text=texts[-1] if texts else None, extra=rest({"decoded": decoded}))


def steps_of(result: Any) -> tuple[Step, ...]:
    if isinstance(result, str):
        return ()
    turns = [(None, result)] if _are_calls(result) else list(_turns(result))
    return tuple(_step(at, turn, answer) for at, (turn, answer) in enumerate(turns))


def _turns(result: Any) -> Iterator[tuple[int | None, Any]]:
    for index, turn in enumerate(sequence(result)):
        for answer in turn if isinstance(turn, list) and not _are_calls(turn) else [turn]:
            yield index, answer


def _step(at: int, turn: int | None, answer: Any) -> Step:
    calls = tuple(_call(name, given) for one in sequence(answer) for name, given in mapping(one).items())
    texts = [as_text(one) for one in (answer if isinstance(answer, list) else [answer]) if not isinstance(one, dict)]
    return Step(
        index=at,
        actor=_ASSISTANT,
        kind="tool_call" if calls else "message",
        text="\n".join(texts),
        tool_calls=calls,
        extra={} if turn is None else {"turn": turn},
    )


def _are_calls(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _call(name: str, given: Any) -> ToolCall:
    if not isinstance(given, str):
        return ToolCall(name=name, arguments=plain(given))
    try:
        return ToolCall(name=name, arguments=plain(decode(given.encode())))
    except ValueError as error:
        return ToolCall(name=name, arguments_raw=given, parse_error=str(error))


def steps_of_log(log: Any) -> tuple[Step, ...]:
    """The optional inference log: a list of entries, some of them nested under the name of a step."""
    named_entries: list[tuple[str, dict[str, Any]]] = []
    for part in sequence(log):
        inside = part.items() if isinstance(part, dict) and "role" not in part else [("", part)]
        for name, entries in inside:
            named_entries += [
                (str(name), mapping(entry)) for entry in (entries if isinstance(entries, list) else [entries])
            ]
    return tuple(_logged(at, name, entry) for at, (name, entry) in enumerate(named_entries))


def _logged(at: int, name: str, entry: dict[str, Any]) -> Step:
    role = text(entry.get("role"))
    actor = Actor(role=CHAT_ROLES[role]) if role in CHAT_ROLES else Actor(role="environment", name=role)
    content = entry.get("content")
    return Step(
        index=at,
        actor=actor,
        kind="tool_result" if actor.role == "tool" else "message" if role in CHAT_ROLES else "log",
        text="" if content is None else as_text(content),
        extra=rest(entry, ("role", "content")) | ({"of": name} if name else {}),
    )
