"""`errata known list`."""

import click

from errata import verbs
from errata.cli.action.page import SHORT
from errata.cli.known.page import json_of
from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_json, say
from errata.memory.known_gaps import Known

HANG = 10


@click.command("list")
@click.option("--suite", default="", metavar="NAME", help="Only those of a suite.")
@shared_options
def command(suite: str, options: Options) -> None:
    """List the known gaps."""
    known = verbs.list_gaps(options.store, suite=suite)
    for one in known:
        if options.json:
            put_json(json_of(one))
        else:
            show(one)
    if not known and not options.json:
        say("no gap is known; `errata known add CASE --text TEXT` records one")


def show(known: Known) -> None:
    gap = known.gap
    told = [known.name, gap.suite, plural(len(known.cases), "case") if gap.pattern else ""]
    put(f"{gap.id[:SHORT]}  {' · '.join(filter(None, told))}", hang=HANG)
    since = [f"since {gap.since}" if gap.since else "", f"by {gap.author}" if gap.author else ""]
    put(f"{'':<{HANG}}{gap.text}{'   ' if any(since) else ''}{', '.join(filter(None, since))}", hang=HANG)
