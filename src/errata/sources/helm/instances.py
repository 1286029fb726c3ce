"""The requests of one instance in one trial and their statistics → its case and its attempt."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from errata.model import (
    Actor,
    Attempt,
    Case,
    Check,
    ErrorInfo,
    Item,
    Judgement,
    Output,
    Run,
    SourceRef,
    Step,
    Usage,
    UsageByRole,
    case_key,
)
from errata.model.identity import fingerprint
from errata.sources.base import Row
from errata.sources.helm import NAME
from errata.sources.helm.stats import Stat, stats_of
from errata.sources.shared.chat import steps_of_chat
from errata.sources.shared.facts import Facts, despite_error, outcome_of, status_of
from errata.sources.shared.row_groups import ItemGroups, repeated_rows, repetitions, split_copies
from errata.sources.shared.runs import CaseNumbering
from errata.sources.shared.values import (
    mapping,
    moment_since_1970,
    name_of,
    non_empty,
    number,
    plain,
    rest,
    sequence,
    text,
)

_STATE = ("instance", "request", "result", "output_mapping", "reference_index", "request_mode",
          "annotations")  # fmt: skip
_INSTANCE = ("input", "references", "split", "sub_split", "id", "perturbation")
_USER, _ASSISTANT = Actor(role="user"), Actor(role="assistant")
_COMPLETION = ("text", "tokens", "finish_reason")
_RESULT = ("success", "completions", "error", "error_flags", "request_time", "request_datetime")


class InstanceId(msgspec.Struct, frozen=True):
    id: Any = None
    perturbation: Any = None


class RequestKey(msgspec.Struct):
    """The key that groups the requests of one instance."""

    instance: InstanceId = InstanceId()
    train_trial_index: Any = None

    def key(self) -> Any:
        return key_of(self.instance.id, self.train_trial_index, self.instance.perturbation)


class StatsKey(msgspec.Struct):
    instance_id: Any = None
    train_trial_index: Any = None
    perturbation: Any = None

    def key(self) -> Any:
        return key_of(self.instance_id, self.train_trial_index, self.perturbation)


class InstanceContext(NamedTuple):
    """The values that all instances of a run share."""

    run: Run
    adapter: dict[str, Any]
    main: str
    split: str
    measured: ItemGroups | None


def key_of(name: Any, trial: Any, perturbation: Any) -> Any:
    return None if name is None else (name, trial, fingerprint(perturbation) if perturbation else "")


def items_of(context: InstanceContext, numbering: CaseNumbering, group: Row) -> Iterator[Item]:
    rows: tuple[Row, ...] = group.data
    instance = mapping(rows[0].data["instance"])
    name = _name(instance)
    index = numbering.next(name)
    rows, copies = split_copies(rows, name, source=NAME)
    yield from copies
    yield from _other_descriptions(context, name, rows)
    case = case_of(context.run, name, instance, rows[0])
    if numbering.is_news(case):
        yield case
    yield _attempt(context, name, index, rows)
    # an instance has a request for each of its references
    yield from repeated_rows(rows, f"a request of {name}", source=NAME, key=_reference)
    yield from repeated_rows(_stats_rows(context, rows[0]), f"the stats of {name}", source=NAME)


def _other_descriptions(context: InstanceContext, name: str, rows: tuple[Row, ...]) -> Iterator[Case]:
    """What repeated requests ask or expect, where it is something else."""
    for row in repetitions(rows, _reference):
        yield case_of(context.run, name, mapping(row.data["instance"]), row)


def _reference(state: dict[str, Any]) -> tuple[str, str]:
    return repr(state.get("reference_index")), repr(state.get("request_mode"))


def _name(instance: dict[str, Any]) -> str:
    """A perturbed copy has the id of its original, so its name gets a suffix."""
    changed = text(mapping(instance.get("perturbation")).get("name"))
    name = name_of(instance["id"])
    return f"{name}~{changed}" if changed else name


def case_of(run: Run, name: str, instance: dict[str, Any], row: Row) -> Case:
    references = [mapping(one) for one in sequence(instance.get("references"))]
    texts = [text(mapping(one.get("output")).get("text")) for one in references]
    right = [answer for answer, one in zip(texts, references, strict=True) if "correct" in sequence(one.get("tags"))]
    asked = mapping(instance.get("input"))
    return Case(
        run=run.id,
        suite=run.suite,
        native_id=name,
        category=text(instance.get("split")),
        tags=(text(instance["sub_split"]),) if text(instance.get("sub_split")) else (),
        input=plain(asked["text"]) if set(asked) == {"text"} else plain(asked) or None,
        choices=tuple(texts) if len(texts) > 1 and len(right) < len(texts) else (),
        expected=right[0] if len(right) == 1 else right or None,
        extra=_beside(instance, references),
        ref=row.ref.below("instance"),
    )


def _beside(instance: dict[str, Any], references: list[dict[str, Any]]) -> dict[str, Any]:
    """References with unusual tags, the perturbation, and other fields."""
    say_more = any(
        sequence(reference.get("tags")) not in ([], ["correct"]) or set(reference) != {"output", "tags"}
        for reference in references
    )
    return non_empty(references=references if say_more else None, perturbation=instance.get("perturbation")) | rest(
        instance, _INSTANCE
    )


def _stats_rows(context: InstanceContext, row: Row) -> tuple[Row, ...]:
    instance = mapping(row.data["instance"])
    key = key_of(instance.get("id"), row.data.get("train_trial_index"), instance.get("perturbation"))
    return context.measured.of(key) if context.measured is not None else ()


def _attempt(context: InstanceContext, name: str, index: int, rows: tuple[Row, ...]) -> Attempt:
    states = [row.data for row in rows]
    first, instance = states[0], mapping(states[0]["instance"])
    measured = _stats_rows(context, rows[0])
    stats = list(stats_of(measured[0].data.get("stats"))) if measured else []
    errors = tuple(errors_of(rows))
    main = next((one.value for one in stats if one.name == context.main), None)
    facts = facts_of(main, failed=bool(errors), measured=bool(measured))
    result = mapping(first.get("result"))
    return Attempt(
        run=context.run.id,
        case=case_key(context.run.suite, name),
        index=index,
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        native_status=f"{context.main} {main:g}" if main is not None else "",
        native_reason="prompt_truncated" if first.get("prompt_truncated") is True else "",
        reported=main,
        reported_counted=main is not None and _is_counted(context, instance),
        output=_output(states, failed=bool(errors)),
        stop_reason=stop_reason(states),
        errors=errors,
        checks=tuple(checks_of(context, stats, measured, facts)),
        judgements=tuple(judgements_of(first)),
        steps=steps_of(states),
        usage=UsageByRole(subject=usage_of(stats)),
        started_at=moment_since_1970(result.get("request_datetime")),
        duration=duration_of(states),
        extra=_extra(context, states, stats),
        ref=rows[0].ref,
    )


def facts_of(main: float | None, *, failed: bool, measured: bool) -> Facts:
    outcome = outcome_of(main)
    if not measured:
        return Facts("error" if failed else "completed", "not_run", "none")
    if main is None:
        return Facts("error" if failed else "completed", "unscored", "none")
    return Facts("error", "scored", despite_error(outcome)) if failed else Facts("completed", "scored", outcome)


def _is_counted(context: InstanceContext, instance: dict[str, Any]) -> bool:
    return text(instance.get("split")) == context.split and not instance.get("perturbation")


def _output(states: list[dict[str, Any]], *, failed: bool) -> Output:
    """HELM's placeholder for a failed request is not an answer of the model."""
    made = output_of(states)
    return Output() if failed and not made.text else made


def checks_of(context: InstanceContext, stats: list[Stat], measured: tuple[Row, ...], facts: Facts) -> Iterator[Check]:
    measures = [stat for stat in stats if stat.is_measure]
    for order, stat in enumerate(measures):
        main = stat.name == context.main
        yield Check(
            name=stat.name,
            status="not_run" if facts.execution == "error" and stat.value == 0 else status_of(stat.value),
            scorer=stat.name,
            order=order,
            value=stat.value,
            is_primary=main,
            counts=main,
            ref=_stat_ref(stat, measured[0]),
        )


def _stat_ref(stat: Stat, row: Row) -> SourceRef:
    by_name = isinstance(row.data.get("stats"), dict)
    return row.ref.below("stats", stat.name if by_name else stat.place)


def judgements_of(state: dict[str, Any]) -> Iterator[Judgement]:
    """The output of annotators, which are mostly judge models."""
    for name, annotation in mapping(state.get("annotations")).items():
        yield Judgement(judge=str(name), raw=plain(annotation))


def usage_of(stats: list[Stat]) -> Usage:
    counts = {one.name: one.value for one in stats if one.value is not None}
    asked, answered = (
        counts.get("num_prompt_tokens"),
        counts.get("num_output_tokens", counts.get("num_completion_tokens")),
    )
    return Usage(input=None if asked is None else int(asked), output=None if answered is None else int(answered))


def _extra(context: InstanceContext, states: list[dict[str, Any]], stats: list[Stat]) -> dict[str, Any]:
    counted = {one.name: one.value for one in stats if not one.is_measure and one.value is not None}
    others = [beside(state, context.adapter) for state in states[1:]]
    more = rest(states[0], _STATE) | beside(states[0], context.adapter)
    return more | non_empty(stats=counted, other_requests=[one for one in others if one])


def completions_of(state: dict[str, Any]) -> list[dict[str, Any]]:
    return [mapping(one) for one in sequence(mapping(state.get("result")).get("completions"))]


def output_of(states: list[dict[str, Any]]) -> Output:
    """With several requests, the answer is the list of likelihoods of the references."""
    if len(states) > 1:
        return Output(structured=[_weighed(state) for state in states])
    completions = completions_of(states[0])
    answer = text(completions[0].get("text")) if completions else None
    mapped = mapping(states[0].get("output_mapping")).get((answer or "").strip())
    chosen = mapped if isinstance(mapped, str) else None
    return Output(text=answer, answer=chosen, extraction="output_mapping" if chosen is not None else "")


def _weighed(state: dict[str, Any]) -> dict[str, Any]:
    likelihoods = [one.get("logprob") for one in completions_of(state)]
    named = {name: state.get(name) for name in ("reference_index", "request_mode")}
    return non_empty(**named, logprobs=likelihoods)


def stop_reason(states: list[dict[str, Any]]) -> str:
    reasons = [one.get("finish_reason") for state in states for one in completions_of(state)[:1]]
    reason = reasons[0] if reasons else None
    return text(mapping(reason).get("reason")) if isinstance(reason, dict) else text(reason)


def errors_of(rows: tuple[Row, ...]) -> Iterator[ErrorInfo]:
    """HELM scores a failed request that is not fatal like an empty answer."""
    for row in rows:
        result = mapping(row.data.get("result"))
        if result.get("success") is False or text(result.get("error")):
            flags = mapping(result.get("error_flags"))
            retry = flags.get("is_retriable")
            yield ErrorInfo(
                type="request_failed",
                derived=("type",),
                message=text(result.get("error")),
                phase="subject",
                retryable=retry if isinstance(retry, bool) else None,
                extra=rest(flags, ("is_retriable",)),
                ref=row.ref.below("result", "error"),
            )


def steps_of(states: list[dict[str, Any]]) -> tuple[Step, ...]:
    steps: list[Step] = []
    for state in states:
        request = mapping(state.get("request"))
        asked = steps_of_chat(sequence(request.get("messages"))) or _prompt(request)
        named = {name: state.get(name) for name in ("reference_index", "request_mode")}
        first = len(steps)
        steps += [
            replace(step, index=first + at, extra=step.extra | non_empty(**named)) for at, step in enumerate(asked)
        ]
        for try_, completion in enumerate(completions_of(state), start=1):
            steps.append(_answer(completion, len(steps), try_, named))
    return tuple(steps)


def _prompt(request: dict[str, Any]) -> tuple[Step, ...]:
    prompt = request.get("prompt")
    return (Step(index=0, actor=_USER, text=prompt),) if isinstance(prompt, str) else ()


def _answer(completion: dict[str, Any], at: int, try_: int, named: dict[str, Any]) -> Step:
    reason = completion.get("finish_reason")
    return Step(
        index=at,
        actor=_ASSISTANT,
        kind="model_call",
        try_=try_,
        text=text(completion.get("text")),
        extra=rest(completion, _COMPLETION) | non_empty(finish_reason=reason, **named),
    )


def duration_of(states: list[dict[str, Any]]) -> float | None:
    times = [number(mapping(state.get("result")).get("request_time")) for state in states]
    known_times = [one for one in times if one is not None]
    return sum(known_times) if known_times else None


def beside(state: dict[str, Any], adapter: dict[str, Any]) -> dict[str, Any]:
    """Fields of the request that differ from the adapter, and fields of the result without a place of their own."""
    request = mapping(state.get("request"))
    asked = {name: value for name, value in request.items() if adapter.get(name) != value}
    return non_empty(
        request=rest(asked, ("prompt", "messages")),
        result=rest(mapping(state.get("result")), _RESULT),
        output_mapping=plain(state.get("output_mapping")),
    )
