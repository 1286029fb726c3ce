"""`errata analyze`."""

import shlex
from pathlib import Path
from textwrap import wrap

import click

from errata import pipeline
from errata.cli.check import put_findings
from errata.cli.import_ import show_unreadable
from errata.cli.options import Options, shared_options
from errata.cli.output import WIDTH, money, number, plural, put, put_json, put_parts, say
from errata.cli.progress import progress
from errata.cli.runs import as_json, title_of
from errata.cli.score import figures, json_score
from errata.pipeline.analysis import Analysis
from errata.pipeline.importing import PathSummary
from errata.text.clean import one_line

MOST = 10
BAR = 20


@click.command("analyze")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--source", default="", metavar="NAME", help="Read as this format; `errata sources` lists them.")
@click.option("--map", "map_path", type=click.Path(path_type=Path), help="A mapping file for a format of your own.")
@shared_options
def command(paths: tuple[Path, ...], source: str, map_path: Path | None, options: Options) -> None:
    """Everything at once: import, check, summarise."""
    pipeline.look_for(paths, source=source, map_path=map_path)
    summaries: list[PathSummary] = []
    with progress("Analysing") as on_items:
        analyses = pipeline.analyze(
            paths, options.store, source=source, map_path=map_path, on_items=on_items, on_summary=summaries.append
        )
    for summary in summaries:
        if not summary.runs and summary.unreadable:
            show_unreadable(summary)
    for at, analysis in enumerate(analyses):
        if at and not options.json:
            put()
        show_analysis(analysis, as_json=options.json)


def show_analysis(analysis: Analysis, *, as_json: bool, kept: bool = True) -> None:
    if as_json:
        put_json(_json_of(analysis))
        return
    run, counts = analysis.stored.run, analysis.stored.counts
    rest = f" · {plural(counts.unreadable, 'item')} unreadable" if counts.unreadable else ""
    there = counts.attempts - counts.executions.get("missing", 0)
    say(f"read      {run.source.name} · {plural(there, 'attempt')} of {plural(counts.cases, 'case')}{rest}")
    say(f"checkup   {analysis.health.summary}")
    say()
    if run.excluded is not None:
        put(f"EXCLUDED from every score: {run.excluded.reason}")
    if analysis.unavailable is not None:
        _show_unavailable(analysis)
    elif not counts.failures and analysis.health.fit:
        put(f"Run {analysis.handle} · {run.subject.model} · {_passed(analysis)} passed. Nothing to analyse.")
    else:
        _show_failures(analysis)
        if kept:
            _show_next(analysis)


def _show_unavailable(analysis: Analysis) -> None:
    run = analysis.stored.run
    assert analysis.unavailable is not None
    for line in wrap(f"Run {analysis.handle} · {run.subject.model} · UNAVAILABLE: {analysis.unavailable.text}", WIDTH):
        put(line)
    for evidence in analysis.unavailable.evidence[:1]:
        for line in wrap(evidence.quote, WIDTH - 4):
            put(f"  > {line}")
    put(f"This run says nothing about the model. Passed: {analysis.passed}/{analysis.total}")


def _show_failures(analysis: Analysis) -> None:
    run, counts = analysis.stored.run, analysis.stored.counts
    put(title_of(run, analysis.handle))
    if counts.failures:
        put(f"PROVISIONAL: owners come from rules; 0 of {plural(counts.failures, 'failure')} reviewed")
    put()
    if _basis(analysis):
        put(f"Passed   {_passed(analysis)}{_rate(analysis)}{_basis(analysis)}")
    if analysis.scores is not None:
        for at, policy in enumerate(("strict", "as_reported", "clean")):
            shown = f"{policy:<12} {figures(analysis.scores.scores[policy])}"
            put(f"{'' if at else 'Score':<8} {shown if len(shown) < WIDTH - 9 else shown[: WIDTH - 10] + '…'}")
    put(f"Failures {counts.failures:<7} {_facts(analysis)}")
    _show_owners(analysis)
    if analysis.first_failed:
        put_parts("Checks", [f"{name or 'none'} {count}" for name, count in analysis.first_failed], "(first failed)")
    if analysis.categories:
        told = [f"{name} {failed}/{total}" for name, failed, total in analysis.categories[:MOST]]
        put_parts("Category", told, "(failures / attempts)")
    if counts.cost is not None:
        unknown = counts.counted - counts.cost_known - counts.executions.get("missing", 0)
        rest = f", unknown for {plural(unknown, 'attempt')}" if unknown else ""
        spent = f" · {number(counts.tokens)} tokens" if counts.tokens is not None else ""
        put(f"Cost     {money(counts.cost, 2 if counts.cost >= 1 else 4)}{rest}{spent}")
    if analysis.repeated_errors:
        put()
        for at, (text, count) in enumerate(analysis.repeated_errors[:MOST]):
            put(f"{'Errors' if not at else '':<8} {one_line(f'{count}× {text}', WIDTH - 9)}")
    if analysis.health.findings:
        put()
        put_findings(analysis.health.findings)


def _show_next(analysis: Analysis) -> None:
    put()
    shown = f"{analysis.handle}/{analysis.first_case}" if analysis.first_case else analysis.handle
    put(f"Next     {shlex.join(['errata', 'failures', analysis.handle])}")
    put(f"         {shlex.join(['errata', 'show', shown])}")


def _show_owners(analysis: Analysis) -> None:
    most = max((count for _, count, _ in analysis.owners), default=0)
    for at, (owner, count, told) in enumerate(analysis.owners):
        bar = "█" * max(1, round(BAR * count / most))
        head = "Owners" if at == 0 else f"(of {analysis.stored.counts.failures})" if at == 1 else ""
        line = f"{head:<8} {owner:<12} {count:>4}   {bar}   "
        put(line + one_line(told, WIDTH - len(line)))


def _passed(analysis: Analysis) -> str:
    unit = " attempts" if analysis.unit == "attempts" else ""
    return f"{analysis.passed} of {analysis.total}{unit}"


def _rate(analysis: Analysis) -> str:
    return f"   {100 * analysis.passed / analysis.total:.1f} %" if analysis.total else ""


def _basis(analysis: Analysis) -> str:
    if analysis.by_harness:
        return f"   as the harness counts; {plural(analysis.stored.counts.cases, 'case')} in the log"
    if analysis.not_judged:
        return "   nothing was judged"
    return ""


def _facts(analysis: Analysis) -> str:
    return " · ".join(f"{words} {count}" for words, count in analysis.facts)


def _json_of(analysis: Analysis) -> dict[str, object]:
    return {
        **as_json(analysis.stored),
        "passed": analysis.passed,
        "total": analysis.total,
        "unit": analysis.unit,
        "by_harness": analysis.by_harness,
        "fit": analysis.health.fit,
        "unavailable": analysis.unavailable is not None,
        "first_failed_checks": dict(analysis.first_failed),
        "categories": {name: {"failures": failed, "attempts": total} for name, failed, total in analysis.categories},
        "findings": analysis.health.findings,
        "owners": {owner: count for owner, count, _ in analysis.owners},
        "scores": {policy: json_score(score) for policy, score in analysis.scores.scores.items()}
        if analysis.scores
        else {},
    }
