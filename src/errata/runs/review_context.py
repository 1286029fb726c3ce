"""What a review takes from the other stages about a run: attributions, taxonomies, history, buckets."""

from collections.abc import Collection, Mapping
from functools import cache
from typing import TYPE_CHECKING

from errata.errors import SettingsError, did_you_mean
from errata.model import LabelChoice, Question
from errata.model.attribution import Taxonomy
from errata.review.labels import OWNERS, RULE
from errata.review.material import History, RunContext
from errata.runs.names import short
from errata.runs.packet_history import PacketHistory
from errata.triage.rulesets import rules_in_use

if TYPE_CHECKING:
    from errata.runs.view import RunView


def context_of(view: "RunView") -> RunContext:
    """The run is triaged when this returns; history and buckets are worked out when they are first needed."""
    stored = view.stored

    @cache
    def packet_history() -> PacketHistory:
        return PacketHistory(stored, view.store)

    def history(keys: Collection[str]) -> Mapping[str, History]:
        return packet_history().of(keys)

    return RunContext(
        stored=stored,
        handle=short(stored.run.native_id),
        attributions=view.attributions,
        buckets=lambda: {attempt: place.slug for attempt, place in view.buckets.items()},
        question=lambda taxonomy: question_for(stored.run.source.name, taxonomy),
        history=history,
    )


def question_for(source: str, taxonomy: str = "") -> Question:
    """The labels of a taxonomy by name; else the source's own, else one that names the source, else the owners."""
    known = {one.name: one for one in rules_in_use().taxonomies}
    if taxonomy and taxonomy not in known and taxonomy != OWNERS.taxonomy:
        names = [*known, OWNERS.taxonomy]
        hints = [did_you_mean(taxonomy, names), f"known are: {', '.join(names)}"]
        raise SettingsError(f"No taxonomy is named `{taxonomy}`", hint="\n".join(hint for hint in hints if hint))
    naming = (one for one in known.values() if source in one.sources and not one.opt_in)
    question = known.get(taxonomy) if taxonomy else known.get(source) or next(naming, None)
    return OWNERS if question is None else as_question(question)


def labels_by_taxonomy() -> dict[str, tuple[str, ...]]:
    listed = sorted(rules_in_use().taxonomies, key=lambda one: one.opt_in)
    known = {one.name: tuple(label.name for label in one.label) for one in listed}
    return {OWNERS.taxonomy: tuple(choice.label for choice in OWNERS.labels)} | known


def as_question(taxonomy: Taxonomy) -> Question:
    labels = tuple(
        LabelChoice(label=label.name, owner=label.owner, meaning=label.meaning, general=label.is_general)
        for label in taxonomy.label
    )
    return Question(taxonomy=taxonomy.name, version=taxonomy.version, labels=labels, rule=RULE)
