"""`errata show`."""

import click

from errata.cli.choice import Word
from errata.cli.options import Options, raw_option, shared_options
from errata.cli.output import put_json
from errata.cli.render.packet import FORMS
from errata.cli.reports_option import reports_option
from errata.cli.show_attempt import show_attempt
from errata.cli.show_packet import show_packet
from errata.cli.show_run import show_run
from errata.runs.show import ShownAttempt, find_shown


@click.command("show")
@click.argument("thing", metavar="RUN | RUN/CASE | ATTEMPT")
@click.option("--full", is_flag=True, help="Whole texts, files and transcript instead of their beginnings.")
@click.option("--packet", is_flag=True, help="What a reviewer gets to read of it.")
@click.option("--format", "form", type=Word(FORMS), default="json", help="How to print the packet.")
@reports_option
@raw_option
@shared_options
def command(thing: str, full: bool, packet: bool, form: str, raw: bool, options: Options) -> None:
    """Show a run, a case or an attempt.

    A case is named after its run: `errata show jn7mqywb/003-mutations/005-batch_insert`; `#2` names its second attempt.
    """
    store = options.store
    shown = find_shown(thing, store)
    if packet:
        show_packet(shown, store, form="json" if options.json else form, raw=raw)
    elif options.json:
        put_json(shown.as_json(), raw=raw)
    elif isinstance(shown, ShownAttempt):
        show_attempt(shown, full=full, raw=raw)
    else:
        show_run(shown, raw=raw)
