"""The rows of a batch summary of the first generation, joined with the log blocks of their tests."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from errata.model import SourceRef, times
from errata.sources.scylla.tests_of_batch import Told
from errata.sources.scylla.thread_log import Block, Logs
from errata.sources.shared.documents import Documents
from errata.sources.shared.values import moment, sequence, text


class SummaryRow(NamedTuple):
    test: str
    data: dict[str, Any]
    ref: SourceRef


def summary_rows(summary: dict[str, Any], ref: SourceRef, documents: Documents) -> list[SummaryRow]:
    rows = []
    if summary and not isinstance(summary.get("results"), list):
        documents.refuse(ref, "field missing: 'results'")
    for place, data in enumerate(sequence(summary.get("results"))):
        pointer = ref.below("results", place)
        test = text(data.get("test_id")).strip() if isinstance(data, dict) else ""
        if test:
            rows.append(SummaryRow(test, data, pointer))
        else:
            documents.refuse(pointer, "field missing: 'test_id'")
    return rows


def rows_told(rows: list[SummaryRow], logs: Logs, *, planned: list[str], completed_at: Any) -> Iterator[Told]:
    """The summary knows the latest session alone; earlier results of a test are in the logs."""
    by_test: dict[str, list[SummaryRow]] = {}
    for row in rows:
        by_test.setdefault(row.test, []).append(row)
    last_session = max((block.session for block in logs.blocks), default=1)
    logged = (block.test for block in logs.blocks)
    for test in dict.fromkeys([*sorted(by_test), *sorted(planned), *logged]):
        blocks, of_test = logs.of_test(test), by_test.get(test, [])
        owner = _owner(blocks, moment(completed_at)) if of_test else None
        for block in blocks:
            of_block = of_test[0] if block is owner else None
            yield Told(test, block.session, block, of_block and of_block.data, of_block and of_block.ref)
        if of_test and owner is None:
            yield Told(test, last_session, None, of_test[0].data, of_test[0].ref)
        elif not of_test and not blocks:
            yield Told(test, last_session)
        session = owner.session if owner else last_session
        for index, row in enumerate(of_test[1:], 2):
            yield Told(test, session, None, row.data, row.ref, index=index)


def _owner(blocks: list[Block], completed_at: str | None) -> Block | None:
    """The block whose result the summary gives: the last one begun before the summary was finished."""
    if completed_at is None or times.is_local(completed_at):
        return blocks[-1] if blocks else None
    until = times.parse(completed_at)
    before = [block for block in blocks if times.parse(block.started_at) <= until]
    candidates = before or blocks
    return candidates[-1] if candidates else None
