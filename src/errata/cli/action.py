"""`errata action`: fixes for failures, and whether they worked."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from errata.cli.lazy import LazyGroup, Table
from errata.cli.options import Options, reports_option, shared_options
from errata.cli.output import put_json, say
from errata.cli.render.fields import SHORT, place_of, put_field, put_undo
from errata.cli.render.history import put_action, put_action_header
from errata.json_output.review import action_output, added_output
from errata.memory.actions import ActionRecord, ActionRequest
from errata.model.output.memory import ActionRmOutput
from errata.runs.names import handle_of
from errata.text.shell import command_line
from errata.verbs.action import add_action, list_actions, remove_action
from errata.verbs.store import Store

SUBCOMMANDS: Table = {
    "add": ("action:add", "Record a change and the failures it addresses."),
    "list": ("action:list_", "List actions, and whether each worked."),
    "rm": ("action:rm", "Remove an action."),
}


@click.group("action", cls=LazyGroup, table=SUBCOMMANDS, package="errata.cli")
def command() -> None:
    """Record fixes, and check whether they worked.

    An action is a change that people made; errata itself changes no code and no configuration.
    """


REPORT = {
    "written": ("written", "would be written"),
    "there": ("already there", "already there"),
}


@click.command("add")
@click.option("--what", required=True, metavar="TEXT", help="What was changed, in a sentence.")
@click.option("--path", required=True, metavar="FILE", help="File that was changed.")
@click.option(
    "--for", "addresses", required=True, multiple=True, metavar="CASE", help="Failure it addresses; repeatable."
)
@click.option("--date", default="", metavar="DATE", help="Date or time of the change; default: today.")
@click.option("--author", default="", metavar="NAME", help="Who made it; default: $ERRATA_AUTHOR or your user name.")
@click.option("--expected", default="", metavar="TEXT", help="What should change in the next run.")
@click.option("--run", default="", metavar="RUN", help="Run it refers to; default: the newest with this failure.")
@click.option("--report", type=click.Path(path_type=Path), metavar="FILE", help="Report to add it to.")
@reports_option
@click.option("--dry-run", is_flag=True, help="Only show what would be written, and where.")
@shared_options
def add(dry_run: bool, options: Options, **request: Any) -> None:
    """Record a change and the failures it addresses.

    CASE is a case name or the end of one, RUN/CASE, or a bucket. The action is added to the store and to the section
    "Actions taken" of the run's report; the rest of the report stays as it is. Adding it again changes nothing.
    """
    request["author"] = request["author"] or options.settings.author
    store = options.store
    record = add_action(ActionRequest(**request), store, now=datetime.now(UTC), dry_run=dry_run)
    if options.json:
        put_json(added_output(record, dry_run=dry_run))
    else:
        _show_added(record, store, dry_run=dry_run)


def _show_added(record: ActionRecord, store: Store, *, dry_run: bool) -> None:
    action, short = record.action, record.action.id[:SHORT]
    put_field("action", f"{short} · {action.date} · {action.path}: {action.what}")
    put_field("for", ", ".join(one.name for one in record.targets))
    kept = "already there" if not record.is_new else "would be added" if dry_run else "added"
    put_field("store", f"{kept} · {place_of(store.place)}")
    if record.report is not None:
        place = place_of(str(record.report.absolute()))
        put_field("report", f"{REPORT[record.written][dry_run]} · {place}:{record.line}")
        put_field("", record.text.strip())
    elif record.run is not None:
        put_field("report", f"none found for run {handle_of(record.run, store)}; name one with `--report FILE`")
    else:
        put_field("report", "none: no stored run failed on it before; name one with `--report FILE`")
    if dry_run:
        put_field("", "nothing was written")
    elif record.is_new or record.written == "written":
        put_undo(["errata", "action", "rm", short, *(["--report"] if record.report else [])])


@click.command("list")
@reports_option
@shared_options
def list_(options: Options) -> None:
    """List actions, and whether each worked.

    Covers the store and the reports. An action worked if all its cases failed before and pass in a later run of the
    same model. It had no effect if one of them fails again. Otherwise the effect is unknown, with the reason.
    """
    actions = list_actions(options.store)
    if actions and not options.json:
        put_action_header()
    for status in actions:
        if options.json:
            put_json(action_output(status))
        else:
            put_action(status)
    if not actions and not options.json:
        say("no actions yet; record one with `errata action add`")


@click.command("rm")
@click.argument("action", metavar="ID")
@click.option("--report", is_flag=True, help="Also remove its line from the report.")
@click.option("--dry-run", is_flag=True, help="Only show what would be removed, and from where.")
@shared_options
def rm(action: str, report: bool, dry_run: bool, options: Options) -> None:
    """Remove an action.

    ID is its id or the start of it, from `errata action list`. The change itself is not touched.
    """
    removal = remove_action(action, options.store, from_report=report, dry_run=dry_run)
    removed, edited = removal.action, removal.edited
    if options.json:
        put_json(
            ActionRmOutput(
                action=removed,
                removed=not dry_run,
                report=removed.report if edited else None,
                line=edited.line if edited else None,
                undo=command_line(removal.undo),
            )
        )
        return
    put_field(
        "remove" if dry_run else "removed", f"{removed.id[:SHORT]} · {removed.date} · {removed.path}: {removed.what}"
    )
    if edited:
        put_field("report", f"{place_of(removed.report)}:{edited.line}")
        put_field("", edited.text.strip())
    elif removed.report:
        put_field("report", f"still in {place_of(removed.report)}; `--report` removes that line as well")
    if dry_run:
        put_field("", "nothing was removed")
    else:
        put_undo(removal.undo)
