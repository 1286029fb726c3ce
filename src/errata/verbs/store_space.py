"""`store size` and `store thin`: how much space each run takes, and old transcripts thinned."""

from typing import Literal

import msgspec

from errata.errors import StoreError
from errata.model import StoredRun
from errata.model.output.store import StoreSizeOutput, StoreThinOutput
from errata.store.database import Store
from errata.store.removal import collect_garbage, free_space
from errata.store.runs import all_runs
from errata.store.sizes import size_of_texts, sizes_of
from errata.store.thinning import ThinningResult, thin_run, thinned_runs
from errata.verbs.doctor import read_run_again
from errata.verbs.store import store_size


def thin_transcripts(store: Store, stored: StoredRun, *, now: str, dry_run: bool) -> StoreThinOutput:
    store.refuse_read_only()
    result = thin_run(store, stored.pk, stored.run.id, at=now, dry_run=dry_run)
    change: Literal["thinned", "would_thin", "nothing_to_thin"] = "would_thin" if dry_run else "thinned"
    return _thin_output(stored, result, change if result.thinned else "nothing_to_thin")


def restore_transcripts(store: Store, stored: StoredRun) -> StoreThinOutput:
    """Read the run again from its logs, if these have the content that was imported."""
    if stored.pk not in thinned_runs(store, [stored.pk]):
        if not store.is_read_only:
            collect_garbage(store)  # an earlier one may have been killed after it had replaced the run
        return _thin_output(stored, ThinningResult(), "nothing_to_thin")
    if obstacle := read_run_again(store, stored.pk):
        message = f"The transcripts of `{stored.run.native_id}` can't be restored"
        raise StoreError(message, hint=obstacle)
    return _thin_output(stored, ThinningResult(), "restored")


def _thin_output(
    stored: StoredRun,
    result: ThinningResult,
    change: Literal["thinned", "would_thin", "nothing_to_thin", "restored"],
) -> StoreThinOutput:
    return StoreThinOutput(
        run=stored.run.native_id, run_id=stored.run.id, change=change, **msgspec.structs.asdict(result)
    )


def release_space(store: Store) -> bool:
    """Give freed space back to the disk; false where another process uses the store."""
    return free_space(store)


def measure_store(store: Store) -> StoreSizeOutput:
    return StoreSizeOutput(
        path=str(store.path),
        size=store_size(store),
        files=size_of_texts(store),
        runs=tuple(sizes_of(store, all_runs(store))),
    )
