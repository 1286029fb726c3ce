"""`errata import`."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from errata.cli.fetch import deployment_option, local_paths
from errata.cli.options import Options, chosen_workers, ray_option, shared_options
from errata.cli.output import plural, put, put_json, say
from errata.cli.progress import progress
from errata.cli.render.unread import show_unread
from errata.fetch.objects import is_object_address
from errata.model.identity import split_attempt_id
from errata.runs.log_search import look_for
from errata.text.clean import one_line
from errata.text.shell import command_line

if TYPE_CHECKING:
    from errata.cluster.workers import RemoteLogs, WorkerPool
    from errata.model import Run, StoredRun, UnreadFiles
    from errata.runs.importing import PathSummary, Settled
    from errata.runs.log_search import Order
    from errata.verbs.store import Store

WORDS = {"new": "new", "grown": "changed", "unchanged": "unchanged", "kept": "kept"}
NAMED = 3
"""Cases in a note."""
LISTED = 100
"""Runs with a line of their own; a folder may hold very many small ones."""
MAPPING_NOTES = frozenset(("not_understood", "ambiguous_columns", "repeated_rows"))
"""Of a run's `extra`: what `say_mapping_notes` shows."""
MAPPED = frozenset(("generic", "errata-jsonl"))
"""Sources that may give runs of a mapped file."""


@click.command("import")
@click.argument("paths", nargs=-1, required=True, metavar="PATH…|URL…", type=click.Path())
@click.option("--source", default="", metavar="NAME", help="Format of the files; `errata sources` lists all.")
@click.option("--map", "map_path", type=click.Path(path_type=Path), help="Mapping file for a custom format.")
@click.option("--branch", default="", help="Branch that the runs tested; default: the CI job's.")
@click.option("--commit", default="", help="Commit that the runs tested; default: the CI job's.")
@click.option("--replace", is_flag=True, help="Take what is read in place of a stored run with the same id.")
@click.option("--no-triage", is_flag=True, help="Assign owners later, when they are first needed.")
@deployment_option
@ray_option
@shared_options
def command(
    paths: tuple[str, ...],
    source: str,
    map_path: Path | None,
    branch: str,
    commit: str,
    replace: bool,
    no_triage: bool,
    deployment: str,
    ray_address: str,
    options: Options,
) -> None:
    """Read runs into the store.

    Each failure gets a provisional owner. Reading the same content again changes nothing; a run that has grown becomes
    a new revision. URL is a run on the harness's server, or logs in object storage (`s3://bucket/logs`).
    """
    objects = [path for path in paths if is_object_address(path)]
    local = local_paths((path for path in paths if path not in objects), options, deployment=deployment)
    unread: list[UnreadFiles] = []
    with chosen_workers(ray_address) as workers:
        if objects or workers is not None:
            orders = look_for(local, source=source, map_path=map_path, on_unread=unread.append)
            summaries = import_with(workers, orders, objects, options, source=source, replace=replace)
        else:
            summaries = _import_here(local, options, source=source, map_path=map_path, unread=unread, replace=replace)
        store = options.store
        note_branch(summaries, store, branch=branch, commit=commit)
        if not no_triage:
            with progress("Triage") as on_items:
                _triage(summaries, store, workers, on_run=lambda: on_items(1))
    if options.json:
        from errata.verbs.store import runs_by_id

        imported = [run.id for summary in summaries for run in summary.runs]
        _put_json(summaries, {stored.run.id: stored for stored in runs_by_id(store, imported)}, unread)
    else:
        _show_all(summaries, store)
    say_stale(summaries, store)
    show_unread(unread)


def _show_all(summaries: "Sequence[PathSummary]", store: "Store") -> None:
    """Of very many runs, only those that are shown are read as a whole."""
    from errata.runs.names import handles_among
    from errata.verbs.store import names_of_runs, runs_by_id

    imported = [run.id for summary in summaries for run in summary.runs]
    names = names_of_runs(store)
    by_id = {one.id: one for one in names}
    handles = handles_among(names, [by_id[run_id] for run_id in dict.fromkeys(imported[:LISTED])])
    noted = [run_id for run_id in imported if not MAPPING_NOTES.isdisjoint(by_id[run_id].extra)]
    known = {stored.run.id: stored for stored in runs_by_id(store, list(dict.fromkeys([*imported[:LISTED], *noted])))}
    shown = 0
    for summary in summaries:
        show_import(summary, known, handles, most=LISTED - shown)
        shown += len(summary.runs)
    if shown > LISTED:
        put(f"… and {plural(shown - LISTED, 'more run')}: `errata runs` lists them all")


def _import_here(
    local: Sequence[Path],
    options: Options,
    *,
    source: str,
    map_path: Path | None,
    unread: "list[UnreadFiles]",
    replace: bool,
) -> "list[PathSummary]":
    from errata.runs.importing import import_orders

    orders = look_for(local, source=source, map_path=map_path, on_unread=unread.append)
    with progress("Importing") as on_items:
        return import_orders(orders, options.store, on_items=on_items, replace=replace)


def import_with(
    workers: "WorkerPool | None",
    orders: "Sequence[Order]",
    objects: Sequence[str],
    options: Options,
    *,
    source: str,
    replace: bool = False,
) -> "list[PathSummary]":
    """With the workers of a cluster; without one, logs in object storage are copied and read here, one by one."""
    from errata.cluster.workers import ThisProcess, import_on_workers, remote_logs

    logs: list[Order | RemoteLogs] = [*orders, *remote_logs(objects, source=source)]
    with progress("Importing") as on_items:
        return import_on_workers(workers or ThisProcess(), logs, options.store, on_items=on_items, replace=replace)


def _triage(
    summaries: "Sequence[PathSummary]", store: "Store", workers: "WorkerPool | None", *, on_run: Callable[[], None]
) -> None:
    from errata.runs.triaging import triage_imported

    if workers is None:
        triage_imported(summaries, store, on_run=on_run)
        return
    from errata.cluster.workers import is_reachable, triage_on_workers
    from errata.verbs.store import all_runs

    if not is_reachable(store, workers):  # a file of this machine: what only this process can open, it triages
        triage_imported(summaries, store, on_run=on_run)
        return
    run_ids = {run.id for summary in summaries for run in summary.runs}
    runs = [stored for stored in all_runs(store) if stored.run.id in run_ids]
    triage_on_workers(workers, runs, store, stale_only=True, on_run=on_run)


def note_branch(summaries: "Sequence[PathSummary]", store: "Store", *, branch: str, commit: str) -> None:
    """As named; else as the CI job states it, but only for what it has just produced."""
    from datetime import UTC, datetime

    from errata.settings import branch_and_commit

    imported = [run for summary in summaries for run in summary.runs]
    if not branch and not commit:
        branch, commit = branch_and_commit()
        imported = [run for run in imported if run.change in ("new", "grown")]
    if branch or commit:
        from errata.verbs.gate import record_code_ref

        ids = dict.fromkeys(run.id for run in imported)
        record_code_ref(ids, store, branch=branch, commit=commit, now=datetime.now(UTC))


def say_stale(summaries: "Sequence[PathSummary]", store: "Store") -> None:
    """Runs that an earlier mapping made of the same file, and that this import does not produce."""
    from errata.runs.names import handles_of
    from errata.runs.new_runs import stale_runs
    from errata.verbs.store import all_runs

    imported = [imported.id for summary in summaries for imported in summary.runs]
    known = all_runs(store) if any(summary.source in MAPPED for summary in summaries) else []
    stale = stale_runs(imported, known)
    if not stale:
        return
    handles = handles_of(known)
    names = command_line([handles[one.run.id] for one in stale])
    files = ", ".join(dict.fromkeys(one.run.ref.file for one in stale if one.run.ref is not None))
    text = f"note: {plural(len(stale), 'run')} of {files} from an earlier import {'is' if len(stale) == 1 else 'are'}"
    say(f"{text} not in this one; to remove: `errata rm {names}`")


def show_import(
    summary: "PathSummary", known: "Mapping[str, StoredRun]", handles: Mapping[str, str], *, most: int
) -> None:
    """A line for each of the first `most` runs; every problem."""
    from errata.cli.render.runs import results_in_words
    from errata.model.run import subject_label
    from errata.runs.names import described

    for imported in summary.runs[: max(0, most)]:
        stored, handle = known[imported.id], handles[imported.id]
        run = stored.run
        # several runs share this name: the model and variant tell them apart
        names = [handle, *described(run)] if run.id.startswith(handle) else [handle, subject_label(run) or "–"]
        parts = [WORDS[imported.change], *names, run.suite or run.source.name]
        parts.append(results_in_words(stored))
        put(" · ".join(parts), hang=4)
    for imported in summary.runs:
        if imported.change == "kept":
            say(f"note: the store has all that `{summary.path}` has of {imported.id}; `--replace` takes it instead")
        if imported.apart_from:
            say(
                f"note: `{summary.path}` has the id of run {imported.apart_from}, but other results: it is a run of its"
                " own, named by its folder; `--replace` takes it instead"
            )
    if summary.unreadable:
        show_unreadable(summary)
    say_verdicts(summary)
    say_passed_over(summary)
    say_mapping_notes(known[imported.id].run for imported in summary.runs if imported.id in known)


def say_verdicts(summary: "PathSummary") -> None:
    """Those whose attempt got another id by this import, and those whose attempt is gone."""
    for imported in summary.runs:
        if imported.carried:
            count = plural(imported.carried, "verdict")
            say(f"note: {count} of run {imported.id} followed attempts that have another name in this log")
        if imported.lost:
            cases = list(dict.fromkeys(split_attempt_id(one).case for one in imported.lost))
            more = f" and {len(cases) - NAMED} more" if len(cases) > NAMED else ""
            count = plural(len(imported.lost), "verdict")
            say(f"note: {count} of run {imported.id} fit no attempt of this log ({', '.join(cases[:NAMED])}{more});")
            say("  the store keeps them. To bring them back, restore the log as it was, then run")
            say(f"  `{command_line(['errata', 'import', summary.path, '--replace'])}`")


def say_mapping_notes(runs: "Iterable[Run]") -> None:
    """What the mapping of a table left open: unknown words, values that can't be converted, names with two meanings."""
    odd: dict[str, Counter[str]] = {}
    ambiguous: dict[str, None] = {}
    runs = list(runs)
    for run in runs:
        for name, counts in run.extra.get("not_understood", {}).items():
            odd.setdefault(name, Counter()).update(counts)
        ambiguous |= dict.fromkeys(run.extra.get("ambiguous_columns", []))
    for name, values in odd.items():
        listed = ", ".join(f"{often:,} × `{one_line(value, 40)}`" for value, often in values.most_common(3))
        more = f" and {plural(len(values) - 3, 'other')}" if len(values) > 3 else ""
        if name == "status":
            say(f"note: unknown status words: {listed}{more}; assign them in `[status_words]` of the mapping")
        else:
            say(f"note: {plural(values.total(), 'value')} of `{name}` could not be understood: {listed}{more}")
    for note in dict.fromkeys(filter(None, map(_repeated_rows, runs))):
        say(note)
    for pair in ambiguous:
        say(f"note: a name in the mapping could mean two columns; the first is read: {pair}")


def _repeated_rows(run: "Run") -> str:
    repeated, columns = run.extra.get("repeated_rows"), run.extra.get("distinguishing_columns")
    if not repeated:
        return ""
    text = f"note: {plural(repeated, 'row')} with the case and attempt number of another row, kept as duplicates"
    if not columns:
        return text
    listed = " or ".join(f"`{name}`" for name in columns)
    return f'{text}; if {listed} distinguishes runs, add `id = {{ column = "{columns[0]}" }}` to `[run]`'


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


def _put_json(
    summaries: "Sequence[PathSummary]", known: "Mapping[str, StoredRun]", unread: Sequence["UnreadFiles"]
) -> None:
    """One run per line; the first one has the files that no source reads."""
    from errata.model.output.runs import ImportOutput

    left = tuple(unread)
    for summary, imported in [(one, run) for one in summaries for run in one.runs]:
        stored = known[imported.id]
        put_json(
            ImportOutput(
                run=stored.run.native_id,
                run_id=stored.run.id,
                change=cast("Settled", imported.change),
                apart_from=imported.apart_from or None,
                carried=imported.carried,
                lost=imported.lost,
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
                unread=left,
            )
        )
        left = ()
