"""`errata known rm`."""

import shlex

import click

from errata import verbs
from errata.cli.action.page import SHORT, put_field, put_undo
from errata.cli.known.page import json_of, put_next
from errata.cli.options import Options, shared_options
from errata.cli.output import put_json


@click.command("rm")
@click.argument("gap", metavar="GAP")
@click.option("--suite", default="", metavar="NAME", help="The suite, where several have such a case.")
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@shared_options
def command(gap: str, suite: str, dry_run: bool, options: Options) -> None:
    """Forget a known gap.

    GAP is its id or the beginning of it, its case, or its pattern.
    """
    store = options.store
    gone = verbs.remove_gap(gap, store, suite=suite, dry_run=dry_run)
    if options.json:
        put_json(json_of(gone) | {"removed": not dry_run, "undo": shlex.join(gone.undo)})
        return
    put_field("would go" if dry_run else "forgot", f"{gone.gap.id[:SHORT]} · {gone.name}: {gone.gap.text}")
    if dry_run:
        put_field("", "nothing was removed")
        return
    put_next(gone, store, "their failures on it count as others do")
    put_undo(gone.undo)
