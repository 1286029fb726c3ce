"""`report` and `issues`: the facts of runs, then the documents about them, then the files that people keep."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from errata.compare.comparison import ComparisonOptions
from errata.errors import ReportError
from errata.model import StoredRun
from errata.model.output.report.batch import BatchReport
from errata.model.output.report.run import RunReport
from errata.render.files import WrittenFile, own_folder, slug, write_files
from errata.render.markdown import to_markdown
from errata.report.run_collect import run_report
from errata.report.run_files import REPORTS, RunWritten, write_run_report
from errata.report.shared import is_unjudged
from errata.runs.bucketing import ensure_all_buckets
from errata.runs.names import are_judged_turns, runs_named
from errata.runs.reports import named_reports, report_of
from errata.runs.runset import RunSet
from errata.runs.view import RunView
from errata.sources import harness_of
from errata.store.database import Store
from errata.store.runs import all_runs
from errata.text.clean import one_line
from errata.verbs.rerun import plan_rerun

if TYPE_CHECKING:
    from errata.report.comparison_files import ComparisonWritten
    from errata.report.transcripts_document import TranscriptsWritten

# `analyze` writes a run report only; the other profiles are imported where they are written

Profile = Literal["run", "comparison", "batch", "transcripts"]
ANALYSIS = "analysis"
VARIANT = 24
"""Letters of a variant in the name of a file."""


class PlannedReport(NamedTuple):
    profile: Profile
    views: list[RunView]


def planned_reports(
    selectors: Iterable[str], store: Store, *, profile: str | None = None, compared: bool = False
) -> list[PlannedReport]:
    """Which report is written about which runs; each batch and each run has its own, a comparison is about all.

    `profile` is the one that was asked for; with `compared` it is a comparison, unless nothing was judged.
    """
    runs = list(runs_named(selectors, store))
    if profile == "batch" and (graded := next((one for one in runs if one.counts.mean is not None), None)):
        raise ReportError(
            f"Run `{graded.run.native_id}` has numbers without a threshold: no test of it passed or failed",
            hint="leave out `--profile batch`",
        )
    batches = [one for one in runs if profile == "batch" or (not profile and not compared and is_batch(one))]
    others = [one for one in runs if one not in batches]
    unjudged = [
        run for run in others if is_unjudged(run) and profile != "run" and (compared or are_judged_turns([run]))
    ]
    judged = [one for one in others if one not in unjudged]
    kinds: list[tuple[Profile, list[StoredRun]]] = [("batch", [one]) for one in batches]
    if judged and (compared or (not profile and len(judged) > 1)):
        kinds.append(("comparison", others))
    else:
        kinds += [("run", [one]) for one in judged]
    if unjudged:
        kinds.append(("transcripts", unjudged))
    return [PlannedReport(kind, [RunView(one, store) for one in members]) for kind, members in kinds]


def is_batch(stored: StoredRun) -> bool:
    return harness_of(stored.run.source.name).is_batch and bool(stored.run.sessions)


def results_folder(view: RunView) -> Path | None:
    """Where the results of a batch lie, if they are still there and can be written to."""
    place = Path(view.run.origin) if view.run.origin and is_batch(view.stored) else None
    return place if place is not None and place.is_dir() and os.access(place, os.W_OK) else None


def report_run(
    view: RunView, *, day: str, folder: Path, file: Path | None = None, html: bool = False, details: bool = True
) -> RunWritten:
    """`day` is the day of the analysis; with `details`, what is too much for one file goes into a second one."""
    report = run_report(view, made=day)

    def find_earlier() -> Path | None:
        earlier = report_of(view.stored, view.store, named=folder if folder.is_dir() else None)
        return earlier.path if earlier is not None else None

    called = _set_apart_by(view)
    return write_run_report(
        report, day=day, folder=folder, file=file, html=html, details=details, find_earlier=find_earlier, called=called
    )


def _set_apart_by(view: RunView) -> str:
    """`terse`: the variant of a run that shares its id with others; empty for an id of its own."""
    run = view.run
    is_shared = run.variant and sum(one.run.native_id == run.native_id for one in all_runs(view.store)) > 1
    return "-".join(one_line(str(value), VARIANT) for value in run.variant.values()) if is_shared else ""


def run_facts(view: RunView, *, day: str) -> RunReport:
    """What a report about the run contains; nothing is written."""
    return run_report(view, made=day)


def report_failures(view: RunView, on_problem: Callable[[str], None]) -> Path | None:
    """The one file that `analyze` leaves in the folder of reports; none where nothing failed, but of numbers."""
    if not view.stored.counts.failures and view.stored.counts.mean is None:
        return None
    try:
        folder = named_reports() or own_folder(Path(REPORTS))
    except ReportError as error:  # whose project this is may be unknown, and the rest of the work is done
        on_problem(f"no report: {error.message}; {error.hint}")
        return None
    made = report_run(view, day=datetime.now(UTC).date().isoformat(), folder=folder, details=False)
    return made.written[0].path if made.written else None


def report_comparison(
    views: Sequence[RunView], *, day: str, output: Path | None, html: bool = False, common: bool = False
) -> "ComparisonWritten":
    """`common` compares runs of unequal suites, on the cases that they share."""
    from errata.report.comparison_collect import comparison_report  # noqa: PLC0415
    from errata.report.comparison_files import write_comparison_report  # noqa: PLC0415
    from errata.report.comparison_rows import compared_cases  # noqa: PLC0415

    store = views[0].store
    comparison = RunSet(views, store).compare(ComparisonOptions(common=common, least=1))
    compared = {one.runs[0].pk for one in comparison.runs}
    included = [view for view in views if view.stored.pk in compared]
    ensure_all_buckets(included, store)
    reruns = {view.stored.pk: plan_rerun(view) for view in views if are_judged_turns([view.stored])}
    report = comparison_report(views, comparison, made=day, reruns=reruns)
    return write_comparison_report(report, included, output=output, html=html, cases=compared_cases(comparison))


class BatchWritten(NamedTuple):
    report: BatchReport
    folder: Path
    written: tuple[WrittenFile, ...]
    left_over: tuple[str, ...]
    """Pages and issues of an earlier report that this one does not have; they are not deleted."""


def report_batch(
    view: RunView, *, day: str, folder: Path, own_folder: bool = False, html: bool = False
) -> BatchWritten:
    """Pages, issues, manifest and script; nothing is filed. With `own_folder` into one of its own below `folder`."""
    from errata.issues.manifest import SCRIPT  # noqa: PLC0415
    from errata.report.batch_collect import batch_report  # noqa: PLC0415

    report = batch_report(view, made=day)
    place = folder / slug(f"{report.name}-{report.run_id[:8]}") if own_folder else folder
    files = batch_files(report, html=html)
    written = write_files(place, files, executable=frozenset((SCRIPT,)))
    return BatchWritten(report, place, tuple(written), tuple(_left_over(place, files)))


def batch_files(report: BatchReport, *, html: bool = False) -> dict[str, str]:
    """Path → content, in the order of writing: the files that the script reads come before the script."""
    from errata.issues.manifest import SCRIPT, IssueFile, issue_text, manifest, script  # noqa: PLC0415
    from errata.report.batch_document import batch_documents  # noqa: PLC0415

    files = {}
    for path, document in batch_documents(report).items():
        text = to_markdown(document)
        if path.startswith("issues/"):
            key = path.removeprefix("issues/").removesuffix(".md")
            text = issue_text(document.title, text, report.run_id, key)
        files[path] = text
    issues = [IssueFile(one.key, f"issues/{one.key}.md") for one in report.tests]
    files["issues/manifest.tsv"] = manifest(report.run_id, issues)
    files[SCRIPT] = script()
    if html:
        from errata.render.html import to_html  # noqa: PLC0415
        from errata.report.batch_page import PAGE, batch_page  # noqa: PLC0415

        files[PAGE] = to_html(batch_page(report))
    return files


def _left_over(folder: Path, files: Collection[str]) -> list[str]:
    there = [path for part in ("failures", "issues") for path in sorted((folder / part).glob("*.md"))]
    names = (path.relative_to(folder).as_posix() for path in there)
    return [name for name in names if name not in files]


def report_transcripts(
    views: Sequence[RunView], *, day: str, output: Path | None, html: bool = False
) -> "TranscriptsWritten":
    """Runs that nobody judged."""
    from errata.report.transcripts_document import transcript_report, write_transcript_review  # noqa: PLC0415

    return write_transcript_review(transcript_report(views, made=day), output=output, html=html)


def write_reports(
    planned: Sequence[PlannedReport], *, day: str, output: Path | None, html: bool = False, common: bool = False
) -> "Iterator[tuple[PlannedReport, RunWritten | ComparisonWritten | BatchWritten | TranscriptsWritten]]":
    """Each when it is written. Without `output` in their usual places: a batch in the folder of its results.

    A page of HTML is beside its Markdown, which keeps what people write into it.
    """
    if output is not None and output.suffix == ".html":
        output, html = output.with_suffix(".md"), True
    several = sum(report.profile == "batch" for report in planned) > 1
    if output is not None and output.suffix == ".md" and any(report.profile == "batch" for report in planned):
        raise ReportError("The report of a batch is a folder", hint="name a folder with --output")
    for report in planned:
        profile, views = report
        if profile == "comparison":
            yield report, report_comparison(views, day=day, output=output, html=html, common=common)
        elif profile == "transcripts":
            yield report, report_transcripts(views, day=day, output=output, html=html)
        elif profile == "batch":
            beside = results_folder(views[0]) if output is None else None
            folder = output or (beside or Path()) / ANALYSIS
            yield (
                report,
                report_batch(views[0], day=day, folder=folder, own_folder=several and beside is None, html=html),
            )
        else:
            file = output if output is not None and output.suffix == ".md" else None
            place = output if output is not None and file is None else own_folder(Path(REPORTS))
            yield report, report_run(views[0], day=day, folder=place, file=file, html=html)
