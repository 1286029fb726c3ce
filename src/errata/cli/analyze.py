"""`errata analyze`."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click

from errata.cli.check import put_findings
from errata.cli.fetch import deployment_option, is_remote, local_paths
from errata.cli.import_ import say_passed_over, say_verdicts, show_unreadable
from errata.cli.options import Options, reports_option, shared_options, with_project
from errata.cli.output import number, plural, put, put_json, put_quote, say
from errata.cli.progress import progress
from errata.cli.render.analysis import (
    files_of,
    measured_share,
    put_overview,
    show_categories,
    show_causes,
    show_cost,
    show_other_checks,
    show_owners,
    show_steps,
    show_values,
    tell_number,
)
from errata.cli.render.fields import place_of
from errata.cli.render.history import show_memory, tell_history
from errata.cli.render.next_steps import put_next
from errata.cli.render.runs import beside, counted_in, failures_in_words, passes_with_reasons, repeated_rows, title_of
from errata.cli.render.scores import put_bracket
from errata.cli.render.suspects import put_suspects
from errata.cli.render.unread import show_unread
from errata.errors import NotFoundError
from errata.model import StoredRun, UnreadFiles
from errata.model.run import subject_label
from errata.render.figures import percent
from errata.render.proof import owners_state
from errata.runs.first_page import NOTHING_TO_ANALYSE, estimate_words
from errata.runs.importing import PathSummary
from errata.runs.log_search import look_for
from errata.runs.names import is_path, known_run
from errata.runs.summary import Analysis
from errata.runs.view import RunView
from errata.settings.store_location import is_there
from errata.text.clean import one_line
from errata.verbs.analyze import analyze, analyze_new, analyze_stored

MOST_KNOWN = 10


@click.command("analyze")
@click.argument("paths", nargs=-1, metavar="PATH…|RUN…|URL…", type=click.Path())
@click.option(
    "--new", is_flag=True, help="Only runs that are new or have changed, under PATHS or where earlier runs were found."
)
@click.option("--source", default="", metavar="NAME", help="Format of the files; `errata sources` lists all.")
@click.option("--map", "map_path", type=click.Path(path_type=Path), help="Mapping file for a custom format.")
@click.option("--no-report", is_flag=True, help="Do not write a report.")
@deployment_option
@reports_option
@shared_options
def command(
    paths: tuple[str, ...],
    new: bool,
    source: str,
    map_path: Path | None,
    no_report: bool,
    deployment: str,
    options: Options,
) -> None:
    """Import, check and summarise runs, and write a report.

    RUN is a run in the store, which is not imported again. URL is the address or the id of a convex-evals run, which is
    downloaded first. The report is written to reports/PROVIDER/MODEL/RUN_DAY.md; if every case passed, no report is
    written.
    """
    stored = [] if new or source or map_path else _stored_runs(paths, options)
    local = local_paths([path for path in paths if path not in dict(stored)], options, deployment=deployment)
    if new:
        _analyze_new(local, options, source, report=not no_report)
        return
    if not paths:
        context = click.get_current_context()
        raise click.MissingParameter(ctx=context, param=context.command.params[0])
    summaries: list[PathSummary] = []
    unread: list[UnreadFiles] = []
    views = analyze_stored([run.run.id for _, run in stored], options.store) if stored else []
    with progress("Analysing") as on_items:
        orders = look_for(local, source=source, map_path=map_path, on_unread=unread.append) if local else []
        views += analyze(orders, options.store, on_items=on_items, on_summary=summaries.append)
    _show_all(views, summaries, unread, options, report=not no_report)


def _stored_runs(paths: Sequence[str], options: Options) -> list[tuple[str, StoredRun]]:
    named: list[tuple[str, StoredRun]] = []
    for path in paths if is_there(options.settings.store) else ():
        if not is_path(path) and not is_remote(path):
            with suppress(NotFoundError):
                named.append((path, known_run(path, options.store)))
    return named


def _show_all(
    views: Sequence[RunView],
    summaries: Sequence[PathSummary],
    unread: Sequence[UnreadFiles],
    options: Options,
    *,
    report: bool,
) -> None:
    for summary in summaries:
        if not summary.runs and summary.unreadable:
            show_unreadable(summary)
        say_verdicts(summary)
        say_passed_over(summary)
    show_unread(unread)
    is_overview = len(views) > 1 and not options.json
    if is_overview:
        tell_number(views)
        _show_suspects(views)
    files = files_of(views) if is_overview else [""] * len(views)
    for at, (view, file) in enumerate(zip(views, files, strict=True)):
        if at and not options.json:
            put()
        path = _write_report(view) if report else None
        if options.json:
            _put_json(view.summary, path, () if at else unread)
        else:
            show_analysis(view.summary, as_json=False, report=path, suspects_here=len(views) == 1, file=file)
    if is_overview:
        put_overview(views)


def _write_report(view: RunView) -> Path | None:
    from errata.verbs.report import report_failures

    return report_failures(view, say)


def _put_json(analysis: Analysis, report: Path | None, unread: Sequence[UnreadFiles] = ()) -> None:
    from errata.json_output.runs import analysis_output

    put_json(with_project(analysis_output(analysis, report, unread)))


def _show_suspects(views: Sequence[RunView]) -> None:
    """Once for each suite, before the pages of its runs."""
    for view in {view.run.suite or view.run.id: view for view in views}.values():
        if view.suspects or view.suspects.failed_by_all:
            put(f"Suite {view.run.suite}" if view.run.suite else title_of(view.run, view.handle))
            put_suspects(view.suspects, view.handle)
            put()


def _analyze_new(paths: tuple[Path, ...], options: Options, source: str, *, report: bool) -> None:
    with progress("Analysing") as on_items:
        done = analyze_new(paths, options.store, source=source, on_items=on_items)
    for path, why in done.search.problems:
        say(f"note: skipped `{path}`: {why}")
    known = len(done.search.known) + done.unchanged
    below = ", ".join(place_of(str(folder.absolute())) for folder in done.search.folders)
    say(f"found     {plural(len(done.views), 'new run')} below {below} · {known:,} already in the store", hang=STEP)
    for stored in done.search.known[:MOST_KNOWN]:
        say(f"          already stored: {stored.run.native_id} · {place_of(stored.run.origin)}")
    if not done.views and not options.json:
        put(f"Nothing new: {plural(known, 'run is', 'runs are')} already in the store.")
    _show_all(done.views, done.summaries, done.search.unread, options, report=report)


def show_analysis(
    analysis: Analysis,
    *,
    as_json: bool,
    kept: bool = True,
    report: Path | None = None,
    suspects_here: bool = True,
    file: str = "",
) -> None:
    if as_json:
        _put_json(analysis, report)
        return
    tell_summary(analysis, file)
    show_summary(analysis, kept=kept, report=report, suspects_here=suspects_here)


STEP = 10
"""The width of the labels of `read`, `checkup` and `triage`."""


def tell_summary(analysis: Analysis, file: str = "") -> None:
    """Progress lines before the result, one for each step. `file`: the log, where several are read."""
    run, counts = analysis.stored.run, analysis.stored.counts
    made = counts.attempts_in_log
    checks = sum(sum(often for status, often in one.items() if status != "not_run") for one in counts.checks.values())
    word = counted_in(run, "cases")
    more = counts.attempts - counts.counted
    again = repeated_rows(analysis.stored, analysis.unit)
    of = f" of {plural(made - again, word)}" if again else ""
    of = f" of {plural(counts.cases, word)}" if not again and made > counts.cases else of
    read = ", ".join([f"{plural(made, 'attempt' if of else word)}{of}", *beside(analysis.stored)])
    read += f", {more:,} replaced or nested attempts not counted" if more else ""
    measured = f", {plural(checks, 'check')}" if checks else ""
    source = f"{run.source.name} · {file}" if file else run.source.name
    say(f"read      {source} · {read}{measured} · {number(counts.unreadable)} unreadable", hang=STEP)
    say(f"checkup   {measured_share(analysis)}{_fitness(analysis)}", hang=STEP)
    if counts.failures:
        say(f"triage    {failures_in_words(analysis.stored)} · {_owners_found(analysis)}", hang=STEP)
        tell_history(analysis)
    say()


def _fitness(analysis: Analysis) -> str:
    """If the run is not fit, with the first two reasons."""
    health = analysis.health
    problems = [one_line(finding.text).partition(": ")[0] for finding in health.findings if finding.breaks]
    return f"{health.summary}: {'; '.join(problems[:2])}" if problems else health.summary


def _owners_found(analysis: Analysis) -> str:
    """`owner found for 4, presumed for 5`."""
    unknown = analysis.unknown_to_triage
    presumed = sum(sum(one.presumed.values()) for one in analysis.owners)
    with_owner = analysis.stored.counts.failures - presumed - unknown
    parts = [(with_owner, "found"), (presumed, "presumed"), (unknown, "unknown")]
    named = [(count, word) for count, word in parts if count]
    if len(named) == 1:
        (count, word) = named[0]
        return f"owner {word}{' for each' if count > 1 else ''}"
    return f"owner {', '.join(f'{word} for {count:,}' for count, word in named)}"


def show_summary(analysis: Analysis, *, kept: bool, report: Path | None = None, suspects_here: bool = True) -> None:
    """What to do next is on the first screen, before the details.

    `suspects_here`: the suspect tasks are listed on this page, not above the pages of several runs.
    """
    run = analysis.stored.run
    if run.excluded is not None:
        put(f"EXCLUDED from every score: {run.excluded.reason}")
    if analysis.unavailable is not None:
        _show_unavailable(analysis)
    elif analysis.all_passed:
        put(f"{_run_line(analysis)} · {_passed(analysis)} passed. {NOTHING_TO_ANALYSE}.")
    else:
        _show_result(analysis)
        if kept:
            put()
            put_next(analysis)
        _show_details(analysis, suspects_here=suspects_here)
    if report is not None:
        put(f"\nReport   {place_of(str(report.absolute()))}", hang=9)


def _run_line(analysis: Analysis) -> str:
    return " · ".join(filter(None, (f"Run {analysis.handle}", subject_label(analysis.stored.run))))


def _show_unavailable(analysis: Analysis) -> None:
    scores = analysis.scores.scores
    assert analysis.unavailable is not None
    put(f"{_run_line(analysis)} · UNAVAILABLE: {analysis.unavailable.text}:", hang=2)
    for evidence in analysis.unavailable.evidence[:1]:
        put_quote(evidence.quote, indent=2)
    strict = f"strict {scores['strict'].passed:,}/{scores['strict'].total:,}"
    word = counted_in(analysis.stored.run, analysis.unit)
    put(f"This run does not measure the model. Score: {strict}; clean has no {word} left to score.")


def _show_result(analysis: Analysis) -> None:
    run, counts = analysis.stored.run, analysis.stored.counts
    put(title_of(run, analysis.handle))
    if counts.failures:
        read = f"{analysis.reviewed:,} of {plural(counts.failures, 'failure')} reviewed"
        inherited = f", {analysis.inherited:,} inherited" if analysis.inherited else ""
        put(f"{_where_owners_come_from(analysis)}; {read}{inherited}", hang=4)
    else:
        put(f"{analysis.without_failures}.", hang=4)
    put()
    if _basis(analysis) and (counts.cases or not analysis.scores.scores["strict"].total):
        put(f"Passed   {_passed(analysis)}{_rate(analysis)}{_basis(analysis)}")
    put_bracket(analysis.scores, is_reviewed=analysis.reviewed > 0, estimate=estimate_words(analysis.no_estimate))
    show_values(analysis)
    if analysis.suspicious.suspicious:
        put(f"Passes   {passes_with_reasons(counts.outcomes.get('pass', 0), analysis.suspicious)}", hang=9)
    if idle := next((one for one in analysis.health.findings if one.name == "nothing_changed"), None):
        share = f"{idle.numbers['passes']:,.0f} of {plural(counts.outcomes.get('pass', 0), 'pass', 'passes')}"
        put(f"Passes   {share} needed no change to the environment, so doing nothing passes, too", hang=9)
    if analysis.owners:
        put()
        show_owners(analysis)


def _show_details(analysis: Analysis, *, suspects_here: bool) -> None:
    """Findings come first where they make the run unfit."""
    counts, suspects, is_fit = analysis.stored.counts, analysis.suspects, analysis.health.fit
    if not is_fit:
        _show_grave(analysis)
    if counts.failures or counts.cost is not None:
        put()
    show_causes(analysis)
    show_steps(analysis)
    show_other_checks(analysis)
    show_categories(analysis)
    show_memory(analysis)
    show_cost(analysis)
    if suspects_here and (suspects or suspects.failed_by_all):
        put()
        put_suspects(suspects, analysis.handle)
    elif suspects:
        put(f"Suspect  {plural(suspects.total, 'failed case')} among the suspect tasks above")
    if is_fit:
        _show_grave(analysis)


def _where_owners_come_from(analysis: Analysis) -> str:
    failures = analysis.stored.counts.failures
    by_rules = failures - analysis.reviewed - analysis.inherited
    return owners_state(failures, by_rules=by_rules, need_second=analysis.need_second)


def _show_grave(analysis: Analysis) -> None:
    """In brief: `errata check` shows all evidence."""
    if grave := [finding for finding in analysis.health.findings if finding.severity != "info"]:
        put()
        put_findings(grave, brief=True)


def _passed(analysis: Analysis) -> str:
    unit = " attempts" if analysis.unit == "attempts" else ""
    return f"{analysis.passed:,} of {analysis.total:,}{unit}"


def _rate(analysis: Analysis) -> str:
    has_rate = analysis.total and not analysis.not_judged
    return f"   {percent(analysis.passed / analysis.total)}" if has_rate else ""


def _basis(analysis: Analysis) -> str:
    if analysis.by_harness:
        return f"   counted by the harness; {plural(analysis.stored.counts.cases, 'case')} in the log"
    return "   nothing was judged" if analysis.not_judged else ""
