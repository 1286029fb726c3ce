"""`errata rm` and `errata exclude`: runs that no longer count."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime

import click

from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_json, say
from errata.errors import SettingsError
from errata.model import StoredRun
from errata.model.output.runs import ExcludeOutput, RmOutput
from errata.model.run import subject_label
from errata.runs.names import short
from errata.text.outgoing import line_for_user
from errata.verbs.rm import OldRun, OldRuns, age_of, forget, old_runs
from errata.verbs.store import exclude, include, stored_runs

WORDS = {
    "verdicts": "it has verdicts",
    "actions": "it showed whether a fix worked",
    "baseline": "gates use it as a baseline",
    "running": "it is still being reported",
    "newest": "it is among the newest",
}
"""Why an old run is kept."""


@click.command("rm")
@click.argument("runs", nargs=-1, metavar="[RUN…]")
@click.option("--older-than", metavar="AGE", default="", help="All runs that are older: `90d`, `12w`, `6m`, `1y`.")
@click.option("--suite", default="", help="With --older-than: only runs of this suite.")
@click.option("--keep-last", type=click.IntRange(0), default=0, help="Keep the newest N of each suite and model.")
@click.option("--with-verdicts", is_flag=True, help="With --older-than: also runs with verdicts, and baselines.")
@click.option("--dry-run", is_flag=True, help="Only show what would be removed and what is kept.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
@shared_options
def command(
    runs: tuple[str, ...],
    older_than: str,
    with_verdicts: bool,
    dry_run: bool,
    yes: bool,
    options: Options,
    **chosen: str | int,
) -> None:
    """Remove runs from the store.

    Removes runs with their verdicts and frees the space. The logs are not touched: `errata import` restores the runs,
    but not the verdicts. `errata store backup` saves both.

    `--older-than` keeps runs that are still needed: those with verdicts, runs that showed whether a fix worked,
    baselines of gates, and runs that passed their gate. The age of a run counts from its start, or from its
    import if the start is unknown.
    """
    store = options.store
    if bool(runs) == bool(older_than):
        raise SettingsError("Name runs, or `--older-than AGE`", hint="`errata rm --older-than 90d --dry-run`")
    if runs:
        old = [OldRun(one, ()) for one in stored_runs(runs, store)]
    else:
        wanted = OldRuns(older_than=age_of(older_than), suite=str(chosen["suite"]), keep_last=int(chosen["keep_last"]))
        old = old_runs(store, wanted, now=datetime.now(UTC), keep_opinions=not with_verdicts)
    meant = [one.stored for one in old if not one.kept_for]
    if dry_run or not meant:
        _put_runs(old, options, removed=False)
        if not old:
            say("no run is that old")
        elif not options.json:
            say(f"{'would remove' if dry_run else 'removed'} {plural(len(meant), 'run')} of {len(old):,}")
        return
    if not yes and not _is_confirmed(meant):
        say("nothing was removed")
        return
    freed = forget(meant, store)
    _put_runs(old, options, removed=True)
    if not freed:
        say("note: another process uses the store; the next `errata rm` frees the space")


def _is_confirmed(meant: Sequence[StoredRun]) -> bool:
    names = ", ".join(f"{short(one.run.native_id)} ({subject_label(one.run) or one.run.suite})" for one in meant)
    if not sys.stdin.isatty():
        raise SettingsError(
            f"`errata rm` asks before it removes {names}", hint="add `--yes` to run it without a terminal"
        )
    return click.confirm(line_for_user(f"Remove {names}?"), err=True)


def _put_runs(old: Sequence[OldRun], options: Options, *, removed: bool) -> None:
    for listed in old:
        run, kept = listed.stored.run, listed.kept_for
        if options.json:
            put_json(RmOutput(run=run.native_id, run_id=run.id, forgotten=removed and not kept, kept_for=kept))
        elif kept:
            put(f"kept {run.native_id}: {', '.join(WORDS[reason] for reason in kept)}")
        else:
            put(f"{'removed' if removed else 'would remove'} {run.native_id}")


@click.command("exclude")
@click.argument("run", metavar="RUN")
@click.option("--reason", default="", help="Reason; shown with the run.")
@click.option("--undo", is_flag=True, help="Undo the exclusion.")
@shared_options
def exclude_run(run: str, reason: str, undo: bool, options: Options) -> None:
    """Leave a run out of comparisons, pooled scores and baselines, with a reason.

    History leaves it out as well. The run's own pages still show its figures, marked EXCLUDED.
    """
    if not undo and not reason:
        raise SettingsError(
            "An exclusion needs a reason", hint="`errata exclude RUN --reason TEXT`; `--undo` reverts it"
        )
    store = options.store
    stored = stored_runs([run], store)[0].run
    if undo:
        done = include(store, stored.id)
        sentence = f"{stored.native_id} is included again" if done else f"{stored.native_id} was not excluded"
    else:
        exclude(store, stored.id, reason=reason, author=options.settings.author)
        sentence = f"{stored.native_id} is excluded from every score: {reason}"
    if options.json:
        put_json(ExcludeOutput(run=stored.native_id, run_id=stored.id, excluded=not undo, reason=reason or None))
    else:
        put(sentence)
