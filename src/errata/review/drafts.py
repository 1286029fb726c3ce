"""A verdict that a person is writing: what still prevents saving it, and the answer that it makes."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from errata.model import LabelChoice, Packet, PacketPlace, Quote
from errata.model.attribution import OWNERS_TAXONOMY
from errata.model.record import Struct
from errata.review.answers import NO_LABEL, owners_without_label
from errata.review.evidence import PlaceIndex, check_quote
from errata.review.fields import CAUSE
from errata.review.places import Kind, kind_of
from errata.text.lazy_regex import lazy_regex

NO_OWNER = "Choose an owner: press its letter."
NO_QUOTE = "A verdict needs a quote. Put the cursor on a line and press q."
NO_CORE = "Quote the output, a log, an error or the grader as well."
NO_CAUSE = "Write in one sentence what went wrong."
FROM_THE_EVAL: frozenset[Kind] = frozenset(("task", "error", "judge", "expected", "grader", "log"))
"""Texts that the model did not write: a fault of a grader or a task shows in one of them."""
_NUMBER = lazy_regex(r"\d+")
_NEXT_SENTENCE = lazy_regex(r"(?<=[.!?])\s+(?=[A-Z“\"(`'])")


class DraftQuote(Struct):
    quote: str
    place: str = ""
    """Empty where it was typed: then it is looked for in all places."""
    lines: tuple[int, int] | None = None


class VerdictDraft(Struct):
    owner: str = ""
    label: str = ""
    """Empty for the label of the owner, where there is only one."""
    cause: str = ""
    bucket: str = ""
    evidence: tuple[DraftQuote, ...] = ()
    decisive_step: int | None = None
    note: str = ""
    recommendation_group: str = ""
    recommendation: str = ""
    confidence: str = "likely"


class DraftProblem(Struct):
    """What prevents saving, and the field to change; an empty field means the whole form."""

    field: str
    message: str


class FoundQuote(Struct):
    """Where a quote is, or why it is not evidence."""

    quote: str
    place: str = ""
    lines: tuple[int, int] | None = None
    kind: str = ""
    problem: str = ""

    @property
    def is_found(self) -> bool:
        return not self.problem


def labels_for(owner: str, packet: Packet) -> tuple[LabelChoice, ...]:
    return tuple(choice for choice in packet.question.labels if choice.owner == owner)


def problems_of(draft: VerdictDraft, packet: Packet) -> Iterator[DraftProblem]:
    """In the order of the form. Whether the quotes are there is decided when it is submitted."""
    if not draft.owner:
        yield DraftProblem(field="owner", message=NO_OWNER)
    elif (problem := _label_problem(draft, packet)) is not None:
        yield problem
    if not draft.cause.strip():
        yield DraftProblem(field="cause", message=NO_CAUSE)
    if not draft.evidence:
        yield DraftProblem(field="evidence", message=NO_QUOTE)
    elif draft.owner in ("grader", "task") and not any(_is_of_eval(one, packet) for one in draft.evidence):
        message = f"A fault of the {draft.owner} needs a quote from the check or the task as well."
        yield DraftProblem(field="evidence", message=message)


def _label_problem(draft: VerdictDraft, packet: Packet) -> DraftProblem | None:
    labels = [choice.label for choice in labels_for(draft.owner, packet)]
    if draft.label in (*labels, "") and (draft.label or len(labels) < 2):
        return None
    return DraftProblem(field="label", message=f"Choose a label of {draft.owner}: {', '.join(labels)}.")


def _is_of_eval(quote: DraftQuote, packet: Packet) -> bool:
    places = [quote.place] if quote.place else PlaceIndex(packet).holding(quote.quote)
    return any(kind_of(place) in FROM_THE_EVAL for place in places)


def answer_of(draft: VerdictDraft, packet: Packet) -> str:
    """As any reviewer would have given it."""
    labels = labels_for(draft.owner, packet)
    label = draft.label or (labels[0].label if labels else NO_LABEL)
    fields: dict[str, Any] = {
        "label": label,
        "cause": draft.cause,
        "evidence": [msgspec.to_builtins(one) for one in placed(draft.evidence, packet)],
        "confidence": draft.confidence or "likely",
    }
    if label == NO_LABEL and draft.owner in owners_without_label(packet.question):
        fields["owner"] = draft.owner
    if draft.note.strip():
        fields["reasoning"] = draft.note
    if draft.bucket:
        fields["bucket"] = draft.bucket
    if draft.decisive_step is not None:
        fields["decisive_step"] = draft.decisive_step
    if draft.recommendation_group or draft.recommendation.strip():
        group = draft.recommendation_group or "none"
        fields["recommendation"] = {"group": group, "text": draft.recommendation}
    return json.dumps(fields, ensure_ascii=False)


def placed(quotes: Iterable[DraftQuote], packet: Packet) -> Iterator[DraftQuote]:
    """Each with the place that holds it, or has the most similar text, where it was typed without one."""
    index = PlaceIndex(packet)
    for quote in quotes:
        yield quote if quote.place else msgspec.structs.replace(quote, place=_place_for(quote.quote, index))


def _place_for(quote: str, index: PlaceIndex) -> str:
    if holding := index.holding(quote):
        return holding[0]
    near = index.nearest(quote, "")
    return near.place if near else next(iter(index.core or index.names), "")


def find_quote(given: DraftQuote, packet: Packet) -> FoundQuote:
    """Whether it is in the packet word for word."""
    (quote,) = placed((given,), packet)
    checked = check_quote(Quote(place=quote.place, quote=quote.quote, lines=quote.lines), PlaceIndex(packet))
    if isinstance(checked, str):
        return FoundQuote(quote=given.quote, place=quote.place, problem=checked)
    first = checked[0]
    return FoundQuote(quote=first.quote, place=first.place, lines=first.lines, kind=kind_of(first.place))


def first_cause(titles: Sequence[str]) -> str:
    """What the form suggests: the first title, as far as it is one sentence."""
    title = next((one for one in titles if one.strip()), "")
    return _NEXT_SENTENCE.split(title, maxsplit=1)[0][:CAUSE]


def transferred(draft: VerdictDraft, packet: Packet) -> VerdictDraft | None:
    """The same verdict on another failure: with the quotes that are there, too; None where none of them is.

    The decisive step goes with the quote of it.
    """
    index = PlaceIndex(packet)
    counterparts = (_counterpart(quote, index, packet) for quote in draft.evidence)
    kept = [one for one in counterparts if one is not None]
    step = draft.decisive_step if any(one.place == f"steps/{draft.decisive_step}" for one in kept) else None
    return msgspec.structs.replace(draft, evidence=tuple(kept), decisive_step=step) if kept else None


def _counterpart(quote: DraftQuote, index: PlaceIndex, packet: Packet) -> DraftQuote | None:
    """The same text in another packet, in the same place if it is there; else the same text with other numbers."""
    holding = index.holding(quote.quote)
    if holding:
        return DraftQuote(quote=quote.quote, place=quote.place if quote.place in holding else holding[0])
    pattern = re.compile(r"\d+".join(map(re.escape, _NUMBER.split(quote.quote))))
    for place in sorted(packet.places, key=lambda one: one.place != quote.place):
        if match := pattern.search(place.text):
            return DraftQuote(quote=match[0], place=place.place)
    return None


def has_own_labels(packet: Packet) -> bool:
    """Whether the labels are more than the owners themselves."""
    return packet.question.taxonomy != OWNERS_TAXONOMY


def lines_of(place: PacketPlace) -> list[str]:
    return place.text.split("\n")[: -1 if place.text.endswith("\n") else None]
