"""Which runs people or gates still need: these are kept when old runs are removed."""

from sqlalchemy import select

from errata.model import Action
from errata.model.codec import unpack
from errata.store.database import Store
from errata.store.schema import actions, bucket_members, gates, verdicts
from errata.store.server_schema import live_runs


def runs_with_opinions(store: Store) -> dict[str, set[str]]:
    """Run id → why it is needed: `verdicts`, `actions`, `baseline`, `running`."""
    reasons: dict[str, set[str]] = {}
    with store.reading() as connection:
        for reason, query in (
            ("verdicts", select(verdicts.c.run_id).where(~verdicts.c.inherited).distinct()),
            ("verdicts", select(bucket_members.c.run_id).where(bucket_members.c.author != "").distinct()),
            ("baseline", select(gates.c.baseline_id).where(gates.c.baseline_id != "").distinct()),
            ("baseline", select(gates.c.run_id).where(gates.c.verdict == "passed")),
            ("running", select(live_runs.c.run_id).where(live_runs.c.state != "finished")),
        ):
            for run_id in connection.scalars(query):
                reasons.setdefault(run_id, set()).add(reason)
        for record in connection.scalars(select(actions.c.record)):
            action = unpack(record, Action)
            if action.worked_in:
                reasons.setdefault(action.worked_in, set()).add("actions")
    return reasons
