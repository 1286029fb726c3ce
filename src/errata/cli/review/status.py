"""`errata review status`."""

from datetime import UTC, datetime

import click

from errata.cli.buckets.list_ import buckets_line
from errata.cli.options import Options, shared_options
from errata.cli.output import money, number, plural, put, put_json
from errata.cli.review.run_output import open_batch_line
from errata.json_output.review import status_output
from errata.model.output.review import SpentOutput
from errata.model.times import to_text
from errata.review.status import Status, case_of
from errata.runs.names import handle_of, runs_named
from errata.text.clean import one_line
from errata.text.shell import shell_word
from errata.verbs.review import review_status

HANG, NAMED, LONGEST, REASON = 16, 3, 160, 100


@click.command("status")
@click.argument("runs", nargs=-1, metavar="[RUN…]")
@shared_options
def command(runs: tuple[str, ...], options: Options) -> None:
    """Show review progress.

    Without RUN, covers the latest run.
    """
    store = options.store
    for at, stored in enumerate(runs_named(runs or ("latest",), store)):
        status = review_status(stored, store, now=to_text(datetime.now(UTC)))
        if options.json:
            put_json(status_output(status))
            continue
        if at:
            put()
        show_status(status, shell_word(handle_of(stored, store)))


def show_status(status: Status, handle: str) -> None:
    """`handle` is quoted for a shell."""
    parts = [
        f"Run {handle}",
        plural(status.failures, "failure") if status.failures else "no failures",
        f"{status.reviewed:,} reviewed",
    ]
    parts += [f"{status.inherited:,} inherited"] if status.inherited else []
    corrected = ", corrected since" if status.refused and not status.unmended else ""
    parts += [f"{status.waiting:,} waiting"]
    parts += [f"{plural(status.refused, 'answer')} refused{corrected}"] if status.refused else []
    put(" · ".join(parts))
    if not status.failures:
        return
    put()
    put("owner         by rules   by review   changed by review")
    for row in status.owners:
        put(f"  {row.owner:<11} {row.triage:>8,}   {row.verdict:>9,}   {row.changed:>17,}")
    _line("labels", " · ".join(f"{label} {count:,}" for label, count in status.labels.items()))
    _line("reviewers", " · ".join(f"{name} {count:,}" for name, count in status.reviewers.items()))
    _line("evidence", _evidence(status))
    _put_cases(
        "stale",
        status,
        status.stale,
        f"reviewed before, evidence changed since; `errata review next {handle}`",
    )
    _line("second opinion", _second(status, handle))
    _put_cases("disputed", status, status.disputed, "a person has to decide")
    _put_doubts(status)
    _line("causes", buckets_line(status.buckets))
    _line("refused", _refusals(status))
    _line("leased", f"{status.in_hand:,}" if status.in_hand else "")
    for batch in status.batches:
        _line("batch", open_batch_line(batch))
    for spent in status.spent:
        _line("cost", _spent(spent))
    _line("next", f"`errata review next {handle}`" if status.waiting else "")


def _line(label: str, text: str) -> None:
    if text:
        put(f"{label:<15} {text}", hang=HANG)


def _evidence(status: Status) -> str:
    quotes = status.quotes
    if not status.reviewers:
        return ""
    sentence = f"{quotes.verified:,} of {plural(quotes.quotes, 'quote')} found verbatim in the packet"
    changed = f"; {plural(quotes.changed, 'verdict')} from before evidence was added" if quotes.changed else ""
    return f"{sentence}{changed}{f'; {quotes.without:,} without a quote' if quotes.without else ''}"


def _second(status: Status, handle: str) -> str:
    if not status.reviewers:
        return ""
    read = status.reviewed + len(status.stale)
    if status.seconded:
        sentence = (
            f"{status.seconded:,} of {read:,} verdicts have one; compare them: `errata review agreement {handle}`"
        )
    else:
        sentence = (
            f"none of {plural(read, 'verdict')} has one, so agreement is unknown; get one with `errata review next "
            f"{handle} --second --model MODEL@VERSION` or `errata review run {handle} --second`"
        )
    if not status.need_second:
        return sentence
    names = ", ".join(case_of(status.stored, attempt) for attempt in status.need_second[:NAMED])
    more = f" and {len(status.need_second) - NAMED:,} more" if len(status.need_second) > NAMED else ""
    return f"{sentence}; required before these verdicts count: {names}{more}"


def _put_cases(label: str, status: Status, attempts: tuple[str, ...], meaning: str) -> None:
    if attempts:
        names = ", ".join(case_of(status.stored, attempt) for attempt in attempts[:NAMED])
        more = f" and {len(attempts) - NAMED:,} more" if len(attempts) > NAMED else ""
        _line(label, f"{len(attempts):,}   {names}{more}: {meaning}")


def _put_doubts(status: Status) -> None:
    if not status.doubts:
        _line("open doubts", "0" if status.reviewers else "")
    for at, doubt in enumerate(status.doubts[:NAMED]):
        count = f"{len(status.doubts):,}" if at == 0 else ""
        put(
            f"{'' if at else 'open doubts':<15} {count:<3} {doubt.case}: {one_line(doubt.doubt, LONGEST)}",
            hang=HANG + 4,
        )
    if len(status.doubts) > NAMED:
        put(f"{'':<{HANG + 4}}and {len(status.doubts) - NAMED:,} more with --json")


def _refusals(status: Status) -> str:
    if not status.refused:
        return ""
    most = list(status.refusals.items())[:NAMED]
    left = f"{plural(status.unmended, 'failure')} still without an accepted one" if status.unmended else "all corrected"
    reasons = "; ".join(f"{count}× {one_line(why, REASON)}" for why, count in most)
    return f"{plural(status.refused, 'answer')}, {left}; {reasons}"


def _spent(spent: SpentOutput) -> str:
    """Known and unknown cost: missing is not zero."""
    cost = money(spent.cost) if spent.cost is not None else "unknown"
    unknown = f", unknown for {spent.unpriced:,}" if spent.unpriced and spent.cost is not None else ""
    tokens = f" · {number(spent.tokens)} tokens" if spent.tokens is not None else ""
    failed = f" · {spent.failed:,} failed" if spent.failed else ""
    lost_cost = "unknown cost" if spent.lost_cost is None else f"about {money(spent.lost_cost)}"
    lost = f" · {spent.lost:,} lost, perhaps billed: {lost_cost}" if spent.lost else ""
    return f"{cost}{unknown} · {spent.reviewer} · {plural(spent.calls, 'call')}{tokens}{failed}{lost}"
