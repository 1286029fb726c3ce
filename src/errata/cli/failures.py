"""`errata failures`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import get_args

import click
import msgspec

from errata.cli.fitting import WIDTH, columns
from errata.cli.options import Options, failure_filters, raw_option, reports_option, shared_options
from errata.cli.output import plural, put, put_command, put_json, put_lines_of_json
from errata.cli.render.fields import visible_name
from errata.cli.render.runs import attempts_in_words, failures_in_words, passes_in_words, title_of
from errata.cli.table import BELOW, put_table
from errata.compare.matrix import natural
from errata.errors import SettingsError
from errata.model import StoredRun
from errata.model.filters import Filters
from errata.model.output.failures import ListedFailureOutput
from errata.model.words import Confidence
from errata.render.proof import PROOF_EXPLAINED, PROOF_WORDS, how_sure, owners_state
from errata.runs.failures import Failure, refuse_unknown
from errata.runs.first_page import without_failures, words_without_failures
from errata.runs.names import handle_of, runs_named
from errata.runs.suspicions import SuspiciousPass, contradictory_passes, count_suspicious, suspicious_passes
from errata.runs.view import RunView
from errata.triage.reasons import reason_in_words
from errata.triage.rulesets import project_in_use
from errata.verbs.store import Store

HEADER = ("case", "failed checks", "owner", "conf", "signal")
CONFIDENCE = HEADER.index("conf")
CHECKS = 30
REASON = 24
"""A reason that would get fewer columns than this gets its own line."""


@click.command("failures")
@click.argument("runs", nargs=-1, metavar="RUN…")
@failure_filters
@click.option("--suspicious", is_flag=True, help="List suspicious passes instead of failures.")
@click.option(
    "--like",
    default="",
    metavar="RUN/CASE|TEXT",
    help="Find the same failure over models, runs and reports; without RUN, in all runs.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Show at most N per run; with --like, N in all.")
@reports_option
@raw_option
@shared_options
def command(
    runs: tuple[str, ...],
    limit: int | None,
    suspicious: bool,
    like: str,
    raw: bool,
    options: Options,
    **chosen: str | None,
) -> None:
    """List failures with owner and evidence.

    A failure is a counted attempt that did not pass or could not be measured. `errata check` lists unfinished, skipped
    and missing cases.

    `--like RUN/CASE` and `--like "text of an error"` find the same failure elsewhere: how often, the runs, models
    and earlier reports, why it matches, and what was done about it.
    """
    filters = Filters(**{name: value or "" for name, value in chosen.items()})
    if like:
        _find_similar(like, runs, filters, limit, suspicious=suspicious, raw=raw, options=options)
        return
    if not runs:
        context = click.get_current_context()
        raise click.MissingParameter(ctx=context, param=context.command.params[0])
    store = options.store
    looked_at: list[StoredRun] = []
    count = 0
    for stored in runs_named(runs, store):
        if not options.json:
            put(("\n" if looked_at else "") + title_of(stored.run, handle_of(stored, store)))
        looked_at.append(stored)
        if suspicious:
            passes = suspicions_of(stored, store, filters, limit)
            count += (put_lines_of_json if options.json else partial(show_suspicions, stored, store, limit=limit))(
                passes, raw=raw
            )
        else:
            failures = RunView(stored, store).failures(filters, limit=limit)
            show = partial(show_failures, stored, handle_of(stored, store))
            count += (_put_json if options.json else show)(failures, raw=raw)
    if not count:
        refuse_unknown(filters, [RunView(stored, store) for stored in looked_at])


def _put_json(failures: Iterable[Failure], *, raw: bool) -> int:
    project = project_in_use()
    if not project:
        return put_lines_of_json(failures, raw=raw)
    count = 0
    for failure in failures:
        put_json(ListedFailureOutput(**msgspec.structs.asdict(failure.as_json()), project=project), raw=raw)
        count += 1
    return count


def _find_similar(
    like: str,
    runs: tuple[str, ...],
    filters: Filters,
    limit: int | None,
    *,
    suspicious: bool,
    raw: bool,
    options: Options,
) -> None:
    if suspicious or filters != Filters():
        raise SettingsError(
            "`--like` searches all failures and takes no filter",
            hint="combine it only with RUN…, `--limit` and `--reports`",
        )
    from errata.cli.failures_like import put_similar

    put_similar(like, runs, options, limit, raw=raw)


NAMED = 5


def show_failures(stored: StoredRun, handle: str, failures: Iterable[Failure], *, raw: bool) -> int:
    listed = sorted(failures, key=lambda one: (natural(one.case_name), one.attempt.index))
    if listed:
        _put_rows(listed, raw=raw)
    counts = stored.counts
    shown = "" if len(listed) == counts.failures else f", {len(listed):,} listed"
    if not counts.failures and (counts.mean is not None or counts.has_only_labels):
        put(f"{words_without_failures(without_failures(stored))}.")
        return 0
    total = f"{failures_in_words(stored)} in {attempts_in_words(stored)}{shown if listed else ''}"
    if counts.failures and not listed:
        put(f"No failure matches the filters: {total}, none listed")
        return 0
    put(f"{total}{_where_owners_come_from(listed)}")
    _put_confidence(listed)
    _put_contradicted(listed)
    if _are_reported(listed):
        put(f"before = earlier reports that name the case{_legend(listed)}")
    again = [failure.attempt for failure in listed if failure.attempt.index > 1]
    if any(attempt.duplicate_of is None for attempt in again):
        put("#2 = the second attempt at the case")
    elif again:
        put("#2 = the second row of the case; where rows disagree, the case is contradictory and `clean` leaves it out")
    if listed:
        first = listed[0]
        number = f"#{first.attempt.index}" if first.attempt.index > 1 else ""
        command = ["errata", "show", f"{handle}/{first.case_name}{number}"]
        put()
        put_command("Next", command, "show the evidence of one failure")
    return len(listed)


def _put_confidence(listed: Sequence[Failure]) -> None:
    """Explain the words of the column `conf`, as far as they occur."""
    words = {_row(failure)[CONFIDENCE] for failure in listed}
    degrees = "confidence in the owner: certain, likely or weak" if words & set(get_args(Confidence)) else ""
    proofs = PROOF_EXPLAINED if words & set(PROOF_WORDS.values()) else ""
    if degrees or proofs:
        put(f"conf = {'; '.join(filter(None, (degrees, proofs)))}")


def _put_contradicted(listed: Sequence[Failure]) -> None:
    """Failures that a judge and a program see differently: one of the two is wrong, and a reader has to decide."""
    names = [
        failure.case_name
        for failure in listed
        if failure.attribution and any(signal.name == "judge_contradicts" for signal in failure.attribution.signals)
    ]
    if names:
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        cases = f"{', '.join(names[:NAMED])}{more}"
        put(f"judge and program disagree in {plural(len(names), 'of these failures', 'of these failures')}: {cases}")


def _before(failure: Failure) -> str:
    before, count = failure.before, str(failure.times_reported or 0)
    if before is None:
        return count
    return f"{count} (fixed?)" if before.should_be_gone else f"{count} (other)" if before.failed_otherwise else count


def _legend(listed: Sequence[Failure]) -> str:
    histories = [failure.before for failure in listed if failure.before is not None]
    due = "; fixed?: an earlier fix should have removed it" if any(one.should_be_gone for one in histories) else ""
    other = "; other: failed before, in another way" if any(one.failed_otherwise for one in histories) else ""
    return f"{due}{other}"


def _are_reported(listed: Sequence[Failure]) -> bool:
    return any(failure.times_reported for failure in listed)


def _where_owners_come_from(listed: Sequence[Failure]) -> str:
    if not listed:
        return ""
    standings = [failure.standing for failure in listed if failure.standing is not None]
    second = sum(not one.final and one.verdict.inherited_from is None for one in standings)
    state = owners_state(len(listed), by_rules=len(listed) - len(standings), need_second=second)
    return f" · {state.replace('PROVISIONAL', 'provisional').replace('Owners', 'owners')}"


def _put_rows(listed: Sequence[Failure], *, raw: bool) -> None:
    """The reason gets the width that the other columns leave, or its own line below each row."""
    rows = [_row(failure) for failure in listed]
    reasons = [_reason(failure) for failure in listed]
    read = any(failure.standing for failure in listed)
    header: tuple[str, ...] = (*HEADER[:-1], "label or signal") if read else HEADER
    give_way: tuple[str, ...] = ("failed checks",)
    if _are_reported(listed):
        header, give_way = (*header, "before"), ("failed checks", header[-1])
        rows = [(*row, _before(failure)) for row, failure in zip(rows, listed, strict=True)]
    taken = sum(2 + max(columns(name), *(columns(row[at]) for row in rows)) for at, name in enumerate(header))
    if not any(reasons):
        put_table(header, rows, give_way=give_way, whole=("case", "failed checks"), raw=raw)
    elif taken + REASON <= WIDTH and _mostly_fit(reasons, WIDTH - taken):
        beside = [(*row, reason or "–") for row, reason in zip(rows, reasons, strict=True)]
        put_table((*header, "reason"), beside, give_way=("reason",), raw=raw)
    else:
        below = _once(rows, reasons)
        put_table(header, rows, give_way=give_way, whole=("case", "failed checks"), below=below, below_lines=2, raw=raw)


def _once(rows: Sequence[tuple[str, ...]], reasons: Sequence[str]) -> list[str]:
    """A reason that needs two lines is printed once; the other rows name the first one that has it."""
    first: dict[str, str] = {}
    for row, reason in zip(rows, reasons, strict=True):
        first.setdefault(reason, row[0])
    return [
        reason if columns(reason) <= WIDTH - BELOW or first[reason] == row[0] else f"as in {first[reason]}"
        for row, reason in zip(rows, reasons, strict=True)
    ]


def _mostly_fit(reasons: Sequence[str], room: int) -> bool:
    """Whether three in four of the reasons need not be cut."""
    given = [reason for reason in reasons if reason]
    return sum(columns(reason) <= room for reason in given) * 4 >= len(given) * 3


def _reason(failure: Failure) -> str:
    """A reviewed failure shows the cause from its verdict."""
    cause = failure.standing.verdict.cause if failure.standing is not None else ""
    return cause or reason_in_words(failure.attempt, failure.reason)


def _row(failure: Failure) -> tuple[str, ...]:
    attempt, attribution = failure.attempt, failure.attribution
    number = f" #{attempt.index}" if attempt.index > 1 else ""
    owner, confidence, rule = (
        (attribution.owner, how_sure(attribution), attribution.decided_by) if attribution else ("–", "–", "–")
    )
    if failure.standing is not None:
        verdict = failure.standing.verdict
        owner, confidence, rule = verdict.owner, verdict.confidence, verdict.label
    return (visible_name(failure.case_name) + number, _checks(attempt.failed_checks), owner, confidence, rule)


def _checks(names: Sequence[str]) -> str:
    """All of them if they fit, else the first and the number of the rest."""
    joined = ", ".join(names) or "–"
    return joined if columns(joined) <= CHECKS or len(names) == 1 else f"{names[0]} +{len(names) - 1}"


SUSPICION_COLUMNS = ("case", "suspicion", "conf", "where", "quote")


def suspicions_of(
    stored: StoredRun, store: Store, filters: Filters, limit: int | None = None
) -> Iterator[SuspiciousPass]:
    if filters != Filters(case=filters.case):
        raise SettingsError(
            "`--suspicious` lists passes, which have no owner and no failed check",
            hint="combine it only with `--case` and `--limit`",
        )
    passes = (one for one in suspicious_passes(stored, store) if filters.case in one.case_name)
    return islice(passes, limit)


def show_suspicions(
    stored: StoredRun,
    store: Store,
    suspicions: Iterable[SuspiciousPass],
    *,
    limit: int | None = None,
    raw: bool = False,
) -> int:
    listed = list(suspicions)
    passes = stored.counts.outcomes.get("pass", 0) - sum(contradictory_passes(stored, store).values())
    if not listed:
        put(f"No suspicious passes among {passes:,}")
        return 0
    least = "At least " if limit is not None and len(listed) == limit else ""
    put(f"{least}{passes_in_words(passes, count_suspicious(listed))}; scores count them as passed")
    meanings = Counter((one.suspicion.signal.name, one.means) for one in listed)
    for (name, means), count in meanings.most_common():
        put(f"{count:>4,}× {name}: {means}", hang=6)
    put()
    put_table(SUSPICION_COLUMNS, [_suspicion_row(one) for one in listed], give_way=("quote", "where"), raw=raw)
    put("conf = confidence in the suspicion: certain, likely or weak")
    return len(listed)


def _suspicion_row(suspect: SuspiciousPass) -> tuple[str, ...]:
    seen = suspect.suspicion
    number = f" #{seen.index}" if seen.index > 1 else ""
    return (
        visible_name(suspect.case_name) + number,
        seen.signal.name,
        seen.signal.strength,
        seen.signal.where,
        seen.signal.words or "–",
    )
