"""`errata action add`."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from errata.cli.options import Options, shared_options
from errata.cli.output import put_json
from errata.cli.paths import place_of
from errata.cli.render.undo import SHORT, put_field, put_undo
from errata.cli.reports_option import reports_option
from errata.memory.actions import ActionRecord, ActionRequest
from errata.model.output.memory import ActionAddOutput
from errata.runs.names import handle_of
from errata.verbs.memory import add_action
from errata.verbs.store import Store

REPORT = {
    "written": ("written", "would be written"),
    "there": ("there already", "there already"),
    "reworded": ("there already, in other words", "there already, in other words"),
}


@click.command("add")
@click.option("--what", required=True, metavar="TEXT", help="What was changed, in a sentence.")
@click.option("--path", required=True, metavar="FILE", help="Where: the file that was changed.")
@click.option("--for", "addresses", required=True, multiple=True, metavar="CASE", help="Which failure; repeatable.")
@click.option("--date", default="", metavar="DATE", help="When it was done, if not today; a day or a time.")
@click.option("--author", default="", metavar="NAME", help="Who did it; else $ERRATA_AUTHOR or you.")
@click.option("--expected", default="", metavar="TEXT", help="What should be different in the next run.")
@click.option("--run", default="", metavar="RUN", help="The run it is about; else the newest that failed so.")
@click.option("--report", type=click.Path(path_type=Path), metavar="FILE", help="The report to write into.")
@reports_option
@click.option("--dry-run", is_flag=True, help="Only show what would be written, and where.")
@shared_options
def command(dry_run: bool, options: Options, **request: Any) -> None:
    """Record what was changed, where, and which failures it addresses.

    CASE is a case's name or the end of it, RUN/CASE, or the name of a bucket. The action goes into the store and into
    the section "Actions taken" of the run's report; the rest of the report stays as it is. Told twice, it is kept once.
    """
    request["author"] = request["author"] or options.settings.author
    store = options.store
    record = add_action(ActionRequest(**request), store, now=datetime.now(UTC), dry_run=dry_run)
    if options.json:
        put_json(output_of(record, dry_run=dry_run))
    else:
        show(record, store, dry_run=dry_run)


def show(record: ActionRecord, store: Store, *, dry_run: bool) -> None:
    action, short = record.action, record.action.id[:SHORT]
    put_field("action", f"{short} · {action.date} · {action.path}: {action.what}")
    put_field("for", ", ".join(one.name for one in record.targets))
    kept = "known already" if not record.is_new else "would be kept" if dry_run else "kept"
    put_field("store", f"{kept} · {place_of(str(store.path.absolute()))}")
    if record.report is not None:
        place = place_of(str(record.report.absolute()))
        put_field("report", f"{REPORT[record.written][dry_run]} · {place}:{record.line}")
        put_field("", record.text.strip())
    elif record.run is not None:
        put_field("report", f"none of run {handle_of(record.run, store)} was found; `--report FILE` names one")
    else:
        put_field("report", "none: no run of the store failed on it before; `--report FILE` names one")
    if dry_run:
        put_field("", "nothing was written")
    elif record.is_new or record.written == "written":
        put_undo(["errata", "action", "rm", short, *(["--report"] if record.report else [])])


def output_of(record: ActionRecord, *, dry_run: bool) -> ActionAddOutput:
    return ActionAddOutput(
        action=record.action,
        new=record.is_new,
        run=record.run.run.native_id if record.run else None,
        report=str(record.report.absolute()) if record.report else None,
        written=record.written,
        line=record.line,
        text=record.text or None,
        dry_run=dry_run,
    )
