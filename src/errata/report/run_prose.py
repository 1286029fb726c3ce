"""The sentences of a report about one run, written from its facts."""

from collections import Counter
from collections.abc import Iterator, Sequence

from errata.model.history import late_action_text
from errata.model.output.report.run import (
    Bounds,
    CategoryTest,
    FailedCheck,
    ImpactKind,
    PreviousRun,
    Repeat,
    RunFailure,
    RunReport,
    RunSubject,
    VerdictDoubt,
)
from errata.model.output.score import AfterFixesOutput
from errata.render.figures import hundredths, overlap_note, p_value, percent, plural, share_passed
from errata.render.proof import proof_counts, proof_reason, sureness
from errata.report.parts import figures_of, name_list
from errata.report.parts import interval as interval_of
from errata.runs.first_page import BEST_ESTIMATE, NO_ESTIMATE, harness_words, words_without_failures
from errata.sources import harness_of
from errata.text.outgoing import short_line

CASES, MODELS, CATEGORIES = 4, 5, 12
CLEAN_CASES = "the cases that clean counts"
SHORT, NOTE = 160, 90
DOUBTS: dict[VerdictDoubt, str] = {
    "inherited": "copied from an identical crash",
    "needs_second": "needs a second reviewer",
    "disputed": "reviewers disagree",
}
GENUINE = "Genuine model faults"
IMPACTS: dict[ImpactKind, str] = {
    "model": GENUINE,
    "known_gap": "Known gap",
    "eval": "Fixable in the eval (lint, grader, task)",
    "budget": "Hit a limit (budget)",
    "infrastructure": "Infrastructure or knock-on; rerun",
    "unknown": "Not known",
}
WORKED = {"yes": "worked", "no": "NO EFFECT", "unknown": "not known yet"}


def answer_of(report: RunReport) -> str:
    return " ".join(answer_sentences(report))


def answer_sentences(report: RunReport) -> list[str]:
    failures, subject = report.failures, report.subject
    if not failures:
        return [f"{words_without_failures(report.nothing_failed)}."] if report.nothing_failed is not None else []
    if subject.unavailable:
        return ["The run was unavailable: every case ended in the same error.", "This is infrastructure; rerun it."]
    mine = sum(one.owner == "model" for one in failures)
    parts = [_models(mine, failures)]
    parts += filter(None, (_machinery(failures), _gaps(failures), _ours(failures), _back(failures), _others(failures)))
    if subject.passed_by_nobody:
        cases = name_list(subject.passed_by_nobody, CASES)
        parts.append(
            f"Nobody passes {len(subject.passed_by_nobody)} of the failed cases in any run of this suite: {cases}."
        )
    if subject.not_in_log and subject.harness is not None:
        rest = plural(subject.not_in_log, "more was measured, but is", "more were measured, but are")
        parts.append(f"{rest} not in the log: {harness_words(subject.harness)}.")
    return parts


def _models(mine: int, failures: Sequence[RunFailure]) -> str:
    """How many of the failures are the model's."""
    if not mine:
        return "None of the failures is the model's." if len(failures) > 1 else "The failure is not the model's."
    are = "is" if mine == 1 else "are"
    return f"{mine} of {plural(len(failures), 'failure')} {are} the model's{_proofs(failures)}."


def _proofs(failures: Sequence[RunFailure]) -> str:
    counts = _proof_counts(failures)
    return f" ({counts})" if counts else ""


def _proof_counts(failures: Sequence[RunFailure]) -> str:
    shown = sum(one.proof == "shown" for one in failures)
    reasons = Counter(one.proof_reason for one in failures if one.proof == "presumed")
    return proof_counts(shown, reasons, repeated=any(one.attempts > 1 for one in failures))


def owner_notes(failures: Sequence[RunFailure]) -> dict[str, str]:
    """For each owner how sure that is, and why: how the model's are proven, else why most of the others are its own."""
    by_owner: dict[str, list[RunFailure]] = {}
    for failure in failures:
        by_owner.setdefault(failure.owner, []).append(failure)
    notes: dict[str, str] = {}
    for owner, members in by_owner.items():
        reasons = Counter(one.cause if one.reviewed else one.rule_means or one.reason for one in members)
        reason, often = reasons.most_common(1)[0]
        shown = short_line(reason, NOTE)
        proofs = _proof_counts(members) if owner == "model" else ""
        reason = shown if 2 * often > len(members) or not shown else f"e.g. {shown}"
        notes[owner] = proofs or ": ".join(filter(None, (_how_sure(members), reason)))
    return notes


def _how_sure(failures: Sequence[RunFailure]) -> str:
    """`likely`; `2 likely, 1 weak` where they differ."""
    return sureness(Counter("reviewed" if one.reviewed else one.confidence for one in failures))


def _machinery(failures: Sequence[RunFailure]) -> str:
    members = [one for one in failures if one.machinery and one.owner != "collateral"]
    follow = sum(one.owner == "collateral" for one in failures)
    owners = Counter(one.owner for one in members)
    listed = ", ".join(
        f"{owner} {often}" for owner, often in sorted(owners.items(), key=lambda pair: (-pair[1], pair[0]))
    )
    parts = [f"{len(members)} {'is' if len(members) == 1 else 'are'} infrastructure ({listed})."] if members else []
    if follow:
        parts.append("1 is a knock-on failure." if follow == 1 else f"{follow} are knock-on failures.")
    return " ".join(parts)


def _gaps(failures: Sequence[RunFailure]) -> str:
    cases = [one.case for one in failures if one.label == "KNOWN_GAP"]
    are = "1 is a known gap" if len(cases) == 1 else f"{len(cases)} are known gaps"
    return f"{are}: {name_list(cases, CASES)}." if cases else ""


def _ours(failures: Sequence[RunFailure]) -> str:
    ours = [one for one in failures if is_ours(one)]
    verb = "points" if len(ours) == 1 else "point"
    fixed = " and should already be fixed" if all(one.repeat.should_be_gone for one in ours) else ""
    cases = name_list([one.case for one in ours], CASES)
    return f"{len(ours)} {verb} to the eval itself{fixed}: {cases}." if ours else ""


def is_ours(failure: RunFailure) -> bool:
    """The eval's own fault, and not known before."""
    return failure.owner in ("grader", "task") and failure.label != "KNOWN_GAP"


def _back(failures: Sequence[RunFailure]) -> str:
    """Where the sentence about the eval does not have all of them."""
    back = [one for one in failures if one.repeat.should_be_gone]
    if not back or back == [one for one in failures if is_ours(one)]:
        return ""
    return f"Of these, {len(back)} should already be fixed: {name_list([one.case for one in back], CASES)}."


def _others(failures: Sequence[RunFailure]) -> str:
    """What nobody knows the owner of, and what ran into a limit."""
    unknown, limits = (sum(one.owner == owner for one in failures) for owner in ("unknown", "budget"))
    parts = [f"{limits} hit a limit."] if limits else []
    return " ".join(
        [*parts, f"{unknown} {'has' if unknown == 1 else 'have'} no known owner yet."] if unknown else parts
    )


def short_of(failure: RunFailure) -> str:
    """Why a failure is called what it is called, in one line for a table."""
    if failure.reviewed:
        return failure.cause
    return short_line(failure.rule_means or failure.reason or "No rule points away from the model", SHORT)


def reasoning_of(failure: RunFailure) -> str:
    """The same in two or three sentences."""
    if failure.reviewed:
        return failure.reasoning
    if not failure.decided_by:
        return "Not triaged."
    earlier = _other_labels(failure)
    if not failure.rule_means:
        is_shown = not failure.reason or failure.reason in failure.error
        log = "" if is_shown else f'Log: "{failure.reason}". '
        if failure.proof == "shown":
            why = proof_reason(failure.proof_reason)
            return f"{log}Supported as the model's mistake: {why}.{earlier} Not reviewed yet."
        if earlier:
            return f"{log}No rule points away from the {failure.owner}.{earlier} Not reviewed yet."
        return f"{log}No rule points away from the {failure.owner}; not reviewed yet."
    means = failure.rule_means
    return f"{means[:1].upper()}{means[1:]} (rule {failure.decided_by}).{earlier} Not reviewed yet."


def _other_labels(failure: RunFailure) -> str:
    """Where earlier reports had another label."""
    others = [one for one in failure.repeat.earlier if one.label and failure.label and one.label != failure.label]
    return "".join(f" An earlier report of {one.date} has the label {one.label}." for one in others)


def impact_words(report: RunReport, kind: ImpactKind) -> str:
    """The model's failures are genuine faults once somebody has reviewed them; before that, supported or presumed."""
    mine = [one for one in report.failures if one.owner == "model" and one.label != "KNOWN_GAP"]
    reviewed = sum(one.reviewed for one in mine)
    if kind != "model" or reviewed == len(mine):
        return IMPACTS[kind]
    shown, presumed = (sum(one.proof == proof for one in mine) for proof in ("shown", "presumed"))
    counts = ", ".join(f"{count} {word}" for count, word in ((shown, "supported"), (presumed, "presumed")) if count)
    state = f"{reviewed} of {len(mine)} reviewed" if reviewed else "not reviewed"
    return f"Model ({'; '.join(filter(None, (state, counts)))})"


def title_of(failure: RunFailure) -> str:
    if failure.attempts == 1:
        return failure.case
    word = "row" if failure.is_row else "attempt"
    return f"{failure.case}, {word} {failure.attempt} of {failure.attempts}"


def check_words(check: FailedCheck) -> str:
    """`tests (67 % passed)` where a share of it was met."""
    if check.share is None:
        return check.name
    return f"{check.name} ({share_passed(check.share) if check.has_tests else percent(check.share, 0)})"


def first_check(failure: RunFailure) -> str:
    return check_words(failure.checks[0]) if failure.checks else ""


def other_checks(failure: RunFailure) -> str:
    return " and ".join(map(check_words, failure.checks[1:]))


def repeat_words(repeat: Repeat) -> str:
    """Earlier failures of the case, and whether an action should have fixed it."""
    models = ", ".join(repeat.other_models[:MODELS])
    others = f"Other models fail it as well: {models}." if models else ""
    if not repeat:
        return f"no.{f' {others}' if others else ''}"
    earlier = ", ".join(_earlier(repeat))
    if repeat.otherwise:
        return " ".join(part for part in (f"failed before, in another way: {earlier}.", others) if part)
    return " ".join(part for part in (f"yes, {earlier}." if earlier else "yes.", _due(repeat), others) if part)


def _earlier(repeat: Repeat) -> Iterator[str]:
    for failure in repeat.earlier:
        word = failure.label or ("failed" if failure.kind == "run" else "named")
        yield f"{word} on {failure.date}"


def _due(repeat: Repeat) -> str:
    if repeat.due is None:
        late = repeat.later
        if late is None:
            return "No action was recorded."
        return f"{late_action_text(late.path, late.what, late.date, repeat.later_reason)}."
    path = f"{repeat.due.path} " if repeat.due.path else ""
    return (
        f"The action of {repeat.due.date} ({path}{repeat.due.what}) came before this run and should have fixed it. It "
        "did not."
    )


def categories_words(report: RunReport) -> str:
    note = overlap_note(report.overlap)
    return _failures_by_category(report.categories) + (f" {note}." if note else "")


def _failures_by_category(tests: Sequence[CategoryTest]) -> str:
    """The same counts as in `analyze` and a comparison; what the test leaves out comes behind them."""
    if any(one.tried is None for one in tests):
        listed = ", ".join(f"{one.name} {one.failed}" for one in tests[:CATEGORIES])
        return f"failed cases by category: {listed}. Not compared: passes have no row in the log."
    listed = ", ".join(f"{one.name} {one.failed}/{one.cases}" for one in tests[:CATEGORIES])
    harder = [f"{one.name} ({p_value(one.adjusted, 3)})" for one in tests if one.harder and one.adjusted is not None]
    is_corrected = any((one.tried, one.hard) != (one.cases, one.failed) for one in tests)
    basis = f" (tested on {CLEAN_CASES})" if is_corrected else ""
    result = (
        f"Significantly harder than the rest: {', '.join(harder)}" if harder else "No category is significantly harder"
    )
    return f"failed cases by category: {listed}. {result}{basis}."


def since_words(since: PreviousRun) -> str:
    chance = "significant" if since.differs else "not significant"
    out = ((since.edited, "the task was edited in between"), (since.infrastructure, "infrastructure failures"))
    left_out = "".join(f" {plural(count, 'case')} left out: {why}." for count, why in out if count)
    first, second = ("Passes now", "Fails now") if since.model else ("Fixed", "Regressed")
    of = f" of {since.date}" if since.date else ""
    return (
        f"{since.run[:8]}{of}. Failed in both: {since.failed_in_both}. {first}: {since.fixed}. {second}: "
        f"{since.broke}{_regressed(since)}. The difference is {chance} (exact McNemar, {p_value(since.p)}).{left_out}"
    )


def _regressed(since: PreviousRun) -> str:
    return f" ({name_list(since.regressed, CASES)})" if since.regressed else ""


def regressed_words(since: PreviousRun) -> str:
    """For the first screen: what broke since the previous run; empty where nothing did."""
    if not since.regressed or since.model:
        return ""
    of = f" of {since.date}" if since.date else ""
    chance = "significant" if since.differs else "not significant"
    cases = name_list(since.regressed, CASES)
    broke = plural(since.broke, "case")
    return f"{broke} regressed since run {since.run[:8]}{of} ({chance}, {p_value(since.p)}): {cases}."


def after_fixes_words(after: AfterFixesOutput) -> str:
    shares = ", ".join(
        f"{policy.replace('_', ' ')} {percent(score.rate)} ({score.passed}/{score.total})"
        for policy, score in after.scores.items()
    )
    failures = plural(len(after.cases), "failure")
    return (
        f"{shares}, if the {failures} of grader or task with an accepted fix passed: {name_list(after.cases, CASES)}."
    )


def range_words(bounds: Bounds, subject: RunSubject) -> str:
    """`Clean range: 52.0–72.0 % (if all 5 left-out evals failed / passed)`, in the words of `errata score`."""
    out, unit = bounds.left_out, unit_of(subject)
    many = "both" if out == 2 else f"all {out:,}"
    which = f"the left-out {unit}" if out == 1 else f"{many} left-out {unit}s"
    ends = f"{hundredths(bounds.low)}–{percent(bounds.high)}"
    return f"{bounds.policy.capitalize()} range: {ends} (if {which} failed / passed)."


def unit_of(subject: RunSubject) -> str:
    """`eval`, `turn`, `case`; `attempt` where a case has several, whatever the harness calls them."""
    return "attempt" if subject.unit == "attempts" else harness_of(subject.source).unit or "case"


def counts_what_is_in_the_log(subject: RunSubject) -> bool:
    """Whether the pass rate leaves out planned cases, or counts as failed what did not finish."""
    is_partial = bool(subject.pending or subject.missing or subject.missing_unnamed)
    return subject.counted_by == "harness" and is_partial


def reported_words(report: RunReport) -> str:
    """Behind the pass rate: whose count it is, and what the harness itself reports where that differs."""
    subject = report.subject
    own = next((one for one in report.scores if one.policy == "as_reported" and one.total), None)
    if counts_what_is_in_the_log(subject):
        return f" of the {unit_of(subject)}s in the log passed"
    if subject.counted_by == "harness":
        return ", as the harness counts"
    if own is None or own.rate is None or own.reproduced is False:
        stated = "gives no number" if subject.stated is None else f"reports {subject.stated:.4g}"
        return f" strict; the harness {stated}"
    if own.rate != own.passed / own.total:
        return f" strict; mean {own.rate:.4g} as the harness counts"
    if (own.passed, own.total) == (subject.passed, subject.total):
        return ", as the harness counts"
    return f" strict; {own.passed}/{own.total} ({percent(own.rate)}) as the harness counts"


def best_figure_words(report: RunReport) -> str:
    """Empty where neither policy that corrects the score was measured."""
    by_policy = {one.policy: one for one in report.scores if one.total}
    best = next((by_policy[name] for name in ("reviewed", "clean") if name in by_policy), None)
    if best is None or best.low is None or best.high is None:
        return ""
    count, rate = figures_of(best)
    figure, interval = f"{best.policy}, {rate} ({count})", f"interval {interval_of(best)}"
    if report.no_estimate is not None:
        return f"No {BEST_ESTIMATE}: {NO_ESTIMATE[report.no_estimate]}; {figure}, {interval}."
    return f"{BEST_ESTIMATE.capitalize()}: {figure}, {interval}."
