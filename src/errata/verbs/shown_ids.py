"""The parts of an address, as a page shows them without secrets, as the store has them."""

from collections.abc import Iterable, Mapping

from errata.runs.addresses import MARK, original_case, original_id, shown_id
from errata.runs.names import known_run
from errata.store.database import Store
from errata.store.elsewhere import case_keys
from errata.store.runs import all_runs
from errata.text.outgoing import name_without_secrets

__all__ = ["original_ids", "original_values", "shown_id"]


def original_ids(shown: Iterable[str], store: Store) -> list[str]:
    return [original_id(one, store) for one in shown]


def original_values(values: Mapping[str, str], store: Store) -> dict[str, str]:
    """The parts of an address as the store has them: `attempt`, or `case` with its `run` or `suite`."""
    original = dict(values)
    if MARK in values.get("suite", ""):
        suites = {stored.run.suite for stored in all_runs(store)}
        original["suite"] = next(
            (suite for suite in sorted(suites) if name_without_secrets(suite) == values["suite"]), values["suite"]
        )
    if MARK in values.get("case", ""):
        pk = known_run(values["run"], store).pk if "run" in values else None
        original["case"] = original_case(values["case"], case_keys(store, suite=original.get("suite", ""), pk=pk))
    if MARK in values.get("attempt", ""):
        original["attempt"] = original_id(values["attempt"], store)
    return original
