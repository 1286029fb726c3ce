"""Verdicts whose attempt has another id after an import: they follow it, where it is the same try at the same task."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec
from sqlalchemy import Connection, delete, select, update

from errata.model import Attempt, Case, Run, Verdict
from errata.model.case_versions import NO_WRAPPER, Wrapper, same_task, wrapper_of
from errata.model.codec import pack, unpack
from errata.model.identity import case_key, fingerprint, is_task_id, split_attempt_id, task_id
from errata.model.verdict import OF_TASK
from errata.store.attempts import attempts_of, case_of, cases_of, with_file_texts, with_texts
from errata.store.database import Store
from errata.store.engine import chunks
from errata.store.reviews import keep_verdicts
from errata.store.run_totals import ImportedRun
from errata.store.schema import bucket_members, refusals, runs, verdicts
from errata.store.shared_ids import place_of

_FACTS = ("attempts", "executions", "measurements", "outcomes")
"""Counts that are equal for two readings of the same tries."""
_NO_WORDS = ("", ())


def carry_verdicts(store: Store, results: Sequence[ImportedRun]) -> list[ImportedRun]:
    """After these runs were written, and before what they replace is deleted."""
    fresh = [run for run in results if run.change in ("new", "grown")]
    own = _verdicts(store, [run.id for run in fresh if run.replaced])
    before = _read_before(store, [run.id for run in fresh if not run.replaced])
    given = _verdicts(store, [run_id for run_id, _ in before.values()])
    carried = []
    for run in results:
        if run.id in own:
            carried.append(_with_moved(store, run, own[run.id]))
        elif run.id in before:
            carried.append(_with_copied(store, run, before[run.id][1], given[before[run.id][0]]))
        else:
            carried.append(run)
    return carried


def _verdicts(store: Store, run_ids: Iterable[str]) -> dict[str, list[Verdict]]:
    """Withdrawn ones, too: later versions name them."""
    by_run: dict[str, list[Verdict]] = {}
    with store.reading() as connection:
        for some in chunks(list(run_ids)):
            for row in connection.execute(select(verdicts).where(verdicts.c.run_id.in_(some))):
                by_run.setdefault(row.run_id, []).append(unpack(row.record, Verdict))
    return by_run


def _read_before(store: Store, new: Sequence[str]) -> dict[str, tuple[str, int]]:
    """New run → a reviewed run of the same source, beginning and counts: its log under another name, perhaps."""
    query = select(runs.c.run_id, runs.c.pk, runs.c.started_at, runs.c.counts, runs.c.record)
    query = query.where(runs.c.state == "current").order_by(runs.c.pk)
    before: dict[str, tuple[str, int]] = {}
    with store.reading() as connection:
        reviewed = connection.execute(query.where(runs.c.run_id.in_(select(verdicts.c.run_id)))) if new else ()
        known = {_key(row): (row.run_id, row.pk) for row in reviewed}
        for some in chunks(new if known else []):
            for row in connection.execute(query.where(runs.c.run_id.in_(some))):
                run_id, pk = known.get(_key(row), (row.run_id, 0))
                before |= {row.run_id: (run_id, pk)} if run_id != row.run_id else {}
    return before


def _key(row: Any) -> tuple[Any, ...]:
    """A model may have its display name behind it in one of them."""
    run = unpack(row.record, Run)
    model = run.subject.model.partition(" (")[0].casefold()
    return (
        run.source.name,
        model,
        row.started_at,
        fingerprint(run.conditions, [row.counts.get(name) for name in _FACTS]),
    )


def _with_moved(store: Store, run: ImportedRun, given: Sequence[Verdict]) -> ImportedRun:
    old, new = _Reading(store, run.replaced), _Reading(store, run.pk)
    gone = [verdict for verdict in given if old.has(verdict.attempt) and not _is_kept(old, new, verdict.attempt)]
    moves = _moves(old, new, gone)
    carried = [verdict for verdict in gone if verdict.attempt in moves]
    if carried:
        with store.writing() as connection:
            for verdict in carried:
                _move(connection, verdict, moves)
    lost = [one.attempt for one in gone if one.attempt not in moves and not new.has(one.attempt)]
    return msgspec.structs.replace(run, carried=len(carried), lost=tuple(lost))


def _with_copied(store: Store, run: ImportedRun, before: int, given: Sequence[Verdict]) -> ImportedRun:
    old, new = _Reading(store, before), _Reading(store, run.pk)
    is_same_place = place_of(old.run) == place_of(new.run)
    moves = _moves(old, new, given, exactly=not is_same_place or old.run.native_id != new.run.native_id)
    fitting = [verdict for verdict in given if verdict.attempt in moves]
    if len(fitting) < len(given) and not is_same_place:  # another run, with some tries that are alike
        return run
    keep_verdicts(store, [_copied(verdict, moves, run.id) for verdict in fitting])
    return msgspec.structs.replace(run, carried=len(fitting))


def _move(connection: Connection, verdict: Verdict, moves: Mapping[str, str]) -> None:
    old, new = verdict.attempt, moves[verdict.attempt]
    values = {"attempt_id": new, "record": pack(_renamed(verdict, moves))}
    connection.execute(update(verdicts).where(verdicts.c.id == verdict.id).values(values))
    if new in moves:  # two tries of a case whose numbers changed places
        return
    connection.execute(update(refusals).where(refusals.c.attempt_id == old).values(attempt_id=new))
    connection.execute(delete(bucket_members).where(bucket_members.c.attempt_id == new))
    values = {"attempt_id": new, "case_key": split_attempt_id(new).case}
    connection.execute(update(bucket_members).where(bucket_members.c.attempt_id == old).values(values))


def _renamed(verdict: Verdict, moves: Mapping[str, str]) -> Verdict:
    of_task = str(verdict.extra.get(OF_TASK))
    extra = verdict.extra | {OF_TASK: moves[of_task]} if of_task in moves else verdict.extra
    return msgspec.structs.replace(verdict, attempt=moves[verdict.attempt], extra=extra)


def _copied(verdict: Verdict, moves: Mapping[str, str], run_id: str) -> Verdict:
    named = {name: getattr(verdict, name) for name in ("id", "supersedes", "inherited_from", "restores")}
    ids = {name: fingerprint(value, run_id) for name, value in named.items() if value}
    adjudicates = tuple(fingerprint(value, run_id) for value in verdict.adjudicates)
    return msgspec.structs.replace(_renamed(verdict, moves), **ids, adjudicates=adjudicates)


class _Reading:
    """A run as one import has it; it may be replaced already."""

    def __init__(self, store: Store, pk: int) -> None:
        self.store, self.pk = store, pk
        with store.reading() as connection:
            row = connection.execute(select(runs.c.record, runs.c.origin).where(runs.c.pk == pk)).one()
            run = unpack(row.record, Run)
            context = with_file_texts(connection, run.context)
        self.run = msgspec.structs.replace(run, origin=row.origin, context=context)
        self.names: dict[str, str] = {}
        self._by_answer: dict[str, dict[str, None]] = {}
        for attempt in attempts_of(store, pk):
            self.names[attempt.case] = attempt.case.removeprefix(case_key(run.suite, ""))
            self._by_answer.setdefault(attempt.output.text or "", {})[attempt.case] = None
        self.keys = {name: key for key, name in self.names.items()}
        self._tries = cache(lambda case: list(attempts_of(store, pk, case=case, steps=True)))

    def find(self, attempt_id: str) -> Attempt | None:
        tries = self._tries(split_attempt_id(attempt_id).case)
        return next((attempt for attempt in tries if attempt.id == attempt_id), None)

    def has(self, attempt_id: str) -> bool:
        is_task = is_task_id(attempt_id)
        return split_attempt_id(attempt_id).case in self.names if is_task else self.find(attempt_id) is not None

    def alike(self, attempt: Attempt, name: str) -> list[Attempt]:
        """Of the case of this name, else of those with the same answer: the try in its words, else in its place."""
        same = [self.keys[name]] if name in self.keys else self._by_answer.get(attempt.output.text or "", ())
        tries = [other for case in same for other in self._tries(case)]
        worded = [other for other in tries if _words(other) == _words(attempt) != _NO_WORDS]
        return [other for other in worded or tries if _place(other) == _place(attempt)] or worded

    def case(self, attempt: Attempt) -> Case | None:
        return case_of(self.store, self.pk, attempt.case, attempt.case_version)

    def texts(self, attempt: Attempt) -> str:
        records = (with_texts(self.store, attempt), self.case(attempt), self.run.context)
        return " ".join(" ".join(_strings(msgspec.to_builtins(records))).split())


def _is_kept(old: _Reading, new: _Reading, attempt_id: str) -> bool:
    """Whether the attempt of this id is still the same try, as far as both have words of the subject."""
    before, now = (None if is_task_id(attempt_id) else reading.find(attempt_id) for reading in (old, new))
    if before is None or now is None:
        return new.has(attempt_id)
    return _words(now) in (_words(before), _NO_WORDS)


def _moves(old: _Reading, new: _Reading, given: Collection[Verdict], *, exactly: bool = False) -> dict[str, str]:
    """Attempt before → attempt now, another one. What fits none, or several, is left out. `exactly`: in its words."""
    quotes: dict[str, list[str]] = {}
    for verdict in given:
        quotes.setdefault(verdict.attempt, []).extend(" ".join(one.quote.split()) for one in verdict.evidence)
    pairs = [
        (attempt, other)
        for name in quotes
        if (attempt := old.find(name)) is not None
        for other in new.alike(attempt, old.names[attempt.case])
    ]
    wrappers = _wrappers(old, new, pairs) if pairs else set()
    fitting: dict[str, list[str]] = {}
    for attempt, other in pairs:
        is_worded = _words(attempt) == _words(other) != _NO_WORDS
        if not (is_worded or (not exactly and _place(attempt) == _place(other))):
            continue
        if _is_same_try(old, new, attempt, other, wrappers):
            before, now = old.texts(attempt), new.texts(other)
            # what was quoted from the log is still in it; the rest are facts that errata states
            if all(quote in now for quote in quotes[attempt.id] if quote in before):
                fitting.setdefault(attempt.id, []).append(other.id)
    moves = {name: others[0] for name, others in fitting.items() if len(others) == 1}
    for name in filter(is_task_id, quotes):
        key = new.keys.get(old.names.get(split_attempt_id(name).case, ""))
        moves |= {name: task_id(new.run.id, key)} if key is not None else {}
    moves = {name: other for name, other in moves.items() if name != other}
    often = Counter(moves.values())
    return {name: other for name, other in moves.items() if often[other] == 1}


def _wrappers(old: _Reading, new: _Reading, pairs: Iterable[tuple[Attempt, Attempt]]) -> set[Wrapper]:
    """What is around several tasks on one side only."""
    described = {(one.case, other.case): (old.case(one), new.case(other)) for one, other in pairs}
    known = {new.names.get(case.key): case for case in cases_of(new.store, new.pk)}
    for case in cases_of(old.store, old.pk):
        if (other := known.get(old.names.get(case.key))) is not None:
            described[case.key, other.key] = case, other
    often = Counter(wrapper_of(case, other) for case, other in described.values() if case and other)
    return {*NO_WRAPPER, *(wrapper for wrapper, times in often.items() if times > 1 and wrapper)}


def _is_same_try(old: _Reading, new: _Reading, attempt: Attempt, other: Attempt, wrappers: Collection[Wrapper]) -> bool:
    results = [(one.execution, one.measurement, one.outcome) for one in (attempt, other)]
    case, now = old.case(attempt), new.case(other)
    same = same_task(case, now, wrappers) if case is not None and now is not None else None
    may_be = same is not False if old.names[attempt.case] == new.names[other.case] else same is True
    return results[0] == results[1] and may_be


def _words(attempt: Attempt) -> tuple[str, tuple[str, ...]]:
    """Of the subject: two tries of one task hardly ever have the same."""
    return attempt.output.text or "", tuple(step.text for step in attempt.steps)


def _place(attempt: Attempt) -> tuple[int, int | None, str]:
    return attempt.index, attempt.session, attempt.path


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)
