"""The sentences of a report about a batch, written from its facts."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from errata.model.output.compare import SessionOutput
from errata.model.output.report.batch import BatchCategory, BatchFailure, BatchReport, BatchTest, SpreadGroup
from errata.model.output.report.shared import ScoreLine
from errata.render.figures import percent, plural
from errata.render.proof import proof_counts, sureness
from errata.report.batch_failure_words import capitalised, lowered, share_words
from errata.report.parts import interval, name_list
from errata.runs.first_page import BEST_ESTIMATE
from errata.text.outgoing import short_line

MISLEADS = 0.02
"""Where strict and clean score are further apart than this, the page warns."""
FEWEST = 5
"""Of fewer measured tests no rate is stated."""
NOT_STARTED = "-1"
"""The batch runner's exit code for a command that could not start."""
NAMED = 8
JUDGE = 90
"""Characters of what the judges object to."""
PERIOD = "from, to (UTC)"
"""The setting that holds when a batch began and ended."""
MODEL = "Cause not known"
WHOSE = {"collateral": "knock-on", "unknown": "without a known owner"}
REVIEW = "Review what the judges object to (`errata review next`)"
OF_STORED_RESULTS = frozenset(("criteria_scores_null", "record_validation", "resume_failed"))
"""Rules for errors that only stored results cause."""
BY_RULE = "suggested by a rule, not taken from the log"
GROUPS: dict[SpreadGroup, str] = {
    "passed": "passed",
    "failed_model": "failed, model",
    "failed_framework": "failed, framework",
    "failed_other": "failed, other",
    "all": "all",
}
_TO_DO = {
    "model": "Nothing to fix in the framework",
    "collateral": "Fix what stopped it; it only follows from that",
    "harness": "Fix the harness, then rerun",
    "environment": "Fix the environment, then rerun",
    "provider": "Rerun",
    "budget": "Check the limits; rerun with larger ones if they were too small",
    "grader": "Fix the grader, then rerun only the judging",
    "task": "Check the task before you use the score",
}


# the batch


def batch_answer(report: BatchReport) -> str:
    return " ".join(batch_sentences(report))


def batch_sentences(report: BatchReport) -> list[str]:
    whose = f" {whose_words(report)}." if report.failures else ""
    parts = [f"{report.passed} of {len(report.tests)} pass.{whose}"]
    if report.without_result:
        parts.append(f"{plural(report.without_result, 'test has', 'tests have')} no result.")
    passed, failed = len(report.hidden_passes), len(report.hidden_fails)
    if passed or failed:
        counts = ((passed, "passed"), (failed, "failed"))
        listed = " and ".join(f"{count} {word}" for count, word in counts if count)
        parts.append(f"Of the tests that the latest session did not measure, {listed} in an earlier one.")
    return parts


def whose_words(report: BatchReport) -> str:
    """`13 of 23 failures are the harness's, 10 are presumed the model's`."""
    mine = [one for one in report.failures if one.owner == "model"]
    presumed = sum(one.proof == "presumed" for one in mine)
    counts = [(often, WHOSE.get(owner, f"the {owner}'s")) for owner, often in others_failures(report).most_common()]
    counts += [(len(mine) - presumed, "the model's"), (presumed, "presumed the model's")]
    (first, whose), *rest = [pair for pair in counts if pair[0]]
    listed = [f"{often} {'is' if often == 1 else 'are'} {owner}" for often, owner in rest]
    are = "is" if first == 1 else "are"
    return ", ".join([f"{first} of {plural(len(report.failures), 'failure')} {are} {whose}", *listed])


def others_failures(report: BatchReport) -> Counter[str]:
    """Owner → failures, without the model's; an owner that nobody knows is not the model."""
    owners = sorted(one.owner or "unknown" for one in report.failures)
    return Counter(owner for owner in owners if owner != "model")


def batch_warning(report: BatchReport) -> str:
    """A warning where the strict score misleads; else empty."""
    by_policy = {one.policy: one for one in report.scores}
    strict, clean = by_policy["strict"], by_policy["clean"]
    if not clean.total or strict.rate is None or clean.rate is None or abs(clean.rate - strict.rate) <= MISLEADS:
        return ""
    if clean.total < FEWEST:
        measured = plural(clean.total, "test was", "tests were")
        return f"Do not publish {percent(strict.rate)}: only {measured} measured, too few for a rate."
    lost = sum(others_failures(report).values())
    whose = "that is" if lost == 1 else "that are"
    why = f": it counts {plural(lost, 'failure')} {whose} not the model's" if lost else ""
    publish = f"Do not publish {percent(strict.rate)}{why}."
    figure = f"{clean.passed} of {clean.total} ({percent(clean.rate)}"
    if report.no_estimate:
        return f"{publish} Do not publish clean yet, either: {figure})."
    between = f", 95 % interval {interval(clean)}" if clean.low is not None else ""
    state = ", provisional until reviewed" if report.reading.status == "provisional" else ""
    return f"{publish} The {BEST_ESTIMATE} is {figure}{between}){state}."


def counted_words(report: BatchReport) -> str:
    """How the tests of `clean` come about, where some results are from earlier sessions; else empty."""
    clean = next((one for one in report.scores if one.policy == "clean"), None)
    if clean is None or not clean.recovered:
        return ""
    latest, earlier = clean.total - clean.recovered, clean.recovered
    from_earlier = f"{earlier} from earlier sessions"
    passed, failed = len(report.hidden_passes), len(report.hidden_fails)
    now = f"{latest} measured in the latest session"
    if passed + failed == earlier:
        now += f" ({clean.passed - passed} passed, {latest - clean.passed + passed} failed)"
        from_earlier += f" ({passed} passed, {failed} failed)"
    never = f"; {len(report.never_measured)} never measured" if report.never_measured else ""
    return f"The {clean.total} tests of clean: {now}, {from_earlier}{never}"


def stated_scores(scores: Iterable[ScoreLine]) -> tuple[ScoreLine, ...]:
    """As a report states them: of too few measured tests their count, and no rate. Numbers of the harness stay."""
    return tuple(
        msgspec.structs.replace(score, rate=None, low=None, high=None)
        if score.total < FEWEST and score.policy in ("clean", "reviewed")
        else score
        for score in scores
    )


def batch_advice(report: BatchReport) -> Iterator[str]:
    yield from (category_advice(one) for one in report.categories if one.framework)
    yield from (category_advice(one) for one in report.categories if not one.framework)
    passes, fails = len(report.hidden_passes), len(report.hidden_fails)
    if passes or fails:
        yield (
            "Until the batch is resumed, use the results of earlier sessions as well: the latest summary hides "
            f"{plural(passes, 'pass', 'passes')} and {plural(fails, 'measured failure')}"
        )
    for session in report.sessions:
        if session.tried > 1 and session.not_measured == session.tried:
            yield _stop_early(session, len(report.sessions))
    if report.resumed and any(one.rule in OF_STORED_RESULTS for one in report.categories):
        yield "Check stored results before resuming; loading those of one test shows such errors at once"
    yield from _quiet_exits(report)


def category_advice(category: BatchCategory) -> str:
    count = plural(len(category.tests), "test")
    is_unread = category.owner == "model" and not category.bucket and not category.cause
    to_do, *how = (REVIEW,) if is_unread else _to_do_and_how(category)
    title = category_title(category)
    advice = f"{to_do}: {category.letter}, {count} ({lowered(title)})"
    return ". ".join([advice, *how])


def _stop_early(session: SessionOutput, sessions: int) -> str:
    of_all = f" of {sessions}" if sessions > 1 else ""
    nothing = f"session {session.number}{of_all} measured none of its {session.tried} tests"
    if set(session.exit_codes) == {NOT_STARTED}:
        return f"Stop the batch when the first command can't start: {nothing}"
    spent = f", and cost ${session.cost:.2f}" if session.cost else ""
    return f"Stop the batch when the first tests end without a result: {nothing}{spent}"


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


def session_times(session: SessionOutput) -> str:
    start, end = ((moment or "–")[:19].replace("T", " ") for moment in (session.started_at, session.finished_at))
    return f"{start} – {end[11:] if end[:10] == start[:10] else end}"


def exit_codes(session: SessionOutput) -> str:
    return ", ".join(f"{code} for {often}" for code, often in session.exit_codes.items())


# a test


def part_of(test: BatchTest) -> str:
    return f"{share_words(test.part)} subtests" if test.part is not None else ""


# a category


def category_title(category: BatchCategory) -> str:
    if category.bucket:
        return capitalised(category.bucket.replace("-", " "))
    if category.cause:
        return capitalised(category.cause).removesuffix(".")
    if category.rule:
        return capitalised(category.rule_means)
    return MODEL if category.owner == "model" else f"Failed, owner {category.owner}"


def category_owner(category: BatchCategory) -> str:
    """`probably model` where every verdict or rule is weak."""
    if category.owner == "unknown":
        return category.owner
    if category.weak == len(category.tests):
        return f"probably {category.owner}"
    return f"{category.owner}, {category.weak} of {len(category.tests)} weak" if category.weak else category.owner


def category_evidence(category: BatchCategory) -> str:
    tests = len(category.tests)
    if category.error:
        several = f", {share_words(category.hits)} subtests in each" if category.hits is not None else ""
        kind = category.error_type or "error"
        return f"the same {kind} in all {tests}{several}" if tests > 1 else f"{kind}{several.removesuffix(' in each')}"
    spent = f"{category.spent} of {tests} spent money"
    if category.owner == "model" and category.best_score is not None:
        return f"{spent}; {category.zero_scores} score 0, the best {category.best_score:.3f}"
    return spent


def category_to_do(category: BatchCategory) -> str:
    return ". ".join(_to_do_and_how(category))


def _to_do_and_how(category: BatchCategory) -> tuple[str, ...]:
    """What to do; how, where a rule suggests it."""
    fix = category.fix
    if fix is None:
        return (to_do_for(category.owner),)
    if fix.rule:
        change = fix.action or f"write `{fix.after}` instead of `{fix.before}`"
        return to_do_for(category.owner), f"{capitalised(BY_RULE)}: {change}"
    if fix.action:
        return (fix.action.removesuffix("."),)
    place = f" in `{fix.path}`" if fix.path else ""
    return (f"Write `{fix.after}` instead of `{fix.before}`{place}, then rerun the blocked tests",)


def to_do_for(owner: str) -> str:
    return _TO_DO.get(owner, "Review: no rule matches")


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
    """Only of tests without cost: those that end at once never reached the model."""
    for words, some in (
        ("ended at once without cost", category.ended_at_once),
        ("ended later without cost, for example after a clone", category.ended_later),
    ):
        if some is not None:
            ends = dict.fromkeys(f"{one:.1f}" for one in (some.least, some.most))
            yield f"{some.tests} {words}: {' to '.join(ends)} s"


# owners, and what the judges object to


def owner_notes(report: BatchReport) -> dict[str, str]:
    """For each owner how sure that is, and what earlier sessions measured of its tests."""
    by_owner: dict[str, list[BatchFailure]] = {}
    for failure in report.failures:
        by_owner.setdefault(failure.owner, []).append(failure)
    causes = {one.owner: _cause_words(one, len(by_owner.get(one.owner, ()))) for one in reversed(report.categories)}
    return {
        owner: "; ".join(filter(None, _owner_note(members, causes.get(owner, ""))))
        for owner, members in by_owner.items()
    }


def _cause_words(category: BatchCategory, failures: int) -> str:
    """The cause of an owner's failures; an example where it is not that of all of them."""
    title = category_title(category)
    return f"{'' if len(category.tests) == failures else 'e.g. '}{lowered(title)}"


def _owner_note(failures: Sequence[BatchFailure], cause: str) -> Iterator[str]:
    yield (
        proof_counts(
            sum(one.proof == "shown" for one in failures),
            Counter(one.proof_reason for one in failures if one.proof == "presumed"),
        )
        or f"{sureness(Counter('reviewed' if one.reviewed else one.confidence for one in failures))}: {cause}"
    )
    was = Counter(one.test.earlier.was for one in failures if one.test.earlier is not None)
    counts = ((was["pass"], "passed"), (was["fail"], "failed"))
    listed = " and ".join(f"{count} {word}" for count, word in counts if count)
    yield f"{listed} in an earlier session" if listed else ""


def judge_words(failures: Sequence[BatchFailure]) -> str:
    """What the judges object to in the first of them that has such words; empty where none has."""
    first = next((one for one in failures if one.judge is not None), None)
    if first is None or first.judge is None:
        return ""
    return f'the judges of {first.test.id}: "{short_line(first.judge.text, JUDGE)}"'
