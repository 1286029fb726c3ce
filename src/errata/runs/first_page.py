"""What a first page may say: the sentences that calm its reader, what on record forbids each, and the words instead."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Literal

from errata.compare.scores import Policy, Score
from errata.model import Finding, Run, StoredRun
from errata.model.counts import Doubt, HarnessCount, NoEstimate, NothingFailed, WithoutFailures, not_in_log
from errata.render.figures import mean_words, plural
from errata.sources import harness_of
from errata.store.database import Store
from errata.store.runs import findings_of
from errata.text.clean import one_line

ALL_PASSED = "All passed: nothing to analyse"
NOTHING_TO_ANALYSE = "Nothing to analyse"
FIT = "fit for comparison with other runs"
BEST_ESTIMATE = "best estimate"
NO_DIFFERENCE = "No difference"
GATE_PASSED = "Gate passed"
NO_NEW_FAILURES, NO_DROP = f"{GATE_PASSED}: no new failures", f"{GATE_PASSED}: no drop shown"

Claim = Literal["nothing_to_analyse", "fit", "best_estimate", "no_difference", "gate_passed"]
SENTENCES: dict[Claim, tuple[str, ...]] = {
    "nothing_to_analyse": (ALL_PASSED, NOTHING_TO_ANALYSE),
    "fit": (FIT,),
    "best_estimate": (BEST_ESTIMATE,),
    "no_difference": (NO_DIFFERENCE,),
    "gate_passed": (NO_NEW_FAILURES, NO_DROP),
}
"""All sentences of the product that calm; pages take them from here."""
FORBIDDEN: dict[Claim, frozenset[Doubt]] = {
    "nothing_to_analyse": frozenset(("breaks", "warns", "results", "suspicious", "left_out")),
    "fit": frozenset(("breaks", "warns", "results", "suspicious", "left_out")),
    "best_estimate": frozenset(("breaks", "results", "suspicious", "left_out")),
    "no_difference": frozenset(("breaks", "results")),
    "gate_passed": frozenset(("breaks", "results")),
}
"""The law of the first page: none of a claim's sentences where one of these is on record."""
DOUBTS_RESULTS = frozenset(
    (
        "ambiguous_columns",
        "error_bodies",
        "files_disagree",
        "foreign_checks",
        "identical_outputs",
        "impossible_count",
        "impossible_score",
        "judge_contradicts_program",
        "judges_disagree",
        "nothing_asserted",
        "prompt_not_delivered",
        "rows_differ",
        "unknown_statuses",
        "values_not_understood",
    )
)
"""Findings that doubt results which count, already as warnings. What others warn of does not change a score."""
LEFT_OUT_BUDGET = 0.1


def doubts_of(findings: Iterable[Finding], suspicious: int = 0, score: Score | None = None) -> tuple[Doubt, ...]:
    """What speaks against calm words. `score` is the figure that is shown as the best one."""
    graver = [one for one in findings if one.severity != "info"]
    on_record: dict[Doubt, bool] = {
        "breaks": any(one.breaks for one in graver),
        "warns": any(not one.breaks for one in graver),
        "results": any(one.name in DOUBTS_RESULTS for one in graver),
        "suspicious": suspicious > 0,
        "left_out": score is not None and _leaves_out_too_much(score),
    }
    return tuple(doubt for doubt, is_there in on_record.items() if is_there)


def best_of(scores: Mapping[Policy, Score]) -> Score:
    return scores["reviewed"] if scores["reviewed"].total else scores["clean"]


def may_say(claim: Claim, doubts: Collection[Doubt]) -> bool:
    return FORBIDDEN[claim].isdisjoint(doubts)


def doubted_results(runs: Iterable[StoredRun], store: Store) -> tuple[str, ...]:
    kept = [one for stored in runs for one in findings_of(store, stored.pk)]
    return tuple(one.text for one in kept if not may_say("no_difference", doubts_of([one])))


def _leaves_out_too_much(score: Score) -> bool:
    """By the score's own interval: what was skipped on purpose could not have moved it."""
    out = sum(often for why, often in score.left_out.items() if why != "skipped")
    if out <= LEFT_OUT_BUDGET * (score.total + out):
        return False
    bounds, interval = score.bounds, score.interval
    return bounds is None or interval is None or bounds[0] < interval[0] or bounds[1] > interval[1]


def fit_words(doubts: Collection[Doubt], severities: Iterable[str]) -> str:
    """Notes do not limit what a run can be used for, so only problems and warnings are counted."""
    kinds = severities_in_words(one for one in severities if one != "info")
    kinds += [_DOUBTED[doubt] for doubt in doubts if doubt in _DOUBTED]
    listed = f" ({', '.join(kinds)})" if kinds else ""
    head = FIT if may_say("fit", doubts) else f"NOT FIT{FIT[3:]}" if "breaks" in doubts else "comparable with care"
    return f"{head}{listed}"


_DOUBTED: dict[Doubt, str] = {"suspicious": "suspicious passes", "left_out": "much left out"}


def severities_in_words(severities: Iterable[str]) -> list[str]:
    kinds: Counter[str] = Counter(severities)
    return [
        f"{kinds[severity]} {word}{'' if kinds[severity] == 1 else 's'}"
        for severity, word in (("error", "problem"), ("warning", "warning"), ("info", "note"))
        if kinds[severity]
    ]


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
    counts, expected = stored.counts, stored.run.expected_cases or 0
    whole = counts.counted and counts.outcomes.get("pass", 0) == counts.counted
    return bool(whole) and counts.cases >= expected and not counts.unreadable and not cases_not_in_log(stored)


def cases_not_in_log(stored: StoredRun) -> int:
    """Cases that were measured according to the harness, but have no row in the log."""
    return not_in_log(stored.run, cases=stored.counts.cases, executions=stored.counts.executions)


def without_failures(stored: StoredRun, *, suspicious: int = 0, findings: Iterable[Finding] = ()) -> WithoutFailures:
    counts, not_in_log = stored.counts, cases_not_in_log(stored)
    made, missing = counts.attempts_in_log, counts.missing
    if all_passed(stored):
        graver = [one for one in findings if one.severity != "info"]
        state: NothingFailed = "all_passed"
        if not may_say("nothing_to_analyse", doubts_of(graver, suspicious)):
            state = "all_passed_some_suspicious" if suspicious else "all_passed_doubted"
        return WithoutFailures(
            state=state,
            made=made,
            suspicious=suspicious,
            findings=dict(Counter(one.severity for one in graver)),
            failed_checks={name: often for name, kinds in counts.checks.items() if (often := kinds.get("fail", 0))},
        )
    if counts.has_only_labels:
        return WithoutFailures(state="labels", made=made, missing=missing, counts=counts.labels)
    if not made and not_in_log and counts.mean is None:
        return WithoutFailures(state="not_in_log", harness=harness_count(stored.run))
    if not counts.measurements.get("scored") and counts.mean is None:
        return WithoutFailures(state="nothing_measured", made=made, missing=missing)
    return WithoutFailures(
        state="not_all_passed" if counts.mean is None else "numbers",
        made=made,
        suspicious=suspicious,
        missing=missing,
        counts=_shares(stored, not_in_log),
        mean=counts.mean,
        values=counts.values if counts.mean is not None else 0,
    )


def words_without_failures(outcome: WithoutFailures) -> str:
    """A sentence without its full stop."""
    if outcome.state.startswith("all_passed"):
        notes = [f"{outcome.suspicious:,} suspicious"] if outcome.suspicious else []
        notes += severities_in_words(Counter(outcome.findings).elements())
        for check, times in list(outcome.failed_checks.items())[:CHECKS_NAMED]:
            notes.append(f"but check `{one_line(check, 40)}` failed in {times:,}")
        return ", ".join([f"{outcome.made:,} of {outcome.made:,} passed", *notes]) if notes else ALL_PASSED
    if outcome.state == "not_in_log" and outcome.harness is not None:
        return f"No rows to analyse: {harness_words(outcome.harness)}, but the log does not contain them"
    if outcome.state == "nothing_measured":
        return f"Nothing was measured: {_unmeasured(outcome)}"
    if outcome.state == "labels":
        return f"The results are labels without an order: {label_words(outcome.counts)}"
    shares = ", ".join(f"{often:,} {_WORDS[name]}" for name, often in outcome.counts.items())
    if outcome.state == "numbers" and outcome.mean is not None:
        rest = shares if outcome.counts.get("partial") else "; ".join(filter(None, (NO_THRESHOLD, shares)))
        colon = ":" if outcome.counts.get("partial") else ";"
        return f"{mean_of(outcome.mean, outcome.values)}{colon} {rest}"
    odd = f" ({outcome.suspicious:,} suspicious)" if outcome.suspicious else ""
    return f"Nothing failed, but not all passed: {shares}{odd}"


def label_words(labels: Mapping[str, int]) -> str:
    """`left 12, both 10, right 8`."""
    return ", ".join(f"{one_line(label)} {often:,}" for label, often in labels.items())


def mean_of(mean: float, values: int) -> str:
    return f"Mean {mean_words(mean)} over {plural(values, 'result')}"


def harness_count(run: Run) -> HarnessCount:
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
    "results": "the checkup doubts results that count",
    "left_out": "what is left out could move it beyond its interval",
    "too_few": f"fewer than {ENOUGH} results",
}


def why_no_estimate(
    stored: StoredRun, best: Score, *, findings: Iterable[Finding], doubts: Collection[Doubt]
) -> NoEstimate | None:
    """None where `best`, clean or reviewed, is the best estimate of the score."""
    if harness_of(stored.run.source.name).has_only_failures:
        return "only_failures"
    if "breaks" in doubts:
        return "not_fit"
    if cases_not_in_log(stored) > stored.counts.cases:
        return "not_in_log"
    if "suspicious" in doubts:
        return "suspicious"
    passes = stored.counts.outcomes.get("pass", 0)
    if passes and any(finding.numbers.get("disputed_passes") == passes for finding in findings):
        return "disputed"
    if best.total < ENOUGH:
        return "too_few"
    if may_say("best_estimate", doubts):
        return None
    return "results" if "results" in doubts else "left_out"


def estimate_words(why_none: NoEstimate | None) -> str:
    return f"no {BEST_ESTIMATE}: {NO_ESTIMATE[why_none]}" if why_none else BEST_ESTIMATE
