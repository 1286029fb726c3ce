"""The form of an answer: its JSON schema, and extracting it from the text that a reviewer wrote around it."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple, get_args

from errata.model import Question
from errata.model.words import OWNERS, Confidence, RecommendationGroup
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex
from errata.text.outgoing import for_others

NO_LABEL = "none"
"""No label of the taxonomy fits: then the owner is named instead."""
LONGEST = 400_000
"""Characters of an answer that are looked at."""
TRIES = 64
THOUGHT = lazy_regex("</think>")
MARKS = 32
WRAPPERS = ("verdict", "answer", "result", "output")
CONFIDENCES: tuple[str, ...] = get_args(Confidence)
GROUPS: tuple[str, ...] = get_args(RecommendationGroup)
FIELDS = (
    "candidates",
    "reasoning",
    "evidence",
    "error_line",
    "decisive_step",
    "decisive_agent",
    "decisive_reason",
    "second_candidate",
    "underlying_mistake",
    "consequences",
    "model_snippet",
    "expected_snippet",
    "label",
    "owner",
    "also",
    "cause",
    "bucket",
    "recommendation",
    "fix",
    "doubts",
    "confidence",
)

_TEXT: dict[str, Any] = {"type": "string"}
_MAYBE_TEXT: dict[str, Any] = {"type": ["string", "null"]}
_NUMBER: dict[str, Any] = {"type": "integer"}
_MAYBE_NUMBER: dict[str, Any] = {"type": ["integer", "null"]}
_YES_OR_NO: dict[str, Any] = {"type": "boolean"}


class ParsedAnswer(NamedTuple):
    fields: dict[str, Any]
    ignored: tuple[str, ...]
    """Fields that nobody asked for."""


def owners_without_label(question: Question) -> tuple[str, ...]:
    """Those whom only the label `none` names in general; nobody where the taxonomy has a label for the unknown."""
    named = {choice.owner for choice in question.labels if choice.general}
    return () if "unknown" in named else tuple(owner for owner in OWNERS if owner not in named)


def labels_to_give(question: Question) -> tuple[str, ...]:
    labels = tuple(choice.label for choice in question.labels)
    return (*labels, NO_LABEL) if owners_without_label(question) and NO_LABEL not in labels else labels


def schema_for(question: Question) -> dict[str, Any]:
    """Closed, all fields required and absent ones null, as strict structured output wants it. Thought comes first."""
    owners = owners_without_label(question)
    fields: dict[str, Any] = {
        "candidates": _list_of(_object(step=_NUMBER, act=_TEXT, corrected=_YES_OR_NO, sufficient=_YES_OR_NO)),
        "reasoning": _TEXT,
        "evidence": _list_of(_object(place=_TEXT, quote=_TEXT)),
        "error_line": _MAYBE_TEXT,
        "decisive_step": _MAYBE_NUMBER,
        "decisive_agent": _MAYBE_TEXT,
        "decisive_reason": _MAYBE_TEXT,
        "second_candidate": _MAYBE_NUMBER,
        "underlying_mistake": _MAYBE_TEXT,
        "consequences": _list_of(_TEXT),
        "model_snippet": _MAYBE_TEXT,
        "expected_snippet": _MAYBE_TEXT,
        "label": {"type": "string", "enum": list(labels_to_give(question))},
    }
    if owners:
        fields["owner"] = {"type": ["string", "null"], "enum": [*owners, None]}
    fields |= {
        "also": _list_of({"type": "string", "enum": list(OWNERS)}),
        "cause": _TEXT,
        "bucket": _MAYBE_TEXT,
        "recommendation": _object(group={"type": "string", "enum": list(GROUPS)}, text=_TEXT, target_path=_MAYBE_TEXT),
        "fix": {"anyOf": [_object(path=_TEXT, before=_TEXT, after=_TEXT), {"type": "null"}]},
        "doubts": _list_of(_TEXT),
        "confidence": {"type": "string", "enum": list(CONFIDENCES)},
    }
    return _object(**fields)


def allowed_words(question: Question, agents: Sequence[str] = ()) -> dict[str, tuple[str, ...]]:
    """Every field of an answer that takes one of a list of words, with that list."""
    words = {
        "label": labels_to_give(question),
        "owner": owners_without_label(question),
        "also": OWNERS,
        "confidence": CONFIDENCES,
        "recommendation.group": GROUPS,
        "decisive_agent": tuple(agents),
    }
    return {field: allowed for field, allowed in words.items() if allowed}


def _object(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _list_of(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def read_answer(text: str) -> ParsedAnswer | str:
    """The one JSON object in it that gives a label; else why there is none."""
    parsed, broken = _objects(_after_thought(text[:LONGEST]))
    if twice := next((one for one in parsed if isinstance(one, Twice)), None):
        return f"the JSON object gives `{one_line(twice.name, 60)}` twice, and not the same: give each field once"
    objects = [_unwrapped(one) for one in parsed if not isinstance(one, Twice)]
    labelled = [one for one in objects if "label" in one]
    if len({json.dumps(one["label"], sort_keys=True) for one in labelled}) > 1:
        return "the answer holds several objects with different labels: give one JSON object and nothing else"
    if not labelled:
        return _nothing(has_object=bool(objects), broken=broken)
    fields = labelled[0]
    ignored = tuple(sorted(one_line(for_others(name), 60) for name in fields if name not in FIELDS))
    return ParsedAnswer({name: fields[name] for name in FIELDS if fields.get(name) is not None}, ignored[:20])


def _after_thought(text: str) -> str:
    """The text after a model's thinking. The same mark inside an object is a quote from the packet."""
    ends = [0, *[found.end() for found in THOUGHT.finditer(text)][-MARKS:]]
    while len(ends) > 1:
        around = next((at for at in reversed(range(len(ends) - 1)) if _is_inside(text, ends[at], ends[-1])), None)
        if around is None:
            break
        del ends[around + 1 :]
    return text[ends[-1] :]


def _is_inside(text: str, start: int, at: int) -> bool:
    """Whether a whole object that begins between the two goes on after the second."""
    opened = text.find("{", start, at)
    for _ in range(TRIES):
        if opened < 0:
            return False
        try:
            _, end = _DECODER.raw_decode(text, opened)
        except (ValueError, RecursionError):
            end = opened + 1
        if end > at:
            return True
        opened = text.find("{", end, at)
    return False


def _objects(text: str) -> tuple[list["dict[str, Any] | Twice"], bool]:
    """Those that are complete and stand in no other; and whether something began like one that is not."""
    objects: list[dict[str, Any] | Twice] = []
    broken = False
    at = text.find("{")
    for _ in range(TRIES):
        if at < 0:
            break
        try:
            value, end = _DECODER.raw_decode(text, at)
            objects.append(value)
        except (ValueError, RecursionError):
            end, broken = at + 1, True
        at = text.find("{", end)
    return objects, broken


class Twice(NamedTuple):
    """Marks an object with two values for the same field; errata must not choose between them."""

    name: str


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any] | Twice:
    made: dict[str, Any] = {}
    for name, value in pairs:
        if isinstance(value, Twice):
            return value
        if name in made and made[name] != value:
            return Twice(name)
        made[name] = value
    return made


_DECODER = json.JSONDecoder(object_pairs_hook=_once)


def _unwrapped(value: dict[str, Any]) -> dict[str, Any]:
    inner = next((value[name] for name in WRAPPERS if isinstance(value.get(name), dict)), None)
    return inner if inner is not None and "label" not in value else value


def _nothing(*, has_object: bool, broken: bool) -> str:
    if broken:
        return "the JSON object is broken or was cut off: give it whole, and nothing else"
    if has_object:
        return "the JSON object has no `label`"
    return "there is no JSON object in the answer: give one, and nothing else"
