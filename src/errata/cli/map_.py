"""`errata map`."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_json, say, wash, write_out
from errata.cli.table import put_table

if TYPE_CHECKING:
    from errata.model.output.mapping import MapOutput, MappingPreviewRow

ROWS = 6
CELL = 40
UNMAPPED = 20
WORDS = {
    "pass": "pass",
    "fail": "fail",
    "number": "a number without a threshold",
    "not_run": "not scored",
    "unscored": "without a value",
}


@click.command("map")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Where to write the mapping.")
@click.option("--force", is_flag=True, help="Replace an existing mapping.")
@click.option("--dry-run", is_flag=True, help="Show the mapping; write nothing.")
@shared_options
def command(path: Path, output: Path | None, force: bool, dry_run: bool, options: Options) -> None:
    """Draft a mapping for your own table.

    PATH is a CSV, TSV, JSON, JSON Lines or Parquet file with one row per attempt, or a folder of such files or of JSON
    files with one attempt each. The draft is written next to it: FILE.map.toml, or errata.map.toml in a folder. Shows
    what it makes of the first rows, and what to check before you import.
    """
    from errata.verbs.map import map_table

    drafted = map_table(path, output=output, force=force, dry_run=dry_run)
    if options.json:
        put_json(drafted)
        return
    if dry_run:
        write_out(f"{wash(drafted.text)}\n")
    _show_rows(drafted)
    _show_doubts(drafted)
    if drafted.written:
        _show_next(drafted, named=output is not None)


def _show_rows(drafted: "MapOutput") -> None:
    rows = drafted.rows[:ROWS]
    models = len({row.model for row in drafted.rows}) > 1
    header = [*(["model"] if models else []), "case", "execution", "measurement", "outcome", "answer", "expected"]
    cells = [[*([row.model or "–"] if models else []), *_cells(row)] for row in rows]
    put(f"First {plural(len(rows), 'row')} of {drafted.path} with this mapping:" if len(rows) > 1 else "The row:")
    put_table(header, cells, give_way=("expected", "answer"))
    counts = ", ".join(f"{number:,} {WORDS.get(word, word)}" for word, number in drafted.outcomes.items())
    if counts:
        put(f"\n{plural(len(drafted.rows), 'attempt')} read: {counts}")
    if drafted.unreadable:
        put(f"{plural(len(drafted.unreadable), 'row')} can't be read; the first: {drafted.unreadable[0]}")


def _cells(row: "MappingPreviewRow") -> list[str]:
    answer = f"error: {row.error}" if row.error else "–" if row.answer is None else row.answer
    expected = "–" if row.expected is None else str(row.expected)
    return [row.case, row.execution, row.measurement, row.outcome, _short(answer), _short(expected)]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= CELL else f"{line[: CELL - 1]}…"


def _show_doubts(drafted: "MapOutput") -> None:
    if drafted.unmapped:
        more = len(drafted.unmapped) - UNMAPPED
        listed = ", ".join(name or "(no name)" for name in drafted.unmapped[:UNMAPPED])
        put(f"\nNot mapped: {listed}{f' and {more} more' if more > 0 else ''}", hang=2)
    elif not drafted.doubts:
        put("\nEvery column was recognised by its name and values.")
    if not drafted.doubts:
        return
    put("\nPlease check:")
    for doubt in drafted.doubts:
        chosen = f" = {doubt.chosen}" if doubt.chosen else ""
        others = f" Or: {', '.join(doubt.alternatives)}" if doubt.alternatives else ""
        put(f"  {doubt.key}{chosen}: {doubt.why}{'' if doubt.why.endswith(('?', '.')) else '.'}{others}", hang=6)


def _show_next(drafted: "MapOutput", *, named: bool) -> None:
    words = ["errata", "import", *(["--map", drafted.target] if named else []), drafted.path]
    put(f"\nWrote {drafted.target}")
    say(f"next: edit it if needed, then `{shlex.join(words)}`")
