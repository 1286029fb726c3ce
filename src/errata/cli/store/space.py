"""`errata store size` and `thin`."""

from collections.abc import Sequence
from datetime import UTC, datetime

import click

from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_json, say
from errata.cli.render.fields import place_of, put_undo
from errata.cli.table import put_table
from errata.errors import SettingsError
from errata.model import StoredRun
from errata.model.output.store import RunSizeOutput, StoreThinOutput
from errata.model.times import to_text
from errata.runs.names import short
from errata.verbs.rm import (
    OldRuns,
    age_of,
    measure_store,
    old_runs,
    release_space,
    restore_transcripts,
    thin_transcripts,
)
from errata.verbs.store import stored_runs

HEADER = ("run", "attempts", "records", "transcripts", "own files", "shared files", "cases", "thinned")
NUMBERS = ("attempts", "records", "transcripts", "own files", "shared files", "cases")


@click.command("size")
@shared_options
def size(options: Options) -> None:
    """Show how much of the store each run takes.

    Sizes are those of the stored, compressed data. Files that several runs share stay when one of these is removed.
    """
    measured = measure_store(options.store)
    if options.json:
        put_json(measured)
        return
    if measured.runs:
        put_table(HEADER, map(_row, measured.runs), right=NUMBERS)
    put(
        f"store   {place_of(measured.path)} · {_bytes(measured.size)} · {_bytes(measured.files)} of them texts of files"
    )


def _row(run: RunSizeOutput) -> tuple[object, ...]:
    parts = (run.records, run.transcripts, run.files_own, run.files_shared, run.cases)
    return short(run.run), run.attempts, *map(_bytes, parts), (run.thinned or "–")[:10]


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
