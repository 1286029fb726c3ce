"""The words after a report about runs that nobody judged."""

from collections.abc import Sequence

from errata.cli.options import Options
from errata.cli.output import plural, put, put_json
from errata.cli.report_wish import Wish, names_of
from errata.cli.table import put_parts
from errata.model import StoredRun
from errata.render.document import Document
from errata.report.step_summary import of_transcripts
from errata.report.transcripts_document import TranscriptsWritten, flags_words
from errata.runs.view import RunView
from errata.verbs.report import report_transcripts

ROWS = 8


def write_transcripts(runs: Sequence[StoredRun], options: Options, wish: Wish) -> Document:
    views = [RunView(one, options.store) for one in runs]
    made = report_transcripts(views, day=wish.day, output=wish.output, html=wish.html)
    if options.json:
        put_json({"written": [str(one.path) for one in made.written], "report": made.report})
    elif wish.in_words:
        show_transcripts(made)
    return of_transcripts(made.report, names_of(made.written))


def show_transcripts(made: TranscriptsWritten) -> None:
    report = made.report
    put(f"{plural(len(report.runs), 'run')}, {plural(len(report.rows), 'row')}: NOT JUDGED")
    put("No row has a verdict: nothing is counted as passed, and nothing as failed.")
    put()
    for run in report.runs:
        patterns = [f"{name} {often}" for name, often in run.patterns.items()]
        missing = [f"missing {', '.join(run.missing)}"] if run.missing else []
        put_parts("run", [run.label, plural(run.rows, "row"), *missing, *patterns, f"{run.flagged} to read first"])
    for row in report.flagged[:ROWS]:
        put_parts("row", [f"{row.label}, {row.case}: {flags_words(row)}"])
    if len(report.flagged) > ROWS:
        put_parts("", [f"and {len(report.flagged) - ROWS} more"])
    put()
    for name in names_of(made.written):
        put_parts("wrote", [name])
    put("Nothing else was changed. Have the runs judged, or read the rows by hand.")
