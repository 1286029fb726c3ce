"""`errata store backup`, `restore` and `copy`."""

from datetime import UTC, datetime
from pathlib import Path

import click

from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_command, put_json
from errata.cli.progress import StatusLine, status_line
from errata.cli.render.fields import place_of, put_field, put_undo
from errata.cli.table import put_table
from errata.errors import StoreError
from errata.model.output.store import TableProof
from errata.model.store_address import location_of
from errata.text.shell import shell_word
from errata.verbs.store_backup import OnProgress, backup_store, copy_store, restore_store

FILE = click.Path(path_type=Path)
DIGEST = 12
"""Characters of a digest that the page shows."""


@click.command("backup")
@click.argument("to", metavar="TO", type=FILE)
@shared_options
def backup(to: Path, options: Options) -> None:
    """Back up the store while others use it.

    TO is a new file, or a folder where the backup gets a name with the time. The backup holds the store as it is at one
    moment. It is checked before it gets its name: the file is sound, and every table has the same rows.
    """
    with status_line("errata store backup") as line:
        done = backup_store(options.store, to, now=datetime.now(UTC), on_progress=_progress(line))
    if options.json:
        put_json(done)
        return
    rows = sum(table.rows for table in done.tables)
    put_field("backup", f"{place_of(done.file)} · {done.size / 2**20:,.1f} MB")
    put_field("holds", f"{plural(done.runs, 'run')}, {plural(rows, 'row')} in {plural(len(done.tables), 'table')}")
    put_field("checked", "the file is sound, and every table has the rows of the store")
    put_command("restore", ["errata", "store", "restore", done.file])


@click.command("restore")
@click.argument("backup_file", metavar="FROM", type=FILE)
@click.option("--force", is_flag=True, help="Replace a store that has runs; it is put aside first.")
@shared_options
def restore(backup_file: Path, force: bool, options: Options) -> None:
    """Replace the store with a backup.

    FROM is a file of `errata store backup`, or any store. It is checked first and stays as it is. The store that it
    replaces is put aside under a name that is printed.
    """
    path = options.settings.store
    if not isinstance(path, Path):
        hint = f"`errata store copy {shell_word(str(backup_file))} ADDRESS` fills a database"
        raise StoreError("A backup is restored into a file", hint=hint)
    with status_line("errata store restore") as line:
        done = restore_store(backup_file, path, force=force, now=datetime.now(UTC), on_progress=_progress(line))
    if options.json:
        put_json(done)
        return
    put_field("restored", f"{place_of(done.store)} · {plural(done.runs, 'run')} from {place_of(done.backup)}")
    if done.put_aside is not None:
        put_field("aside", place_of(done.put_aside))
        put_undo(["errata", "store", "restore", done.put_aside, "--force"])


@click.command("copy")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@shared_options
def copy(source: str, target: str, options: Options) -> int:
    """Copy a store, and prove that nothing was lost.

    FROM and TO are files or PostgreSQL addresses. TO must not exist, or be an empty store. After copying, errata reads
    both sides and compares every table: the number of rows, and a digest of their content. A copy that differs is
    discarded, and the exit code is 1.
    """
    with status_line("errata store copy") as line:
        done = copy_store(location_of(source), location_of(target), on_progress=_progress(line))
    if options.json:
        put_json(done)
        return 0 if done.equal else 1
    shown = [table for table in done.tables if table.rows or not table.is_equal]
    if shown:
        put_table(("table", "rows", "copied", "digest", "result"), map(_row, shown), right=("rows", "copied"))
    if not done.equal:
        put(f"DIFFERENT: {', '.join(done.differing)}. The copy was discarded.")
        return 1
    put(f"equal: {plural(done.rows, 'row')} in {plural(len(done.tables), 'table')} copied to {place_of(done.target)}")
    return 0


def _row(table: TableProof) -> tuple[object, ...]:
    result = "equal" if table.is_equal else f"DIFFERENT: {table.digest_copied[:DIGEST]}"
    return table.table, table.rows, table.rows_copied, table.digest[:DIGEST], result


def _progress(line: StatusLine | None) -> OnProgress:
    return line.show if line is not None else lambda _: None
