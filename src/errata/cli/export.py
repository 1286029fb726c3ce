"""`errata export`."""

import time
from pathlib import Path

import click

from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_json, say
from errata.cli.render.fields import place_of
from errata.cli.render.runs import title_of
from errata.cli.shared_options import Word
from errata.export.every_eval_ever import WrittenRun
from errata.model.output.compare import ComparisonExportOutput
from errata.runs.names import handle_of, runs_named
from errata.verbs.compare import export

FORMATS = ("every-eval-ever",)
FOLDER = "every_eval_ever"


@click.command("export")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("--format", "form", type=Word(FORMATS), default=FORMATS[0], show_default=True, help="Format to write.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default=FOLDER, show_default=True, help="Output folder."
)
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@shared_options
def command(runs: tuple[str, ...], form: str, output: Path, force: bool, options: Options) -> None:
    """Export runs in the every_eval_ever format.

    Writes version 0.3.0: a summary and its instances. Broken attempts keep their error and never look like wrong
    answers. Data that the format cannot hold is listed here and in the summary.
    """
    store = options.store
    meant = list(runs_named(runs, store))
    for made in export(meant, store, output, now=time.time(), force=force):
        if options.json:
            put_json(_json_of(made, form))
            continue
        put(title_of(made.stored.run, handle_of(made.stored, store)))
        for file in made.files:
            put(f"wrote {place_of(str(file))}")
        put(plural(made.rows, "row"))
        for what, count in made.not_expressed.items():
            say(f"not exported: {what}: {count:,}")


def _json_of(made: WrittenRun, form: str) -> ComparisonExportOutput:
    return ComparisonExportOutput(
        run_id=made.stored.run.id,
        format=form,
        files=tuple(str(file) for file in made.files),
        rows=made.rows,
        not_expressed=made.not_expressed,
    )
