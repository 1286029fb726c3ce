"""`errata buckets suggest`."""

import click

from errata import verbs
from errata.buckets.keep import Kept
from errata.cli.buckets.changing import dry_run_option
from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_json, say
from errata.runs.names import handles_of


@click.command("suggest")
@click.argument("runs", nargs=-1, metavar="[RUN…]")
@dry_run_option
@shared_options
def command(runs: tuple[str, ...], dry_run: bool, options: Options) -> None:
    """Put the failures of RUNS into buckets anew; what people did stays.

    Without RUN, of all runs. This happens by itself where a run, its attributions or its verdicts are new. Buckets of
    other runs are recognised.
    """
    store = options.store
    meant = list(verbs.runs_named(runs, store)) if runs else verbs.all_runs(store)
    handles, known = handles_of(verbs.all_runs(store)), {one.run.id: one.run for one in meant}
    failed = 0
    for one in verbs.bucket_anew(meant, store, tried=dry_run):
        failed += one.failures
        if options.json:
            put_json({"run": known[one.run].native_id, "dry_run": dry_run, **_plain(one)})
        else:
            put(f"{handles[one.run]} · {_told(one)}", hang=4)
    if not dry_run:
        verbs.bucket_if_needed(meant, store)  # what they share with the buckets of other runs
    if not failed and not options.json:
        say("nothing failed in these runs")


def _plain(one: Kept) -> dict[str, object]:
    counts = {name: getattr(one, name) for name in ("failures", "buckets", "new", "moved", "left")}
    return {"run_id": one.run, **counts}


def _told(one: Kept) -> str:
    parts = [f"{plural(one.failures, 'failure')} in {plural(one.buckets, 'bucket')}", f"{one.new:,} new"]
    parts += [f"{one.moved:,} moved"] if one.moved else []
    parts += [f"{one.left:,} left where people put them"] if one.left else []
    return " · ".join(parts)
