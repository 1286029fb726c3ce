"""What was handed in: one JSON object that says which failure it is about, and what of it is an answer."""

import json
from typing import Any

import msgspec

from errata.errors import SettingsError
from errata.review.filled import WHICH

AROUND = frozenset((*WHICH, "lease", "packet_hash", "taxonomy", "blind", "run", "case", "case_key"))
"""What stands around an answer and is none of it."""


class Submitted(msgspec.Struct, frozen=True, kw_only=True):
    which: str
    """The id of an attempt or a packet."""
    lease: str = ""
    packet_hash: str = ""
    taxonomy: str = ""
    answer: str
    """JSON, as any reviewer would have given it."""


def read_submitted(text: str) -> Submitted:
    """One JSON object: the fields of a verdict, and which failure it is about."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"This is no JSON: {error}", hint=_ONE) from error
    if not isinstance(given, dict):
        raise SettingsError(f"One JSON object is expected, not {type(given).__name__}", hint=_ONE)
    inner: dict[str, Any] = next(
        (given[name] for name in ("verdict", "answer") if isinstance(given.get(name), dict)), {}
    )
    # the answer's own word first: what was printed around it may be another packet's
    which = next((found for part in (inner, given, given.get("packet")) if (found := _named(part))), "")
    if not which:
        raise SettingsError("Nothing says which failure this verdict is about", hint=_ONE)
    around = given | inner
    answer = {name: value for name, value in (inner or given).items() if name not in AROUND}
    return Submitted(
        which=which,
        lease=str(around.get("lease") or ""),
        packet_hash=str(around.get("packet_hash") or ""),
        taxonomy=str(around.get("taxonomy") or ""),
        answer=json.dumps(answer, ensure_ascii=False),
    )


_ONE = (
    'an object such as {"attempt_id": "…", "lease": "…", "label": "…", "cause": "…", "reasoning": "…", "evidence": '
    '[{"place": "…", "quote": "…"}], "confidence": "…"}\n'
    "`errata review next RUN` prints one to fill in, `errata review import FILE` takes several"
)


def _named(part: Any) -> str:
    """Which failure it names: by an id, else by run and case."""
    texts = {name: value for name, value in part.items() if isinstance(value, str)} if isinstance(part, dict) else {}
    found = next((texts[name] for name in WHICH if texts.get(name)), "")
    case = texts.get("case_key") or texts.get("case", "")
    return found or (f"{texts['run']}/{case}" if texts.get("run") and case else "")


def text_of(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SettingsError(f"This is no text: {error}", hint=_ONE) from error
