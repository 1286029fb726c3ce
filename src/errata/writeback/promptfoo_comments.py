"""Settled failures of a promptfoo evaluation → a copy of its export with a comment on each of their rows.

`promptfoo import` reads the copy, and promptfoo's viewer shows the comments. Scores and all else stay unchanged.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

import msgspec

from errata.model.output.act import WhyLeft
from errata.text.lazy_regex import lazy_regex
from errata.writeback.settlement import Settled, opinion_text, quotes_of

BEGIN, END = "[errata]", "[/errata]"
"""Around errata's comment, so that it can be replaced while comments of people are kept."""

_OWN = lazy_regex(rf"\n*{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
_ROW = lazy_regex(r"/results/results/(\d+)")


class UncommentedFailure(msgspec.Struct, frozen=True):
    """A settled failure whose row can't have a comment."""

    settled: Settled
    why: WhyLeft


class Commented(msgspec.Struct, frozen=True):
    text: str
    """The copy of the export."""
    done: tuple[Settled, ...]
    refused: tuple[UncommentedFailure, ...]


def why_no_import(document: Any) -> WhyLeft | None:
    """Why `promptfoo import` would not read a copy of this document; none if it does."""
    results = document.get("results") if isinstance(document, dict) else None
    if not isinstance(results, dict) or not isinstance(results.get("results"), list):
        return "not_importable"
    if results.get("version") != 3:
        return "old_export"
    return None


def commented(document: dict[str, Any], native_id: str, settled: Iterable[Settled], *, indent: int | None) -> Commented:
    """Changes `document` in place."""
    done, refused = [], []
    for failure in settled:
        row = _row(document, failure)
        why = _why_uncommented(row, document, native_id, failure)
        if why is None:
            _comment(row, failure)
            done.append(failure)
        else:
            refused.append(UncommentedFailure(failure, why))
    text = json.dumps(document, ensure_ascii=False, indent=indent, separators=None if indent else (",", ":"))
    return Commented(f"{text}\n", tuple(done), tuple(refused))


def comment_on(settled: Settled) -> str:
    quotes = [f"> {one['quote']}\n  {one['place']}" for one in quotes_of(settled.opinion)]
    return "\n".join([BEGIN, opinion_text(settled.opinion), *quotes, END])


def _row(document: dict[str, Any], settled: Settled) -> dict[str, Any]:
    ref = settled.attempt.ref
    place = _ROW.fullmatch(ref.pointer) if ref else None
    rows = document["results"]["results"]
    at = int(place[1]) if place else len(rows)
    row = rows[at] if at < len(rows) else None
    return row if isinstance(row, dict) else {}


def _why_uncommented(row: dict[str, Any], document: dict[str, Any], native_id: str, settled: Settled) -> WhyLeft | None:
    """Why a row is not the imported one, or can't have a comment."""
    if not row or document.get("evalId", native_id) != native_id:
        return "other_export"
    if settled.attempt.native_id and row.get("id") != settled.attempt.native_id:
        return "export_changed"
    if not isinstance(row.get("gradingResult"), dict) and row.get("failureReason") is None:
        return "not_graded"
    return None


def _comment(row: dict[str, Any], settled: Settled) -> None:
    graded = row.get("gradingResult")
    if not isinstance(graded, dict):
        # a call that failed was not graded; this adds nothing to the row
        graded = {"pass": False, "score": row.get("score") or 0, "reason": row.get("error") or ""}
    before = graded.get("comment")
    kept = _OWN.sub("", before).rstrip() if isinstance(before, str) else ""
    own = comment_on(settled)
    row["gradingResult"] = {**graded, "comment": f"{kept}\n\n{own}" if kept else own}
