"""The sentences about one failure of a batch, written from its facts."""

from errata.model.output.report.batch import (
    BatchFailure,
    BatchReport,
    Criterion,
    EarlierResult,
    Moment,
    Share,
    StoredRuns,
)
from errata.render.figures import plural
from errata.render.proof import PROOF_WORDS


def capitalised(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def lowered(text: str) -> str:
    return f"{text[:1].lower()}{text[1:]}"


def share_words(share: Share | None) -> str:
    return f"{share.count} of {share.of}" if share is not None else ""


def earlier_words(earlier: EarlierResult | None) -> str:
    if earlier is None:
        return ""
    if earlier.was == "not_measured":
        return "not measured in any session"
    score = f" {earlier.score:.3f}" if earlier.score is not None else ""
    cost = f" ${earlier.cost:.4f}" if earlier.cost is not None else ""
    return f"{earlier.was.upper()}{score}{cost} in session {earlier.session}"


def cause_of(failure: BatchFailure) -> str:
    if failure.cause:
        return failure.cause
    if not failure.decided_by:
        return ""
    if not failure.rule_means:
        return _unsolved(failure) if failure.owner == "model" else _unexplained(failure)
    stated = f": `{failure.reason}`" if failure.reason else ""
    return f"{capitalised(failure.rule_means)}{stated}."


def _unsolved(failure: BatchFailure) -> str:
    """Where no rule names a cause: the most common reason of the judges, the error in the log, and the score."""
    known = []
    if failure.judge is not None:
        runs = share_words(failure.judge.runs)
        known.append(f'The judge on {runs} failed runs: "{failure.judge.text.rstrip(".")}".')
    if failure.reason:
        known.append(f'Log: "{failure.reason}".')
    score = f" {failure.test.score:.3f}" if failure.test.score is not None else ""
    cost = f" and cost ${failure.test.cost:.2f}" if failure.test.cost else ""
    return " ".join([*(known or ["Not known: the log gives no reason."]), f"It was scored{score}{cost}."])


def _unexplained(failure: BatchFailure) -> str:
    """Not measured, and no rule knows the error: the harness's own words, or nothing."""
    why = f' The log states: "{failure.reason}".' if failure.reason else ""
    return f"Not known. The test was not measured, and no rule matches its error.{why}"


def mechanism_of(failure: BatchFailure) -> str:
    if failure.mechanism:
        return f"{capitalised(failure.mechanism).removesuffix('.')}."
    hit = f"The error hit {share_words(failure.hits)} known subtests. " if failure.hits is not None else ""
    return f"{hit}Unknown beyond that." if hit else ""


def verdict_words(failure: BatchFailure) -> str:
    """By a review, inherited from one, by rule or only presumed."""
    if failure.inherited_from:
        return f"inherited from the review of {failure.inherited_from}: the same crash"
    if not failure.reviewed:
        return f"{'presumed' if failure.proof == 'presumed' else 'by rule'}, not reviewed"
    return "reviewed" if failure.final else "reviewed, needs a second reviewer"


def status_words(failure: BatchFailure) -> str:
    """After the status of its page: who reviewed it, or that nobody did."""
    if not failure.reviewed:
        return verdict_words(failure)
    return f"by {failure.reviewer}" if failure.final else f"reviewed by {failure.reviewer}, needs a second reviewer"


def owner_words(failure: BatchFailure) -> str:
    """`harness, likely (by rule, not reviewed)`; `probably model: weak (reviewed)`."""
    if failure.confidence == "weak" and not failure.proof and failure.owner != "unknown":
        return f"probably {failure.owner}: weak ({verdict_words(failure)})"
    how_sure = PROOF_WORDS[failure.proof] or failure.confidence
    return f"{failure.owner}, {how_sure} ({verdict_words(failure).removeprefix(f'{how_sure}, ')})"


def blame_words(failure: BatchFailure, *, framework: bool) -> str:
    """Whose failure it is; `Probably` where the verdict or the rule is weak."""
    if failure.owner == "unknown":
        return "Owner unknown."
    if failure.confidence == "weak":
        return f"Probably the {failure.owner}'s: weak."
    if framework:
        return f"{failure.owner.capitalize()} failure, not a model failure."
    return f"Failure of the {failure.owner}."


def needed_for(failure: BatchFailure, report: BatchReport) -> str:
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
