"""`errata sources`."""

import click

from errata.cli.options import Options, shared_options
from errata.cli.output import put, put_json
from errata.model.output.store import SourceOutput
from errata.verbs.store import list_sources

NAME = 20


@click.command("sources")
@shared_options
def command(options: Options) -> None:
    """List the formats that errata reads."""
    for name, title in list_sources():
        if options.json:
            put_json(SourceOutput(source=name, title=title))
        else:
            put(f"{name:<{NAME}}{title}", hang=NAME)
