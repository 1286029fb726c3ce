"""`errata buckets merge`, `split`, `rename`, `move`, `confirm`, `undo` and `suggest`."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from errata.buckets.edit import Author, EditResult
from errata.buckets.reconcile import SuggestionResult
from errata.cli.options import Options, chosen_workers, ray_option, shared_options
from errata.cli.output import plural, put, put_json, say
from errata.model.output.buckets import (
    BucketEditOutput,
    BucketSuggestionOutput,
    BucketUndoOutput,
    MovedFromOutput,
    UndoneEventOutput,
)
from errata.model.times import now_as_text
from errata.runs.names import handles_of, runs_named
from errata.verbs.buckets import (
    bucket_named,
    confirm_bucket,
    failures_named,
    members_named,
    merge_buckets,
    move_failures,
    rename_bucket,
    split_bucket,
    suggest_buckets,
    undo_change,
)
from errata.verbs.store import all_runs

if TYPE_CHECKING:
    from errata.cluster.workers import WorkerPool
    from errata.runs.bucketing import CollectFailures
    from errata.verbs.store import Store

NOBODY = "somebody"


def dry_run_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--dry-run", is_flag=True, help="Show what would change, without changing it.")(function)


@click.command("merge")
@click.argument("buckets", nargs=-1, required=True, metavar="BUCKET BUCKET…")
@click.option("--into", default="", metavar="BUCKET", help="Bucket to keep; default: the first.")
@dry_run_option
@shared_options
def merge(buckets: tuple[str, ...], into: str, dry_run: bool, options: Options) -> None:
    """Merge several buckets into one.

    The names of the others then refer to the bucket that is kept. Later failures that would have gone into them go
    there as well.
    """
    store = options.store
    meant = [bucket_named(name, store) for name in buckets]
    target = bucket_named(into, store) if into else meant[0]
    done = merge_buckets(meant, target, store, _author(options, dry_run=dry_run))
    gone = [after.bucket.slug for _, after in done.change.versions if after.gone]
    line = f"merged {', '.join(gone)} into {done.bucket.slug}: {plural(len(done.change.moves), 'failure')} moved"
    _show(done, line, options, dry_run=dry_run)


@click.command("split")
@click.argument("bucket", metavar="BUCKET")
@click.argument("cases", nargs=-1, required=True, metavar="CASE…")
@click.option("--title", required=True, help="Title of the new bucket: the cause in a few words.")
@dry_run_option
@shared_options
def split(bucket: str, cases: tuple[str, ...], title: str, dry_run: bool, options: Options) -> None:
    """Split cases off a bucket into a new one.

    CASE is a case in every run, RUN/CASE in one run, or an attempt id.
    """
    store = options.store
    meant = bucket_named(bucket, store)
    attempts = members_named(meant, cases, store)
    done = split_bucket(meant, attempts, title, store, _author(options, dry_run=dry_run))
    _show(done, f"split {plural(done.members, 'failure')} off {meant.slug}", options, dry_run=dry_run)


@click.command("rename")
@click.argument("bucket", metavar="BUCKET")
@click.argument("title")
@click.option("--slug", default="", help="Short name for commands; default: made from the title.")
@shared_options
def rename(bucket: str, title: str, slug: str, options: Options) -> None:
    """Change a bucket's title.

    The id stays the same, and verdicts with the old slug still refer to it.
    """
    store = options.store
    meant = bucket_named(bucket, store)
    done = rename_bucket(meant, title, store, _author(options), slug=slug)
    _show(done, f"renamed {meant.slug}", options)


@click.command("move")
@click.argument("failures", nargs=-1, required=True, metavar="RUN/CASE…")
@click.option("--to", "to", required=True, metavar="BUCKET", help="Target bucket.")
@dry_run_option
@shared_options
def move(failures: tuple[str, ...], to: str, dry_run: bool, options: Options) -> None:
    """Move failures to another bucket.

    Later suggestions leave them there. RUN/CASE means every failed attempt of the case; add `#2` for the second only.
    """
    store = options.store
    attempts = failures_named(failures, store)
    done = move_failures(attempts, bucket_named(to, store), store, _author(options, dry_run=dry_run))
    _show(done, f"moved {plural(len(done.change.moves), 'failure')}", options, dry_run=dry_run)


@click.command("confirm")
@click.argument("bucket", metavar="BUCKET")
@shared_options
def confirm(bucket: str, options: Options) -> None:
    """Mark a bucket as final, if enough of it was reviewed.

    Three members, or all of a smaller bucket, must have their own verdict that names it as the cause; otherwise
    the missing ones are listed. Later suggestions leave its members where they are.
    """
    store = options.store
    done = confirm_bucket(bucket_named(bucket, store), store, _author(options))
    carried = plural(len(done.bucket.supported_by), "verdict")
    _show(done, f"confirmed {done.bucket.slug}, supported by {carried}", options)


@click.command("undo")
@click.option("--to", "to", type=click.IntRange(min=1), metavar="NUMBER", help="Undo this change and all later ones.")
@click.option("--suite", default=None, help="Undo the last change in this suite.")
@dry_run_option
@shared_options
def undo(to: int | None, suite: str | None, dry_run: bool, options: Options) -> None:
    """Undo the last change; a second undo redoes it.

    Undoes manual changes only, never verdicts or automatic changes. `errata buckets history` lists the numbers.
    """
    done = undo_change(options.store, _author(options, dry_run=dry_run), suite=suite, to=to)
    if options.json:
        undone = (UndoneEventOutput(number=one.number, what=one.what, by=one.by, at=one.at) for one in done.undone)
        change = None if dry_run else done.event
        put_json(
            BucketUndoOutput(
                what=done.what, dry_run=dry_run, change=change, undone=tuple(undone), failures=done.failures
            )
        )
        return
    for event in done.undone:
        verb = "would undo" if dry_run else "undid"
        put(f"{verb} change {event.number}: {event.what} by {event.by}, {event.at[:16].replace('T', ' ')}")
    if done.failures:
        put(f"{plural(done.failures, 'failure')} {'would move' if dry_run else 'moved'} back")
    if not dry_run:
        say(f"change {done.event}; another `errata buckets undo` redoes it")


def _author(options: Options, *, dry_run: bool = False) -> Author:
    """Always with a name: a change without one was made by a rule."""
    return Author(name=options.settings.author or NOBODY, at=now_as_text(), dry_run=dry_run)


def _show(done: EditResult, line: str, options: Options, *, dry_run: bool = False) -> None:
    bucket = done.bucket
    if options.json:
        put_json(_output(done, dry_run=dry_run))
        return
    put(f"{'dry run: ' if dry_run else ''}{line}")
    put(f"{bucket.slug}   {bucket.title} · {bucket.status} · {plural(done.members, 'failure')}", hang=2)
    if not dry_run:
        say(f"change {done.event}; `errata buckets undo` reverts it")


def _output(done: EditResult, *, dry_run: bool) -> BucketEditOutput:
    bucket = done.bucket
    moved = (
        MovedFromOutput(attempt_id=move.attempt, origin=move.before.bucket)
        for move in done.change.moves
        if move.before and move.after and move.before.bucket != move.after.bucket
    )
    return BucketEditOutput(
        what=done.what,
        dry_run=dry_run,
        change=None if dry_run else done.event,
        id=bucket.id,
        slug=bucket.slug,
        title=bucket.title,
        suite=bucket.suite,
        status=bucket.status,
        rows=done.members,
        moved=tuple(moved),
    )


@click.command("suggest")
@click.argument("runs", nargs=-1, metavar="[RUN…]")
@dry_run_option
@ray_option
@shared_options
def suggest(runs: tuple[str, ...], dry_run: bool, ray_address: str, options: Options) -> None:
    """Sort failures into buckets again; manual changes stay.

    Without RUN, covers all runs. Runs automatically when a run, its owners or its verdicts have changed. Reuses the
    buckets of other runs.
    """
    store = options.store
    meant = list(runs_named(runs, store)) if runs else all_runs(store)
    handles, known = handles_of(all_runs(store)), {one.run.id: one.run for one in meant}
    failed = 0
    with chosen_workers(ray_address) as workers:
        collect = _collect_on(workers, store) if workers is not None else None
        for result in suggest_buckets(meant, store, dry_run=dry_run, collect=collect):
            failed += result.failures
            if options.json:
                put_json(_suggestion_output(result, known[result.run].native_id, dry_run=dry_run))
            else:
                put(f"{handles[result.run]} · {_line(result)}", hang=4)
    if not failed and not options.json:
        say("no failures in these runs")


def _collect_on(workers: "WorkerPool", store: "Store") -> "CollectFailures":
    from errata.cluster.workers import CollectOnWorkers

    return CollectOnWorkers(workers, store)


def _suggestion_output(result: SuggestionResult, run: str, *, dry_run: bool) -> BucketSuggestionOutput:
    return BucketSuggestionOutput(
        run=run,
        dry_run=dry_run,
        run_id=result.run,
        failures=result.failures,
        buckets=result.buckets,
        new=result.new,
        moved=result.moved,
        left=result.left,
    )


def _line(result: SuggestionResult) -> str:
    parts = [f"{plural(result.failures, 'failure')} in {plural(result.buckets, 'bucket')}", f"{result.new:,} new"]
    parts += [f"{result.moved:,} moved"] if result.moved else []
    parts += [f"{result.left:,} kept where people put them"] if result.left else []
    return " · ".join(parts)
