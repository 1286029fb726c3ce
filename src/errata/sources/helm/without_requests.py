"""Instances of HELM without their requests: from the statistics per instance, or from displayed predictions."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from errata.model import Attempt, Case, Item, Output, UsageByRole, case_key
from errata.sources.base import Numbering, Row
from errata.sources.helm.instances import (
    InstanceContext,
    case_of,
    checks_of,
    facts_of,
    judgements_of,
    key_of,
    usage_of,
)
from errata.sources.helm.stats import Stat, stats_of
from errata.sources.shared.values import mapping, name_of, non_empty, plain, rest, sequence, text

_ROW = ("instance_id", "perturbation", "stats", "predicted_text", "mapped_output", "annotations")


class Inputs:
    """The instances of `instances.json` by id; a perturbed copy has the id of its original."""

    def __init__(self, listed: Any) -> None:
        self._instances = {name_of(one["id"]): one for one in map(mapping, sequence(listed)) if one.get("id")}

    def get(self, name: str) -> dict[str, Any]:
        return self._instances.get(name, {})


def measured_items(context: InstanceContext, inputs: Inputs, numbering: Numbering, group: Row) -> Iterator[Item]:
    """`context.measured` are displayed predictions, where the group has only statistics."""
    row: Row = group.data[0]
    changed = text(mapping(row.data.get("perturbation")).get("name"))
    instance = name_of(row.data["instance_id"])
    name = f"{instance}~{changed}" if changed else instance
    stats = list(stats_of(row.data.get("stats")))
    index = numbering.next(name)
    if index == 1:
        yield _case(context, inputs.get(instance), name, stats, row)
    yield _attempt(context, name, index, stats, row)


def _case(context: InstanceContext, instance: dict[str, Any], name: str, stats: list[Stat], row: Row) -> Case:
    if instance:
        return replace(case_of(context.run, name, instance, row), ref=row.ref)
    return Case(run=context.run.id, suite=context.run.suite, native_id=name, category=_split(stats), ref=row.ref)


def _split(stats: list[Stat]) -> str:
    return next((stat.split for stat in stats if stat.split), "")


def _attempt(context: InstanceContext, name: str, index: int, stats: list[Stat], row: Row) -> Attempt:
    key = key_of(row.data.get("instance_id"), row.data.get("train_trial_index"), row.data.get("perturbation"))
    shown = context.measured.of(key) if context.measured is not None else ()
    prediction = row.data if "predicted_text" in row.data else shown[0].data if shown else {}
    main = next((stat.value for stat in stats if stat.name == context.main), None)
    facts = facts_of(main, failed=False, measured=True)
    mapped, answer = prediction.get("mapped_output"), prediction.get("predicted_text")
    is_counted = not context.split or _split(stats) in ("", context.split)
    counted = {stat.name: stat.value for stat in stats if not stat.is_measure and stat.value is not None}
    return Attempt(
        run=context.run.id,
        case=case_key(context.run.suite, name),
        index=index,
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        native_status=f"{context.main} {main:g}" if main is not None else "",
        reported=main,
        reported_counted=main is not None and is_counted and not row.data.get("perturbation"),
        output=Output(
            text=answer if isinstance(answer, str) else None,
            answer=mapped if isinstance(mapped, str) else None,
            extraction="output_mapping" if isinstance(mapped, str) else "",
        ),
        checks=tuple(checks_of(context, stats, (row,), facts)),
        judgements=tuple(judgements_of(prediction)),
        usage=UsageByRole(subject=usage_of(stats)),
        extra=rest(row.data, _ROW)
        | rest(prediction, _ROW)
        | non_empty(stats=counted, perturbation=plain(row.data.get("perturbation"))),
        ref=row.ref,
    )
