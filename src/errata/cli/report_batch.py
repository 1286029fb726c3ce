"""The folder about a batch, and its words in short."""

from pathlib import Path

from errata.cli.options import Options
from errata.cli.output import money, plural, put, put_command, put_json, say
from errata.cli.paths import place_of
from errata.cli.report_wish import Wish
from errata.cli.table import put_parts
from errata.model import StoredRun
from errata.model.output.report.batch import BatchReport
from errata.render.document import Document
from errata.render.files import Written, write_files
from errata.render.paths import slug
from errata.report.batch_collect import batch_report
from errata.report.batch_folder import EXECUTABLE, batch_files, left_over
from errata.report.parts import named
from errata.report.step_summary import of_batch

FOLDER = "analysis"
OLD = 6
PAGES = ("README.md", "analysis.md", "failures/summary.md", "issues/epic.md", "file_issues.sh")
"""What is told of the folder where there is little room."""


def write_batch(stored: StoredRun, options: Options, wish: Wish, *, several: bool = False) -> Document:
    """Into the folder that was asked for; of several batches, each into one of its own below it."""
    report = batch_report(stored, options.store, made=wish.day)
    folder = wish.output or Path(FOLDER)
    if several:
        folder = folder / slug(f"{report.name}-{report.run_id[:8]}")
    files = batch_files(report)
    written = write_files(folder, files, executable=EXECUTABLE)
    if old := left_over(folder, files):
        say(f"{plural(len(old), 'file')} of an earlier report lie there still: {named(old, OLD)}")
    if options.json:
        put_json({"run": stored.run.native_id, "run_id": stored.run.id, "folder": str(folder), "report": report})
    elif wish.in_words:
        show_batch(report, written, folder)
    return of_batch(report, [place_of(str((folder / name).absolute())) for name in PAGES])


def show_batch(report: BatchReport, written: list[Written], folder: Path) -> None:
    put(f"{report.name} · {report.model} · {report.passed}/{len(report.tests)} passed")
    if report.reading.status == "provisional":
        put(
            f"PROVISIONAL: categories come from rules; {report.reading.read} of {report.reading.failures} failures read"
        )
    put()
    put(report.answer)
    if report.warning:
        put(report.warning)
    for one in report.categories:
        put_parts(one.letter, [f"{len(one.tests)}× {one.title}", one.owner], money(one.cost, 2))
    put_parts("cost", [f"{money(report.cost, 2)} in all", f"{money(report.cost_of_passes, 2)} on passes"])
    if report.mean_cost_of_pass is not None:
        mean, middle = money(report.mean_cost_of_pass, 2), money(report.median_cost_of_pass, 2)
        put_parts("CoP", [f"mean {mean}", f"median {middle}", f"{report.priced_passes} passes"])
    put()
    new = sum(one.change != "unchanged" for one in written)
    put_parts("wrote", [place_of(str(folder.absolute())), f"{len(written)} files, {new} new or changed"])
    put_command(
        "next", [f"{place_of(str(folder.absolute()))}/file_issues.sh", "--dry-run"], "shows what would be filed"
    )
    put("Nothing was filed and nothing else was changed.")
