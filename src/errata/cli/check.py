"""`errata check`."""

from collections.abc import Sequence
from textwrap import wrap

import click

from errata import pipeline
from errata.cli.options import Options, shared_options
from errata.cli.output import WIDTH, put, put_json
from errata.cli.runs import title_of
from errata.model import Evidence, Finding
from errata.pipeline.analysis import Health
from errata.pipeline.selecting import short
from errata.text.clean import one_line

WORDS = {"error": "problem", "warning": "warning", "info": "note"}
NAME = 20


@click.command("check")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@shared_options
def command(runs: tuple[str, ...], options: Options) -> int:
    """Tell whether RUNS are fit to be analysed.

    Exit code 1 where one is not.
    """
    store = options.store
    fit = True
    for at, stored in enumerate(pipeline.runs_named(runs, store)):
        health = pipeline.check_run(stored, store)
        fit = fit and health.fit
        if options.json:
            put_json(
                {"run": stored.run.native_id, "run_id": stored.run.id, "fit": health.fit, "findings": health.findings}
            )
        else:
            if at:
                put()
            put(title_of(stored.run, short(stored.run.native_id)))
            if stored.run.excluded is not None:
                put(f"EXCLUDED from every score: {stored.run.excluded.reason}")
            show_health(health)
    return 0 if fit else 1


def show_health(health: Health) -> None:
    put(health.summary)
    if health.findings:
        put()
        put_findings(health.findings)


def put_findings(findings: Sequence[Finding]) -> None:
    indent = " " * (9 + NAME)
    for finding in findings:
        first, *rest = wrap(one_line(finding.text), WIDTH - len(indent)) or [""]
        put(f"{WORDS[finding.severity]:<8} {finding.name:<{NAME}}{' ' if len(finding.name) >= NAME else ''}{first}")
        for line in rest:
            put(indent + line)
        for evidence in finding.evidence:
            put_evidence(evidence, indent)


def put_evidence(evidence: Evidence, indent: str) -> None:
    """The place and the quote, on one line where they fit."""
    width = WIDTH - len(indent)
    place = one_line(str(evidence.ref), 2 * width) if evidence.ref else ""
    quote = f'"{one_line(evidence.quote)}"' if evidence.quote else ""
    whole = f"{place} {quote}".strip()
    if len(whole) <= width:
        put(indent + whole)
        return
    if place:
        put(indent + place)
    for line in wrap(quote, width - 2):
        put(f"{indent}  {line}" if place else indent + line)
