"""The words after a report about one run: short enough for a chat, and never the only answer."""

from collections import Counter
from pathlib import Path

from errata.cli.options import Options
from errata.cli.output import plural, put, put_json
from errata.cli.report_wish import Wish, names_of
from errata.cli.table import put_parts
from errata.model import StoredRun
from errata.model.output.report.run import RunReport
from errata.render.document import Document
from errata.report.parts import named, percent
from errata.report.run_advice import advice_words
from errata.report.run_document import GROUPS, OFFER, passed_of
from errata.report.run_files import REPORTS, RunWritten
from errata.report.run_prose import WORKED, answer_of
from errata.report.step_summary import of_run
from errata.runs.view import RunView
from errata.verbs.report import report_run

ADVICE = 4


def write_run(stored: StoredRun, options: Options, wish: Wish) -> Document:
    output = wish.output
    file = output if output is not None and output.suffix == ".md" else None
    folder = output if output is not None and file is None else Path(REPORTS)
    view = RunView(stored, options.store)
    made = report_run(view, day=wish.day, folder=folder, file=file, html=wish.html)
    if options.json:
        paths = [str(one.path) for one in made.written]
        put_json({"run": stored.run.native_id, "run_id": stored.run.id, "written": paths, "report": made.report})
    elif wish.in_words:
        show_run(made, view.handle)
    return of_run(made.report, names_of(made.written))


def show_run(made: RunWritten, handle: str) -> None:
    report = made.report
    subject = report.subject
    rate = f" ({percent(subject.passed / subject.total)})" if subject.judged and subject.total else ""
    put(f"{handle} · {subject.model or 'unknown model'} · {passed_of(subject)}{rate}", hang=2)
    if not made.written:
        nothing = report.nothing_failed
        ends = ", and no" if nothing is not None and nothing.state == "all_passed" else ". No"
        put(f"{answer_of(report).removesuffix('.')}{ends} report was written.", hang=2)
        return
    reading = report.reading
    if reading.failures:
        state = "PROVISIONAL: owners come from rules" if reading.status == "provisional" else "reviewed"
        put(f"{state}; {reading.read} of {plural(reading.failures, 'failure')} read")
    put()
    put(answer_of(report))
    _show_counts(report)
    put()
    for one, name in zip(made.written, names_of(made.written), strict=True):
        put_parts("wrote", [name], "" if one.change == "new" else one.change)
    put(OFFER)


def _show_counts(report: RunReport) -> None:
    labels = Counter(one.label or one.owner for one in report.failures if not one.machinery)
    machinery = sum(one.machinery for one in report.failures)
    parts = [f"{label} {often}" for label, often in labels.most_common()]
    put_parts("labels", [*parts, *([f"not classified (infrastructure) {machinery}"] if machinery else [])] or ["none"])
    repeats = [one.case for one in report.failures if one.repeat]
    if repeats:
        put_parts("repeats", [f"{len(repeats)} of {len(report.failures)}: {named(repeats, 4)}"])
    for action in report.actions:
        put_parts("action", [f"{action.date} {action.path or action.what}: {WORKED[action.worked]}"])
    fresh = [one for one in report.advice if one.done is None and one.group in ("eval", "config")]
    for one in fresh[:ADVICE]:
        put_parts("advice", [f"{GROUPS[one.group].lower()}: {advice_words(one)}"])
