"""`errata sources`."""

import click

from errata import pipeline
from errata.cli.options import Options, shared_options
from errata.cli.output import put_json, put_table


@click.command("sources")
@shared_options
def command(options: Options) -> None:
    """List the formats that can be read."""
    if options.json:
        for name, title in pipeline.list_sources():
            put_json({"source": name, "title": title})
    else:
        put_table(("source", "reads"), pipeline.list_sources())
