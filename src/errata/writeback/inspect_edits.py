"""Settled failures of an Inspect log → `edits.json`, which a constant script applies with Inspect's own API.

What was not measured is *invalidated*, so that `inspect eval-retry` and eval sets repeat it. Where a scorer or the task
is at fault, the score that decides becomes *unscored* (`NaN`): Inspect's metrics leave it out, its history keeps it.
"""

from collections.abc import Iterable
from importlib.resources import files
from typing import Any

import msgspec

from errata import __version__
from errata.model import Check, Run
from errata.model.identity import fingerprint
from errata.model.words import NOT_THE_SUBJECTS
from errata.writeback.settlement import RULE, Settled, in_words, quotes_of

SCRIPT, EDITS = "edit_log.py", "edits.json"
NOTHING = "NaN"
"""How Inspect writes that a scorer gave no score."""


class Left(msgspec.Struct, frozen=True):
    """A settled failure for which the log has no place."""

    settled: Settled
    why: str


class Plan(msgspec.Struct, frozen=True):
    edits: tuple[dict[str, Any], ...]
    left: tuple[Left, ...]


def script() -> str:
    return files("errata.writeback").joinpath(SCRIPT).read_text(encoding="utf-8")


def plan(found: Iterable[Settled]) -> Plan:
    edits, left = [], []
    for one in found:
        why = _no_place(one)
        if why:
            left.append(Left(one, why))
        else:
            edits.append(_edit(one))
    return Plan(tuple(edits), tuple(left))


def document(run: Run, edits: Iterable[dict[str, Any]]) -> str:
    """What the script reads. No path and no time: the log is named when it is applied, the time is that of the edit."""
    told = {
        "made_by": f"errata {__version__}",
        "rule": RULE,
        "run": run.native_id,
        "task": run.suite,
        "model": run.subject.model,
        "edits": list(edits),
    }
    return msgspec.json.format(msgspec.json.encode(told), indent=2).decode() + "\n"


def _edit(settled: Settled) -> dict[str, Any]:
    attempt, opinion = settled.attempt, settled.opinion
    scored = _deciding(settled)
    told = {
        "do": "invalidate" if scored is None else "unscore",
        "sample": settled.case,
        "epoch": attempt.index,
        "uuid": attempt.native_id,
        "scorer": scored.scorer if scored else "",
        "keys": [scored.name] if scored and scored.kind == "dimension" else [],
        "was": attempt.native_status if scored else "",
        "reason": in_words(opinion),
        "evidence": quotes_of(opinion),
        "owner": opinion.owner,
        "by": opinion.by,
        "author": opinion.author,
        "version": opinion.version,
        "confidence": opinion.confidence,
        "verdict": opinion.verdict,
        "attempt": attempt.id,
    }
    return {"id": fingerprint([told[name] for name in ("do", "attempt", "scorer", "reason")]), **told}


def _deciding(settled: Settled) -> Check | None:
    """The score to be taken back; none where the sample as a whole was not measured."""
    attempt, opinion = settled.attempt, settled.opinion
    if opinion.owner in NOT_THE_SUBJECTS or attempt.execution == "error":
        return None
    return next((check for check in attempt.checks if check.is_primary and check.scorer), None)


def _no_place(settled: Settled) -> str:
    attempt, scored = settled.attempt, _deciding(settled)
    if attempt.duplicate_of is not None:
        return "stands in the log twice"
    if attempt.invalidated is not None:
        return "is invalidated already"
    if scored is not None and NOTHING in (attempt.native_status, scored.value):
        return "is unscored already"
    if scored is None and not attempt.native_id:
        return "has no uuid in this old log, without which Inspect invalidates nothing"
    return ""
