"""`errata report`."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from errata import verbs
from errata.cli.options import Options, shared_options
from errata.cli.output import put
from errata.cli.report_wish import Wish
from errata.cli.reports_option import reports_option
from errata.errors import SettingsError
from errata.model import StoredRun
from errata.render.document import Document

PROFILES = ("run", "comparison", "batch")
BATCHES = frozenset(("scylla",))
"""Harnesses whose runs are batches of tests."""


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
    from errata.cli.step_summary import add_summaries, goes_to_stdout, refuse_beside_json

    if step_summary and options.json:
        refuse_beside_json()
    selectors = _selectors(runs, comparison_dir, run_dirs)
    place = output or (comparison_dir if not run_dirs else None)
    in_words = not options.json and not (step_summary and goes_to_stdout())
    wish = Wish(day=day_of(day), output=place, html=html, common=common, in_words=in_words)
    chosen = list(verbs.runs_named(selectors, options.store))
    compared = profile == "comparison" or (profile is None and bool(comparison_dir or run_dirs))
    summaries = list(_written(list(_kinds(chosen, profile, compared=compared)), options, wish))
    if step_summary:
        add_summaries(summaries)


def _written(kinds: Sequence[tuple[str, list[StoredRun]]], options: Options, wish: Wish) -> Iterator[Document]:
    """Each in turn; what it is in short."""
    batches = sum(kind == "batch" for kind, _ in kinds)
    for at, (kind, members) in enumerate(kinds):
        if at and wish.in_words:
            put()
        yield _write(kind, members, options, wish, several=batches > 1)


def _write(kind: str, members: list[StoredRun], options: Options, wish: Wish, *, several: bool) -> Document:
    if kind == "comparison":
        from errata.cli.report_comparison import write_comparison

        return write_comparison(members, options, wish)
    if kind == "transcripts":
        from errata.cli.report_transcripts import write_transcripts

        return write_transcripts(members, options, wish)
    if kind == "batch":
        from errata.cli.report_batch import write_batch

        return write_batch(members[0], options, wish, several=several)
    from errata.cli.report_run import write_run

    return write_run(members[0], options, wish)


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


def _kinds(runs: list[StoredRun], named: str | None, *, compared: bool) -> Iterator[tuple[str, list[StoredRun]]]:
    """Which report is written about which runs; each batch and each run has its own, a comparison is about all."""
    from errata.report.shared import is_unjudged
    from errata.review.export import are_judged_turns

    batches = [one for one in runs if named == "batch" or (not named and not compared and _is_batch(one))]
    others = [one for one in runs if one not in batches]
    unjudged = [one for one in others if is_unjudged(one) and named != "run" and (compared or are_judged_turns([one]))]
    judged = [one for one in others if one not in unjudged]
    yield from (("batch", [one]) for one in batches)
    if judged and (compared or (not named and len(judged) > 1)):
        yield "comparison", others
    else:
        yield from (("run", [one]) for one in judged)
    if unjudged:
        yield "transcripts", unjudged


def _is_batch(stored: StoredRun) -> bool:
    return stored.run.source.name in BATCHES and bool(stored.run.sessions)


def day_of(named: str | None) -> str:
    if named is None:
        return datetime.now(UTC).date().isoformat()
    try:
        return datetime.strptime(named, "%Y-%m-%d").replace(tzinfo=UTC).date().isoformat()
    except ValueError as error:
        raise SettingsError(f"`{named}` is no day", hint="as `2026-03-09`") from error
