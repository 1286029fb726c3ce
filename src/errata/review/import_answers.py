"""The verb `review import`: a file that was filled in, row by row; a bad row is told, the good ones are kept."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from errata.errors import ErrataError
from errata.model import Packet, Reviewer, StoredRun, Verdict
from errata.model.identity import split_attempt_id
from errata.model.run import case_name
from errata.review.filled import Filled, Unusable, read_answers
from errata.review.inherit import Heirs
from errata.review.judge import Answered, Judged, judge, keep, keep_refused
from errata.review.packing import Packing, packets_of, question_for
from errata.review.redaction import redacted
from errata.review.verdicts import Refused
from errata.runs.addresses import locate_known
from errata.store.database import Store
from errata.store.reviews import keep_verdicts
from errata.store.runs import run_by_id
from errata.text.clean import one_line


class KeptRow(msgspec.Struct, frozen=True):
    line: int
    case: str
    judged: Judged


class BadRow(msgspec.Struct, frozen=True):
    line: int
    case: str
    reasons: tuple[str, ...]


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """Whose answers they are, and to which packets."""

    reviewer: Reviewer
    at: str
    taxonomy: str = ""
    blind: bool = False


def import_answers(path: Path, store: Store, reading: Reading) -> Iterator[KeptRow | BadRow]:
    """Bad rows that are about nothing we know come first, then the others run by run."""
    by_run: dict[str, dict[str, list[Filled]]] = {}
    for row in read_answers(path):
        found = BadRow(row.line, "", (row.why,)) if isinstance(row, Unusable) else _attempt(row, store)
        if isinstance(found, BadRow):
            yield found
        elif isinstance(row, Filled):
            by_run.setdefault(split_attempt_id(found).run, {}).setdefault(found, []).append(row)
    for run, rows in by_run.items():
        yield from _of_run(run_by_id(store, run), rows, store, reading)


def inherit(kept: Iterable[Verdict], store: Store, at: str) -> int:
    """What identical failures that nobody has read take over; how many they are."""
    by_run: dict[str, list[Verdict]] = {}
    for verdict in kept:
        by_run.setdefault(split_attempt_id(verdict.attempt).run, []).append(verdict)
    found = []
    for run, verdicts in by_run.items():
        heirs = Heirs(run_by_id(store, run), store)
        found += [one for verdict in verdicts for one in heirs.of(verdict, at)]
    return keep_verdicts(store, found)


def _attempt(row: Filled, store: Store) -> str | BadRow:
    try:
        found = locate_known(row.which, store)
    except ErrataError as error:
        return BadRow(row.line, one_line(row.which, 200), (error.message,))
    if found.attempt is not None and found.attempt.is_failure:
        return found.attempt.id
    return BadRow(row.line, one_line(row.which, 200), (f"`{one_line(row.which, 200)}` names no failure",))


def _of_run(
    stored: StoredRun, rows: dict[str, list[Filled]], store: Store, reading: Reading
) -> Iterator[KeptRow | BadRow]:
    packing = Packing(question=question_for(stored.run.source.name, reading.taxonomy), blind=reading.blind)
    for packet in packets_of(stored, store, attempts=frozenset(rows), packing=packing):
        name = case_name(stored.run, packet.case_key)
        for row in rows[packet.attempt_id]:
            yield _row(row, name, redacted(packet), store, reading)


def _row(row: Filled, case: str, packet: Packet, store: Store, reading: Reading) -> KeptRow | BadRow:
    by = Answered(reviewer=reading.reviewer, at=reading.at, blind=reading.blind)
    made = judge(row.answer, packet, by, store)
    if isinstance(made, Refused):
        keep_refused(row.answer, made.reasons, packet, by, store)
        return BadRow(row.line, case, made.reasons)
    return KeptRow(row.line, case, keep(made, store))
