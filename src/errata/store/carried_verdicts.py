"""Verdicts whose attempt has another id after an import: they follow it, where it is the same try at the same task."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec
from sqlalchemy import delete, select, update

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


def carry_verdicts(store: Store, results: Sequence[ImportedRun]) -> list[ImportedRun]:
    """After these runs were written, and before what they replace is deleted."""
    fresh = [run for run in results if run.change in ("new", "grown")]
    reviewed = _verdicts(store, [run.id for run in fresh if run.replaced])
    read_before = _read_before(store, [run for run in fresh if not run.replaced])
    return [_carried(store, run, reviewed.get(run.id, ()), read_before.get(run.id)) for run in results]


def _verdicts(store: Store, run_ids: Iterable[str]) -> dict[str, list[Verdict]]:
    """Withdrawn ones, too: later versions name them."""
    by_run: dict[str, list[Verdict]] = {}
    with store.reading() as connection:
        for some in chunks(list(run_ids)):
            for row in connection.execute(select(verdicts).where(verdicts.c.run_id.in_(some))):
                by_run.setdefault(row.run_id, []).append(unpack(row.record, Verdict))
    return by_run


def _read_before(store: Store, new: Sequence[ImportedRun]) -> dict[str, tuple[str, int]]:
    """New run → a reviewed run of the same source, beginning and counts: its log under another name, perhaps."""
    if not new:
        return {}
    columns = (runs.c.run_id, runs.c.pk, runs.c.started_at, runs.c.counts, runs.c.record)
    of_source: dict[Any, tuple[str, int]] = {}
    with store.reading() as connection:
        query = select(*columns).where(runs.c.state == "current")
        known = query.where(runs.c.run_id.in_(select(verdicts.c.run_id))).order_by(runs.c.pk)
        for row in connection.execute(known):
            of_source[_key(row)] = (row.run_id, row.pk)
        before = {}
        for some in chunks([run.id for run in new] if of_source else []):
            for row in connection.execute(query.where(runs.c.run_id.in_(some))):
                if _key(row) in of_source and of_source[_key(row)][0] != row.run_id:
                    before[row.run_id] = of_source[_key(row)]
        return before


def _key(row: Any) -> tuple[Any, ...]:
    """A model may have its display name behind it in one of them."""
    run = unpack(row.record, Run)
    model = run.subject.model.partition(" (")[0].casefold()
    return run.source.name, model, row.started_at, fingerprint(run.conditions, [row.counts.get(one) for one in _FACTS])


def _carried(store: Store, run: ImportedRun, own: Sequence[Verdict], before: tuple[str, int] | None) -> ImportedRun:
    if own:
        old, new = _Reading(store, run.replaced), _Reading(store, run.pk)
        gone = [verdict for verdict in own if old.has(verdict.attempt) and not old.is_same_in(new, verdict.attempt)]
        moved = _moves(old, new, gone)
        carried = [verdict for verdict in gone if verdict.attempt in moved]
        for verdict in carried:
            _move(store, verdict, moved)
        lost = [one.attempt for one in gone if one.attempt not in moved and not new.has(one.attempt)]
        return msgspec.structs.replace(run, carried=len(carried), lost=tuple(lost))
    if before is None:
        return run
    given = _verdicts(store, [before[0]])[before[0]]
    old, new = _Reading(store, before[1]), _Reading(store, run.pk)
    is_same_place = place_of(old.run) == place_of(new.run)
    moved = _moves(old, new, given, exactly=not is_same_place or old.run.native_id != new.run.native_id)
    fitting = [verdict for verdict in given if verdict.attempt in moved]
    if len(fitting) < len(given) and not is_same_place:  # another run, with some tries that are alike
        return run
    keep_verdicts(store, [_copied(verdict, moved, run.id) for verdict in fitting])
    return msgspec.structs.replace(run, carried=len(fitting))


def _move(store: Store, verdict: Verdict, moved: Mapping[str, str]) -> None:
    old, new = verdict.attempt, moved[verdict.attempt]
    with store.writing() as connection:
        values = {"attempt_id": new, "record": pack(_renamed(verdict, moved))}
        connection.execute(update(verdicts).where(verdicts.c.id == verdict.id).values(values))
        if new in moved:  # two tries of a case whose numbers changed places
            return
        connection.execute(update(refusals).where(refusals.c.attempt_id == old).values(attempt_id=new))
        connection.execute(delete(bucket_members).where(bucket_members.c.attempt_id == new))
        values = {"attempt_id": new, "case_key": split_attempt_id(new).case}
        connection.execute(update(bucket_members).where(bucket_members.c.attempt_id == old).values(values))


def _renamed(verdict: Verdict, moved: Mapping[str, str]) -> Verdict:
    of_task = str(verdict.extra.get(OF_TASK))
    extra = verdict.extra | {OF_TASK: moved[of_task]} if of_task in moved else verdict.extra
    return msgspec.structs.replace(verdict, attempt=moved[verdict.attempt], extra=extra)


def _copied(verdict: Verdict, moved: Mapping[str, str], run_id: str) -> Verdict:
    named = {name: getattr(verdict, name) for name in ("id", "supersedes", "inherited_from", "restores")}
    ids = {name: fingerprint(value, run_id) for name, value in named.items() if value}
    adjudicates = tuple(fingerprint(value, run_id) for value in verdict.adjudicates)
    return msgspec.structs.replace(_renamed(verdict, moved), **ids, adjudicates=adjudicates)


def _moves(old: "_Reading", new: "_Reading", given: Collection[Verdict], *, exactly: bool = False) -> dict[str, str]:
    """Attempt before → attempt now, another one. What fits none, or several, is left out. `exactly`: in its words."""
    if not given:
        return {}
    quotes: dict[str, list[str]] = {}
    for verdict in given:
        quotes.setdefault(verdict.attempt, []).extend(" ".join(one.quote.split()) for one in verdict.evidence)
    tries = {name: attempt for name in quotes if (attempt := old.find(name)) is not None}
    pairs = {name: new.alike(attempt, old.names[attempt.case]) for name, attempt in tries.items()}
    wrappers = _wrappers(old, new, [(tries[name], other) for name, others in pairs.items() for other in others])
    moved = {}
    for name, attempt in tries.items():
        fitting = [
            other
            for other in pairs[name]
            if _is_same_try(old, new, attempt, other, wrappers)
            and _holds(quotes[name], old.texts(attempt), new.texts(other))
            and (not (exactly or _place(attempt) != _place(other)) or _words(attempt) == _words(other) != ("", ()))
        ]
        if len(fitting) == 1:
            moved[name] = fitting[0].id
    for name in filter(is_task_id, quotes):
        key = new.keys.get(old.names.get(split_attempt_id(name).case, ""))
        if key is not None:
            moved[name] = task_id(new.run.id, key)
    moved = {name: other for name, other in moved.items() if name != other}
    often = Counter(moved.values())
    return {name: other for name, other in moved.items() if often[other] == 1}


def _wrappers(old: "_Reading", new: "_Reading", pairs: Iterable[tuple[Attempt, Attempt]]) -> set[Wrapper]:
    """What is around several tasks on one side only."""
    cases = {(one.case, other.case): (old.case(one), new.case(other)) for one, other in pairs}
    known = {new.names.get(case.key): case for case in cases_of(new.store, new.pk)}
    for case in cases_of(old.store, old.pk):
        other = known.get(old.names.get(case.key))
        if other is not None:
            cases[case.key, other.key] = case, other
    often = Counter(wrapper_of(*both) for both in cases.values() if None not in both)  # type: ignore[arg-type]
    return {*NO_WRAPPER, *(wrapper for wrapper, times in often.items() if times > 1 and wrapper)}


def _is_same_try(
    old: "_Reading", new: "_Reading", attempt: Attempt, other: Attempt, wrappers: Collection[Wrapper]
) -> bool:
    if _result(attempt) != _result(other):
        return False
    case, now = old.case(attempt), new.case(other)
    same = same_task(case, now, wrappers) if case is not None and now is not None else None
    return same is not False if old.names[attempt.case] == new.names[other.case] else same is True


def _result(attempt: Attempt) -> tuple[str, str, str]:
    return attempt.execution, attempt.measurement, attempt.outcome


def _words(attempt: Attempt) -> tuple[str, tuple[str, ...]]:
    """Of the subject: two tries of one task hardly ever have the same."""
    return attempt.output.text or "", tuple(step.text for step in attempt.steps)


def _holds(quotes: Iterable[str], before: str, now: str) -> bool:
    """What was quoted from the log is still in it; the rest are facts that errata states."""
    return all(quote in now for quote in quotes if quote in before)


class _Reading:
    """A run as one import has it; it may be replaced already."""

    def __init__(self, store: Store, pk: int) -> None:
        self.store, self.pk = store, pk
        self._tries: dict[str, list[Attempt]] = {}

    @cached_property
    def run(self) -> Run:
        with self.store.reading() as connection:
            row = connection.execute(select(runs.c.record, runs.c.origin).where(runs.c.pk == self.pk)).one()
            run = unpack(row.record, Run)
            context = with_file_texts(connection, run.context)
            return msgspec.structs.replace(run, origin=row.origin, context=context)

    @cached_property
    def names(self) -> dict[str, str]:
        """Case → its name without the suite's."""
        prefix = case_key(self.run.suite, "")
        return {one.case: one.case.removeprefix(prefix) for one in attempts_of(self.store, self.pk)}

    @cached_property
    def keys(self) -> dict[str, str]:
        return {name: key for key, name in self.names.items()}

    def find(self, attempt_id: str) -> Attempt | None:
        case = split_attempt_id(attempt_id).case
        return next((one for one in self._of(case) if one.id == attempt_id), None)

    def has(self, attempt_id: str) -> bool:
        is_task = is_task_id(attempt_id)
        return split_attempt_id(attempt_id).case in self.names if is_task else self.find(attempt_id) is not None

    def is_same_in(self, new: "_Reading", attempt_id: str) -> bool:
        """Whether the attempt of this id is still the same try, as far as both have words of the subject."""
        if is_task_id(attempt_id) or not self.has(attempt_id) or not new.has(attempt_id):
            return new.has(attempt_id)
        before, now = self.find(attempt_id), new.find(attempt_id)
        return before is None or now is None or _words(before) == _words(now) or _words(now) == ("", ())

    def _of(self, case: str) -> list[Attempt]:
        if case not in self._tries:
            self._tries[case] = list(attempts_of(self.store, self.pk, case=case, steps=True))
        return self._tries[case]

    def alike(self, attempt: Attempt, name: str) -> list[Attempt]:
        """Of the case of this name, else of those with the same answer: the try in its words, else in its place."""
        same = [self.keys[name]] if name in self.keys else self._by_answer.get(attempt.output.text or "", ())
        tries = [one for case in dict.fromkeys(same) for one in self._of(case)]
        worded = [one for one in tries if _words(one) == _words(attempt) != ("", ())]
        numbered = [one for one in worded or tries if _place(one) == _place(attempt)]
        return numbered or worded

    @cached_property
    def _by_answer(self) -> dict[str, list[str]]:
        cases_by_answer: dict[str, list[str]] = {}
        for attempt in attempts_of(self.store, self.pk):
            cases_by_answer.setdefault(attempt.output.text or "", []).append(attempt.case)
        return cases_by_answer

    def case(self, attempt: Attempt) -> Case | None:
        return case_of(self.store, self.pk, attempt.case, attempt.case_version)

    def texts(self, attempt: Attempt) -> str:
        """Whatever can be quoted of it."""
        records = (with_texts(self.store, attempt), self.case(attempt), self.run.context)
        return " ".join(" ".join(_strings(msgspec.to_builtins(records))).split())


def _place(attempt: Attempt) -> tuple[int, int | None, str]:
    return attempt.index, attempt.session, attempt.path


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)
