"""`errata compare`: the page, the matrix as CSV, or a comparison folder."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from errata.cli.compare.matrix import CaseLabels, names_of, put_matrix
from errata.cli.compare.page import put_head, put_runs, put_sets, word_for_cases, word_for_subjects
from errata.cli.compare.tables import put_numbers, put_pairs, put_shared_part, put_tables
from errata.cli.gate import format_options, put_formatted, refuse_unpaired
from errata.cli.options import Options, shared_options, with_project
from errata.cli.output import plural, put, put_command, put_json, say, wash
from errata.cli.progress import progress
from errata.cli.render.fields import place_of
from errata.cli.render.scores import figures
from errata.cli.render.suspects import put_suspects
from errata.cli.table import put_parts, put_table
from errata.compare.comparison import Comparison, ComparisonOptions
from errata.compare.gate import Gate
from errata.compare.pairs import Ranked
from errata.errors import SettingsError
from errata.json_output.comparison import json_comparison, left_out_runs
from errata.model import StoredRun
from errata.model.cells import Cell
from errata.model.output.compare import (
    ComparisonFolderOutput,
    DeviationOutput,
    NamedRunOutput,
    NotWrittenCode,
    NotWrittenOutput,
    WrittenFileOutput,
)
from errata.model.run import subject_label
from errata.render.figures import p_value, percent, points
from errata.render.files import replacing
from errata.runs.first_page import doubted_results
from errata.runs.names import handles_of
from errata.runs.runset import runs_to_compare
from errata.text.clean import quoted
from errata.text.outgoing import line_for_user
from errata.verbs.compare import compare, write_comparison_folder
from errata.verbs.gate import changes_as_gate
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
@click.option("--common", is_flag=True, help="Compare only cases measured in every run, even if the suites differ.")
@click.option("--by-model", is_flag=True, help="Show one column per model.")
@click.option("--category", default="", help="Only the cases of this category or tag.")
@click.option("--all", "every", is_flag=True, help="Show the whole matrix, including cases that pass in every run.")
@click.option("--csv", "csv", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write the matrix.")
@click.option(
    "--write",
    "into",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write a comparison folder instead: run_results.csv, metric_summary.csv, model_summary.csv and more.",
)
@click.option("--force", is_flag=True, help="With --write, overwrite files that differ.")
@format_options
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
    forms: tuple[str, ...],
    outputs: tuple[Path, ...],
    options: Options,
) -> None:
    """Compare runs case by case, with significance tests.

    If RUN is a comparison folder, the runs it lists are compared; runs that you also name replace them. `--write` makes
    such a folder from judged runs of conversation-bench. With `--format`, the first of two runs is the baseline.
    """
    if into is not None:
        refuse_beside("--write", common=common, by_model=by_model, category=category, all=every, csv=csv, format=forms)
        write_folder(runs, into, options, force=force)
        return
    refuse_unpaired(forms, outputs, options)
    store = options.store
    chosen = runs_to_compare(runs, store)
    if forms:
        refuse_beside("--format", by_model=by_model, category=category, all=every, csv=csv)
        put_formatted(_changes(chosen.runs, options, common=common), forms, outputs, store, is_gate=False)
        return
    for folder in chosen.passed_over:
        say(f"skipped `{folder}`: the named runs take precedence")
    asked = ComparisonOptions(common=common, by_model=by_model, category=category, timeouts=options.settings.timeouts)
    with progress("Comparing") as on_attempts:
        comparison = compare(chosen.runs, store, asked, on_attempts=on_attempts)
    if csv is not None:
        write_matrix(comparison, csv)
        say(f"wrote {csv}")
    if options.json:
        put_json(with_project(json_comparison(comparison), scores=True))
    else:
        _show(comparison, store, every=every)


def _changes(runs: Sequence[StoredRun], options: Options, *, common: bool) -> Gate:
    if len(runs) != 2:
        raise SettingsError(
            f"`--format` compares two runs, and these are {len(runs)}", hint="name the baseline first, then the run"
        )
    before, after = runs
    return changes_as_gate(before, after, options.store, timeouts=options.settings.timeouts, common=common)


def _show(comparison: Comparison, store: Store, *, every: bool) -> None:
    handles = handles_of(all_runs(store))
    names = names_of(comparison, word_for_cases(comparison))
    put_head(comparison, handles)
    put_runs(comparison, handles)
    all_pass = len(comparison.matrix.passed_everywhere) == len(comparison.matrix.rows)
    if not all_pass:
        doubted = [one.label for one in comparison.runs if doubted_results(one.runs, store)]
        put_pairs(comparison, names, doubted=doubted)
    if comparison.matrix.has_only_numbers:
        put_numbers(comparison, names, every=every)
        if not comparison.failed_rows:
            return
    put_matrix(comparison, names, every=every)
    if all_pass:
        return
    put_sets(comparison, names)
    if comparison.suspects or comparison.suspects.failed_by_all:
        put()
        put_suspects(comparison.suspects, handles[comparison.runs[0].runs[0].run.id])
    put_shared_part(comparison, names)
    put_differences(comparison, names)
    put_tables(comparison, names)
    runs = [handles[one.run.id] for column in comparison.columns for one in column.runs]
    if 1 < len(runs) <= A_FEW and not comparison.options.category:
        common = ["--common"] if comparison.options.common else []
        put()
        put_command("Next", ["errata", "report", *runs, *common], "write a report with the causes")


def write_matrix(comparison: Comparison, path: Path) -> None:
    labels = [_cell_text(column.label) for column in comparison.shown.columns]
    with replacing(path, makes_folder=False) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["case", "categories", *labels])
        for case, row in comparison.shown.rows.items():
            facts = comparison.cases[case]
            writer.writerow([_cell_text(facts.name), _cell_text(" ".join(facts.categories)), *map(_cell, row)])


def _cell(cell: Cell | None) -> str:
    """The state, or the mean of numbers; and the number of passes if there are several attempts."""
    if cell is None:
        return ""
    if cell.value is not None:
        return f"{cell.value:g}"
    return cell.state if cell.attempts == 1 else f"{cell.state} {cell.passes}/{cell.attempts}"


def _cell_text(text: str) -> str:
    return quoted(line_for_user(text))


def refuse_beside(option: str, **given: object) -> None:
    """Refuse options that select a part: a folder or a comment covers whole runs."""
    named = [f"`--{name.replace('_', '-')}`" for name, value in given.items() if value]
    if named:
        message = f"{' and '.join(named)} can't be combined with `{option}`"
        raise SettingsError(message, hint=f"`{option}` covers whole runs: leave one of the two out")


def write_folder(runs: tuple[str, ...], folder: Path, options: Options, *, force: bool) -> None:
    chosen = runs_to_compare(runs, options.store, least=1)
    for other in chosen.passed_over:
        say(f"skipped `{other}`: the named runs take precedence")
    made = write_comparison_folder(chosen.runs, options.store, folder, force=force)
    if options.json:
        put_json(_json_of_folder(made))
    else:
        _show_folder(made, options.store)


def _show_folder(made: "ComparisonFolder", store: Store) -> None:
    handles = handles_of(all_runs(store))
    run, place = made.runs[0].run, place_of(str(made.folder))
    models = {one.run.subject.model for one in made.runs} - {""}
    of = f" of {plural(len(models), 'model')}" if models else ""
    put(f"{run.suite} · {plural(len(made.runs), 'run')}{of} · {place}")
    put()
    rows = [(one.path.name, made.rows.get(one.path.name, ""), one.change) for one in made.written]
    put_table(("file", "rows", "status"), rows, right=("rows",))
    notes = list(_notes_on_folder(made, handles))
    if notes or len(made.runs) > 1:
        put()
    for label, note in notes:
        put_parts(label, [note])
    if len(made.runs) > 1 and not made.not_found:
        put_command("Next", ["errata", "compare", place], "compares the runs in it")


def _notes_on_folder(made: "ComparisonFolder", handles: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    def handles_in(runs: Iterable[StoredRun]) -> str:
        return ", ".join(handles[one.run.id] for one in runs)

    for stored, why in made.left_out:
        yield "left out", f"{' '.join(filter(None, (handles[stored.run.id], subject_label(stored.run))))}: {why}"
    for name, code in made.not_written.items():
        yield "skipped", f"{name}: {NOT_WRITTEN[code]}"
    if made.without_commands and not made.not_written:
        yield "commands", f"unknown for {handles_in(made.without_commands)}"
    if made.without_column:
        yield "columns", f"none for {', '.join(made.without_column)}, which still count towards a failed row"
    if made.not_found:
        yield (
            "note",
            f"{handles_in(made.not_found)} can't be found from there; move the folder beside or below its runs",
        )


def _json_of_folder(made: "ComparisonFolder") -> ComparisonFolderOutput:
    return ComparisonFolderOutput(
        folder=str(made.folder),
        runs=tuple(NamedRunOutput(run=one.run.native_id, run_id=one.run.id) for one in made.runs),
        written=tuple(
            WrittenFileOutput(file=str(file.path), rows=made.rows.get(file.path.name), change=file.change)
            for file in made.written
        ),
        not_written=tuple(NotWrittenOutput(file=name, why=why) for name, why in made.not_written.items()),
        left_out_runs=left_out_runs(made.left_out),
        without_commands=tuple(one.run.native_id for one in made.without_commands),
        not_found=tuple(one.run.native_id for one in made.not_found),
        without_column=made.without_column,
    )


MANY = 3
"""From this many models on, a ranking shows more than the pair."""
SHOWN = 10


def put_differences(comparison: Comparison, names: CaseLabels) -> None:
    models = comparison.models
    subjects, word = len(comparison.matrix.subjects), word_for_subjects(comparison)
    if len(models.ranking) >= MANY:
        _put_ranking(models.ranking, word if len(models.ranking) == subjects > 1 else "runs")
    if models.deviations:
        _put_deviations(models.deviations, names, word.removesuffix("s") if subjects > 1 else "run")


def rank_in_words(ranked: Ranked) -> str:
    """`2`, or `1–3` where the data leave it open."""
    return str(ranked.best) if ranked.best == ranked.worst else f"{ranked.best}–{ranked.worst}"


def _put_ranking(ranking: tuple[Ranked, ...], word: str) -> None:
    put()
    basis = "clean, so without infrastructure failures; pairwise tests, Holm"
    if not any(row.better_than for row in ranking):
        put(f"Ranking: no two of the {len(ranking)} {word} differ significantly ({basis})", hang=0)
        return
    put(f"Ranking ({basis})", hang=0)
    rows = [
        (rank_in_words(row), wash(row.label), " ".join(part for part in figures(row.score) if part)) for row in ranking
    ]
    put_table(("rank", "model", "clean"), rows, give_way=("model",))
    if any(row.best != row.worst for row in ranking):
        put("A range of ranks: no significant difference from others in that range", hang=0)


def _put_deviations(deviations: tuple[DeviationOutput, ...], names: CaseLabels, word: str) -> None:
    significant = [row for row in deviations if row.deviates]
    tests = f"{plural(len(deviations), 'test')}, Benjamini-Hochberg"
    put()
    if not significant:
        least = deviations[0]
        # its interval is approximate, and may exclude 0 where the test finds nothing
        closest = f"{wash(least.label)} in {wash(least.category)}, {points(least.deviation)}"
        after = f"{p_value(least.p)}, {p_value(least.adjusted)} after correction"
        put(f"No {word} deviates significantly in a category ({tests}). The closest is {closest} ({after})", hang=0)
        return
    rows = [
        (
            wash(row.label),
            wash(row.category),
            f"{row.cases:,}",
            percent(row.rate),
            percent(row.expected),
            points(row.deviation, row.interval),
            p_value(row.adjusted).removeprefix("p = ").removeprefix("p "),
        )
        for row in significant[:SHOWN]
    ]
    header = ("model", "category", f"{names.word}s", "passed", "expected", "deviation", "p")
    put_table(header, rows, right=(f"{names.word}s", "passed", "expected"), give_way=("category", "model"))
    if len(significant) > SHOWN:
        put(f"and {len(significant) - SHOWN:,} more with --json")
    put(
        f"Expected from the model's other categories and the other models (clean; {tests}). Each interval is for its "
        "test alone",
        hang=0,
    )
