"""`errata triage`."""

from collections import Counter

import click

from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_json
from errata.model.output.runs import TriageOutput
from errata.runs.names import handle_of, runs_named
from errata.runs.triaging import triage_run
from errata.runs.view import RunView
from errata.verbs.store import all_runs


@click.command("triage")
@click.argument("runs", nargs=-1, metavar="[RUN…]")
@shared_options
def command(runs: tuple[str, ...], options: Options) -> None:
    """Reassign owners with the current rules.

    Without RUN, covers all runs. Happens automatically on import, and when owners are needed after the rules changed.
    """
    store = options.store
    for stored in runs_named(runs, store) if runs else all_runs(store):
        triage_run(stored, store)
        attributions = RunView(stored, store).attributions
        owners = Counter(one.owner for one in attributions.values())
        if options.json:
            run = stored.run
            put_json(TriageOutput(run=run.native_id, run_id=run.id, failures=len(attributions), owners=dict(owners)))
        else:
            counts = [f"{owner} {count:,}" for owner, count in owners.most_common()]
            put(" · ".join([handle_of(stored, store), plural(len(attributions), "failure"), *counts]), hang=4)
