"""Settled failures of an Inspect log → `edits.json`, which a constant script applies with Inspect's own API.

Samples that were not measured are *invalidated*, so that `inspect eval-retry` and eval sets repeat them. If a scorer or
the task is at fault, the primary score becomes *unscored* (`NaN`): Inspect's metrics skip it, its history keeps it.
"""

from collections.abc import Iterable
from importlib.resources import files
from typing import Any

import msgspec

from errata import __version__
from errata.model import Check, Run
from errata.model.identity import fingerprint
from errata.model.output.act import WhyLeft
from errata.model.words import NOT_THE_SUBJECTS
from errata.writeback.settlement import RULE, Settled, opinion_text, quotes_of

SCRIPT, EDITS = "edit_log.py", "edits.json"
NOTHING = "NaN"
"""How Inspect writes a missing score."""


class LeftFailure(msgspec.Struct, frozen=True):
    """A settled failure that can't be written to the log."""

    settled: Settled
    why: WhyLeft


class InspectEdits(msgspec.Struct, frozen=True):
    edits: tuple[dict[str, Any], ...]
    left: tuple[LeftFailure, ...]


def script() -> str:
    return files("errata.writeback").joinpath(SCRIPT).read_text(encoding="utf-8")


def plan(failures: Iterable[Settled]) -> InspectEdits:
    edits, left = [], []
    for settled in failures:
        why = _why_left(settled)
        if why is None:
            edits.append(_edit(settled))
        else:
            left.append(LeftFailure(settled, why))
    return InspectEdits(tuple(edits), tuple(left))


def document(run: Run, edits: Iterable[dict[str, Any]]) -> str:
    """The script's input. It has no path and no time: both are known only when the edits are applied."""
    content = {
        "made_by": f"errata {__version__}",
        "rule": RULE,
        "run": run.native_id,
        "task": run.suite,
        "model": run.subject.model,
        "edits": list(edits),
    }
    return msgspec.json.format(msgspec.json.encode(content), indent=2).decode() + "\n"


def _edit(settled: Settled) -> dict[str, Any]:
    attempt, opinion = settled.attempt, settled.opinion
    scored = _deciding(settled)
    fields = {
        "do": "invalidate" if scored is None else "unscore",
        "sample": settled.case,
        "epoch": attempt.index,
        "uuid": attempt.native_id,
        "scorer": scored.scorer if scored else "",
        "keys": [scored.name] if scored and scored.kind == "dimension" else [],
        "was": attempt.native_status if scored else "",
        "reason": opinion_text(opinion),
        "evidence": quotes_of(opinion),
        "owner": opinion.owner,
        "by": opinion.by,
        "author": opinion.author,
        "version": opinion.version,
        "confidence": opinion.confidence,
        "verdict": opinion.verdict,
        "attempt": attempt.id,
    }
    return {"id": fingerprint([fields[name] for name in ("do", "attempt", "scorer", "reason")]), **fields}


def _deciding(settled: Settled) -> Check | None:
    """The score to remove; none if the sample as a whole was not measured."""
    attempt, opinion = settled.attempt, settled.opinion
    if opinion.owner in NOT_THE_SUBJECTS or attempt.execution == "error":
        return None
    return next((check for check in attempt.checks if check.is_primary and check.scorer), None)


def _why_left(settled: Settled) -> WhyLeft | None:
    attempt, scored = settled.attempt, _deciding(settled)
    if attempt.duplicate_of is not None:
        return "duplicate_row"
    if attempt.invalidated is not None:
        return "invalidated_already"
    if scored is not None and NOTHING in (attempt.native_status, scored.value):
        return "unscored_already"
    if scored is None and not attempt.native_id:
        return "no_uuid"
    return None
