"""`errata triage`."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from errata.cli.options import Options, chosen_workers, ray_option, shared_options
from errata.cli.output import plural, put, put_json
from errata.cli.progress import progress
from errata.model.output.runs import TriageOutput
from errata.runs.names import handle_of, runs_named
from errata.runs.triaging import triage_run
from errata.runs.view import RunView
from errata.verbs.store import all_runs

if TYPE_CHECKING:
    from errata.model import StoredRun
    from errata.verbs.store import Store


@click.command("triage")
@click.argument("runs", nargs=-1, metavar="[RUN…]")
@ray_option
@shared_options
def command(runs: tuple[str, ...], ray_address: str, options: Options) -> None:
    """Reassign owners with the current rules.

    Without RUN, covers all runs. Runs automatically on import, and again after the rules have changed.
    """
    store = options.store
    meant = list(runs_named(runs, store)) if runs else all_runs(store)
    if ray_address:
        _triage_on_cluster(ray_address, meant, store)
    for stored in meant:
        if not ray_address:
            triage_run(stored, store)
        attributions = RunView(stored, store).attributions
        owners = Counter(one.owner for one in attributions.values())
        if options.json:
            run = stored.run
            put_json(TriageOutput(run=run.native_id, run_id=run.id, failures=len(attributions), owners=dict(owners)))
        else:
            counts = [f"{owner} {count:,}" for owner, count in owners.most_common()]
            put(" · ".join([handle_of(stored, store), plural(len(attributions), "failure"), *counts]), hang=4)


def _triage_on_cluster(ray_address: str, meant: "Sequence[StoredRun]", store: "Store") -> None:
    from errata.cluster.workers import triage_on_workers

    with chosen_workers(ray_address) as workers, progress("Triage") as on_items:
        assert workers is not None
        triage_on_workers(workers, meant, store, on_run=lambda: on_items(1))
