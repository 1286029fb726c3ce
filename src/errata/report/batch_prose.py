"""The sentences of a report about a batch, written from its facts."""

from collections.abc import Iterator

from errata.model.output.report.batch import (
    BatchCategory,
    BatchFailure,
    BatchReport,
    BatchSession,
    BatchTest,
    Criterion,
    EarlierResult,
    Moment,
    Share,
    SpreadGroup,
    StoredRuns,
)
from errata.render.figures import percent, plural
from errata.report.parts import name_list

MISLEADS = 0.02
"""Where strict and clean score are further apart than this, the page warns."""
NAMED = 8
MODEL = "The model did not solve the task"
GROUPS: dict[SpreadGroup, str] = {
    "passed": "passed",
    "failed_model": "failed, model",
    "failed_framework": "failed, framework",
    "all": "all",
}
_TO_DO = {
    "model": "Nothing to fix in the framework",
    "collateral": "Fix what stopped them, if needed; these are knock-on failures",
    "harness": "Fix the harness, then rerun them",
    "environment": "Fix the environment, then rerun them",
    "provider": "Rerun them",
    "budget": "Check the limits; rerun with larger ones if they were too small",
    "grader": "Check the grader before you use the score",
    "task": "Check the task before you use the score",
}


# the batch


def batch_answer(report: BatchReport) -> str:
    """The whole report in two or three sentences."""
    theirs = sum(len(one.tests) for one in report.categories if one.framework)
    parts = [f"{report.passed} of {len(report.tests)} pass."]
    if theirs:
        are = "is not the model's" if theirs == 1 else "are not the model's"
        parts.append(f"{theirs} of {plural(len(report.failures), 'failure')} {are}: infrastructure or knock-on.")
    if report.hidden_passes:
        parts.append(f"{len(report.hidden_passes)} of the failing tests passed in an earlier session.")
    return " ".join(parts)


def batch_warning(report: BatchReport) -> str:
    """A warning where the strict score misleads; else empty."""
    by_policy = {one.policy: one for one in report.scores}
    strict, clean = by_policy["strict"], by_policy["clean"]
    if not clean.total or strict.rate is None or clean.rate is None or abs(clean.rate - strict.rate) <= MISLEADS:
        return ""
    return (
        f"Do not publish {percent(strict.rate)}. The results on record support {clean.passed} of {clean.total} "
        f"({percent(clean.rate)})."
    )


def batch_advice(report: BatchReport) -> Iterator[str]:
    for category in report.categories:
        if category.framework:
            count = plural(len(category.tests), "test")
            yield f"{category.letter}, {count}: {category_title(category)}. {category_to_do(category)}"
    passes, fails = len(report.hidden_passes), len(report.hidden_fails)
    if passes or fails:
        yield (
            "Until the batch is resumed, use the results of earlier sessions as well: the latest summary hides "
            f"{plural(passes, 'pass', 'passes')} and {plural(fails, 'measured failure')}"
        )
    for session in report.sessions:
        if session.tried and session.not_measured == session.tried:
            recorded = f"session {session.number} recorded {session.tried} failures that measured nothing"
            yield f"Stop the batch when the first command can't start: {recorded}"
    if report.resumed and any(one.framework for one in report.categories):
        yield "Check stored results before resuming; loading those of one test shows such errors at once"
    yield from _quiet_exits(report)


def _quiet_exits(report: BatchReport) -> Iterator[str]:
    framework = {one.letter for one in report.categories if one.framework}
    broken = [one.test for one in report.failures if one.category in framework]
    quiet = sum(one.exit_code == 0 for one in broken)
    if quiet:
        yield f"Make failures exit with a non-zero code: {quiet} of {len(broken)} framework failures exited with 0"


def batch_limits(report: BatchReport) -> Iterator[str]:
    limits, tests = report.limits, len(report.tests)
    if limits.stored_tests and len(limits.stored_tests) < tests:
        which = f"{len(limits.stored_tests)} of {tests} tests ({name_list(limits.stored_tests, NAMED)})"
        yield f"Runs are stored for {which}; everything else comes from the summary and the logs."
    if limits.more_tries:
        more = f"{plural(limits.more_tries, 'more attempt')} at the same cases are not shown"
        yield f"{more}: a case counts as failed here if any of its attempts failed."
    if limits.unreadable:
        yield f"{plural(limits.unreadable, 'item')} of the logs could not be read: `errata check` lists them."
    unknown = sum(one.cost is None for one in report.tests)
    if unknown:
        yield f"{plural(unknown, 'test')} report no cost; it is unknown, not zero."
    bare = limits.model_failures_without_runs
    if bare:
        yield (
            f"{bare} of {plural(limits.model_failures, 'model failure')} have no stored runs: only their cost and "
            "score are known."
        )


def session_times(session: BatchSession) -> str:
    start, end = ((moment or "–")[:19].replace("T", " ") for moment in (session.started_at, session.finished_at))
    return f"{start} – {end[11:] if end[:10] == start[:10] else end}"


def exit_codes(session: BatchSession) -> str:
    return ", ".join(f"{code} for {often}" for code, often in session.exit_codes.items())


# a test


def part_of(test: BatchTest) -> str:
    return f"{share_words(test.part)} subtests" if test.part is not None else ""


def share_words(share: Share | None) -> str:
    return f"{share.count} of {share.of}" if share is not None else ""


def earlier_words(earlier: EarlierResult | None) -> str:
    if earlier is None:
        return ""
    if earlier.was == "not_run":
        return "not run"
    score = f" {earlier.score:.3f}" if earlier.score is not None else ""
    cost = f" ${earlier.cost:.4f}" if earlier.cost is not None else ""
    return f"{earlier.was.upper()}{score}{cost} in session {earlier.session}"


# a failure


def cause_of(failure: BatchFailure) -> str:
    if failure.cause:
        return failure.cause
    if not failure.decided_by:
        return ""
    if not failure.rule_means:
        return _unsolved(failure)
    fix = f" {_capital(failure.fix.cause)}." if failure.fix is not None and failure.fix.rule else ""
    return f"{_capital(failure.rule_means)}.{fix}"


def _unsolved(failure: BatchFailure) -> str:
    """Where no rule names a cause: the score, the error in the log, and the most common reason of the judges."""
    spent = " It spent money and was scored" if failure.test.cost else " It was scored"
    score = f": {failure.test.score:.3f}" if failure.test.score is not None else ""
    why = f' Log: "{failure.reason}".' if failure.reason else ""
    judge = ""
    if failure.judge is not None:
        runs = share_words(failure.judge.runs)
        judge = f' The judge on {runs} failed runs: "{failure.judge.text.rstrip(".")}".'
    return f"The task was not solved.{spent}{score}.{why}{judge}"


def needed_for(failure: BatchFailure, report: BatchReport) -> str:
    """What has to be done for this test."""
    category, earlier = report.category_of(failure), failure.test.earlier
    if category is None or not category.framework:
        return ""
    if earlier is not None and earlier.was == "pass":
        return f"A rerun gives the result of the earlier session again ({earlier_words(earlier)})"
    return "A rerun measures this test"


def stored_words(stored: StoredRuns | None) -> str:
    if stored is None:
        return ""
    return f"{stored.passed} of {stored.of} runs pass{f', ${stored.cost:.4f}' if stored.cost is not None else ''}"


def criterion_words(criterion: Criterion) -> str:
    return f"{criterion.name}: met {criterion.met.count} of {plural(criterion.met.of, 'time')}"


def moment_times(attempt: Moment) -> str:
    start, end = ((moment or "")[11:19] for moment in (attempt.started_at, attempt.finished_at))
    return f"{start} – {end}" if start and end else start or "unknown"


def moment_result(attempt: Moment) -> str:
    cost = f", ${attempt.cost:.4f}" if attempt.cost is not None else ""
    if attempt.outcome in ("pass", "fail", "partial"):
        score = f" {attempt.score:.3f}" if attempt.score is not None else ""
        return f"{attempt.outcome.upper()}{score}{cost}"
    exit_code = f", exit {attempt.exit_code}" if attempt.exit_code is not None else ""
    return f"{attempt.execution}{exit_code}{cost}{f': {attempt.error}' if attempt.error else ''}"


# a category


def category_title(category: BatchCategory) -> str:
    if category.rule:
        return _capital(category.rule_means)
    return MODEL if category.owner == "model" else f"Failed, owner {category.owner}"


def category_evidence(category: BatchCategory) -> str:
    tests = len(category.tests)
    if category.error:
        several = f", {share_words(category.hits)} subtests in each" if category.hits is not None else ""
        return f"the same {category.error_type or 'error'} in all {tests}{several}"
    spent = f"{category.spent} of {tests} spent money"
    if category.owner == "model" and category.best_score is not None:
        return f"{spent}; {category.zero_scores} score 0, the best {category.best_score:.3f}"
    return spent


def category_to_do(category: BatchCategory) -> str:
    fix = category.fix
    if fix is not None and fix.after:
        return f"Write `{fix.after}` instead of `{fix.before}`, then rerun the blocked tests"
    if fix is not None:
        return f"{_capital(fix.cause)}: fix it, then rerun the blocked tests"
    return _TO_DO.get(category.owner, "Review them: no rule matches")


def category_shows(category: BatchCategory) -> Iterator[str]:
    """What the tests of a category have in common: subtests, costs, durations."""
    if category.framework:
        yield from _together(category)
        yield from _spent(category)
        yield from _took(category)
    elif category.owner == "model":
        if category.threshold is not None:
            yield f"A pass needs a score above {category.threshold:g}"
        rest = len(category.tests) - len(category.stored)
        if category.stored and rest:
            stored = f"Runs and judgements are stored only for {name_list(category.stored)}"
            yield f"{stored}; only cost and score are known of the other {rest}"


def _together(category: BatchCategory) -> Iterator[str]:
    whole = category.struck_whole
    if whole is not None:
        among = f"All subtests fail together in {whole} of {len(category.tests)}"
        yield among if whole else "Some subtests of each fail"


def _spent(category: BatchCategory) -> Iterator[str]:
    if category.cost is not None:
        used = f", {category.tokens:,} tokens" if category.tokens is not None else ""
        paid = "model calls were paid for" if category.cost else "no model call was paid for"
        yield f"${category.cost:.2f} spent by {category.priced}{used}: {paid}"


def _took(category: BatchCategory) -> Iterator[str]:
    """Tests that end at once never reached the model; those that take minutes ended during setup."""
    for words, some in (
        ("ended at once", category.ended_at_once),
        ("ended during setup, for example after a clone", category.ended_later),
    ):
        if some is not None:
            ends = dict.fromkeys(f"{one:.1f}" for one in (some.least, some.most))
            yield f"{some.tests} {words}: {' to '.join(ends)} s"


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
