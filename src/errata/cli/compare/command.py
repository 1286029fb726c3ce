"""`errata compare`: the page, the matrix as CSV, or a comparison folder."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from errata.cli.compare.as_json import json_comparison
from errata.cli.compare.matrix import names_of, put_matrix
from errata.cli.compare.page import put_head, put_runs, put_sets, word_for_cases
from errata.cli.compare.tables import put_pairs, put_tables
from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_command, put_json, say
from errata.cli.paths import place_of
from errata.cli.progress import progress
from errata.cli.table import put_parts, put_table
from errata.compare.comparison import Comparison, ComparisonOptions
from errata.errors import ErrataError, SettingsError
from errata.model import StoredRun
from errata.model.counts import Cell
from errata.model.output.compare import (
    ComparisonFolderOutput,
    LeftOutRunOutput,
    NamedRunOutput,
    NotWrittenCode,
    NotWrittenOutput,
    WrittenFileOutput,
)
from errata.runs.names import handles_of
from errata.runs.runs_to_compare import runs_to_compare
from errata.text.clean import one_line
from errata.text.redact import redact
from errata.text.spreadsheet import quoted
from errata.verbs.compare import compare, write_comparison_folder
from errata.verbs.store import Store, all_runs

if TYPE_CHECKING:
    from errata.export.comparison_folder import ComparisonFolder

A_FEW = 4
"""Runs whose names fit on a line."""

NOT_WRITTEN: dict[NotWrittenCode, str] = {
    "commands_unknown": "the runs do not record their commands",
    "commands_unknown_file_kept": "the runs do not record their commands; the existing file is kept",
}


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
        from errata.cli.compare.command import refuse_beside_write, write_folder

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
    handles = handles_of(all_runs(store))
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


def write_matrix(comparison: Comparison, path: Path) -> None:
    labels = [_told(column.label) for column in comparison.shown.columns]
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["case", "categories", *labels])
            for case, row in comparison.shown.rows.items():
                facts = comparison.cases[case]
                writer.writerow([_told(facts.name), _told(" ".join(facts.categories)), *map(_cell, row)])
    except OSError as error:
        raise ErrataError(f"`{path}` can't be written: {error.strerror}", hint="name another file") from error


def _cell(cell: Cell | None) -> str:
    """The state; of several attempts, how many passed."""
    if cell is None:
        return ""
    return cell.state if cell.attempts == 1 else f"{cell.state} {cell.passes}/{cell.attempts}"


def _told(text: str) -> str:
    return quoted(one_line(redact(text)))


def refuse_beside_write(**given: object) -> None:
    """Options that choose or show a part: a folder is about whole runs."""
    named = [f"`--{name.replace('_', '-')}`" for name, value in given.items() if value]
    if named:
        told = f"{' and '.join(named)} can't stand beside `--write`"
        raise SettingsError(told, hint="a comparison folder is about whole runs: leave one of the two out")


def write_folder(runs: tuple[str, ...], folder: Path, options: Options, *, force: bool) -> None:
    chosen = runs_to_compare(runs, options.store, least=1)
    for other in chosen.passed_over:
        say(f"`{other}` is passed over: the runs that are named win")
    made = write_comparison_folder(chosen.runs, options.store, folder, force=force)
    if options.json:
        put_json(_json_of_folder(made))
    else:
        _show_folder(made, options.store)


def _show_folder(made: "ComparisonFolder", store: Store) -> None:
    handles = handles_of(all_runs(store))
    run, place = made.runs[0].run, place_of(str(made.folder))
    models = len({one.run.subject.model for one in made.runs})
    put(f"{run.suite} · {plural(len(made.runs), 'run')} of {plural(models, 'model')} · {place}")
    put()
    rows = [(one.path.name, made.rows.get(one.path.name, ""), one.change) for one in made.written]
    put_table(("file", "rows", "now"), rows, right=("rows",))
    notes = list(_notes_on_folder(made, handles))
    if notes or len(made.runs) > 1:
        put()
    for label, told in notes:
        put_parts(label, [told])
    if len(made.runs) > 1 and not made.not_found:
        put_command("next", ["errata", "compare", place], "reads it")


def _notes_on_folder(made: "ComparisonFolder", handles: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    def named(runs: Iterable[StoredRun]) -> str:
        return ", ".join(handles[one.run.id] for one in runs)

    for stored, why in made.left_out:
        yield "left out", f"{handles[stored.run.id]} {stored.run.subject.model}: {why}"
    for name, code in made.not_written.items():
        yield "not made", f"{name}: {NOT_WRITTEN[code]}"
    if made.without_commands and not made.not_written:
        yield "commands", f"not known of {named(made.without_commands)}"
    if made.without_column:
        yield "columns", f"none for {', '.join(made.without_column)}; these still decide whether a row fails"
    if made.not_found:
        yield (
            "note",
            f"not found from there: {named(made.not_found)}. Move the folder beside or below its runs to read it",
        )


def _json_of_folder(made: "ComparisonFolder") -> ComparisonFolderOutput:
    return ComparisonFolderOutput(
        folder=str(made.folder),
        runs=tuple(NamedRunOutput(run=one.run.native_id, run_id=one.run.id) for one in made.runs),
        written=tuple(
            WrittenFileOutput(file=str(one.path), rows=made.rows.get(one.path.name), change=one.change)
            for one in made.written
        ),
        not_written=tuple(NotWrittenOutput(file=name, why=why) for name, why in made.not_written.items()),
        left_out_runs=tuple(
            LeftOutRunOutput(
                run=one.run.native_id,
                run_id=one.run.id,
                model=one.run.subject.model,
                why=why.code,
                excluded=why.detail or None,
            )
            for one, why in made.left_out
        ),
        without_commands=tuple(one.run.native_id for one in made.without_commands),
        not_found=tuple(one.run.native_id for one in made.not_found),
        without_column=made.without_column,
    )
