"""An attempt → its rows: one per result that includes it, or one row without a result.

The format requires a score and `is_correct`. An attempt that failed without an answer is written with a score of 0
and an `error`, which distinguishes it from a wrong answer. errata's own facts are in the metadata, so reading them
back gives the same attempt.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from errata.model import Attempt, Case, Check, Step, ToolCall
from errata.model.words import EXECUTIONS, MEASUREMENTS, OUTCOMES
from errata.sources.every_eval_ever.written_summary import SCHEMA, EvaluationNames, Tallies, mean_of, value_of
from errata.sources.shared.facts import Facts
from errata.sources.shared.values import as_text
from errata.text.outgoing import tree_for_others

Row = dict[str, Any]
NO_NUMBER = "checks without a number, or of a few cases"
_SPOKEN = frozenset(("message", "model_call", "tool_call", "tool_result", "handoff"))
PREFIX = "errata_"
_WORDS = {"execution": EXECUTIONS, "measurement": MEASUREMENTS, "outcome": OUTCOMES}


def rows_of(naming: EvaluationNames, tallies: Tallies, case: Case | None, attempt: Attempt) -> Iterator[Row]:
    made = _row(naming, tallies, case, attempt)
    counted = tallies.counts(attempt)
    correct = attempt.outcome == "pass"
    if attempt.measurement == "scored" and attempt.outcome == "none":
        tallies.losses["scores without a rule for what is correct"] += 1
    score = tallies.score_of(attempt) if counted else float(correct)
    yield _of(made, tallies.primary if counted and tallies.main.count else None, score, correct=correct)
    if counted and tallies.graded and attempt.reported is not None:
        yield _of(made, tallies.graded[0], attempt.reported, correct=correct)
    yield from _of_checks(made, tallies, attempt)


def _of_checks(made: Row, tallies: Tallies, attempt: Attempt) -> Iterator[Row]:
    measures, by_name = tallies.measures, tallies.checks_of(attempt)
    others = [check for check in attempt.checks if not check.is_primary and check.name != tallies.primary]
    tallies.losses[NO_NUMBER] += sum(value_of(one) is None or one.name not in measures for one in others)
    for name, checks in by_name.items():
        if name in measures:
            tallies.losses["single values of checks that are written as their mean"] += len(checks) - 1 and len(checks)
            yield _of(made, name, mean_of(checks), correct=all(check.status == "pass" for check in checks))


def _of(row: Row, result: str | None, score: float, *, correct: bool) -> Row:
    evaluation = {**row["evaluation"], "score": score, "is_correct": correct}
    return {**row, "evaluation": evaluation, **({"evaluation_result_id": result} if result else {})}


def _row(naming: EvaluationNames, tallies: Tallies, case: Case | None, attempt: Attempt) -> Row:
    messages = messages_of(attempt, tallies.losses)
    calls = sum(len(one.get("tool_calls") or ()) for one in messages)
    spoken = sum(one["role"] == "assistant" for one in messages)
    single = calls == 0 and spoken < 2
    tallies.losses["files beside the answers"] += len(attempt.artefacts)
    tallies.losses["judgements in words"] += len(attempt.judgements)
    row: Row = {
        "sample_id": case.native_id if case else attempt.case.removeprefix(f"{naming.suite}/"),
        "interaction_type": "single_turn" if single else "agentic" if calls else "multi_turn",
        "input": _input(case),
        **({"output": _output(attempt)} if single else {"messages": messages}),
        "answer_attribution": _answer(attempt, None if single else messages),
        "evaluation": {"num_turns": max(1, spoken), "tool_calls_count": calls},
        "token_usage": _tokens(attempt, tallies),
        "performance": _times(attempt),
        "error": error_of(attempt),
        "metadata": dict(_metadata(case, attempt)),
    }
    named = {"evaluation_id": naming.evaluation_id, "model_id": naming.model_id}
    named["evaluation_name"] = naming.evaluation_name
    cleaned: Row = tree_for_others({key: one for key, one in row.items() if one is not None})
    # hashed after redaction, so that the hash matches the written input
    return {"schema_version": SCHEMA, **named, **cleaned, "sample_hash": _hash(cleaned["input"])}


def _input(case: Case | None) -> Row:
    wanted = case.expected if case else None
    references = wanted if isinstance(wanted, list) else [] if wanted is None else [wanted]
    choices = list(case.choices) if case else []
    asked = "" if case is None or case.input is None else as_text(case.input)
    return {
        "raw": asked,
        "reference": [as_text(one) for one in references],
        **({"choices": choices} if choices else {}),
    }


def _output(attempt: Attempt) -> Row:
    thoughts = [step.reasoning for step in attempt.steps if step.reasoning]
    return {"raw": [attempt.output.text or ""], **({"reasoning_trace": thoughts} if thoughts else {})}


def _answer(attempt: Attempt, messages: list[Row] | None) -> list[Row]:
    """The extracted answer, if it is not just the last message."""
    output, at = attempt.output, len(messages) - 1 if messages else 0
    last = next((one["content"] for one in reversed(messages or ()) if one["role"] == "assistant"), None)
    taken = output.answer if output.answer is not None or messages is None else output.text
    if taken is None or (messages is not None and taken == last):
        return []
    source = "output.raw" if messages is None else f"messages[{at}].content"
    how = output.extraction or "unknown"
    attribution = {
        "turn_idx": at,
        "source": source,
        "extracted_value": taken,
        "extraction_method": how,
        "is_terminal": True,
    }
    return [attribution]


def _tokens(attempt: Attempt, tallies: Tallies) -> Row | None:
    spent = attempt.usage.subject
    if spent.input is None or spent.output is None:
        tallies.losses["tokens of which input or output is not known"] += spent.tokens is not None  # words: quoted
        return None
    total = spent.input + spent.output if spent.total is None else spent.total
    tokens = {"input_tokens": spent.input, "output_tokens": spent.output, "total_tokens": total}
    more = {
        "input_tokens_cache_write": spent.cache_write,
        "input_tokens_cache_read": spent.cache_read,
        "reasoning_tokens": spent.reasoning,
    }
    return tokens | {name: one for name, one in more.items() if one is not None}


def _times(attempt: Attempt) -> Row | None:
    took = attempt.duration
    return {"latency_ms": took * 1000} if took is not None and took >= 0 else None


def error_of(attempt: Attempt) -> str | None:
    """Why there is no verdict on the answer; None if there is one."""
    if attempt.execution == "completed" and (attempt.outcome != "none" or attempt.measurement == "scored"):
        return None
    error = next((one for one in attempt.errors if not one.recovered), None)
    if error is not None:
        return f"{error.type}: {error.message}"
    if attempt.execution != "completed":
        limit = f" ({attempt.limit.type})" if attempt.limit else ""
        return f"{attempt.execution}{limit}: {attempt.native_reason or attempt.native_status or 'no reason given'}"
    return f"not measured: {attempt.measurement}"


def _metadata(case: Case | None, attempt: Attempt) -> Iterator[tuple[str, str]]:
    yield "epoch", str(attempt.index)
    yield from metadata_of_facts(attempt)
    fields = {
        "stop_reason": attempt.stop_reason,
        "category": case.category if case else "",
        "tags": ", ".join(case.tags) if case else "",
        "cost": "" if attempt.usage.cost is None else f"{attempt.usage.cost:g} {attempt.usage.subject.currency}",
        "native_status": attempt.native_status,
        "errors": "; ".join(f"{one.type}: {one.message}" for one in attempt.errors) if not error_of(attempt) else "",
        "failed_checks": ", ".join(map(_check_text, filter(lambda check: check.failed, attempt.checks))),
    }
    yield from ((name, value) for name, value in fields.items() if value)


def _check_text(check: Check) -> str:
    return f"{check.name} ({check.explanation})" if check.explanation else check.name


def _hash(asked: Row) -> str:
    content = {"raw": asked["raw"], "reference": asked["reference"]}
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def messages_of(attempt: Attempt, losses: Counter[str]) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for step in attempt.steps:
        if step.kind not in _SPOKEN or step.actor.role == "judge":
            losses["steps that are not messages"] += 1
            continue
        losses["contents that are not text"] += len(step.parts)
        made += _of_step(step)
    return [{"turn_idx": at, **message} for at, message in enumerate(made)]


def _of_step(step: Step) -> Iterator[dict[str, Any]]:
    calls = [(call.id or f"call_{step.index}_{at}", call) for at, call in enumerate(step.tool_calls)]
    answers = step.extra.get("tool_call_id")
    yield {
        "role": step.actor.role,
        "content": step.text,
        "reasoning_trace": step.reasoning or None,
        "tool_calls": [_call(ident, call) for ident, call in calls] or None,
        "tool_call_id": [answers] if isinstance(answers, str) else None,
    }
    for ident, call in calls:
        output = call.result.text if call.result else call.error.message if call.error else None
        if output is not None:
            yield {"role": "tool", "content": output, "tool_call_id": [ident]}


def _call(ident: str, call: ToolCall) -> dict[str, Any]:
    given = call.arguments if isinstance(call.arguments, dict) else {"arguments": call.arguments or call.arguments_raw}
    return {"id": ident, "name": call.name, "arguments": {key: as_text(one) for key, one in given.items()}}


def metadata_of_facts(attempt: Attempt) -> Iterator[tuple[str, str]]:
    for name in _WORDS:
        yield f"{PREFIX}{name}", getattr(attempt, name)


def facts_in_metadata(metadata: dict[str, Any]) -> Facts | None:
    """None unless all three are present and valid."""
    values = [metadata.get(f"{PREFIX}{name}") for name in _WORDS]
    known = all(one in words for one, words in zip(values, _WORDS.values(), strict=True))
    return Facts(*values) if known else None  # type: ignore[arg-type]
