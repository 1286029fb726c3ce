"""`errata failures`."""

from collections.abc import Iterable, Sequence
from functools import partial

import click

from errata.cli.attempts_in_words import attempts_in_words
from errata.cli.choice import Word
from errata.cli.fitting import WIDTH, columns
from errata.cli.options import Options, raw_option, shared_options
from errata.cli.output import plural, put, put_lines_of_json
from errata.cli.reports_option import reports_option
from errata.cli.runs import title_of
from errata.cli.suspicious import show_suspicions, suspicions_of
from errata.cli.table import put_table
from errata.model import StoredRun
from errata.model.attempt import Filters
from errata.model.words import EXECUTIONS, MEASUREMENTS, OUTCOMES, OWNERS
from errata.runs.failures import Failure, refuse_unknown
from errata.runs.names import handle_of, runs_named
from errata.runs.view import RunView

HEADER = ("case", "failed checks", "owner", "conf", "signal")
CHECKS = 30
REASON = 24
"""A reason that would get fewer columns than this stands on a line of its own."""


@click.command("failures")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("--case", default="", help="Only cases whose name contains this text.")
@click.option("--category", default="", help="Only cases of this category.")
@click.option("--failed-check", default="", metavar="CHECK", help="Only attempts in which this check failed.")
@click.option("--owner", type=Word(OWNERS), help="Only those of this owner.")
@click.option("--bucket", default="", metavar="SLUG", help="Only members of this bucket.")
@click.option("--execution", type=Word(EXECUTIONS), help="Only attempts that ended so.")
@click.option("--measurement", type=Word(MEASUREMENTS), help="Only attempts that were measured so.")
@click.option("--outcome", type=Word(OUTCOMES), help="Only attempts with this outcome.")
@click.option("--suspicious", is_flag=True, help="Instead of failures, the passes that deserve a second look.")
@click.option("--limit", type=click.IntRange(min=1), help="At most so many a run.")
@reports_option
@raw_option
@shared_options
def command(
    runs: tuple[str, ...],
    limit: int | None,
    suspicious: bool,
    raw: bool,
    options: Options,
    **chosen: str | None,
) -> None:
    """List the failures of RUNS.

    A failure is a counted attempt that was not passed or not measured. Unfinished, skipped and missing cases are
    findings of `errata check`.
    """
    store = options.store
    filters = Filters(**{name: value or "" for name, value in chosen.items()})
    looked_at: list[StoredRun] = []
    found = 0
    for stored in runs_named(runs, store):
        if not options.json and (len(runs) > 1 or looked_at):
            put(("\n" if looked_at else "") + title_of(stored.run, handle_of(stored, store)))
        looked_at.append(stored)
        if suspicious:
            passes = suspicions_of(stored, store, filters, limit)
            found += (put_lines_of_json if options.json else partial(show_suspicions, stored, limit=limit))(
                passes, raw=raw
            )
        else:
            failures = RunView(stored, store).failures(filters, limit=limit)
            found += (put_lines_of_json if options.json else partial(show_failures, stored))(failures, raw=raw)
    if not found:
        refuse_unknown(filters, [RunView(stored, store) for stored in looked_at])


def show_failures(stored: StoredRun, found: Iterable[Failure], *, raw: bool) -> int:
    listed = list(found)
    if listed:
        _put_rows(listed, raw=raw)
    counts = stored.counts
    shown = "" if len(listed) == counts.failures else f", {len(listed)} shown"
    told = f"{plural(counts.failures, 'failure')} of {attempts_in_words(stored)}{shown}"
    put(f"{told}{_where_owners_come_from(listed)}")
    if _are_reported(listed):
        put("before = earlier reports that name the case")
    return len(listed)


def _are_reported(listed: Sequence[Failure]) -> bool:
    return any(failure.times_reported is not None for failure in listed)


def _where_owners_come_from(listed: Sequence[Failure]) -> str:
    read = sum(failure.standing is not None for failure in listed)
    if not listed or read == len(listed):
        return " · owners come from verdicts" if listed else ""
    return f" · provisional: owners come from rules{f', {read} from verdicts' if read else ''}"


def _put_rows(listed: Sequence[Failure], *, raw: bool) -> None:
    """The reason gets what the other columns leave; where that is too little, a line below each row."""
    rows = [_row(failure) for failure in listed]
    reasons = [_reason(failure) for failure in listed]
    read = any(failure.standing for failure in listed)
    header: tuple[str, ...] = (*HEADER[:-1], "label or signal") if read else HEADER
    give_way: tuple[str, ...] = ("failed checks",)
    if _are_reported(listed):
        header, give_way = (*header, "before"), ("failed checks", header[-1])
        rows = [(*row, str(failure.times_reported or 0)) for row, failure in zip(rows, listed, strict=True)]
    taken = sum(2 + max(columns(name), *(columns(row[at]) for row in rows)) for at, name in enumerate(header))
    if not any(reasons):
        put_table(header, rows, give_way=give_way, whole=("case",), raw=raw)
    elif taken + REASON <= WIDTH:
        beside = [(*row, reason or "–") for row, reason in zip(rows, reasons, strict=True)]
        put_table((*header, "reason"), beside, give_way=("reason",), raw=raw)
    else:
        put_table(header, rows, give_way=give_way, whole=("case",), below=reasons, raw=raw)


def _reason(failure: Failure) -> str:
    """Beside a reader's verdict stands the reader's reason."""
    cause = failure.standing.verdict.cause if failure.standing is not None else ""
    return cause or failure.reason


def _row(failure: Failure) -> tuple[str, ...]:
    attempt, said = failure.attempt, failure.attribution
    number = f" #{attempt.index}" if attempt.index > 1 else ""
    owner, confidence, rule = (said.owner, said.confidence, said.decided_by) if said else ("–", "–", "–")
    if failure.standing is not None:
        verdict = failure.standing.verdict
        owner, confidence, rule = verdict.owner, verdict.confidence, verdict.label
    return (failure.case_name + number, _checks(attempt.failed_checks), owner, confidence, rule)


def _checks(names: Sequence[str]) -> str:
    """All of them where they fit, else the first and how many more."""
    told = ", ".join(names) or "–"
    return told if columns(told) <= CHECKS or len(names) == 1 else f"{names[0]} +{len(names) - 1}"
