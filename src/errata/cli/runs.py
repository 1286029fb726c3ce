"""`errata runs`."""

import click

from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put_json, say
from errata.cli.render.runs import beside, passes_in_words, stand_in_note, without_verdict
from errata.cli.table import put_table
from errata.errors import SourceError, did_you_mean
from errata.json_output.runs import run_output
from errata.model import StoredRun
from errata.model.counts import count_passes
from errata.model.run import subject_label, why_excluded
from errata.render.figures import mean_words
from errata.runs.first_page import label_words
from errata.runs.names import handles_of, needs_native_id, run_named, variant_of
from errata.runs.suspicions import SuspiciousCount, counted_before
from errata.settings.store_location import is_there
from errata.verbs.gate import code_refs_of
from errata.verbs.store import all_runs, each_work_once, list_sources

HEADER = ("run", "model", "suite", "started", "passed", "failures")
NAMES = ("suite", "model")
LEGEND = "passed: of the attempts in the log; `errata score` also counts missing cases"
MEANS = "; mean: of numbers without a threshold, which neither pass nor fail"


@click.command("runs")
@click.option("--source", default="", help="Only runs of this source.")
@click.option("--model", default="", help="Only runs whose model contains this text.")
@shared_options
def command(source: str, model: str, options: Options) -> None:
    """List the runs in the store.

    Other commands take the first column as RUN.
    """
    known = all_runs(options.store) if is_there(options.settings.store) else []
    _check_source(source)
    stored = [
        run for run in known if source in ("", run.run.source.name) and model.lower() in run.run.subject.model.lower()
    ]
    if options.json:
        refs = code_refs_of(options.store) if stored else {}
        for run in stored:
            put_json(run_output(run, counted_before(run, options.store), refs.get(run.run.id)))
    elif stored:
        handles = handles_of(known)
        rows = [_row(one, handles[one.run.id]) for one in stored]
        notes = [
            _notes(run, handles[run.run.id], counted_before(run, options.store))
            for run in each_work_once(stored, options.store)
        ]
        put_table(HEADER, rows, right=("passed", "failures"), whole=NAMES, below=notes, below_lines=0)
        says_mean = any(one.counts.mean is not None for one in stored)
        say(f"{LEGEND}{MEANS if says_mean else ''}")
        if len(known) > 1:
            say(f"`latest` = {handles[run_named('latest', options.store).run.id]}, imported last")
    elif source or model:
        meant = did_you_mean(model, {one.run.subject.model for one in known})
        say(f"no run matches; {meant or '`errata runs` lists them all'}")
    else:
        say("no runs yet: add some with `errata import PATH…`, or try `errata demo`")


def _check_source(name: str) -> None:
    names = [known for known, _ in list_sources()] if name else []
    if name and name not in names:
        hints = [did_you_mean(name, names), f"one of: {', '.join(names)}"]
        raise SourceError(f"No source is named `{name}`", hint="\n".join(hint for hint in hints if hint))


def _row(stored: StoredRun, handle: str) -> tuple[object, ...]:
    run, counts, passes = stored.run, stored.counts, count_passes(stored)
    score = f"{passes.passed:,}/{passes.made:,}" if counts.mean is None else f"mean {mean_words(counts.mean)}"
    return (
        handle,
        subject_label(run) or "–",
        run.suite or "–",
        (run.started_at or "–")[:16].replace("T", " "),
        "–" if _nothing_scored(stored) or counts.has_only_labels else score,
        "–"
        if counts.mean is not None and not counts.failures
        else counts.failures
        if counts.attempts_in_log or not passes.made
        else "–",
    )


def _notes(stored: StoredRun, handle: str, suspicious: SuspiciousCount | None) -> str:
    """Not in the columns: name and variant of a run that is listed by its id, and anything unusual."""
    run, counts = stored.run, stored.counts
    notes = [note] if (note := stand_in_note(run)) else []
    if needs_native_id(run, handle):
        notes += [f"logged as {run.native_id}"] if run.native_id != subject_label(run) else []
        notes += variant_of(run)
    notes += [str(why)] if (why := why_excluded(run)) else []
    if unfinished := counts.executions.get("unfinished"):
        notes.append(f"{unfinished:,} unfinished")
    notes += beside(stored)
    if suspicious is not None and suspicious.contradictory:
        notes.append(f"another row contradicts {plural(suspicious.contradictory, 'pass', 'passes')}")
    if unjudged := without_verdict(stored):
        notes.append(f"{plural(unjudged, 'failure')} not scored")
    if suspicious is not None and suspicious.suspicious:
        notes.append(passes_in_words(stored.counts.outcomes.get("pass", 0), suspicious))
    if counts.has_only_labels:
        notes.append(f"labels: {label_words(counts.labels)}")
    elif _nothing_scored(stored):
        notes.append("nothing scored")
    if counts.unreadable:
        notes.append(f"{counts.unreadable:,} unreadable")
    if run.revision > 1:
        notes.append(f"revision {run.revision}")
    return " · ".join(notes)


def _nothing_scored(stored: StoredRun) -> bool:
    return bool(stored.counts.counted) and not stored.counts.measurements.get("scored")
