"""`errata rm`."""

import sys

import click

from errata.cli.options import Options, shared_options
from errata.cli.output import put, put_json, say
from errata.errors import SettingsError
from errata.model.output.runs import RmOutput
from errata.model.run import subject_label
from errata.runs.names import short
from errata.text.outgoing import line_for_user
from errata.verbs.store import forget, stored_runs


@click.command("rm")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
@shared_options
def command(runs: tuple[str, ...], yes: bool, options: Options) -> None:
    """Remove runs from the store.

    Removes runs with their verdicts and frees the space. The logs are not touched: `errata import` restores the runs,
    but not the verdicts.
    """
    store = options.store
    meant = stored_runs(runs, store)
    if not yes:
        names = ", ".join(f"{short(one.run.native_id)} ({subject_label(one.run) or one.run.suite})" for one in meant)
        if not sys.stdin.isatty():
            raise SettingsError(
                f"`errata rm` asks before it removes {names}", hint="add `--yes` to run it without a terminal"
            )
        if not click.confirm(line_for_user(f"Remove {names}?"), err=True):
            say("nothing was removed")
            return
    freed = forget(meant, store)
    for stored in meant:
        if options.json:
            put_json(RmOutput(run=stored.run.native_id, run_id=stored.run.id, forgotten=True))
        else:
            put(f"removed {stored.run.native_id}")
    if not freed:
        say("note: another process uses the store; the next `errata rm` frees the space")
