"""`errata known list`."""

import click

from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_json, say
from errata.cli.render.undo import SHORT
from errata.memory.known_gaps import GapRecord
from errata.model.output.memory import KnownListOutput
from errata.verbs.memory import list_gaps

HANG = 10


@click.command("list")
@click.option("--suite", default="", metavar="NAME", help="Only those of a suite.")
@shared_options
def command(suite: str, options: Options) -> None:
    """List the known gaps."""
    records = list_gaps(options.store, suite=suite)
    for one in records:
        if options.json:
            put_json(KnownListOutput(gap=one.gap, cases=one.cases, was=None, runs=()))
        else:
            show(one)
    if not records and not options.json:
        say("no gap is known; `errata known add CASE --text TEXT` records one")


def show(record: GapRecord) -> None:
    gap = record.gap
    told = [record.name, gap.suite, plural(len(record.cases), "case") if gap.pattern else ""]
    put(f"{gap.id[:SHORT]}  {' · '.join(filter(None, told))}", hang=HANG)
    since = [f"since {gap.since}" if gap.since else "", f"by {gap.author}" if gap.author else ""]
    put(f"{'':<{HANG}}{gap.text}{'   ' if any(since) else ''}{', '.join(filter(None, since))}", hang=HANG)
