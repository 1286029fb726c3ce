"""`errata taxonomies` and `errata sources`: what errata knows."""

import click

from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_json
from errata.cli.render.fields import place_of
from errata.errors import NotFoundError, did_you_mean
from errata.model.output.store import SourceOutput, TaxonomyOutput
from errata.model.suspects import TASKS
from errata.verbs.review import list_taxonomies
from errata.verbs.store import list_sources

HANG = 6


@click.command("taxonomies")
@click.argument("name", default="", metavar="[NAME]")
@shared_options
def command(name: str, options: Options) -> None:
    """List taxonomies with their labels.

    A taxonomy is the set of labels that a review chooses from: `errata review next RUN --taxonomy NAME`. Add your own
    with `taxonomies = ["taxonomies/*.toml"]` in `errata.toml`.
    """
    listed = [one for one in list_taxonomies() if name in ("", one.name)]
    if not listed:
        known = [one.name for one in list_taxonomies()]
        hint = did_you_mean(name, known) or f"known are: {', '.join(known)}"
        raise NotFoundError(f"No taxonomy is named `{name}`", hint=hint)
    for at, taxonomy in enumerate(listed):
        if options.json:
            put_json(taxonomy)
            continue
        if at:
            put()
        _show(taxonomy)


def _show(taxonomy: TaxonomyOutput) -> None:
    parts = [taxonomy.name, plural(len(taxonomy.labels), "label")]
    every = "for suspect tasks, with --tasks" if taxonomy.name == TASKS else "for every source"
    parts += [f"for {', '.join(taxonomy.sources)}" if taxonomy.sources else every]
    parts += ["only with --taxonomy"] if taxonomy.opt_in else []
    parts += [place_of(taxonomy.file)] if taxonomy.file else []
    put(" · ".join(parts))
    for label in taxonomy.labels:
        put(f"  {label.label} (owner {label.owner}): {label.meaning}".rstrip(": "), hang=HANG)


NAME = 20


@click.command("sources")
@shared_options
def sources(options: Options) -> None:
    """List the formats that errata reads."""
    for name, title in list_sources():
        if options.json:
            put_json(SourceOutput(source=name, title=title))
        else:
            put(f"{name:<{NAME}}{title}", hang=NAME)
