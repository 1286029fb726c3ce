"""Sessions of a batch: one folder may hold several executions, which are separated by the times of all threads."""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from errata.model import Session, times
from errata.sources.scylla.thread_log import LogBlock
from errata.sources.shared.values import non_empty
from errata.text.redact import redact

IDLE = timedelta(minutes=15)
"""If all threads are idle for longer, the batch was restarted."""
AT_ONCE = timedelta(seconds=2)
"""A thread starts its next test at once; a restarted batch needs longer, even with another command."""


def number_sessions(blocks: list[LogBlock]) -> None:
    number, seen, until = 0, dict[str, LogBlock](), datetime.max.replace(tzinfo=UTC)
    for block in sorted(blocks, key=lambda block: times.parse(block.started_at)):
        start = times.parse(block.started_at)
        rest = start - until
        other_command = rest > AT_ONCE and _signature(block) != _signature(next(reversed(seen.values())))
        if not seen or block.test in seen or other_command or rest > IDLE:
            number, seen, until = number + 1, {}, start
        seen[block.test] = block
        until = max(until, _end(block))
        block.session = number


def describe_sessions(blocks: list[LogBlock]) -> tuple[Session, ...]:
    by_number: dict[int, list[LogBlock]] = {}
    for block in blocks:
        by_number.setdefault(block.session, []).append(block)
    return tuple(_session(number, of_it) for number, of_it in sorted(by_number.items()))


def reuses_runs(block: LogBlock) -> bool:
    return block.reused > 0 and not failed_at_no_cost(block)


def failed_at_no_cost(block: LogBlock) -> bool:
    """The harness's `fail` at $0: the model was never called."""
    result = block.result
    return result is not None and result.cost == 0 and (result.best_score or 0) <= 0.5


def is_passed(block: LogBlock) -> bool:
    result = block.result
    return result is not None and block.exit_code in (0, None) and (result.best_score or 0) > 0.5


def _cost_of_reused(blocks: list[LogBlock]) -> float:
    """A resume repeats the cost of stored runs. Where it started no agent and no judge, it spent nothing itself."""
    reused = [block for block in blocks if reuses_runs(block) and not block.stages]
    return sum(block.result.cost for block in reused if block.result is not None and block.result.cost is not None)


def _session(number: int, blocks: list[LogBlock]) -> Session:
    costs = [result.cost for block in blocks for result in block.results[-1:] if result.cost is not None]
    exits = Counter(str(block.exit_code) for block in blocks)
    extra = non_empty(
        tests_started=len(blocks),
        exit_codes=dict(sorted(exits.items())),
        total_cost=round(sum(costs), 6) if costs else None,
        commands=sorted({redact(_signature(block)) for block in blocks if block.command})[:10],
        threads=sorted({block.file for block in blocks}),
    )
    counts = {
        "passed": sum(map(is_passed, blocks)),
        "reused": sum(map(reuses_runs, blocks)),
        "failed_at_zero_cost": sum(map(failed_at_no_cost, blocks)),
        "resumed": sum(bool(block.resumed_from) for block in blocks),
        "experiment_complete_blocks": sum(len(block.results) for block in blocks),
    }
    return Session(
        number=number,
        started_at=min((block.started_at for block in blocks), key=times.parse),
        finished_at=_latest(block.finished_at or _shown_end(block) for block in blocks),
        pattern=_pattern(blocks, sum(costs), counts),
        extra=extra | counts,
    )


def _pattern(blocks: list[LogBlock], cost: float, counts: dict[str, int]) -> str:
    exits = {block.exit_code for block in blocks}
    if len(exits) == 1 and exits.isdisjoint({0, None}) and not counts["experiment_complete_blocks"]:
        messages = Counter(error.message or error.type for block in blocks for error in block.errors.infos(block.file))
        why = f": {messages.most_common(1)[0][0].splitlines()[0]}" if messages else ""
        return f"every test ended with exit code {exits.pop()}{why}; no cost"
    zero = counts["failed_at_zero_cost"]
    crashed = sum(1 for block in blocks if block.exit_code not in (0, None))
    rest = [f"{zero} failed at $0"] if zero else []
    rest += [f"{crashed} ended with a non-zero exit code"] if crashed else []
    if counts["resumed"] * 2 > len(blocks):
        reused = _cost_of_reused(blocks)
        spent = f" (${reused:.2f}, spent in an earlier session)" if reused else ""
        return ", ".join([f"resumed; {counts['reused']} tests reuse stored results{spent}", *rest])
    return ", ".join([f"spent ${cost:.2f}; {counts['passed']} passed", *rest])


def _signature(block: LogBlock) -> str:
    return block.command.replace(block.test, "<test>")


def _end(block: LogBlock) -> datetime:
    return times.parse(block.finished_at or _shown_end(block) or block.started_at)


def _shown_end(block: LogBlock) -> str | None:
    """Without a `Completed` line: the start plus the duration in the result block."""
    result = block.result
    if result is None or result.duration is None or result.duration > 10**7:
        return None
    try:
        return times.from_iso((times.parse(block.started_at) + timedelta(seconds=result.duration)).isoformat())
    except OverflowError:
        return None


def _latest(moments: Iterable[str | None]) -> str | None:
    return max((moment for moment in moments if moment), key=times.parse, default=None)
