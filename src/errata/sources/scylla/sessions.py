"""Sessions: one batch folder may hold the traces of several executions, told apart by the times of all threads."""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from errata.model import Session, times
from errata.sources.scylla.thread_log import Block
from errata.sources.shared.values import non_empty
from errata.text.redact import redact

IDLE = timedelta(minutes=15)
"""Threads go on to their next test at once; when all of them rest for longer, the batch was started anew."""


def number_sessions(blocks: list[Block]) -> None:
    """Give every block the number of its session."""
    number, seen, until = 0, dict[str, Block](), datetime.max.replace(tzinfo=UTC)
    for block in sorted(blocks, key=lambda block: times.parse(block.started_at)):
        start = times.parse(block.started_at)
        rests = start >= until
        other_command = rests and _signature(block) != _signature(next(reversed(seen.values())))
        if not seen or block.test in seen or other_command or (rests and start - until > IDLE):
            number, seen, until = number + 1, {}, start
        seen[block.test] = block
        until = max(until, _end(block))
        block.session = number


def describe_sessions(blocks: list[Block]) -> tuple[Session, ...]:
    by_number: dict[int, list[Block]] = {}
    for block in blocks:
        by_number.setdefault(block.session, []).append(block)
    return tuple(_session(number, of_it) for number, of_it in sorted(by_number.items()))


def reuses_runs(block: Block) -> bool:
    return block.reused > 0 and not failed_for_nothing(block)


def failed_for_nothing(block: Block) -> bool:
    """The harness's `fail` at $0: nothing was asked of the model."""
    result = block.result
    return result is not None and result.cost == 0 and (result.best_score or 0) <= 0.5


def passed(block: Block) -> bool:
    result = block.result
    return result is not None and block.exit_code in (0, None) and (result.best_score or 0) > 0.5


def _session(number: int, blocks: list[Block]) -> Session:
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
        "passed": sum(map(passed, blocks)),
        "reused": sum(map(reuses_runs, blocks)),
        "failed_at_zero_cost": sum(map(failed_for_nothing, blocks)),
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


def _pattern(blocks: list[Block], cost: float, counts: dict[str, int]) -> str:
    exits = {block.exit_code for block in blocks}
    if len(exits) == 1 and exits.isdisjoint({0, None}) and not counts["experiment_complete_blocks"]:
        messages = Counter(error.message or error.type for block in blocks for error in block.errors.infos(block.file))
        why = f": {messages.most_common(1)[0][0].splitlines()[0]}" if messages else ""
        return f"every test exit {exits.pop()}{why}; no cost"
    zero = counts["failed_at_zero_cost"]
    crashed = sum(1 for block in blocks if block.exit_code not in (0, None))
    rest = [f"{zero} fail at $0"] if zero else []
    rest += [f"{crashed} end with a non-zero exit code"] if crashed else []
    if counts["resumed"] * 2 > len(blocks):
        return ", ".join([f"resume; {counts['reused']} tests reuse stored runs", *rest])
    return ", ".join([f"real costs, ${cost:.2f} in all; {counts['passed']} passed", *rest])


def _signature(block: Block) -> str:
    """The command without the name of the test."""
    return block.command.replace(block.test, "<test>")


def _end(block: Block) -> datetime:
    return times.parse(block.finished_at or _shown_end(block) or block.started_at)


def _shown_end(block: Block) -> str | None:
    """Where the `Completed` line is missing: the start and the duration that the result block gives."""
    result = block.result
    if result is None or result.duration is None or result.duration > 10**7:
        return None
    try:
        return times.from_iso((times.parse(block.started_at) + timedelta(seconds=result.duration)).isoformat())
    except OverflowError:
        return None


def _latest(moments: Iterable[str | None]) -> str | None:
    return max((moment for moment in moments if moment), key=times.parse, default=None)
