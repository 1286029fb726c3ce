"""A row of results and what the scores say of it → its case and its attempt.

The scores name what failed, and only that: whatever else was counted is right. An inference that broke is a text like
any other to the checkers: mostly wrong, and where no call should be made at all, right.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from errata.model import Attempt, Case, Check, ErrorInfo, Item, Limit, Run, SourceRef, Usage, UsageByRole, case_key
from errata.model.words import CheckStatus, Outcome
from errata.sources.base import Row
from errata.sources.bfcl.answers import output_of, steps_of, steps_of_log
from errata.sources.shared.exceptions import frames_of, own_frame
from errata.sources.shared.facts import Facts
from errata.sources.shared.values import as_text, known, mapping, name_of, number, plain, rest, sequence, text

BROKE = "Error during inference:"
_TERMINATED = "force_terminated"
_RESULT = frozenset(("id", "result", "input_token_count", "output_token_count", "latency", "traceback",
                     "reasoning_content", "inference_log"))  # fmt: skip
_SCORE = frozenset(("id", "model_name", "test_category", "valid", "error", "error_type", "prompt", "model_result_raw",
                    "model_result", "model_result_decoded", "decoded_result", "possible_answer",
                    "inference_log"))  # fmt: skip
_RAISED = re.compile(r"^(?P<type>[A-Za-z_][\w.]*?)(?::|\s*$)")
_CODE = re.compile(r"(?i)\b(?:error )?code\W{1,3}(\d{3})\b")


class Scored(NamedTuple):
    """What the scores of a category tell about its rows."""

    exists: bool
    names_all: bool
    """Whether the failures that it names are all: then the others are right."""
    checker: str


def items_of(run: Run, scored: Scored, result: tuple[Row, ...], failed: tuple[Row, ...]) -> Iterator[Item]:
    """Of one id: `result` is empty where only the scores are there, `failed` where it did not fail."""
    first = (*failed, *result)[0]
    name = name_of(first.data["id"])
    score = failed[0].data if failed else {}
    yield _case(run, name, score, first.ref)
    for index, row in enumerate(result or (Row({}, first.ref),), start=1):
        yield _attempt(run, name, index, row, scored, failed)


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
        extra=known(prompt=rest(mapping(prompt), ("question",)), test_category=other),
        ref=ref,
    )


def _only_turn(question: Any) -> Any:
    """A list of turns, each of which is a chat; mostly there is one."""
    return question[0] if isinstance(question, list) and len(question) == 1 else question


def _attempt(run: Run, name: str, index: int, row: Row, scored: Scored, failed: tuple[Row, ...]) -> Attempt:
    data, score = row.data, failed[0].data if failed else {}
    said = data.get("result", score.get("model_result_raw", score.get("model_result")))
    error = _error(said, data, row.ref)
    facts = _facts(scored, error, score)
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
        output=output_of(None if error else said, score.get("model_result_decoded", score.get("decoded_result"))),
        limit=_limit(score) if facts.execution == "limit" else None,
        errors=(error,) if error else (),
        checks=tuple(_checks(scored, failed, facts, row.ref)),
        steps=steps_of_log(log) if sequence(log) else steps_of(said),
        usage=UsageByRole(subject=_usage(data)),
        duration=_total(data.get("latency")),
        extra=_extra(data, score) | _other_model(run, score),
        ref=row.ref,
    )


def _facts(scored: Scored, error: ErrorInfo | None, score: dict[str, Any]) -> Facts:
    if error is not None:
        return Facts("error", "scored" if scored.exists else "not_run", "none")
    if score:
        said: Outcome = "pass" if _is_right(score) else "fail"
        return Facts("limit" if _TERMINATED in _kind(score) else "completed", "scored", said)
    if not scored.exists:
        return Facts("completed", "not_run", "none")
    return Facts("completed", "scored", "pass") if scored.names_all else Facts("completed", "unscored", "none")


def _is_right(score: dict[str, Any]) -> bool:
    """What is not named among the failures is."""
    return not score or score.get("valid") is True


def _error(said: Any, data: dict[str, Any], ref: SourceRef) -> ErrorInfo | None:
    """A model may say these words, too; of an answer the tokens are counted."""
    if not isinstance(said, str) or not said.startswith(BROKE) or number(data.get("output_token_count")):
        return None
    message, traceback = said.removeprefix(BROKE).strip(), text(data.get("traceback"))
    lines = [line for line in traceback.splitlines() if line.strip()]
    raised = _RAISED.match(lines[-1]) if lines else None
    code, frame = _CODE.search(message), own_frame(frames_of(traceback), ("bfcl_eval",))
    return ErrorInfo(
        type=raised["type"].rpartition(".")[2] if raised else "inference_error",
        message=message,
        code=code[1] if code else "",
        traceback=traceback,
        frame=frame.shown() if frame else "",
        phase="subject",
        ref=ref,
    )


def _kind(score: dict[str, Any]) -> str:
    return text(score.get("error_type")) or text(mapping(score.get("error")).get("error_type"))


def _explanation(score: dict[str, Any]) -> str:
    told = score.get("error")
    listed = mapping(told).get("error_message") if isinstance(told, dict) else told
    return "\n".join(map(as_text, listed)) if isinstance(listed, list) else as_text(listed) if listed else ""


def _limit(score: dict[str, Any]) -> Limit:
    return Limit(type="steps", reason=_explanation(score))


def _checks(scored: Scored, failed: tuple[Row, ...], facts: Facts, ref: SourceRef) -> Iterator[Check]:
    """One failure may be told twice: a broken inference of several turns is."""
    if facts.measurement != "scored":
        return
    for at, row in enumerate(failed or (None,)):
        score = row.data if row else {}
        # what never came back was compared all the same; that says nothing
        status: CheckStatus = "not_run" if facts.execution == "error" else "pass" if _is_right(score) else "fail"
        yield Check(
            name=scored.checker if at == 0 else f"{scored.checker} {at + 1}",
            status=status,
            scorer=scored.checker,
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


def _total(told: Any) -> float | None:
    """One number, or one for each step of each turn."""
    if not isinstance(told, list):
        return number(told)
    found = [total for one in told if (total := _total(one)) is not None]
    return sum(found) if found else None


def _extra(data: dict[str, Any], score: dict[str, Any]) -> dict[str, Any]:
    details = {name: data[name] for name in ("input_token_count", "output_token_count", "latency")
               if isinstance(data.get(name), list)}  # fmt: skip
    raw = score.get("model_result_raw", score.get("model_result"))
    told = known(
        reasoning=data.get("reasoning_content"),
        details=details,
        model_result=raw if data and raw != data.get("result") else None,
    )
    return told | rest(data, _RESULT) | rest(score, _SCORE)


def _other_model(run: Run, score: dict[str, Any]) -> dict[str, Any]:
    """The model as a score names it, where that is not the name of its folder."""
    model = score.get("model_name")
    return {} if model == run.subject.model else known(model_name=model)
