"""The verb `review export`: packets with what triage suggests, in the order of a table."""

from collections.abc import Iterator, Sequence
from itertools import chain

from errata.model import StoredRun
from errata.review.packing import Packing, attributed_packets
from errata.review.tables import Exported, rows_in_order
from errata.runs.failures import Filters
from errata.runs.standings import suggested_label
from errata.store.database import Store

JUDGED_TURNS = frozenset(("conversation-bench",))


def exported(
    runs: Sequence[StoredRun], store: Store, filters: Filters | None = None, *, packing: Packing | None = None
) -> Iterator[Exported]:
    """One failure after the other; judged turns by model and turn, everything else run by run."""
    streams = [_of(stored, store, filters, packing) for stored in runs]
    return rows_in_order(streams) if are_judged_turns(runs) else chain.from_iterable(streams)


def are_judged_turns(runs: Sequence[StoredRun]) -> bool:
    """Whether a table of these runs has the columns that are asked for judged turns."""
    return bool(runs) and all(one.run.source.name in JUDGED_TURNS for one in runs)


def _of(stored: StoredRun, store: Store, filters: Filters | None, packing: Packing | None) -> Iterator[Exported]:
    for packet, said in attributed_packets(stored, store, filters, packing=packing):
        yield Exported(packet, suggested_label(said, packet.question.taxonomy), said.owner if said else "")
