"""`errata buckets suggest`."""

import click

from errata.buckets.reconcile import SuggestionResult
from errata.cli.buckets.edit import dry_run_option
from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_json, say
from errata.model.output.buckets import BucketSuggestionOutput
from errata.runs.names import handles_of, runs_named
from errata.verbs.buckets import suggest_buckets
from errata.verbs.store import all_runs


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
    meant = list(runs_named(runs, store)) if runs else all_runs(store)
    handles, known = handles_of(all_runs(store)), {one.run.id: one.run for one in meant}
    failed = 0
    for one in suggest_buckets(meant, store, dry_run=dry_run):
        failed += one.failures
        if options.json:
            put_json(_output(one, known[one.run].native_id, dry_run=dry_run))
        else:
            put(f"{handles[one.run]} · {_line(one)}", hang=4)
    if not failed and not options.json:
        say("nothing failed in these runs")


def _output(one: SuggestionResult, run: str, *, dry_run: bool) -> BucketSuggestionOutput:
    return BucketSuggestionOutput(
        run=run,
        dry_run=dry_run,
        run_id=one.run,
        failures=one.failures,
        buckets=one.buckets,
        new=one.new,
        moved=one.moved,
        left=one.left,
    )


def _line(one: SuggestionResult) -> str:
    parts = [f"{plural(one.failures, 'failure')} in {plural(one.buckets, 'bucket')}", f"{one.new:,} new"]
    parts += [f"{one.moved:,} moved"] if one.moved else []
    parts += [f"{one.left:,} left where people put them"] if one.left else []
    return " · ".join(parts)
