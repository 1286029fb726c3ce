"""`errata review release`."""

from datetime import UTC, datetime

import click

from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_json
from errata.cli.review.options import reader, reader_options
from errata.model.output.review import ReleaseOutput
from errata.model.verdict import word_for
from errata.verbs.review import release


@click.command("release")
@click.argument("thing", metavar="RUN | RUN/CASE | ATTEMPT")
@reader_options
@shared_options
def command(thing: str, reviewer: str, person: bool, options: Options) -> None:
    """Give back what you have in hand.

    All of a RUN, or one failure. It waits again at once, for you and for others of your name.
    """
    who = reader(reviewer, options.settings, kind="person" if person else "agent")
    released = release(thing, options.store, who, now=datetime.now(UTC))
    if options.json:
        put_json(ReleaseOutput(reviewer=word_for(who), released=tuple(released)))
    elif released:
        put(f"{plural(len(released), 'failure')} given back by `{word_for(who)}`")
        for attempt in released:
            put(f"  {attempt}", hang=4)
    else:
        put(f"`{word_for(who)}` has nothing of `{thing}` in hand")
