"""How every case went in each of several runs: one query over the narrow table, no block is opened for what passed."""

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import func, select

from errata.model.cells import Cell, CellTally, result_of
from errata.store.attempts import PLACES, read_rows
from errata.store.case_versions import SEVERAL, keys_with_versions
from errata.store.database import Store
from errata.store.elsewhere import chunks
from errata.store.schema import attempts, attributions, cases

Key = tuple[int, str]
"""A run's number and a case."""


def cells_of(store: Store, pks: Collection[int]) -> list[Cell]:
    """One for each run and each case with a counted attempt, in no order."""
    tallies: dict[Key, CellTally] = {}
    results: dict[tuple[Any, ...], int] = {}
    with store.reading() as connection:
        for pk, key, *facts, often, position in connection.execute(_query(pks)):
            execution, measurement, outcome, failure = known = tuple(facts)
            result = results.get(known)
            if result is None:
                result = results[known] = result_of(execution, measurement, outcome, is_failure=failure)
            tally = tallies.get((pk, key))
            if tally is None:
                tally = tallies[pk, key] = CellTally()
            tally.add(result, often, position)
    _count_followers(tallies, store, pks)
    repeated = {pk: _repeats(store, pk) for pk in {pk for (pk, _), tally in tallies.items() if tally.is_mixed}}
    return [tally.cell(pk, key, is_repeated=repeated.get(pk, False)) for (pk, key), tally in tallies.items()]


def digests_of(store: Store, pks: Iterable[int]) -> dict[int, dict[str, str]]:
    """Run → case → the digest of its task, where the log has the task.

    Where the rows of a case differ, it is one that no other run has.
    """
    digests: dict[int, dict[str, str]] = {pk: {} for pk in pks}
    query = select(cases.c.run_pk, cases.c.key, cases.c.digest).where(cases.c.digest != "")
    with store.reading() as connection:
        for pk, key, digest in connection.execute(query.where(cases.c.run_pk.in_(list(digests)))):
            digests[pk][key] = digest
    for pk, key in keys_with_versions(store, list(digests)):
        digests[pk][key] = f"{SEVERAL} of run {pk}"
    return digests


def _query(pks: Collection[int]) -> Any:
    case = (attempts.c.run_pk, attempts.c.case_key)
    facts = (attempts.c.execution, attempts.c.measurement, attempts.c.outcome, attempts.c.failure)
    query = select(*case, *facts, func.count(), func.min(attempts.c.position))
    return query.where(attempts.c.run_pk.in_(list(pks)), attempts.c.counted).group_by(*case, *facts)


def _count_followers(tallies: dict[Key, CellTally], store: Store, pks: Collection[int]) -> None:
    """How many attempts of a case only follow from another failure."""
    query = select(attributions.c.run_pk, attributions.c.seq).where(attributions.c.owner == "collateral")
    by_run: dict[int, list[int]] = {}
    with store.reading() as connection:
        for pk, seq in connection.execute(query.where(attributions.c.run_pk.in_(list(pks)))):
            by_run.setdefault(pk, []).append(seq)
        for pk, seqs in by_run.items():
            for some in chunks(seqs):
                named = select(attempts.c.case_key).where(attempts.c.run_pk == pk, attempts.c.seq.in_(some))
                for (key,) in connection.execute(named.where(attempts.c.counted)):
                    tallies[pk, key].follows += 1


def _repeats(store: Store, pk: int) -> bool:
    """Whether a run tries its cases several times; several rows of one and the same try do not make it so."""
    again = select(*PLACES).where(attempts.c.run_pk == pk, attempts.c.counted, attempts.c.number > 1)
    rows = read_rows(store, pk, again.order_by(attempts.c.seq), steps=False)
    return any(attempt.duplicate_of is None for _, attempt in rows)
