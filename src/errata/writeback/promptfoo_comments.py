"""Settled failures of a promptfoo evaluation → a copy of its export with a comment on each of their rows.

`promptfoo import` takes such a copy, and its page shows the comments. Scores and everything else stay as they are.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

import msgspec

from errata.writeback.settlement import Settled, in_words, quotes_of

BEGIN, END = "[errata]", "[/errata]"
"""Around what errata says, so that it is replaced, and what people wrote is kept."""

_OWN = re.compile(rf"\n*{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
_ROW = re.compile(r"/results/results/(\d+)")


class Refused(msgspec.Struct, frozen=True):
    """A settled failure whose row takes no comment."""

    settled: Settled
    why: str


class Commented(msgspec.Struct, frozen=True):
    text: str
    """The copy of the export."""
    done: tuple[Settled, ...]
    refused: tuple[Refused, ...]


def why_no_import(document: Any) -> str:
    """Why `promptfoo import` would not take a copy of this; empty where it does."""
    results = document.get("results") if isinstance(document, dict) else None
    if not isinstance(results, dict) or not isinstance(results.get("results"), list):
        return "`promptfoo import` takes no other form than the JSON of `--output` or `promptfoo export`"
    if results.get("version") != 3:
        return "exports before version 3 keep comments in a table of their own"
    return ""


def commented(document: dict[str, Any], native_id: str, found: Iterable[Settled], *, indent: int | None) -> Commented:
    """`document` is changed on the way; it was read for this."""
    done, refused = [], []
    for one in found:
        row = _row(document, one)
        why = _unlike(row, document, native_id, one)
        if why:
            refused.append(Refused(one, why))
        else:
            _comment(row, one)
            done.append(one)
    text = json.dumps(document, ensure_ascii=False, indent=indent, separators=None if indent else (",", ":"))
    return Commented(f"{text}\n", tuple(done), tuple(refused))


def comment_on(settled: Settled) -> str:
    quotes = [f"> {one['quote']}\n  {one['place']}" for one in quotes_of(settled.opinion)]
    return "\n".join([BEGIN, in_words(settled.opinion), *quotes, END])


def _row(document: dict[str, Any], settled: Settled) -> dict[str, Any]:
    ref = settled.attempt.ref
    place = _ROW.fullmatch(ref.pointer) if ref else None
    rows = document["results"]["results"]
    at = int(place[1]) if place else len(rows)
    row = rows[at] if at < len(rows) else None
    return row if isinstance(row, dict) else {}


def _unlike(row: dict[str, Any], document: dict[str, Any], native_id: str, settled: Settled) -> str:
    """Why a row is not the one that was read, or takes no comment."""
    if not row or document.get("evalId", native_id) != native_id:
        return "the export is not the one that was imported"
    if settled.attempt.native_id and row.get("id") != settled.attempt.native_id:
        return "the export has changed since it was imported"
    if not isinstance(row.get("gradingResult"), dict) and row.get("failureReason") is None:
        return "it was not graded"
    return ""


def _comment(row: dict[str, Any], settled: Settled) -> None:
    graded = row.get("gradingResult")
    if not isinstance(graded, dict):
        # a call that broke was not graded; this says no more than the row itself
        graded = {"pass": False, "score": row.get("score") or 0, "reason": row.get("error") or ""}
    before = graded.get("comment")
    kept = _OWN.sub("", before).rstrip() if isinstance(before, str) else ""
    said = comment_on(settled)
    row["gradingResult"] = {**graded, "comment": f"{kept}\n\n{said}" if kept else said}
