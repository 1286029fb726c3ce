"""`errata runs`."""

import click

from errata import pipeline
from errata.cli.options import Options, shared_options
from errata.cli.output import put_json, put_table, say
from errata.model import Run, StoredRun
from errata.pipeline.selecting import short


@click.command("runs")
@click.option("--source", default="", help="Only those of this source.")
@click.option("--model", default="", help="Only those whose model contains this text.")
@shared_options
def command(source: str, model: str, options: Options) -> None:
    """List the runs of the store."""
    stored = [
        one
        for one in (pipeline.all_runs(options.store) if options.settings.store.exists() else ())
        if source in ("", one.run.source.name) and model in one.run.subject.model
    ]
    if options.json:
        for one in stored:
            put_json(as_json(one))
    elif stored:
        header = ("run", "model", "suite", "started", "attempts", "passed", "failures", "notes")
        rows = [_row(one) for one in stored]
        put_table(header, rows, right=("attempts", "passed", "failures"), cut=("model", "suite", "notes"))
    elif source or model:
        say("no run fits; `errata runs` lists them all")
    else:
        say("no runs yet: `errata import PATH…` reads some, `errata demo` shows how it looks")


def title_of(run: Run, name: str) -> str:
    """What a person wants to know first of a run, in a line."""
    suite = ", ".join(part for part in (run.suite, *(f"{key} {value}" for key, value in run.variant.items())) if part)
    date = (run.started_at or "")[:10]
    return " · ".join(part for part in (f"Run {name}", run.subject.model, suite, date) if part)


def as_json(stored: StoredRun) -> dict[str, object]:
    run = stored.run
    return {
        "run": run.native_id,
        "run_id": run.id,
        "model": run.subject.model,
        "agent": run.subject.agent or None,
        "source": run.source.name,
        "suite": run.suite,
        "variant": run.variant,
        "group": run.group or None,
        "started_at": run.started_at,
        "native_status": run.native_status or None,
        "revision": run.revision,
        "imported_at": stored.imported_at,
        "origin": run.origin,
        "excluded": run.excluded,
        "expected_cases": run.expected_cases,
        "counts": stored.counts,
    }


def _row(stored: StoredRun) -> tuple[object, ...]:
    run, counts = stored.run, stored.counts
    notes = []
    if run.excluded is not None:
        notes.append(f"excluded: {run.excluded.reason}")
    if counts.counted and not counts.measurements.get("scored"):
        notes.append("nothing scored")
    if counts.unreadable:
        notes.append(f"{counts.unreadable} unreadable")
    if run.revision > 1:
        notes.append(f"revision {run.revision}")
    started = (run.started_at or "–")[:16].replace("T", " ")
    return (
        short(run.native_id),
        run.subject.model or "–",
        run.suite or "–",
        started,
        counts.counted - counts.executions.get("missing", 0),
        counts.outcomes.get("pass", 0),
        counts.failures,
        ", ".join(notes),
    )
