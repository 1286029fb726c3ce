"""`errata import`."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from errata.cli.fetch import deployment_option, local_paths
from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_json, say
from errata.cli.progress import progress
from errata.runs.importing import begin, import_orders, made_ready
from errata.runs.orders import look_for
from errata.runs.triaging import triage_imported
from errata.verbs.store import all_runs, run_by_id

if TYPE_CHECKING:
    from errata.runs.importing import PathSummary
    from errata.verbs.store import Store

WORDS = {"new": "new", "grown": "changed", "unchanged": "unchanged", "kept": "kept"}


@click.command("import")
@click.argument("paths", nargs=-1, required=True, metavar="PATH…|URL…", type=click.Path())
@click.option("--source", default="", metavar="NAME", help="Format of the files; `errata sources` lists all.")
@click.option("--map", "map_path", type=click.Path(path_type=Path), help="Mapping file for a custom format.")
@click.option("--no-triage", is_flag=True, help="Assign owners later, when they are first needed.")
@deployment_option
@shared_options
def command(
    paths: tuple[str, ...], source: str, map_path: Path | None, no_triage: bool, deployment: str, options: Options
) -> None:
    """Read runs into the store.

    Each failure gets a provisional owner. Reading the same content again changes nothing; a run that has grown becomes
    a new revision.
    """
    local = local_paths(paths, options, deployment=deployment)
    with made_ready(local):
        orders = look_for(local, source=source, map_path=map_path)
        begin(orders)
        store = options.store
        with progress("Importing") as on_items:
            summaries = import_orders(orders, store, on_items=on_items)
    if not no_triage:
        with progress("Triage") as on_items:
            triage_imported(summaries, store, on_run=lambda: on_items(1))
    from errata.runs.names import handles_of

    handles = handles_of(all_runs(store))
    for summary in summaries:
        if options.json:
            _put_json(summary, store)
        else:
            show_import(summary, store, handles)


def show_import(summary: "PathSummary", store: "Store", handles: Mapping[str, str]) -> None:
    from errata.cli.render.runs import attempts_in_words
    from errata.model.run import subject_label
    from errata.runs.names import described

    for imported in summary.runs:
        stored = run_by_id(store, imported.id)
        run, counts, handle = stored.run, stored.counts, handles[imported.id]
        # several runs share this name: the model and variant tell them apart
        names = [handle, *described(run)] if run.id.startswith(handle) else [handle, subject_label(run) or "–"]
        parts = [WORDS[imported.change], *names, run.suite or run.source.name]
        parts.append(f"{attempts_in_words(stored)}, {plural(counts.failures, 'failure')}")
        put(" · ".join(parts), hang=4)
    for imported in summary.runs:
        if imported.change == "kept":
            say(
                f"note: the store has more of {imported.id} than `{summary.path}`; to replace it, run `errata rm` first"
            )
    if summary.unreadable:
        show_unreadable(summary)
    say_passed_over(summary)


def say_passed_over(summary: "PathSummary") -> None:
    for path in summary.passed_over:
        kept = Path(summary.path)
        same = kept.name if kept.parent == Path(path).parent else summary.path
        say(f"skipped: {path} (same evaluation as {same}, which has more detail)")


def show_unreadable(summary: "PathSummary") -> None:
    say(f"note: {plural(summary.unreadable, 'item')} of `{summary.path}` could not be read:")
    for item in summary.examples[:5]:
        say(f"  {item.where}: {item.why}")
    if summary.unreadable > len(summary.examples[:5]):
        say("  `errata check RUN` lists the others")


def _put_json(summary: "PathSummary", store: "Store") -> None:
    from errata.model.output.runs import ImportOutput

    for imported in summary.runs:
        stored = run_by_id(store, imported.id)
        put_json(
            ImportOutput(
                run=stored.run.native_id,
                run_id=stored.run.id,
                change=imported.change,
                revision=imported.revision,
                source=summary.source,
                path=summary.path,
                model=stored.run.subject.model,
                suite=stored.run.suite,
                attempts=stored.counts.attempts,
                counted=stored.counts.counted,
                failures=stored.counts.failures,
                unreadable=stored.counts.unreadable,
                passed_over=tuple(summary.passed_over),
            )
        )
