"""`errata known add`."""

from datetime import UTC, datetime

import click

from errata import verbs
from errata.cli.action.page import SHORT, put_field, put_undo
from errata.cli.known.page import json_of, put_next
from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put_json
from errata.cli.paths import place_of
from errata.memory.known_gaps import Known, ToldGap
from errata.store.database import Store


@click.command("add")
@click.argument("case", metavar="CASE")
@click.option("--text", required=True, metavar="TEXT", help="What the limitation is, in a sentence.")
@click.option("--suite", default="", metavar="NAME", help="The suite, where several have such a case.")
@click.option("--author", default="", metavar="NAME", help="Who says so; else $ERRATA_AUTHOR or you.")
@click.option("--dry-run", is_flag=True, help="Only show what would be kept.")
@shared_options
def command(case: str, text: str, suite: str, author: str, dry_run: bool, options: Options) -> None:
    """Record a known gap of a case, or of all cases that a pattern fits.

    CASE is a case's name or the end of it, RUN/CASE, or a pattern such as `002-queries/*`, in which `*` stands for
    anything. Told again, a gap has the new words.
    """
    store = options.store
    told = ToldGap(case=case, text=text, suite=suite, author=author or options.settings.author)
    known = verbs.add_gap(told, store, now=datetime.now(UTC), dry_run=dry_run)
    if options.json:
        put_json(json_of(known) | {"new": known.was is None, "dry_run": dry_run})
    else:
        show(known, store, dry_run=dry_run)


def show(known: Known, store: Store, *, dry_run: bool) -> None:
    gap, was = known.gap, known.was
    put_field("gap", f"{gap.id[:SHORT]} · {known.name}{f' · {gap.suite}' if gap.suite else ''}")
    put_field("", gap.text)
    if gap.pattern:
        put_field("fits", plural(len(known.cases), "case"))
    kept = "unchanged" if was and was.text == gap.text else f"was: {was.text}" if was else "kept"
    put_field("store", f"{'would be kept' if dry_run and not was else kept} · {place_of(str(store.path.absolute()))}")
    if dry_run:
        put_field("", "nothing was written")
        return
    put_next(known, store, "their failures on it then suggest KNOWN_GAP")
    put_undo(["errata", "known", "rm", gap.id[:SHORT]])
