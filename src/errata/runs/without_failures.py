"""What a score can't show: whether all passed or nothing was measured, which results are missing, why none is best."""

from collections.abc import Iterable

from errata.model import Finding, Run, StoredRun
from errata.model.counts import HarnessCount, NoEstimate, NothingFailed, WithoutFailures, not_in_log
from errata.render.figures import mean_words, plural
from errata.sources import harness_of
from errata.text.clean import one_line

ALL_PASSED = "All passed: nothing to analyse"
CHECKS_NAMED = 3
NO_THRESHOLD = "without a threshold, none passed or failed"
_WORDS = {
    "passed": "passed",
    "not_in_log": "measured, but not in the log",
    "missing": "missing",
    "unfinished": "not finished",
    "skipped": "skipped",
    "partial": "in part",
    "no_verdict": "not scored",
    "unreadable": "unreadable",
}


def all_passed(stored: StoredRun) -> bool:
    """Every expected case was measured, and passed."""
    counts, expected = stored.counts, stored.run.expected_cases or 0
    whole = counts.counted and counts.outcomes.get("pass", 0) == counts.counted
    return bool(whole) and counts.cases >= expected and not counts.unreadable and not cases_not_in_log(stored)


def cases_not_in_log(stored: StoredRun) -> int:
    """Cases that were measured according to the harness, but have no row in the log."""
    return not_in_log(stored.run, cases=stored.counts.cases, executions=stored.counts.executions)


def describe_run_without_failures(stored: StoredRun, *, suspicious: int = 0) -> str:
    """A sentence without its full stop."""
    return words_without_failures(without_failures(stored, suspicious=suspicious))


def without_failures(stored: StoredRun, *, suspicious: int = 0) -> WithoutFailures:
    """`suspicious`: how many of the passes are."""
    counts, not_in_log = stored.counts, cases_not_in_log(stored)
    if all_passed(stored):
        state: NothingFailed = "all_passed_some_suspicious" if suspicious else "all_passed"
        failed = {name: often for name, statuses in counts.checks.items() if (often := statuses.get("fail", 0))}
        return WithoutFailures(state=state, made=counts.attempts_in_log, suspicious=suspicious, failed_checks=failed)
    if counts.mean is not None:
        shares, mean = _shares(stored, not_in_log), counts.mean
        return WithoutFailures(
            state="numbers",
            made=counts.attempts_in_log,
            suspicious=suspicious,
            missing=counts.missing,
            counts=shares,
            mean=mean,
            values=counts.values,
        )
    if not counts.attempts_in_log and not_in_log:
        return WithoutFailures(state="not_in_log", harness=harness_count(stored.run))
    if not counts.measurements.get("scored"):
        return WithoutFailures(state="nothing_measured", made=counts.attempts_in_log, missing=counts.missing)
    return WithoutFailures(
        state="not_all_passed",
        made=counts.attempts_in_log,
        suspicious=suspicious,
        missing=counts.missing,
        counts=_shares(stored, not_in_log),
    )


def words_without_failures(outcome: WithoutFailures) -> str:
    """A sentence without its full stop."""
    if outcome.state in ("all_passed", "all_passed_some_suspicious"):
        notes = [f"{outcome.suspicious:,} suspicious"] if outcome.suspicious else []
        for check, times in list(outcome.failed_checks.items())[:CHECKS_NAMED]:
            notes.append(f"but check `{one_line(check, 40)}` failed in {times:,}")
        return ", ".join([f"{outcome.made:,} of {outcome.made:,} passed", *notes]) if notes else ALL_PASSED
    if outcome.state == "not_in_log" and outcome.harness is not None:
        return f"No rows to analyse: {harness_words(outcome.harness)}, but the log does not contain them"
    if outcome.state == "nothing_measured":
        return f"Nothing was measured: {_unmeasured(outcome)}"
    shares = ", ".join(f"{often:,} {_WORDS[name]}" for name, often in outcome.counts.items())
    if outcome.state == "numbers" and outcome.mean is not None:
        rest = f": {shares}" if outcome.counts.get("partial") else "; ".join(filter(None, ("", NO_THRESHOLD, shares)))
        return f"{mean_of(outcome.mean, outcome.values)}{rest}"
    odd = f" ({outcome.suspicious:,} suspicious)" if outcome.suspicious else ""
    return f"Nothing failed, but not all passed: {shares}{odd}"


def mean_of(mean: float, values: int) -> str:
    return f"Mean {mean_words(mean)} over {plural(values, 'result')}"


def harness_count(run: Run) -> HarnessCount:
    """Its own count, for where no rows can be counted."""
    if run.stated_passes is not None:
        passed, total = run.stated_passes
        failed = None if run.measured_attempts is None else max(0, run.measured_attempts - passed)
        return HarnessCount(passed=passed, failed=failed, total=total)
    headline = next((one for one in run.reported if one.headline and one.value is not None), None)
    n = run.measured_attempts if headline is None or headline.n is None else headline.n
    if headline is None:
        return HarnessCount(n=n)
    name = " ".join(dict.fromkeys(filter(None, (headline.name, headline.metric))))
    return HarnessCount(metric=name, value=headline.value, n=n)


def harness_words(count: HarnessCount) -> str:
    if count.passed is not None and count.total is not None:
        failed = count.total - count.passed if count.failed is None else count.failed
        rest = count.total - count.passed - failed
        without = f", {rest:,} without a result" if rest > 0 else ""
        return f"by the harness's own count {count.passed:,} of {count.total:,} passed and {failed:,} failed{without}"
    if count.value is None:
        return f"the harness measured {count.n:,}"
    return f"the harness reports {count.metric} {count.value:.4g}{f' over {count.n:,}' if count.n else ''}"


def _unmeasured(outcome: WithoutFailures) -> str:
    if not outcome.made:
        return f"{outcome.missing:,} planned and missing" if outcome.missing else "the log has no attempts"
    missing = f", {outcome.missing:,} missing" if outcome.missing else ""
    return f"{outcome.made:,} attempt{'' if outcome.made == 1 else 's'}{missing}, and not one verdict"


def _shares(stored: StoredRun, not_in_log: int) -> dict[str, int]:
    counts = stored.counts
    unnamed = max(0, (stored.run.expected_cases or 0) - counts.cases - not_in_log)
    ended = {name: counts.executions.get(name, 0) for name in ("unfinished", "skipped")}
    shares = {
        "passed": counts.outcomes.get("pass", 0),
        "not_in_log": not_in_log,
        "missing": counts.missing + unnamed,
        **ended,
        "partial": counts.outcomes.get("partial", 0),
        "no_verdict": counts.outcomes.get("none", 0) - counts.missing - sum(ended.values()),
    }
    return {name: often for name, often in (shares | {"unreadable": counts.unreadable}).items() if often > 0}


ENOUGH = 5
"""A figure over fewer results than this is not called an estimate."""
NO_ESTIMATE: dict[NoEstimate, str] = {
    "only_failures": "the log holds only failures",
    "not_in_log": "most cases have no row in the log",
    "not_fit": "run not fit for comparison",
    "suspicious": "suspicious passes",
    "disputed": "judge and program disagree on every pass",
    "too_few": f"fewer than {ENOUGH} results",
}


def why_no_estimate(
    stored: StoredRun, total: int, *, findings: Iterable[Finding], fit: bool, suspicious: bool
) -> NoEstimate | None:
    """None where `clean` or `reviewed`, a figure over `total` results, is the best estimate of the score."""
    if harness_of(stored.run.source.name).has_only_failures:
        return "only_failures"
    if not fit:
        return "not_fit"
    if cases_not_in_log(stored) > stored.counts.cases:
        return "not_in_log"
    if suspicious:
        return "suspicious"
    passes = stored.counts.outcomes.get("pass", 0)
    if passes and any(finding.numbers.get("disputed_passes") == passes for finding in findings):
        return "disputed"
    return "too_few" if total < ENOUGH else None
