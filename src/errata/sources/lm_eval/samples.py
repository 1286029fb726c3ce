"""The rows of one document → its case and its attempt.

A row stands for a document and a filter, that is a way to take the answer out of the text. All rows of a document are
one attempt: its checks are measure × filter, and the one that lm-eval names first decides.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from errata.model import Attempt, Case, Item, Output, Run, case_key
from errata.sources.base import Row
from errata.sources.lm_eval.answers import LIKELIHOOD, Asked, asked_of, likeliest, texts_of
from errata.sources.lm_eval.layout import NO_FILTER
from errata.sources.lm_eval.measures import ROW, Filtered, checks_of, outcome, primary_of, tries_of, value_of
from errata.sources.lm_eval.results import Plan, Results
from errata.sources.shared.chat import steps_of_tries
from errata.sources.shared.values import as_text, known, name_of, plain, rest, sequence, text


class Document(msgspec.Struct):
    """What tells which rows belong together."""

    doc_id: Any = None

    def key(self) -> Any:
        return None if self.doc_id is None else as_text(self.doc_id)


class Task(NamedTuple):
    """What the rows of a file share."""

    run: Run
    results: Results
    plan: Plan
    name: str

    def case(self, number: Any) -> str:
        return f"{self.name}/{name_of(number)}" if self.plan.is_group else name_of(number)


def items_of(task: Task, group: Row) -> Iterator[Item]:
    for index, tried in enumerate(tries_of(group.data, task.results.filters(task.name)), start=1):
        asked = asked_of(tried[0].row.data.get("arguments"))
        if index == 1:
            yield _case(task, tried[0].row, asked)
        yield _attempt(task, tried, index, asked)


def _case(task: Task, row: Row, asked: Asked) -> Case:
    data = row.data
    hashes = {name: data.get(name) for name in ("doc_hash", "prompt_hash", "target_hash")}
    return Case(
        run=task.run.id,
        suite=task.run.suite,
        native_id=task.case(data["doc_id"]),
        category=task.name if task.plan.is_group else "",
        input=asked.input,
        choices=asked.choices,
        expected=_expected(data.get("target"), asked.choices),
        extra=known(doc=data["doc"], generation=asked.generation, requests=asked.requests, **hashes),
        ref=row.ref,
    )


def _expected(target: Any, choices: tuple[str, ...]) -> Any:
    """Of several choices the number of the right one is told."""
    if choices and text(target).isdecimal() and int(target) < len(choices):
        return choices[int(target)]
    return plain(target)


def _attempt(task: Task, tried: list[Filtered], index: int, asked: Asked) -> Attempt:
    primary = primary_of(next(iter(task.results.measures(task.plan.name)), None), tried)
    checks = tuple(checks_of(task.results, task.name, tried, primary))
    main = next((check for check in checks if check.is_primary), None)
    first = next((one for one in tried if primary.endswith(f",{one.filter}")), tried[0])
    value = value_of(main)
    return Attempt(
        run=task.run.id,
        case=case_key(task.run.suite, task.case(first.row.data["doc_id"])),
        index=index,
        execution="completed",
        measurement="unscored" if main is None or main.status == "unscored" else "scored",
        outcome=outcome(main),
        native_status=f"{primary} {value:g}" if value is not None else "",
        reported=value,
        reported_counted=value is not None and bool(task.run.reported),
        output=_output(first, asked, primary),
        checks=checks,
        steps=steps_of_tries(texts_of(first.row.data.get("resps"))) if asked.generates else (),
        extra=_beside(tried, first, asked),
        ref=first.row.ref,
    )


def _output(one: Filtered, asked: Asked, primary: str) -> Output:
    data = one.row.data
    if not asked.generates:
        # of likelihoods, `acc` takes the highest for the answer; others weigh them by length
        chosen = likeliest(data.get("resps"), asked.choices) if primary.startswith(f"{LIKELIHOOD},") else None
        return Output(structured=plain(data.get("resps")), answer=chosen)
    texts, taken = texts_of(data.get("resps")), data.get("filtered_resps")
    answer = taken[0] if isinstance(taken, list) and len(taken) == 1 else taken
    said = texts[0] if texts else None
    return Output(
        text=said,
        answer=answer if isinstance(answer, str) and answer != said else None,
        extraction=one.filter if one.filter != NO_FILTER else "",
        extra={} if isinstance(answer, str) else known(filtered=taken),
    )


def _beside(tried: list[Filtered], first: Filtered, asked: Asked) -> dict[str, Any]:
    """What the other filters took out of the same texts, and what no field is for."""
    data = first.row.data
    taken = {one.filter: one.row.data.get("filtered_resps") for one in tried if one is not first}
    if not asked.generates and data.get("filtered_resps") != [sequence(one)[:1] for one in sequence(data.get("resps"))]:
        taken[first.filter] = data.get("filtered_resps")
    named = data.get("metrics") if data.get("metrics") != first.metrics else None
    return known(filtered=taken, metrics=named) | rest(data, ROW | set(first.metrics))
