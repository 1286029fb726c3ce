"""`errata known rm`."""

import shlex

import click

from errata.cli.known.add import put_next
from errata.cli.options import Options, shared_options
from errata.cli.output import put_json
from errata.cli.render.undo import SHORT, put_field, put_undo
from errata.model.output.memory import KnownRmOutput
from errata.verbs.memory import remove_gap


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
    record = remove_gap(gap, store, suite=suite, dry_run=dry_run)
    if options.json:
        put_json(
            KnownRmOutput(
                gap=record.gap,
                cases=record.cases,
                was=None,
                runs=tuple(one.run.native_id for one in record.runs),
                removed=not dry_run,
                undo=shlex.join(record.undo),
            )
        )
        return
    put_field("would go" if dry_run else "forgot", f"{record.gap.id[:SHORT]} · {record.name}: {record.gap.text}")
    if dry_run:
        put_field("", "nothing was removed")
        return
    put_next(record, store, "their failures on it count as others do")
    put_undo(record.undo)
