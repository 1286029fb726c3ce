"""`errata report`."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from errata.cli.options import Options, shared_options
from errata.cli.output import put
from errata.cli.reports_option import reports_option
from errata.errors import ReportError, SettingsError

if TYPE_CHECKING:
    from errata.render.document import Document
    from errata.verbs.report import PlannedReport

PROFILES = ("run", "comparison", "batch")
VARIABLE = "GITHUB_STEP_SUMMARY"


@click.command("report")
@click.argument("runs", nargs=-1, metavar="RUN…")
@click.option("--profile", type=click.Choice(PROFILES), help="By default what fits: comparison for several runs.")
@click.option("--html", is_flag=True, help="Also as one static page without scripts.")
@click.option("-o", "--output", "output", type=click.Path(path_type=Path), help="A folder, or of one report its file.")
@click.option("--date", "day", metavar="DAY", help="The day of the analysis, as 2026-03-09; by default today in UTC.")
@click.option("--comparison-dir", type=click.Path(path_type=Path), help="A folder with `run_results.csv`.")
@click.option("--run-dir", "run_dirs", multiple=True, type=click.Path(path_type=Path), help="A judged run; repeatable.")
@click.option("--common", is_flag=True, help="Compare runs of unequal suites, on the cases that they share.")
@click.option("--step-summary", is_flag=True, help="In short to $GITHUB_STEP_SUMMARY; to stdout where it is not set.")
@reports_option
@shared_options
def command(
    runs: tuple[str, ...],
    profile: str | None,
    html: bool,
    output: Path | None,
    day: str | None,
    comparison_dir: Path | None,
    run_dirs: tuple[Path, ...],
    common: bool,
    step_summary: bool,
    options: Options,
) -> None:
    """Write a report about RUNS that people keep.

    Three profiles: `run` goes to reports/PROVIDER/MODEL/RUN_DAY.md, `comparison` to results/…/deep_error_analysis.md,
    `batch` to analysis/ with one issue for each test. Its words in short go to stdout. Nothing else is changed.
    """
    from errata.verbs.report import planned_reports

    if step_summary and options.json:
        _refuse_beside_json()
    selectors = _selectors(runs, comparison_dir, run_dirs)
    place = output or (comparison_dir if not run_dirs else None)
    in_words = not options.json and not (step_summary and _goes_to_stdout())
    wish = ReportOptions(day=day_of(day), output=place, html=html, common=common, json=options.json, in_words=in_words)
    compared = profile == "comparison" or (profile is None and bool(comparison_dir or run_dirs))
    planned = planned_reports(selectors, options.store, profile=profile, compared=compared)
    summaries = list(_written(planned, wish))
    if step_summary:
        _add_summaries(summaries)


class ReportOptions(msgspec.Struct, frozen=True, kw_only=True):
    day: str
    output: Path | None = None
    html: bool = False
    common: bool = False
    json: bool = False
    in_words: bool = True
    """Whether its words in short go to stdout; not where JSON or a step summary goes there."""


def _written(planned: "Sequence[PlannedReport]", wish: ReportOptions) -> "Iterator[Document]":
    """Each in turn; a page in short of each."""
    from errata.cli.report_pages import write_batch, write_comparison, write_run, write_transcripts

    batches = sum(one.profile == "batch" for one in planned)
    for at, (profile, views) in enumerate(planned):
        if at and wish.in_words:
            put()
        if profile == "comparison":
            yield write_comparison(views, wish)
        elif profile == "transcripts":
            yield write_transcripts(views, wish)
        elif profile == "batch":
            yield write_batch(views[0], wish, several=batches > 1)
        else:
            yield write_run(views[0], wish)


def _selectors(runs: tuple[str, ...], comparison_dir: Path | None, run_dirs: tuple[Path, ...]) -> list[str]:
    """Explicit run folders win over a comparison folder."""
    if run_dirs:
        for path in run_dirs:
            if not (path / "openai_judged.jsonl").is_file():
                raise SettingsError(f"`{path}` has no `openai_judged.jsonl`", hint=_hint(path))
        return [str(path) for path in run_dirs]
    if comparison_dir is not None:
        if not (comparison_dir / "run_results.csv").is_file():
            raise SettingsError(f"`{comparison_dir}` has no `run_results.csv`", hint="name a comparison folder")
        return [str(comparison_dir)]
    if not runs:
        raise click.UsageError("name a RUN, a --run-dir or a --comparison-dir")
    return list(runs)


def _hint(path: Path) -> str:
    if (path / "transcript.jsonl").is_file():
        return f"nobody has judged it: `errata report {path}` tells what its transcript shows"
    return "name the folder of a judged run"


def day_of(named: str | None) -> str:
    if named is None:
        return datetime.now(UTC).date().isoformat()
    try:
        return datetime.strptime(named, "%Y-%m-%d").replace(tzinfo=UTC).date().isoformat()
    except ValueError as error:
        raise SettingsError(f"`{named}` is no day", hint="as `2026-03-09`") from error


def _goes_to_stdout() -> bool:
    return not os.environ.get(VARIABLE)


def _refuse_beside_json() -> None:
    """Markdown and JSON on one stream can't be told apart."""
    if _goes_to_stdout():
        raise SettingsError(
            f"`--step-summary` goes to stdout where ${VARIABLE} is not set, and so does `--json`",
            hint="leave out one of them",
        )


def _add_summaries(documents: "Iterable[Document]") -> None:
    """To the page of a CI run."""
    from errata.render.markdown import to_markdown

    text = "\n".join(map(to_markdown, documents))
    if _goes_to_stdout():
        sys.stdout.write(text)
        return
    path = Path(os.environ[VARIABLE])
    try:
        with path.open("a", encoding="utf-8", errors="replace") as file:
            file.write(f"{text}\n")
    except OSError as error:
        raise ReportError(f"`{path}` can't be written: {error.strerror}", hint=f"see ${VARIABLE}") from error
