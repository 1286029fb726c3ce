"""`errata action add`."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from errata import verbs
from errata.cli.action.page import SHORT, put_field, put_undo
from errata.cli.options import Options, shared_options
from errata.cli.output import put_json
from errata.cli.paths import place_of
from errata.cli.reports_option import reports_option
from errata.memory.add_action import Recorded, Told
from errata.runs.names import handle_of
from errata.store.database import Store

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
def command(dry_run: bool, options: Options, **told: Any) -> None:
    """Record what was changed, where, and which failures it addresses.

    CASE is a case's name or the end of it, RUN/CASE, or the name of a bucket. The action goes into the store and into
    the section "Actions taken" of the run's report; the rest of the report stays as it is. Told twice, it is kept once.
    """
    told["author"] = told["author"] or options.settings.author
    store = options.store
    recorded = verbs.add_action(Told(**told), store, now=datetime.now(UTC), dry_run=dry_run)
    if options.json:
        put_json(json_of(recorded, dry_run=dry_run))
    else:
        show(recorded, store, dry_run=dry_run)


def show(recorded: Recorded, store: Store, *, dry_run: bool) -> None:
    action, short = recorded.action, recorded.action.id[:SHORT]
    put_field("action", f"{short} · {action.date} · {action.path}: {action.what}")
    put_field("for", ", ".join(one.name for one in recorded.meant))
    kept = "known already" if not recorded.is_new else "would be kept" if dry_run else "kept"
    put_field("store", f"{kept} · {place_of(str(store.path.absolute()))}")
    if recorded.report is not None:
        place = place_of(str(recorded.report.absolute()))
        put_field("report", f"{REPORT[recorded.written][dry_run]} · {place}:{recorded.line}")
        put_field("", recorded.text.strip())
    elif recorded.run is not None:
        put_field("report", f"none of run {handle_of(recorded.run, store)} was found; `--report FILE` names one")
    else:
        put_field("report", "none: no run of the store failed on it before; `--report FILE` names one")
    if dry_run:
        put_field("", "nothing was written")
    elif recorded.is_new or recorded.written == "written":
        put_undo(["errata", "action", "rm", short, *(["--report"] if recorded.report else [])])


def json_of(recorded: Recorded, *, dry_run: bool) -> dict[str, Any]:
    return {
        "action": recorded.action,
        "new": recorded.is_new,
        "run": recorded.run.run.native_id if recorded.run else None,
        "report": str(recorded.report.absolute()) if recorded.report else None,
        "written": recorded.written,
        "line": recorded.line,
        "text": recorded.text or None,
        "dry_run": dry_run,
    }
