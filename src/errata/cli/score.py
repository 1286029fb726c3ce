"""`errata score`."""

import click

from errata.cli.options import Options, shared_options
from errata.cli.output import put_json
from errata.cli.score_json import json_pool, json_scores
from errata.cli.score_page import show_pool, show_run
from errata.runs.names import handle_of, runs_named
from errata.verbs.compare import score, score_pooled


@click.command("score")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("--by-category", is_flag=True, help="Each category too, and what a pass costs in each tier.")
@click.option("--pooled", is_flag=True, help="The runs of each subject as one, where their suites are equal.")
@shared_options
def command(runs: tuple[str, ...], by_category: bool, pooled: bool, options: Options) -> None:
    """Tell what the score is, under each policy."""
    store = options.store
    chosen, timeouts = runs_named(runs, store), options.settings.timeouts
    pools = score_pooled(list(chosen), store, timeouts=timeouts) if pooled else []
    for at, stored in enumerate(chosen if not pooled else ()):
        scores = score(stored, store, timeouts=timeouts)
        if options.json:
            put_json(json_scores(scores))
        else:
            show_run(scores, handle_of(scores.stored, store), by_category=by_category, first=at == 0)
    for at, one in enumerate(pools):
        if options.json:
            put_json(json_pool(one))
        else:
            show_pool(one, by_category=by_category, first=at == 0)
