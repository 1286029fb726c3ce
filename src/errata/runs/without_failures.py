"""What is to be said of a run in which nothing failed: that all passed, or else what is the case."""

from errata.model import Counts, Run, StoredRun
from errata.model.counts import not_in_log

ALL_PASSED = "All passed: nothing to analyse"
_NOT_ENDED = {"unfinished": "not finished", "skipped": "skipped"}


def all_passed(stored: StoredRun) -> bool:
    """Every expected case was measured, and passed."""
    counts, expected = stored.counts, stored.run.expected_cases or 0
    whole = counts.counted and counts.outcomes.get("pass", 0) == counts.counted
    return bool(whole) and counts.cases >= expected and not untold_of(stored)


def untold_of(stored: StoredRun) -> int:
    """What was measured, as the harness says, and has no row in the log."""
    return not_in_log(stored.run, cases=stored.counts.cases, executions=stored.counts.executions)


def told_without_failures(stored: StoredRun) -> str:
    """A sentence without its full stop."""
    counts, untold = stored.counts, untold_of(stored)
    if all_passed(stored):
        return ALL_PASSED
    if not counts.made and untold:
        return f"No rows to analyse: {harness_says(stored.run)}, but the log does not hold them"
    if not counts.measurements.get("scored"):
        return f"Nothing was measured: {_unmeasured(counts)}"
    return f"Nothing failed, but not all passed: {', '.join(_shares(stored, untold))}"


def harness_says(run: Run) -> str:
    """Its own count in words, for where no rows can be counted."""
    if run.stated_passes is not None:
        passed, total = run.stated_passes
        return f"by the harness's own count {passed:,} of {total:,} passed and {total - passed:,} failed"
    headline = next((one for one in run.reported if one.headline and one.value is not None), None)
    n = run.measured_attempts if headline is None or headline.n is None else headline.n
    if headline is None:
        return f"the harness measured {n:,}"
    name = " ".join(dict.fromkeys(filter(None, (headline.name, headline.metric))))
    return f"the harness says {name} {headline.value:.4g}{f' over {n:,}' if n else ''}"


def _unmeasured(counts: Counts) -> str:
    if not counts.made:
        return f"{counts.missing:,} planned and missing" if counts.missing else "the log holds not one attempt"
    missing = f", {counts.missing:,} missing" if counts.missing else ""
    return f"{counts.made:,} attempt{'' if counts.made == 1 else 's'}{missing}, and not one verdict"


def _shares(stored: StoredRun, untold: int) -> list[str]:
    counts = stored.counts
    unnamed = max(0, (stored.run.expected_cases or 0) - counts.cases - untold)
    ended = {word: counts.executions.get(name, 0) for name, word in _NOT_ENDED.items()}
    told = {
        "passed": counts.outcomes.get("pass", 0),
        "measured, but not in the log": untold,
        "missing": counts.missing + unnamed,
        **ended,
        "in part": counts.outcomes.get("partial", 0),
        "without a verdict": counts.outcomes.get("none", 0) - counts.missing - sum(ended.values()),
    }
    return [f"{often:,} {word}" for word, often in told.items() if often > 0]
