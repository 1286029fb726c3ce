"""`errata action rm`."""

import shlex

import click

from errata.cli.options import Options, shared_options
from errata.cli.output import put_json
from errata.cli.paths import place_of
from errata.cli.render.undo import SHORT, put_field, put_undo
from errata.model.output.memory import ActionRmOutput
from errata.verbs.memory import remove_action


@click.command("rm")
@click.argument("action", metavar="ID")
@click.option("--report", is_flag=True, help="Take its line out of the report, too.")
@click.option("--dry-run", is_flag=True, help="Only show what would be removed, and from where.")
@shared_options
def command(action: str, report: bool, dry_run: bool, options: Options) -> None:
    """Forget an action.

    ID is its id or the beginning of it, as `errata action list` shows it. What people changed is not touched.
    """
    removal = remove_action(action, options.store, from_report=report, dry_run=dry_run)
    found, edited = removal.action, removal.edited
    if options.json:
        put_json(
            ActionRmOutput(
                action=found,
                removed=not dry_run,
                report=found.report if edited else None,
                line=edited.line if edited else None,
                undo=shlex.join(removal.undo),
            )
        )
        return
    put_field("would go" if dry_run else "forgot", f"{found.id[:SHORT]} · {found.date} · {found.path}: {found.what}")
    if edited:
        put_field("report", f"{place_of(found.report)}:{edited.line}")
        put_field("", edited.text.strip())
    elif found.report:
        put_field("report", f"{place_of(found.report)} still tells of it; `--report` takes its line out, too")
    if dry_run:
        put_field("", "nothing was removed")
    else:
        put_undo(removal.undo)
