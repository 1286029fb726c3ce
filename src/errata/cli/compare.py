"""`errata compare`."""

from pathlib import Path

import click

from errata import verbs
from errata.cli.compare_csv import write_matrix
from errata.cli.compare_json import json_comparison
from errata.cli.compare_matrix import put_matrix
from errata.cli.compare_names import names_of
from errata.cli.compare_pairs import put_pairs
from errata.cli.compare_runs import put_head, put_runs, word_for_cases
from errata.cli.compare_sets import put_sets
from errata.cli.compare_tables import put_tables
from errata.cli.options import Options, shared_options
from errata.cli.output import put, put_command, put_json, say
from errata.cli.progress import progress
from errata.compare.comparison import Comparison, ComparisonOptions
from errata.runs.names import handles_of
from errata.runs.runs_to_compare import runs_to_compare
from errata.store.database import Store
from errata.verbs.compare import compare

A_FEW = 4
"""Runs whose names fit on a line."""


@click.command("compare")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("--common", is_flag=True, help="Only the cases that all runs were measured on, whatever else differs.")
@click.option("--by-model", is_flag=True, help="One column for all runs of a model.")
@click.option("--category", default="", help="Only the cases of this category or tag.")
@click.option("--all", "every", is_flag=True, help="The whole matrix: also cases that pass in every run.")
@click.option("--csv", "csv", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write the matrix.")
@click.option(
    "--write",
    "into",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write a comparison folder instead: run_results.csv, metric_summary.csv, model_summary.csv and more.",
)
@click.option("--force", is_flag=True, help="With --write: also over files that are there and differ.")
@shared_options
def command(
    runs: tuple[str, ...],
    common: bool,
    by_model: bool,
    category: str,
    every: bool,
    csv: Path | None,
    into: Path | None,
    force: bool,
    options: Options,
) -> None:
    """Tell what differs between RUNS, where they measured the same thing.

    The folder of a comparison stands for the runs it lists; runs that are named beside it win. `--write` makes such a
    folder of judged runs of conversation-bench, counted from their rows.
    """
    if into is not None:
        from errata.cli.compare_folder import refuse_beside_write, write_folder

        refuse_beside_write(common=common, by_model=by_model, category=category, all=every, csv=csv)
        write_folder(runs, into, options, force=force)
        return
    store = options.store
    chosen = runs_to_compare(runs, store)
    for folder in chosen.passed_over:
        say(f"`{folder}` is passed over: the runs that are named win")
    asked = ComparisonOptions(common=common, by_model=by_model, category=category, timeouts=options.settings.timeouts)
    with progress("Comparing") as on_attempts:
        comparison = compare(chosen.runs, store, asked, on_attempts=on_attempts)
    if csv is not None:
        write_matrix(comparison, csv)
        say(f"wrote {csv}")
    if options.json:
        put_json(json_comparison(comparison))
    else:
        _show(comparison, store, every=every)


def _show(comparison: Comparison, store: Store, *, every: bool) -> None:
    handles = handles_of(verbs.all_runs(store))
    names = names_of(comparison, word_for_cases(comparison))
    put_head(comparison, handles)
    put_runs(comparison, handles)
    put_matrix(comparison, names, every=every)
    if len(comparison.matrix.passed_everywhere) == len(comparison.matrix.rows):
        return
    put_sets(comparison, names)
    put_pairs(comparison, names)
    put_tables(comparison, names)
    runs = [handles[one.run.id] for column in comparison.columns for one in column.runs]
    if 1 < len(runs) <= A_FEW and not comparison.options.category:
        put()
        put_command("next", ["errata", "report", *runs], "writes it down, with the causes")
