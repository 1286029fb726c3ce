"""`errata store` and `errata doctor`: the store as a whole."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from errata.cli.lazy import LazyGroup, Table
from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_command, put_json, say
from errata.cli.progress import StatusLine, status_line
from errata.cli.render.fields import place_of, put_field, put_undo
from errata.cli.table import put_table
from errata.errors import SettingsError, StoreError
from errata.model import StoredRun
from errata.model.output.store import DoctorOutput, RunSizeOutput, StoreThinOutput, TableProof
from errata.model.store_address import location_of
from errata.model.times import to_text
from errata.runs.names import handles_of, short
from errata.text.shell import shell_word
from errata.verbs.doctor import examine_store
from errata.verbs.rm import OldRuns, age_of, old_runs
from errata.verbs.store import all_runs, stored_runs
from errata.verbs.store_maintenance import (
    OnProgress,
    backup_store,
    copy_store,
    measure_store,
    release_space,
    restore_store,
    restore_transcripts,
    thin_transcripts,
)

SUBCOMMANDS: Table = {
    "backup": ("store:backup", "Back up the store while others use it."),
    "restore": ("store:restore", "Replace the store with a backup."),
    "size": ("store:size", "Show how much of the store each run takes, the largest first."),
    "thin": ("store:thin", "Reduce old transcripts to what verdicts and evidence cite."),
    "copy": ("store:copy", "Copy a store, and prove that nothing was lost."),
}


@click.group("store", cls=LazyGroup, table=SUBCOMMANDS, package="errata.cli")
def command() -> None:
    """Back up, restore, copy, measure and thin the store.

    `errata doctor` checks it for damage, and `errata rm --older-than 90d` removes old runs.
    """


FILE = click.Path(path_type=Path)
DIGEST = 12
"""Characters of a digest that the page shows."""


@click.command("backup")
@click.argument("to", metavar="TO", type=FILE)
@shared_options
def backup(to: Path, options: Options) -> None:
    """Back up the store while others use it.

    TO is a new file, or a folder where the backup gets a name with the time. The backup holds the store as it is at one
    moment. It is checked before it gets its name: every table has the same rows as the store.
    """
    with status_line("errata store backup") as line:
        done = backup_store(options.store, to, now=datetime.now(UTC), on_progress=_progress(line))
    if options.json:
        put_json(done)
        return
    rows = sum(table.rows for table in done.tables)
    put_field("backup", f"{place_of(done.file)} · {done.size / 2**20:,.1f} MB")
    put_field("holds", f"{plural(done.runs, 'run')}, {plural(rows, 'row')} in {plural(len(done.tables), 'table')}")
    put_field("checked", "every table has the rows of the store")
    put_command("restore", ["errata", "store", "restore", done.file])


@click.command("restore")
@click.argument("backup_file", metavar="FROM", type=FILE)
@click.option("--force", is_flag=True, help="Replace a store that has runs; the old one is kept under another name.")
@shared_options
def restore(backup_file: Path, force: bool, options: Options) -> None:
    """Replace the store with a backup.

    FROM is a backup, or any store file. errata checks it first and does not change it. The replaced store is kept under
    another name, which is printed.
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
        put_table(("table", "rows", "copied", "digest", "result"), map(_proof_row, shown), right=("rows", "copied"))
    if not done.equal:
        put(f"DIFFERENT: {', '.join(done.differing)}. The copy was discarded.")
        return 1
    put(f"equal: {plural(done.rows, 'row')} in {plural(len(done.tables), 'table')} copied to {place_of(done.target)}")
    return 0


def _proof_row(table: TableProof) -> tuple[object, ...]:
    result = "equal" if table.is_equal else f"DIFFERENT: {table.digest_copied[:DIGEST]}"
    return table.table, table.rows, table.rows_copied, table.digest[:DIGEST], result


def _progress(line: StatusLine | None) -> OnProgress:
    return line.show if line is not None else lambda _: None


HEADER = ("run", "attempts", "total", "results", "transcripts", "cases", "own files", "shared files", "thinned")
NUMBERS = HEADER[1:-1]
LEGEND = "total = space that `errata rm RUN` frees · shared files: also used by other runs"
THINNED = " · thinned = when `errata store thin` shortened the transcripts"


@click.command("size")
@shared_options
def size(options: Options) -> None:
    """Show how much of the store each run takes, the largest first.

    Sizes are those of the stored, compressed data. Files that several runs share stay in the store until the last of
    these runs is removed.
    """
    measured = measure_store(options.store)
    if options.json:
        put_json(measured)
        return
    if measured.runs:
        handles = handles_of(all_runs(options.store))
        put_table(HEADER, [_size_row(run, handles[run.run_id]) for run in measured.runs], right=NUMBERS)
        say(LEGEND + (THINNED if any(run.thinned for run in measured.runs) else ""))
    runs = sum(run.records + run.transcripts + run.cases for run in measured.runs)
    parts = f"runs {_bytes(runs)}, their files {_bytes(measured.files)}, the rest indexes and free space"
    put(f"store   {place_of(measured.path)} · {_bytes(measured.size)} ({parts})", hang=8)


def _size_row(run: RunSizeOutput, handle: str) -> tuple[object, ...]:
    total = run.records + run.transcripts + run.cases + run.files_own
    parts = (total, run.records, run.transcripts, run.cases, run.files_own, run.files_shared)
    return handle, run.attempts, *(_bytes(one) if one else "–" for one in parts), (run.thinned or "–")[:10]


def _bytes(count: int) -> str:
    return f"{count / 2**20:,.1f} MB" if count >= 2**20 else f"{count / 2**10:,.1f} kB"


@click.command("thin")
@click.argument("runs", nargs=-1, metavar="[RUN…]")
@click.option("--older-than", metavar="AGE", default="", help="All runs that are older: `90d`, `12w`, `6m`, `1y`.")
@click.option("--suite", default="", help="With --older-than: only runs of this suite.")
@click.option("--keep-last", type=click.IntRange(0), default=0, help="Keep the newest N of each suite and model.")
@click.option("--dry-run", is_flag=True, help="Only show what would be dropped.")
@click.option("--undo", is_flag=True, help="Read the transcripts of RUN again from the logs.")
@shared_options
def thin(
    runs: tuple[str, ...],
    older_than: str,
    suite: str,
    keep_last: int,
    dry_run: bool,
    undo: bool,
    options: Options,
) -> None:
    """Reduce old transcripts to what verdicts and evidence cite.

    Keeps each cited step with the steps before and after it, the first message of the user and the last step. Records,
    results, files and verdicts stay, and quotes still verify. Thinned attempts are marked, and are no longer handed
    to reviewers. `--undo` reads a run again from its logs; without them, only a backup brings the steps back.
    """
    if undo:
        _undo(runs, options)
        return
    now = datetime.now(UTC)
    meant = _chosen_runs(
        runs, older_than, OldRuns(older_than=age_of(older_than or "0d"), suite=suite, keep_last=keep_last), now, options
    )
    results = [thin_transcripts(options.store, one, now=to_text(now), dry_run=dry_run) for one in meant]
    freed = dry_run or not any(result.thinned for result in results) or release_space(options.store)
    for result in results:
        _put_result(result, options)
    if not results:
        say("no run is that old")
    if any(result.change == "thinned" for result in results) and not options.json:
        put_undo(["errata", "store", "thin", "--undo", *(short(one.run) for one in results if one.thinned)])
    if not freed:
        say("note: another process uses the store; the next `errata rm` frees the space")


def _chosen_runs(
    runs: Sequence[str], older_than: str, wanted: OldRuns, now: datetime, options: Options
) -> list[StoredRun]:
    if bool(runs) == bool(older_than):
        raise SettingsError("Name runs, or `--older-than AGE`", hint="`errata store thin --older-than 90d --dry-run`")
    if runs:
        return stored_runs(runs, options.store)
    old = old_runs(options.store, wanted, now=now, keep_opinions=False)
    return [run.stored for run in old if not run.kept_for]


def _undo(runs: Sequence[str], options: Options) -> None:
    if not runs:
        raise SettingsError("`--undo` needs the runs", hint="`errata store size` lists thinned runs")
    for stored in stored_runs(runs, options.store):
        _put_result(restore_transcripts(options.store, stored), options)


def _put_result(result: StoreThinOutput, options: Options) -> None:
    if options.json:
        put_json(result)
        return
    if result.change == "restored":
        put(f"{short(result.run)}: transcripts restored from the logs")
    elif result.change == "nothing_to_thin":
        put(f"{short(result.run)}: nothing to thin")
    else:
        word = "would keep" if result.change == "would_thin" else "kept"
        saved = "" if result.size_after is None else f" · {_bytes(result.size_before)} → {_bytes(result.size_after)}"
        put(
            f"{short(result.run)}: {word} {result.steps_kept:,} of {plural(result.steps, 'step')} in "
            f"{result.thinned:,} of {plural(result.attempts, 'transcript')}{saved}"
        )


ATTEMPTS = 5
"""Damaged attempts that the page names; `--json` lists all."""


@click.command("doctor")
@click.option("--repair", is_flag=True, help="Read damaged runs again from their logs.")
@shared_options
def doctor(repair: bool, options: Options) -> int:
    """Check the store for damage.

    Decodes every record, and lists damaged runs with their attempts. Also removes the remains of interrupted imports.
    Exits with 1 if it finds a problem.

    `--repair` reads a damaged run again from its logs, if these still have the content that was imported, and derives
    owners again. It never changes verdicts. It lists what it can't repair, and what you would need to repair it.
    """
    with status_line("errata doctor") as line:
        show = line.show if line is not None else lambda _: None
        health = examine_store(options.store, repair=repair, on_progress=show)
    if options.json:
        put_json(health)
    else:
        database = f"PostgreSQL {health.postgres}" if health.postgres else f"SQLite {health.sqlite}"
        put(f"errata    {health.errata} · Python {health.python} · {database}")
        put(f"store     {place_of(health.path)} · schema {health.schema} · {health.size / 2**20:,.1f} MB")
        if health.runs is not None and health.attempts is not None:
            put(f"holds     {plural(health.runs, 'run')}, {plural(health.attempts, 'attempt')}")
        if health.cleared:
            put(f"cleared   {plural(health.cleared, 'interrupted import')}")
        for step in health.repairs:
            label = "repaired" if step.repaired else "can't fix"
            put(f"{label:<9} {step.run or step.table or 'store'}: {step.message}", hang=10)
        for problem in health.problems:
            put(f"problem   {problem}", hang=10)
            _put_attempts(problem.attempts)
        _put_verdict(health)
    return 1 if health.problems else 0


def _put_attempts(attempts: Sequence[str]) -> None:
    for attempt in attempts[:ATTEMPTS]:
        put(f"          {attempt}")
    if len(attempts) > ATTEMPTS:
        put(f"          and {len(attempts) - ATTEMPTS:,} more with --json")


def _put_verdict(health: DoctorOutput) -> None:
    if not health.problems:
        put("no problems found")
        return
    origins = dict.fromkeys(problem.origin for problem in health.problems if problem.origin)
    if origins and not health.repairs:
        put("DAMAGED: run `errata doctor --repair`, or import the runs into a new store.")
        put("Logs bring every run back, but not verdicts and other opinions.")
    else:
        put("DAMAGED: a backup brings back what is listed: `errata store restore FROM --force`")
    for path in origins:
        put_command("rebuild", ["errata", "import", path, "--store", "new.db"], indent=10)
    put("save      `errata review export RUN -o FOLDER` saves the verdicts of a run that can still be read")
