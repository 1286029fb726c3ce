"""`errata failures`."""

import click

from errata import pipeline
from errata.cli.options import Options, raw_option, shared_options
from errata.cli.output import plural, put, put_json, put_table
from errata.model.words import EXECUTIONS, MEASUREMENTS, OUTCOMES, OWNERS
from errata.pipeline.failures import Failure, Filters
from errata.pipeline.selecting import short

HEADER = ("case", "failed checks", "owner", "conf", "because")


@click.command("failures")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("--case", default="", help="Only cases whose name contains this text.")
@click.option("--category", default="", help="Only cases of this category.")
@click.option("--failed-check", default="", metavar="CHECK", help="Only attempts in which this check failed.")
@click.option("--owner", type=click.Choice(OWNERS), help="Only those of this owner.")
@click.option("--execution", type=click.Choice(EXECUTIONS), help="Only attempts that ended so.")
@click.option("--measurement", type=click.Choice(MEASUREMENTS), help="Only attempts that were measured so.")
@click.option("--outcome", type=click.Choice(OUTCOMES), help="Only attempts with this outcome.")
@click.option("--limit", type=click.IntRange(min=1), help="At most so many a run.")
@raw_option
@shared_options
def command(runs: tuple[str, ...], limit: int | None, raw: bool, options: Options, **chosen: str | None) -> None:
    """List the failures of RUNS.

    A failure is a counted attempt that was not passed or not measured. Unfinished, skipped and missing cases are
    findings of `errata check`.
    """
    store = options.store
    filters = Filters(**{name: value or "" for name, value in chosen.items()})
    for at, stored in enumerate(pipeline.runs_named(runs, store)):
        found = pipeline.failures_of(stored, store, filters, limit=limit)
        if options.json:
            for failure in found:
                put_json(failure.as_json(), raw=raw)
            continue
        listed = list(found)
        if at:
            put()
        if listed:
            put_table(HEADER, [_row(failure) for failure in listed], cut=("because", "failed checks"), raw=raw)
        counts = stored.counts
        shown = "" if len(listed) == counts.failures else f", {len(listed)} shown"
        told = f"{plural(counts.failures, 'failure')} of {plural(counts.counted, 'attempt')}{shown}"
        put(f"{told} · provisional: owners come from rules · run {short(stored.run.native_id)}")


def _row(failure: Failure) -> tuple[object, ...]:
    attempt, said = failure.attempt, failure.attribution
    number = f" #{attempt.index}" if attempt.index > 1 else ""
    return (
        failure.case_name + number,
        ", ".join(attempt.failed_checks) or "–",
        said.owner if said else "–",
        said.confidence if said else "–",
        _because(failure),
    )


def _because(failure: Failure) -> str:
    """The signal that decided; where it is only that a check failed, what was said of it."""
    said = failure.attribution
    if said is None or said.decided_by == "check_failed":
        return failure.reason or "–"
    return f"{said.decided_by}: {failure.reason}" if failure.reason else said.decided_by
