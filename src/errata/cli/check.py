"""`errata check`."""

from collections.abc import Sequence

import click

from errata.cli.fitting import WIDTH, columns, cut, fold, short_path
from errata.cli.options import Options, shared_options
from errata.cli.output import put, put_command, put_json, wash
from errata.cli.render.next_steps import rerun_note
from errata.cli.render.runs import passes_with_reasons, title_of
from errata.cli.render.scores import estimate_of, put_bracket
from errata.model import Evidence, Finding
from errata.runs.names import handle_of, runs_named
from errata.runs.summary import Health
from errata.runs.view import RunView
from errata.text.clean import one_line

SEVERITIES = {"error": "problem", "warning": "warning", "info": "note"}
NAME = 20
INDENT = 9 + NAME


@click.command("check")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@shared_options
def command(runs: tuple[str, ...], options: Options) -> int:
    """Check whether runs are complete and fit for comparison.

    Exits with 1 if a run is not fit.
    """
    store = options.store
    fit = True
    for at, stored in enumerate(runs_named(runs, store)):
        view = RunView(stored, store)
        health = view.overview.health
        fit = fit and health.fit
        if options.json:
            from errata.json_output.runs import check_output

            put_json(check_output(view))
            continue
        if at:
            put()
        handle = handle_of(stored, store)
        put(title_of(stored.run, handle))
        if stored.run.excluded is not None:
            put(f"EXCLUDED from every score: {stored.run.excluded.reason}")
        show_health(health)
        scores = view.scores()
        put()
        odd = view.overview.suspicious
        put_bracket(scores, estimate=estimate_of(view))
        if odd.suspicious:
            put(f"Passes   {passes_with_reasons(stored.counts.outcomes.get('pass', 0), odd)}", hang=9)
        if note := rerun_note(stored, scores):
            put()
            put_command("Next", ["errata", "rerun", handle], note)
    return 0 if fit else 1


def show_health(health: Health) -> None:
    put(health.summary)
    if health.findings:
        put()
        put_findings(health.findings)


def put_findings(findings: Sequence[Finding], *, brief: bool = False) -> None:
    """`brief`: only the first piece of evidence, on one line."""
    for finding in findings:
        head, text = f"{SEVERITIES[finding.severity]:<8} {finding.name:<{NAME}}", one_line(finding.text)
        if len(finding.name) < NAME:
            put(f"{head}{text}", hang=INDENT)
        else:
            put(head)
            put(f"{'':<{INDENT}}{text}", hang=INDENT)
        words = next(filter(None, map(_words, finding.evidence)), "")
        if brief and words:
            put(" " * INDENT + cut(wash(words), WIDTH - INDENT), raw=True)
        for evidence in () if brief else finding.evidence:
            put_evidence(evidence)


def put_evidence(evidence: Evidence) -> None:
    """The place and the words, on one line where they fit."""
    width = WIDTH - INDENT
    place = short_path(one_line(str(evidence.ref))) if evidence.ref else ""
    words = _words(evidence)
    whole = wash(f"{place} {words}".strip())
    if columns(whole) <= width or not place:
        put(" " * INDENT + whole, hang=INDENT)
        return
    put(" " * INDENT + place, hang=INDENT)
    for line in fold(wash(words), width - 2) if words else ():
        put(f"{' ' * INDENT}  {line}", raw=True)


def _words(evidence: Evidence) -> str:
    """Quotation marks only around words of the log."""
    quote = f'"{one_line(evidence.quote)}"' if evidence.quote else ""
    return ": ".join(filter(None, (one_line(evidence.stated), quote)))
