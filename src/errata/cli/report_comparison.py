"""The words after a report about several runs: main modes of each model, what all fail, and the path."""

from collections.abc import Sequence
from pathlib import Path

from errata.cli.options import Options
from errata.cli.output import plural, put, put_json
from errata.cli.paths import place_of
from errata.cli.table import put_parts
from errata.model import StoredRun
from errata.pipeline.reporting.comparison_files import ComparisonWritten, write_comparison_report
from errata.report.profiles.comparison import model_in_short
from errata.report.profiles.run import OFFER

DOUBTS = 3


def write_comparison(
    runs: Sequence[StoredRun],
    options: Options,
    *,
    day: str,
    output: Path | None,
    html: bool,
    comparison_dir: Path | None = None,
) -> None:
    made = write_comparison_report(runs, options.store, day=day, output=output or comparison_dir, html=html)
    if options.json:
        put_json({"written": [str(one.path) for one in made.written], "rows": made.rows, "report": made.report})
        return
    show_comparison(made)


def show_comparison(made: ComparisonWritten) -> None:
    report = made.report
    reading = report.reading
    final = all(one.status == "final" for one in report.modes)
    state = "final" if final else "PROVISIONAL: buckets come from rules until their rows are read"
    put(f"{plural(len(report.runs), 'run')}, {plural(report.failed_rows, 'failed row')}, {reading.read} read: {state}.")
    for model in report.models:
        put(f"{model.name}: {model_in_short(model)}", hang=2)
    shared = [f"{case} {report.asks.get(case, '')}".strip() for case in report.failed_by_all_runs]
    put_parts("all", shared or ["no case fails in every run"])
    put_parts("chance", [report.chance])
    for doubt in (*report.suspicious, *report.findings)[:DOUBTS]:
        put_parts("doubt", [doubt])
    for one in made.written:
        count = f"{made.rows} rows" if one.path.suffix in (".jsonl", ".csv") else ""
        put_parts("wrote", [place_of(str(one.path.absolute())), *([count] if count else [])])
    put(OFFER)
