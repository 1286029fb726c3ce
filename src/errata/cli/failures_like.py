"""`errata failures --like`: the page and the JSON."""

from collections.abc import Sequence

import msgspec

from errata.cli.options import Options
from errata.cli.output import plural, put, put_json
from errata.cli.render.history import put_action
from errata.cli.table import put_table
from errata.json_output.review import action_output
from errata.memory.history import ReportMatch
from errata.model.history import Match
from errata.model.output.failures import (
    SimilarEntryOutput,
    SimilarFailureOutput,
    SimilarFailuresOutput,
    SimilarGapOutput,
    SoughtOutput,
)
from errata.runs.reports import began
from errata.text.clean import one_line
from errata.verbs.failures_like import FailureSought, SimilarFailure, SimilarFailures, find_similar

ON_PAGE, OF_EACH_RUN, IN_JSON = 20, 3, 1_000
"""Failures that are listed without `--limit`; on a page, a run with very many leaves room for the others."""
MOST_ENTRIES, MOST_ACTIONS, MOST_MODELS = 20, 8, 6
TEXT = 240
DAY = len("2026-03-04")
WHY: dict[Match, str] = {
    "same_key": "same key",
    "same_text": "same text",
    "same_check": "same case and check",
    "same_bucket": "same cause",
    "same_case": "same case",
    "similar_text": "similar text",
}


def put_similar(like: str, runs: Sequence[str], options: Options, limit: int | None, *, raw: bool) -> None:
    most = limit or (IN_JSON if options.json else ON_PAGE)
    of_each_run = OF_EACH_RUN if limit is None and not options.json else None
    result = find_similar(like, runs, options.store, most=most, of_each_run=of_each_run)
    if options.json:
        put_json(similar_output(result), raw=raw)
    else:
        _show(result, raw=raw)


def _show(result: SimilarFailures, *, raw: bool) -> None:
    _show_sought(result, raw=raw)
    _show_counts(result, raw=raw)
    if result.failures:
        put()
        put_table(
            ("run", "model", "date", "case", "why"),
            [_row(one) for one in result.failures],
            give_way=("model",),
            whole=("run", "case"),
            below=[one_line(one.reason, TEXT) for one in result.failures],
            below_lines=2,
            raw=raw,
        )
        if len(result.failures) < result.count:
            put(f"{result.count - len(result.failures):,} more: `--limit {result.count}` lists them")
    _show_entries(result.entries, raw=raw)
    _show_actions(result, raw=raw)


def _show_sought(result: SimilarFailures, *, raw: bool) -> None:
    sought = result.sought
    if sought.attempt is None:
        put(f"Failures like “{one_line(sought.text, TEXT)}”", raw=raw)
        return
    checks = ", ".join(sought.attempt.failed_checks)
    facts = ", ".join(part for part in (checks, sought.owner) if part)
    put(f"Failures like {result.handle}/{sought.name}{f' ({facts})' if facts else ''}", hang=4, raw=raw)
    if sought.text:
        put(f"    {one_line(sought.text, TEXT)}", hang=4, raw=raw)


def _show_counts(result: SimilarFailures, *, raw: bool) -> None:
    reports = len({one.mention.report for one in result.entries})
    entries = f", {plural(len(result.entries), 'entry', 'entries')} in {plural(reports, 'report')}" if reports else ""
    where = f"{result.runs:,} of {plural(result.searched, 'run')}"
    put(f"{plural(result.count, 'other failure' if result.sought.attempt else 'failure')} in {where}{entries}", hang=4)
    if not result.count:
        return
    put(f"  by      {' · '.join(f'{WHY[match]} ({count:,})' for match, count in result.matches.items())}", hang=10)
    models = [f"{name or 'no model named'} {count:,}" for name, count in result.models.items()]
    more = f" · {len(models) - MOST_MODELS:,} more" if len(models) > MOST_MODELS else ""
    put(f"  models  {' · '.join(models[:MOST_MODELS])}{more}", hang=10, raw=raw)
    days = dict.fromkeys(time[:DAY] for time in (result.first_seen, result.last_seen) if time)
    if days:
        put(f"  seen    {' to '.join(days)}", hang=10)


def _row(failure: SimilarFailure) -> tuple[str, ...]:
    number = f" #{failure.attempt.index}" if failure.attempt.index > 1 else ""
    return (
        failure.handle,
        failure.stored.run.subject.model or "–",
        (failure.stored.run.started_at or "–")[:DAY],
        failure.case_name + number,
        WHY[failure.match],
    )


def _show_entries(entries: Sequence[ReportMatch], *, raw: bool) -> None:
    if not entries:
        return
    put("\nEarlier reports")
    for entry in entries[:MOST_ENTRIES]:
        mention = entry.mention
        label = f"{mention.label} (by rule)" if mention.by_rule else mention.label
        facts = (mention.date or "undated", mention.model, entry.case or "pattern", mention.failed_check, label)
        put(f"  {' · '.join([*filter(None, facts), WHY[entry.match]])}", hang=4, raw=raw)
        if mention.text:
            put(f"    {one_line(mention.text, TEXT)}", hang=4, raw=raw)
        put(f"    {mention.report}{f':{mention.line}' if mention.line else ''}", hang=4, raw=raw)
    if len(entries) > MOST_ENTRIES:
        put(f"  {len(entries) - MOST_ENTRIES:,} more with --json")


def _show_actions(result: SimilarFailures, *, raw: bool) -> None:
    put("\nActions on these cases")
    for status in result.actions[:MOST_ACTIONS]:
        put_action(status, raw=raw)
    if len(result.actions) > MOST_ACTIONS:
        put(f"{len(result.actions) - MOST_ACTIONS:,} more: `errata action list` lists all")
    if not result.actions:
        put("  none recorded; `errata action add` records one", hang=4)
    if result.gaps:
        put("\nKnown gaps")
    for gap in result.gaps:
        since = f", since {gap.gap.since}" if gap.gap.since else ""
        covers = f"{plural(gap.failures, 'of these failures', 'of these failures')}{since}"
        put(f"  {gap.gap.case_key or gap.gap.pattern}: {gap.gap.text}", hang=4, raw=raw)
        put(f"    covers {covers}", hang=4)


# JSON


def similar_output(result: SimilarFailures) -> SimilarFailuresOutput:
    return SimilarFailuresOutput(
        like=_sought_output(result.sought),
        searched_runs=result.searched,
        count=result.count,
        matches=result.matches,
        models=result.models,
        runs=result.runs,
        first_seen=result.first_seen,
        last_seen=result.last_seen,
        failures=tuple(map(_failure_output, result.failures)),
        reports=tuple(
            SimilarEntryOutput(match=entry.match, case=entry.case or None, **msgspec.structs.asdict(entry.mention))
            for entry in result.entries
        ),
        actions=tuple(map(action_output, result.actions)),
        known_gaps=tuple(SimilarGapOutput(gap=one.gap, cases=one.cases, failures=one.failures) for one in result.gaps),
    )


def _sought_output(sought: FailureSought) -> SoughtOutput:
    run = sought.stored.run if sought.stored else None
    return SoughtOutput(
        text=sought.text,
        run=run.native_id if run else None,
        run_id=run.id if run else None,
        model=run.subject.model if run else None,
        case=sought.name or None,
        case_key=sought.case or None,
        attempt_id=sought.attempt.id if sought.attempt else None,
        failed_checks=sought.attempt.failed_checks if sought.attempt else None,
        owner=sought.owner,
        failure_key=sought.key if sought.attempt else None,
        bucket=sought.bucket.slug if sought.bucket else None,
    )


def _failure_output(failure: SimilarFailure) -> SimilarFailureOutput:
    run, attempt, attribution = failure.stored.run, failure.attempt, failure.attribution
    return SimilarFailureOutput(
        run=run.native_id,
        run_id=run.id,
        model=run.subject.model,
        case=failure.case_name,
        case_key=attempt.case,
        attempt=attempt.index,
        session=attempt.session,
        attempt_id=attempt.id,
        date=began(failure.stored),
        match=failure.match,
        owner=attribution.owner if attribution else None,
        failed_checks=attempt.failed_checks,
        reason=failure.reason or None,
        failure_key=attribution.failure_key if attribution else None,
        bucket=failure.bucket or None,
    )
