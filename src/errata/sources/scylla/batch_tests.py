"""One test of a batch in one session: an attempt from its summary row, its log block, or both.

The batch runner also calls a test `fail` if it found no score since a worker crashed before any agent ran. Such a test
cost nothing, and without an answer it has no outcome.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from errata.model import Attempt, Check, ErrorInfo, Part, SourceRef, Usage, UsageByRole, attempt_id, case_key
from errata.model.words import ErrorText
from errata.sources.base import number_or_none as number
from errata.sources.scylla.log_lines import LOW_RESOURCES
from errata.sources.scylla.thread_log import LogBlock, ResultBlock, TierResult
from errata.sources.shared.facts import MISSING, NOT_MADE, UNFINISHED, Facts
from errata.sources.shared.values import integer, last_part, non_empty, text
from errata.text.redact import redact

SUITE = "projectscylla"
PASS_ABOVE = 0.5
"""The batch runner's rule: a test passes if its best tier scores more than this."""
CANCELLED = Facts("cancelled", "not_run", "none")
NOT_SCORED = Facts("completed", "not_run", "none")
NO_VERDICT = Facts("completed", "error", "none")
"""An agent worked, and all judgments of its work are invalid: the score of 0 is not a verdict."""


class SessionTest(msgspec.Struct, frozen=True):
    """Everything known about one test in one session."""

    test: str
    session: int
    block: LogBlock | None = None
    row: dict[str, Any] | None = None
    ref: SourceRef | None = None
    """The summary row."""
    index: int = 1
    """Above 1 for a repeated row of the same test."""


class TestFigures(NamedTuple):
    """The figures of a test, from whichever file has them."""

    status: str = ""
    exit_code: int | None = None
    score: float | None = None
    cost: float | None = None
    ended: bool = False
    """Whether the process is known to have ended."""
    has_result: bool = False
    """Whether there is a report, or a result block in the log."""


def attempt_of(run: str, test: SessionTest) -> Attempt:
    figures = _figures(test)
    facts = _facts_of_test(test, figures)
    errors = test.block.errors.infos(test.block.file, measured=facts.outcome != "none") if test.block else ()
    lasting = [error for error in errors if not error.recovered and error.type != LOW_RESOURCES]
    row, result = test.row or {}, test.block.result if test.block else None
    case = case_key(SUITE, test.test)
    return Attempt(
        run=run,
        case=case,
        index=test.index,
        session=test.session,
        duplicate_of=attempt_id(run, case, session=test.session) if test.index > 1 else None,
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        threshold=PASS_ABOVE,
        native_status=text(row.get("status")),
        native_reason=redact(text(row.get("error"))),
        reported=figures.score if test.row or facts.measurement == "scored" else None,
        reported_counted=test.row is not None,
        errors=errors if lasting else (*_errors_without_log(test, figures, facts), *errors),
        checks=_tier_checks(result, facts) or _best_tier_check(row, figures, facts),
        usage=usage_of_cost(figures.cost),
        started_at=test.block.started_at if test.block else None,
        finished_at=test.block.finished_at if test.block else None,
        duration=_duration(test),
        durations=_wall_clock(test.block),
        exit_code=figures.exit_code,
        parts=tuple(_parts(result, row)),
        cost_of_pass=number(row.get("frontier_cop") if test.row else result and result.frontier_cop),
        ref=test.block.ref if test.block else test.ref,
        extra=_extra_of_row(test) | _extra_of_block(test.block),
    )


def usage_of_cost(cost: float | None) -> UsageByRole:
    return UsageByRole() if cost is None else UsageByRole(subject=Usage(cost=cost, cost_source="reported"))


def _figures(test: SessionTest) -> TestFigures:
    row, block = test.row or {}, test.block
    result = block.result if block else None
    logged_result = result if result is not None and result.complete else None
    exit_code = integer(row.get("exit_code"))
    score, cost = number(row.get("best_score")), number(row.get("total_cost"))
    return TestFigures(
        status=text(row.get("status")),
        exit_code=exit_code if exit_code is not None or block is None else block.exit_code,
        score=score if score is not None or test.row or logged_result is None else logged_result.best_score,
        cost=cost if cost is not None or test.row or logged_result is None else logged_result.cost,
        ended=block.finished_at is not None if block else test.row is not None,
        has_result="best_score" in row or "total_cost" in row or (test.row is None and logged_result is not None),
    )


def _errors_without_log(test: SessionTest, figures: TestFigures, facts: Facts) -> tuple[ErrorInfo, ...]:
    """Without a logged exception: what shows that the test did not run."""
    if facts.execution != "error":
        return ()
    ref = test.ref or (test.block.ref if test.block else None)
    row_error = text((test.row or {}).get("error"))
    if row_error or figures.exit_code not in (0, None):
        kind, message = "ExitCode", redact(row_error or f"Exit code: {figures.exit_code}")
    elif not figures.has_result:
        kind, message = "NoResult", "the process ended, but there is no report and no result in the log"
    else:
        kind, message = "NothingSpent", "the harness reports `fail`, but the test cost $0: no agent was called"
    derived: tuple[ErrorText, ...] = ("type",) if kind == "ExitCode" else ("type", "message")
    return (ErrorInfo(type=kind, message=message, phase="aggregation", derived=derived, ref=ref),)


def _tier_checks(result: ResultBlock | None, facts: Facts) -> tuple[Check, ...]:
    if result is None:
        return ()
    return tuple(_tier_check(tier, order, result, facts) for order, tier in enumerate(result.tiers, 1))


def _best_tier_check(row: dict[str, Any], figures: TestFigures, facts: Facts) -> tuple[Check, ...]:
    """Without a log, the summary still names the best tier."""
    best = TierResult(text(row.get("best_tier")), facts.outcome == "pass", figures.score, None, 0)
    return (_tier_check(best, 1, ResultBlock(0, best_tier=best.tier), facts),) if best.tier else ()


def _tier_check(tier: TierResult, order: int, result: ResultBlock, facts: Facts) -> Check:
    """Only the best tier decides the outcome; if none is best, all of them do."""
    word = "PASS" if tier.passed else "FAIL"
    is_scored = facts.measurement == "scored"
    return Check(
        name=tier.tier,
        scorer="tier score",
        order=order,
        kind="reward",
        status=("pass" if tier.passed else "fail") if is_scored else "not_run",
        value=tier.score,
        threshold=PASS_ABOVE,
        is_primary=tier.tier == result.best_tier,
        counts=is_scored and result.best_tier in ("", tier.tier),
        reason_code=word,
        extra=non_empty(cost=tier.cost, line=tier.line or None),
    )


def _parts(result: ResultBlock | None, row: dict[str, Any]) -> Iterator[Part]:
    """The tiers in the log; without a log, the best tier in the summary."""
    best = text(row.get("best_tier")) or (result.best_tier if result else "")
    for tier in result.tiers if result else ():
        yield Part(path=tier.tier, score=tier.score, cost=tier.cost, is_best=tier.tier == best)
        if tier.tier == best and result and result.best_subtest:
            yield Part(path=f"{best}/{result.best_subtest}", is_best=True)
    if best and not (result and result.tiers):
        yield Part(path=best, score=number(row.get("best_score")), is_best=True)


def _duration(test: SessionTest) -> float | None:
    """A resume repeats the duration of the stored runs; the time it took itself is kept as wall clock."""
    summary_duration = number((test.row or {}).get("total_duration"))
    if summary_duration is not None or test.block is None:
        return summary_duration
    result = test.block.result
    return result.duration if result is not None and result.duration is not None else test.block.seconds


def _wall_clock(block: LogBlock | None) -> dict[str, float]:
    return {"wall_clock": block.seconds} if block and block.seconds is not None else {}


def _extra_of_row(test: SessionTest) -> dict[str, Any]:
    if test.row is None:
        return {}
    row = {name: value for name, value in test.row.items() if name not in ("test_id", "result_dir")}
    facts = non_empty(**{text(name): redact(value) if isinstance(value, str) else value for name, value in row.items()})
    summary = {"ref": str(test.ref)} if test.ref else {}
    return facts | non_empty(result_dir=last_part(test.row.get("result_dir")), summary=summary)


def _extra_of_block(block: LogBlock | None) -> dict[str, Any]:
    if block is None:
        return {}
    return non_empty(
        log={"file": block.file, "first_line": block.line, "last_line": block.last_line},
        command=redact(block.command),
        logged_result=_result_in_log(block.result),
        experiment_complete=[one.line for one in block.results],
        resumed_from=last_part(block.resumed_from.removesuffix("/checkpoint.json")),
        previously_completed=block.previously_completed,
        reused_runs=block.reused or None,
        last_stages=block.stages,
        notes=[{"line": line, "text": note} for line, note in block.notes],
        errors_left_out=block.errors.left_out or None,
    )


def _result_in_log(result: ResultBlock | None) -> dict[str, Any] | None:
    if result is None:
        return None
    return non_empty(
        best_tier=result.best_tier,
        best_subtest=result.best_subtest,
        best_score=result.best_score,
        frontier_cop=number(result.frontier_cop) if number(result.frontier_cop) is not None else result.frontier_cop,
        total_cost=result.cost,
        total_duration=result.duration,
        none_passed=result.none_passed or None,
    )


def facts_of_score(score: float) -> Facts:
    return Facts("completed", "scored", "pass" if score > PASS_ABOVE else "fail")


def _facts_of_test(test: SessionTest, figures: TestFigures) -> Facts:
    if test.block is None:
        return facts_of(figures, has_errors=False) if test.row else MISSING
    errors, result = test.block.errors, test.block.result
    facts = facts_of(figures, has_errors=bool(errors))
    if facts == NOT_MADE and errors.is_interrupted:
        return CANCELLED
    if facts.outcome != "fail" or figures.score or any(tier.score for tier in (result.tiers if result else ())):
        return facts
    # the runner also writes a score of 0 where nothing was judged
    if errors.gave_up:
        return CANCELLED if errors.is_interrupted else NOT_MADE
    return NO_VERDICT if errors.has_no_verdict else facts


def facts_of(figures: TestFigures, *, has_errors: bool) -> Facts:
    if figures.status in ("error", "unknown") or figures.exit_code not in (0, None):
        return NOT_MADE
    if not figures.has_result:
        return NOT_MADE if figures.ended or has_errors else UNFINISHED
    by_score = _by_score(figures)
    if by_score is None or (by_score.outcome == "fail" and figures.cost == 0):
        return NOT_MADE
    return by_score


def _by_score(figures: TestFigures) -> Facts | None:
    if figures.score is not None:
        return facts_of_score(figures.score)
    return {"pass": facts_of_score(1), "fail": facts_of_score(0)}.get(figures.status)
