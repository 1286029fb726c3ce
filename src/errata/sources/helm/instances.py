"""The requests of one instance in one trial and their statistics → its case and its attempt."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from errata.model import Attempt, Case, Check, Item, Judgement, Output, Run, Usage, UsageByRole, case_key
from errata.model.identity import fingerprint
from errata.sources.base import Numbering, Row
from errata.sources.helm import requests
from errata.sources.helm.stats import Stat, stats_of
from errata.sources.shared.facts import Facts, despite_error, outcome_of, status_of
from errata.sources.shared.row_groups import Items
from errata.sources.shared.values import known, mapping, moment_since_1970, name_of, plain, rest, sequence, text

_STATE = ("instance", "request", "result", "output_mapping", "reference_index", "request_mode",
          "annotations")  # fmt: skip
_INSTANCE = ("input", "references", "split", "sub_split", "id", "perturbation")


class Named(msgspec.Struct, frozen=True):
    id: Any = None
    perturbation: Any = None


class Request(msgspec.Struct):
    """What tells which requests belong together."""

    instance: Named = Named()
    train_trial_index: Any = None

    def key(self) -> Any:
        return _key(self.instance.id, self.train_trial_index, self.instance.perturbation)


class Measured(msgspec.Struct):
    instance_id: Any = None
    train_trial_index: Any = None
    perturbation: Any = None

    def key(self) -> Any:
        return _key(self.instance_id, self.train_trial_index, self.perturbation)


def _key(name: Any, trial: Any, perturbation: Any) -> Any:
    return None if name is None else (name, trial, fingerprint(perturbation) if perturbation else "")


class Reading(NamedTuple):
    """What all instances of a run share."""

    run: Run
    adapter: dict[str, Any]
    main: str
    split: str
    measured: Items | None


def items_of(reading: Reading, numbering: Numbering, group: Row) -> Iterator[Item]:
    rows: tuple[Row, ...] = group.data
    instance = mapping(rows[0].data["instance"])
    name = _name(instance)
    index = numbering.next(name)
    if index == 1:
        yield _case(reading.run, name, instance, rows[0])
    yield _attempt(reading, name, index, rows)


def _name(instance: dict[str, Any]) -> str:
    """A copy that was changed on purpose has the id of its original."""
    changed = text(mapping(instance.get("perturbation")).get("name"))
    name = name_of(instance["id"])
    return f"{name}~{changed}" if changed else name


def _case(run: Run, name: str, instance: dict[str, Any], row: Row) -> Case:
    references = [mapping(one) for one in sequence(instance.get("references"))]
    texts = [text(mapping(one.get("output")).get("text")) for one in references]
    right = [told for told, one in zip(texts, references, strict=True) if "correct" in sequence(one.get("tags"))]
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
    """References whose tags say more than that they are right or not, the perturbation, and what else is told."""
    told = any(
        sequence(one.get("tags")) not in ([], ["correct"]) or set(one) != {"output", "tags"} for one in references
    )
    return known(references=references if told else None, perturbation=instance.get("perturbation")) | rest(
        instance, _INSTANCE
    )


def _attempt(reading: Reading, name: str, index: int, rows: tuple[Row, ...]) -> Attempt:
    states = [row.data for row in rows]
    first, instance = states[0], mapping(states[0]["instance"])
    key = _key(instance.get("id"), first.get("train_trial_index"), instance.get("perturbation"))
    told = reading.measured.of(key) if reading.measured is not None else ()
    stats = list(stats_of(told[0].data.get("stats"))) if told else []
    errors = tuple(requests.errors_of(rows))
    main = next((one.value for one in stats if one.name == reading.main), None)
    facts = _facts(main, failed=bool(errors), measured=bool(told))
    result = mapping(first.get("result"))
    return Attempt(
        run=reading.run.id,
        case=case_key(reading.run.suite, name),
        index=index,
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        native_status=f"{reading.main} {main:g}" if main is not None else "",
        native_reason="prompt_truncated" if first.get("prompt_truncated") is True else "",
        reported=main,
        reported_counted=main is not None and _is_counted(reading, instance),
        output=_output(states, failed=bool(errors)),
        stop_reason=requests.stop_reason(states),
        errors=errors,
        checks=tuple(_checks(reading, stats, told, facts)),
        judgements=tuple(_judgements(first)),
        steps=requests.steps_of(states),
        usage=UsageByRole(subject=_usage(stats)),
        started_at=moment_since_1970(result.get("request_datetime")),
        duration=requests.duration_of(states),
        extra=_extra(reading, states, stats),
        ref=rows[0].ref,
    )


def _facts(main: float | None, *, failed: bool, measured: bool) -> Facts:
    outcome = outcome_of(main)
    if not measured:
        return Facts("error" if failed else "completed", "not_run", "none")
    if main is None:
        return Facts("error" if failed else "completed", "unscored", "none")
    return Facts("error", "scored", despite_error(outcome)) if failed else Facts("completed", "scored", outcome)


def _is_counted(reading: Reading, instance: dict[str, Any]) -> bool:
    return text(instance.get("split")) == reading.split and not instance.get("perturbation")


def _output(states: list[dict[str, Any]], *, failed: bool) -> Output:
    """What HELM puts in the place of a failed request is no answer of the model's."""
    made = requests.output_of(states)
    return Output() if failed and not made.text else made


def _checks(reading: Reading, stats: list[Stat], told: tuple[Row, ...], facts: Facts) -> Iterator[Check]:
    measures = [one for one in stats if one.is_measure]
    for order, one in enumerate(measures):
        main = one.name == reading.main
        yield Check(
            name=one.name,
            status="not_run" if facts.execution == "error" and one.value == 0 else status_of(one.value),
            scorer=one.name,
            order=order,
            value=one.value,
            is_primary=main,
            counts=main,
            ref=told[0].ref.below("stats", one.place),
        )


def _judgements(state: dict[str, Any]) -> Iterator[Judgement]:
    """What annotators said: mostly models that were asked to judge."""
    for name, said in mapping(state.get("annotations")).items():
        yield Judgement(judge=str(name), raw=plain(said))


def _usage(stats: list[Stat]) -> Usage:
    told = {one.name: one.value for one in stats if one.value is not None}
    asked, answered = told.get("num_prompt_tokens"), told.get("num_output_tokens", told.get("num_completion_tokens"))
    return Usage(input=None if asked is None else int(asked), output=None if answered is None else int(answered))


def _extra(reading: Reading, states: list[dict[str, Any]], stats: list[Stat]) -> dict[str, Any]:
    counted = {one.name: one.value for one in stats if not one.is_measure and one.value is not None}
    others = [requests.beside(state, reading.adapter) for state in states[1:]]
    more = rest(states[0], _STATE) | requests.beside(states[0], reading.adapter)
    return more | known(stats=counted, other_requests=[one for one in others if one])
