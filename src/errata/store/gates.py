"""What CI knows about runs beside their facts: the branch and commit they tested, and how their last gate ended."""

from collections.abc import Iterable

from sqlalchemy import delete, insert, select

from errata.model.gate import CodeRef, GateRecord
from errata.store.database import Store
from errata.store.schema import code_refs, gates


def keep_code_ref(store: Store, run_ids: Iterable[str], ref: CodeRef) -> None:
    """In the place of an earlier one."""
    values = [{"run_id": run_id, "branch": ref.branch, "commit": ref.commit, "at": ref.at} for run_id in run_ids]
    if not values:
        return
    with store.writing() as connection:
        connection.execute(delete(code_refs).where(code_refs.c.run_id.in_([one["run_id"] for one in values])))
        connection.execute(insert(code_refs), values)


def code_refs_of(store: Store) -> dict[str, CodeRef]:
    """Run id → the branch and commit that it tested, of every run where one is known."""
    with store.reading() as connection:
        rows = connection.execute(select(code_refs))
        return {row.run_id: CodeRef(branch=row.branch, commit=row.commit, at=row.at) for row in rows}


def keep_gate(store: Store, run_id: str, gate: GateRecord) -> None:
    """In the place of the last one."""
    with store.writing() as connection:
        connection.execute(delete(gates).where(gates.c.run_id == run_id))
        values = {"run_id": run_id, "baseline_id": gate.baseline, "verdict": gate.verdict, "at": gate.at}
        connection.execute(insert(gates).values(values))


def gates_of(store: Store) -> dict[str, GateRecord]:
    """Run id → how its last gate ended."""
    with store.reading() as connection:
        rows = connection.execute(select(gates))
        return {row.run_id: GateRecord(baseline=row.baseline_id, verdict=row.verdict, at=row.at) for row in rows}
