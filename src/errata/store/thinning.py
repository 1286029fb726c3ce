"""Transcripts reduced to the steps that verdicts and evidence cite, with a note of when that was."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec
from sqlalchemy import Connection, delete, func, insert, select, update

from errata.model import Attribution, Step, Verdict
from errata.model.codec import json_text, unpack
from errata.model.identity import attempt_id
from errata.store.attempts import FETCH, STEPS
from errata.store.blocks import BlockReader, BlockWriter, compress
from errata.store.database import Store
from errata.store.schema import attempts, attributions, blocks, findings, summaries, thinned, verdicts
from errata.text.lazy_regex import lazy_regex

_STEP = lazy_regex(r"^steps(?:/|\[)(\d+)")
_CALLS = ("tool_calls", "tool_results")
"""Places of a packet that are made from the calls of all steps."""
CONTEXT = 1
"""Steps before and after a cited one."""
SHORT = 8
"""A transcript of at most this many steps is kept whole: little would be saved, and it could not be reviewed."""


class Citations(msgspec.Struct):
    steps: set[int] = msgspec.field(default_factory=set)
    quotes: list[str] = msgspec.field(default_factory=list)
    calls: bool = False

    def add_place(self, place: str, quote: str) -> None:
        if match := _STEP.match(place):
            self.steps.add(int(match[1]))
        elif place.startswith(_CALLS):
            self.calls = True
        if quote.strip():
            self.quotes.append(_folded(quote))

    def add_verdict(self, verdict: Verdict) -> None:
        for quote in verdict.evidence:
            self.add_place(quote.place, quote.quote)
        named = [verdict.decisive_step, verdict.second_candidate, *(one.step for one in verdict.candidates)]
        self.steps |= {step for step in named if step is not None}
        self.quotes += [_folded(verdict.error_line)] if verdict.error_line.strip() else []


class ThinningResult(msgspec.Struct):
    attempts: int = 0
    thinned: int = 0
    steps: int = 0
    steps_kept: int = 0
    size_before: int = 0
    size_after: int | None = None


def steps_to_keep(steps: tuple[Step, ...], cited: Citations) -> tuple[Step, ...]:
    if len(steps) <= SHORT:
        return steps
    kept = {len(steps) - 1}
    first = next((at for at, step in enumerate(steps) if step.actor.role == "user" and step.text.strip()), 0)
    kept.add(first)
    for at, step in enumerate(steps):
        if step.index in cited.steps or (cited.calls and step.tool_calls) or _holds_any(step, cited.quotes):
            kept |= set(range(at - CONTEXT, at + CONTEXT + 1))
    return tuple(step for at, step in enumerate(steps) if at in kept)


def _holds_any(step: Step, quotes: list[str]) -> bool:
    if not quotes:
        return False
    calls = [call.result.text for call in step.tool_calls if call.result] + [json_text(step.tool_calls)]
    text = _folded("\n".join([step.text, step.reasoning, *calls, step.error.message if step.error else ""]))
    return any(quote in text for quote in quotes)


def _folded(text: str) -> str:
    return " ".join(text.split())


def thin_run(store: Store, pk: int, run_id: str, *, at: str, dry_run: bool) -> ThinningResult:
    """In one transaction; nothing is written where no step would go."""
    with store.reading() as connection:
        cited = _citations(connection, pk, run_id)
        result = _survey(connection, pk, run_id, cited)
    if dry_run or not result.thinned:
        return result
    with store.writing() as connection:
        result.size_after = _rewrite(connection, pk, run_id, cited, at)
        for table in (findings, summaries):  # they are made from transcripts, too
            connection.execute(delete(table).where(table.c.run_pk == pk))
    return result


def _citations(connection: Connection, pk: int, run_id: str) -> dict[str, Citations]:
    """By attempt id. Withdrawn verdicts and those of others count, too: their quotes can be looked up."""
    cited: dict[str, Citations] = {}
    for record in connection.scalars(select(verdicts.c.record).where(verdicts.c.run_id == run_id)):
        verdict = unpack(record, Verdict)
        cited.setdefault(verdict.attempt, Citations()).add_verdict(verdict)
    for record in connection.scalars(select(attributions.c.record).where(attributions.c.run_pk == pk)):
        attribution = unpack(record, Attribution)
        own = cited.setdefault(attribution.attempt, Citations())
        for signal in attribution.signals:
            own.add_place(signal.where, signal.quote)
    return cited


def _transcripts(connection: Connection, pk: int) -> Iterator[tuple[Any, tuple[Step, ...]]]:
    def load(number: int) -> bytes:
        query = select(blocks.c.data).where(blocks.c.run_pk == pk, blocks.c.number == number)
        return bytes(connection.execute(query).scalar_one())

    reader = BlockReader(load)
    names = (attempts.c.seq, attempts.c.case_key, attempts.c.session, attempts.c.number, attempts.c.path)
    query = select(*names, attempts.c.steps_block, attempts.c.steps_at).where(attempts.c.run_pk == pk)
    query = query.where(attempts.c.steps_block.is_not(None)).order_by(attempts.c.steps_block, attempts.c.steps_at)
    for row in connection.execute(query.execution_options(yield_per=FETCH)):
        yield row, STEPS.decode(reader.get(row.steps_block, row.steps_at))


def _keeper(run_id: str, cited: dict[str, Citations]) -> Callable[[Any, tuple[Step, ...]], tuple[Step, ...]]:
    def keep(row: Any, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        name = attempt_id(run_id, row.case_key, session=row.session, index=row.number, path=row.path)
        return steps_to_keep(steps, cited.get(name, Citations()))

    return keep


def _survey(connection: Connection, pk: int, run_id: str, cited: dict[str, Citations]) -> ThinningResult:
    result, keep = ThinningResult(), _keeper(run_id, cited)
    for row, steps in _transcripts(connection, pk):
        kept = keep(row, steps)
        result.attempts += 1
        if len(kept) < len(steps):
            result.thinned += 1
            result.steps += len(steps)
            result.steps_kept += len(kept)
    result.size_before = _size_of_transcripts(connection, pk)
    return result


def _rewrite(connection: Connection, pk: int, run_id: str, cited: dict[str, Citations], at: str) -> int:
    """Write new blocks, let the rows name them, and delete the old ones. How large the new ones are."""
    old = set(connection.scalars(select(attempts.c.steps_block).where(attempts.c.run_pk == pk).distinct())) - {None}
    last = int(connection.execute(select(func.max(blocks.c.number)).where(blocks.c.run_pk == pk)).scalar_one())
    numbers = iter(range(last + 1, last + 1 + 2 * len(old) + 1))
    new: list[tuple[int, bytes]] = []
    writer = BlockWriter(lambda: next(numbers), lambda number, data: new.append((number, compress(data))))
    size, keep = 0, _keeper(run_id, cited)
    known = {row.seq: row.steps for row in connection.execute(select(thinned).where(thinned.c.run_pk == pk))}
    for row, steps in _transcripts(connection, pk):
        kept = keep(row, steps)
        number, place = writer.add(kept)
        own = (attempts.c.run_pk == pk) & (attempts.c.seq == row.seq)
        connection.execute(update(attempts).where(own).values(steps_block=number, steps_at=place))
        if len(kept) < len(steps):
            connection.execute(delete(thinned).where(thinned.c.run_pk == pk, thinned.c.seq == row.seq))
            values = {"run_pk": pk, "seq": row.seq, "at": at, "steps": known.get(row.seq, len(steps))}
            connection.execute(insert(thinned).values(**values))
        size += _write_blocks(connection, pk, new)
    writer.flush()
    size += _write_blocks(connection, pk, new)
    connection.execute(delete(blocks).where(blocks.c.run_pk == pk, blocks.c.number.in_(sorted(old))))
    return size


def _write_blocks(connection: Connection, pk: int, new: list[tuple[int, bytes]]) -> int:
    for number, data in new:
        connection.execute(insert(blocks).values(run_pk=pk, number=number, data=data))
    size = sum(len(data) for _, data in new)
    new.clear()
    return size


def _size_of_transcripts(connection: Connection, pk: int) -> int:
    of_steps = select(attempts.c.steps_block).where(attempts.c.run_pk == pk, attempts.c.steps_block.is_not(None))
    query = select(func.sum(func.length(blocks.c.data))).where(blocks.c.run_pk == pk, blocks.c.number.in_(of_steps))
    return int(connection.execute(query).scalar() or 0)


def thinned_attempts(store: Store, pk: int, run_id: str) -> frozenset[str]:
    names = (attempts.c.case_key, attempts.c.session, attempts.c.number, attempts.c.path)
    same = (attempts.c.run_pk == thinned.c.run_pk) & (attempts.c.seq == thinned.c.seq)
    query = select(*names).join(thinned, same).where(thinned.c.run_pk == pk)
    with store.reading() as connection:
        return frozenset(
            attempt_id(run_id, row.case_key, session=row.session, index=row.number, path=row.path)
            for row in connection.execute(query)
        )


def thinned_runs(store: Store, numbers: Iterable[int]) -> dict[int, str]:
    """Run's number → when its transcripts were thinned last."""
    wanted = set(numbers)
    query = select(thinned.c.run_pk, func.max(thinned.c.at).label("last")).group_by(thinned.c.run_pk)
    with store.reading() as connection:
        return {row.run_pk: row.last for row in connection.execute(query) if row.run_pk in wanted}
