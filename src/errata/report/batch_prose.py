"""What is said of a batch in words: the answer, what not to publish, what to do, and what nobody can know."""

from collections.abc import Iterator, Sequence

from errata.compare.sessions import Timeline
from errata.model import StoredRun
from errata.model.output.report.batch import Category, Failure, Test
from errata.report.batch_failures import Batch
from errata.report.parts import named, percent, plural
from errata.runs.scores import Scores

MISLEADS = 0.02
"""So far apart, the usual score says something else than what is known."""
NAMED = 8


def answer_of(tests: Sequence[Test], categories: Sequence[Category], timeline: Timeline) -> str:
    passed = sum(one.passed for one in tests)
    theirs = sum(len(one.tests) for one in categories if one.framework)
    told = [f"{passed} of {len(tests)} pass."]
    if theirs:
        are = "is not the model's: it says" if theirs == 1 else "are not the model's: they say"
        told.append(f"{theirs} of the {plural(len(tests) - passed, 'failure')} {are} nothing about it.")
    if timeline.hidden_passes:
        told.append(f"{len(timeline.hidden_passes)} of them had passed in an earlier session.")
    return " ".join(told)


def warning_of(scores: Scores) -> str:
    strict, clean = scores.scores["strict"], scores.scores["clean"]
    if not clean.total or strict.rate is None or clean.rate is None or abs(clean.rate - strict.rate) <= MISLEADS:
        return ""
    return (
        f"Do not publish {percent(strict.rate)}. The results on record support {clean.passed} of {clean.total} "
        f"({percent(clean.rate)})."
    )


def advice_of(categories: Sequence[Category], timeline: Timeline, stored: StoredRun) -> Iterator[str]:
    for category in categories:
        if category.framework:
            count = plural(len(category.tests), "test")
            yield f"{category.letter}, {count}: {category.title}. {category.advice}"
    passes, fails = len(timeline.hidden_passes), len(timeline.hidden_fails)
    if passes or fails:
        yield (
            "Until the batch is resumed once more, go by the results of earlier sessions too: the latest summary "
            f"hides {plural(passes, 'pass', 'passes')} and {plural(fails, 'measured failure')}"
        )
    for session in timeline.sessions:
        if session.tried and session.not_measured == session.tried:
            told = f"session {session.number} recorded {session.tried} failures that measured nothing"
            yield f"Stop the batch when the first command can't start: {told}"
    if len(stored.run.sessions) > 1 and any(one.framework for one in categories):
        yield "Check stored results before resuming; loading those of one test shows such errors at once"


def quiet_exits(failures: Sequence[Failure], categories: Sequence[Category]) -> Iterator[str]:
    framework = {one.letter for one in categories if one.framework}
    broken = [one.test for one in failures if one.category in framework]
    quiet = sum(one.exit_code == 0 for one in broken)
    if quiet:
        yield f"Let exit codes tell the truth: {quiet} of {len(broken)} framework failures ended with exit code 0"


def limits_of(batch: Batch, stored: StoredRun) -> Iterator[str]:
    tests = len(batch.tests)
    kept = [batch.tests[case].id for case in sorted(batch.children) if case in batch.tests]
    if kept and len(kept) < tests:
        which = f"{len(kept)} of {tests} tests ({named(kept, NAMED)})"
        yield f"Runs are stored for {which}; all else rests on the summary and the logs."
    tried = stored.counts.counted - len(batch.counted)
    if tried:
        told = f"{plural(tried, 'more try', 'more tries')} at the same cases are not shown"
        yield f"{told}: a case stands here as failed where any of its tries failed."
    if stored.counts.unreadable:
        yield f"{plural(stored.counts.unreadable, 'item')} of the logs could not be read: `errata check` names them."
    unknown = sum(one.cost is None for one in batch.tests.values())
    if unknown:
        yield f"{plural(unknown, 'test')} report no cost; it is unknown, not zero."
    models = [case for case, one in batch.failing.items() if batch.owner(one.id) == "model"]
    bare = sum(not batch.children.get(case) for case in models)
    if bare:
        yield f"Of {len(models)} model failures {bare} have no stored runs: they are told by cost and score alone."
