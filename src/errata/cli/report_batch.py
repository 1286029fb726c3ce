"""The folder about a batch, and its words in short."""

from pathlib import Path

from errata.cli.options import Options
from errata.cli.output import money, plural, put, put_command, put_json, say
from errata.cli.paths import place_of
from errata.cli.report_wish import Wish
from errata.cli.table import put_parts
from errata.model import StoredRun
from errata.render.document import Document
from errata.report.batch_prose import answer_of, title_of, warning_of
from errata.report.parts import named
from errata.report.step_summary import of_batch
from errata.runs.view import RunView
from errata.verbs.report import BatchWritten, report_batch

FOLDER = "analysis"
OLD = 6
PAGES = ("README.md", "analysis.md", "failures/summary.md", "issues/epic.md", "file_issues.sh")
"""What is told of the folder where there is little room."""


def write_batch(stored: StoredRun, options: Options, wish: Wish, *, several: bool = False) -> Document:
    """Into the folder that was asked for; of several batches, each into one of its own below it."""
    view = RunView(stored, options.store)
    made = report_batch(view, day=wish.day, folder=wish.output or Path(FOLDER), own_folder=several)
    if made.left_over:
        say(f"{plural(len(made.left_over), 'file')} of an earlier report lie there still: {named(made.left_over, OLD)}")
    if options.json:
        put_json(
            {"run": stored.run.native_id, "run_id": stored.run.id, "folder": str(made.folder), "report": made.report}
        )
    elif wish.in_words:
        show_batch(made)
    return of_batch(made.report, [place_of(str((made.folder / name).absolute())) for name in PAGES])


def show_batch(made: BatchWritten) -> None:
    report, place = made.report, place_of(str(made.folder.absolute()))
    put(f"{report.name} · {report.model or 'unknown model'} · {report.passed}/{len(report.tests)} passed")
    if report.reading.status == "provisional":
        put(
            f"PROVISIONAL: categories come from rules; {report.reading.read} of {report.reading.failures} failures read"
        )
    put()
    put(answer_of(report))
    if warning := warning_of(report):
        put(warning)
    for one in report.categories:
        put_parts(one.letter, [f"{len(one.tests)}× {title_of(one)}", one.owner], money(one.cost, 2))
    put_parts("cost", [f"{money(report.cost, 2)} in all", f"{money(report.cost_of_passes, 2)} on passes"])
    if report.mean_cost_of_pass is not None:
        mean, middle = money(report.mean_cost_of_pass, 2), money(report.median_cost_of_pass, 2)
        put_parts("CoP", [f"mean {mean}", f"median {middle}", f"{report.priced_passes} passes"])
    put()
    new = sum(one.change != "unchanged" for one in made.written)
    put_parts("wrote", [place, f"{len(made.written)} files, {new} new or changed"])
    put_command("next", [f"{place}/file_issues.sh", "--dry-run"], "shows what would be filed")
    put("Nothing was filed and nothing else was changed.")
