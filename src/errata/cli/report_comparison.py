"""The words after a report about several runs: main modes of each model, what all fail, and the path."""

from collections.abc import Sequence
from itertools import islice

from errata.cli.options import Options
from errata.cli.output import plural, put, put_json
from errata.cli.report_wish import Wish, names_of
from errata.cli.table import put_parts
from errata.model import StoredRun
from errata.model.output.report.comparison import ComparisonReport
from errata.render.document import Document
from errata.report.comparison_document import chance_words, doubts_words
from errata.report.comparison_files import ComparisonWritten
from errata.report.comparison_sections import model_in_short
from errata.report.run_document import OFFER
from errata.report.step_summary import of_comparison
from errata.runs.view import RunView
from errata.verbs.report import report_comparison

DOUBTS, SHARED = 3, 8


def write_comparison(runs: Sequence[StoredRun], options: Options, wish: Wish) -> Document:
    views = [RunView(one, options.store) for one in runs]
    made = report_comparison(views, day=wish.day, output=wish.output, html=wish.html, common=wish.common)
    if options.json:
        put_json({"written": [str(one.path) for one in made.written], "rows": made.rows, "report": made.report})
    elif wish.in_words:
        show_comparison(made)
    return of_comparison(made.report, names_of(made.written))


def show_comparison(made: ComparisonWritten) -> None:
    report = made.report
    reading = report.reading
    final = sum(one.status == "final" for one in report.modes)
    buckets = f"{final} of {plural(len(report.modes), 'bucket')} final"
    state = "final" if final == len(report.modes) else f"PROVISIONAL: {buckets}, the others are made by rules"
    put(f"{plural(len(report.runs), 'run')}, {plural(report.failed_rows, 'failed row')}, {reading.read} read: {state}.")
    for model in report.models:
        put(f"{model.name}: {model_in_short(model)}", hang=2)
    if len(report.runs) > 1:
        put_parts("all", _shared(report) or [f"no {report.case_word} fails in every run"])
    put_parts("chance", [chance_words(report.pairs)])
    for doubt in islice(doubts_words(report), DOUBTS):
        put_parts("doubt", [doubt])
    for one, name in zip(made.written, names_of(made.written), strict=True):
        count = [plural(made.rows, "row")] if one.path.suffix in (".jsonl", ".csv") else []
        put_parts("wrote", [name, *count])
    put(OFFER)


def _shared(report: ComparisonReport) -> list[str]:
    cases = report.failed_by_all_runs
    told = [f"{case} {report.asks.get(case, '')}".strip() for case in cases[:SHARED]]
    return [*told, f"and {len(cases) - SHARED:,} more"] if len(cases) > SHARED else told
