"""The facts of one run's report, collected from triage, reviews, buckets, scores and memory."""

from collections.abc import Iterable, Iterator, Sequence

from errata.compare.categories import fisher
from errata.compare.pairs import holm, mcnemar
from errata.model import Finding, StoredRun
from errata.model.identity import split_attempt_id
from errata.model.output.report.run import Action, Failure, Impact, Pattern, RunReport, StepCount, Subject
from errata.model.output.report.shared import ScoreLine
from errata.model.run import case_name
from errata.report.parts import named, percent, plural
from errata.report.run_advice import advice_of
from errata.report.run_failures import Gathered, gather
from errata.report.run_prose import answer_of
from errata.report.shared import MACHINERY, day_of, in_common, is_unjudged, reading_of, score_lines
from errata.runs.causes import Causes
from errata.runs.earlier_runs import earlier_of_same_model
from errata.runs.history import Remembered, remember
from errata.runs.scores import Scores
from errata.runs.summary import summarise
from errata.runs.suspicions import suspicious_passes
from errata.runs.without_failures import harness_says, untold_of
from errata.store.attempts import categories_of
from errata.store.buckets import buckets_of
from errata.store.cells import cells_of
from errata.store.database import Store
from errata.text.outgoing import short_line

ALPHA = 0.05
ODD = 8
TOLD, PATTERN = 4, 160
WORKED = {"yes": "worked", "no": "NO EFFECT", "unknown": "not known yet"}
FINDINGS = ("error", "warning")
BY_VERDICT = "none (the verdict alone tells)"


def run_report(stored: StoredRun, store: Store, *, made: str) -> RunReport:
    """`made` is the day of the analysis, in UTC."""
    whole = summarise(stored, store)
    scores, health = whole.scores, whole.health
    remembered = remember(stored, store)
    gathered = gather(stored, store, remembered)
    failures = gathered.failures
    lines = score_lines(scores.scores)
    patterns = patterns_of(stored, store, gathered, remembered)
    return RunReport(
        subject=_subject(stored, scores, gathered, health.findings),
        made=made,
        reading=reading_of(gathered.ids, gathered.said),
        answer=answer_of(stored, failures, unavailable=bool(scores.unavailable)),
        scores=lines,
        steps=tuple(_steps(gathered)),
        step_word="Step" if gathered.in_steps else "Check",
        failures=failures,
        patterns=patterns,
        shared_texts=tuple(shared_texts(whole.causes, patterns, len(failures))),
        categories=_categories(stored, store, failures),
        since=_since(stored, store),
        history=tuple(f"{one.date or 'undated'} {one.path}" for one in reversed(remembered.shelved.same_model)),
        told_before=tuple(_told_before(remembered)),
        actions=tuple(_actions(remembered, stored)),
        advice=advice_of(failures, gathered, remembered),
        impact=tuple(_impact(failures)),
        bounds=_bounds(lines, failures),
        findings=tuple(f"{one.name}: {one.text}" for one in health.findings if one.severity in FINDINGS),
        suspicious=tuple(_suspicious(stored, store)),
        limits=tuple(_limits(gathered, remembered)),
    )


def _subject(stored: StoredRun, scores: Scores, gathered: Gathered, findings: Sequence[Finding]) -> Subject:
    run, cost = stored.run, scores.cost
    as_counted = _as_the_harness_counts(stored, scores)
    unavailable = next((one.text for one in findings if one.name == "unavailable"), "")
    return Subject(
        native_id=run.native_id,
        run_id=run.id,
        source=run.source.name,
        model=run.subject.model,
        provider=run.subject.provider,
        agent=run.subject.agent,
        experiment=run.variant.get("experiment", ""),
        suite=run.suite,
        date=day_of(run),
        passed=as_counted[0],
        total=as_counted[1],
        judged=not is_unjudged(stored),
        pending=gathered.pending,
        missing=gathered.missing,
        missing_unnamed=max(0, (run.expected_cases or 0) - stored.counts.cases - untold_of(stored)),
        untold=harness_says(run) if untold_of(stored) else "",
        unavailable=unavailable,
        excluded=run.excluded.reason if run.excluded is not None else "",
        cost=cost.total,
        costed=stored.counts.counted - cost.unknown if cost.total is not None else 0,
        cost_of_failures=cost.of_failures,
        cost_per_pass=cost.per_pass,
    )


def _as_the_harness_counts(stored: StoredRun, scores: Scores) -> tuple[int, int]:
    """Its own pass rate where it states one of all that it ran; else every expected case."""
    strict = scores.scores["strict"]
    counted = (0, stored.counts.cases) if is_unjudged(stored) else (strict.passed, strict.total)
    return stored.run.stated_passes or counted


def _steps(gathered: Gathered) -> Iterator[StepCount]:
    """Every step that the harness has, also those at which nothing failed."""
    by_step: dict[str, list[str]] = {name: [] for name in gathered.steps}
    for one, first in zip(gathered.failures, gathered.first_failed, strict=True):
        also = f" (also {' and '.join(one.also_failed)})" if one.also_failed else ""
        by_step.setdefault(first or (BY_VERDICT if one.measured else ""), []).append(f"{one.case}{also}")
    for step, cases in by_step.items():
        if step or cases or gathered.in_steps:
            yield StepCount(step=step or "none (nothing was checked)", count=len(cases), cases=tuple(cases))


def _categories(stored: StoredRun, store: Store, failures: Sequence[Failure]) -> str:
    of_case = {case_name(stored.run, key): name for key, name in categories_of(store, stored.pk).items() if name}
    if not of_case:
        return ""
    sizes = _counts(of_case.values())
    failed = _counts(of_case[one.case] for one in failures if one.case in of_case and not one.machinery)
    tried, hard = sum(sizes.values()), sum(failed.values())
    told = ", ".join(f"{name} {failed.get(name, 0)}/{size}" for name, size in sorted(sizes.items())[:12])
    tests = [(name, _p(failed.get(name, 0), size, hard, tried)) for name, size in sorted(sizes.items())]
    adjusted = holm([p for _, p in tests])
    harder = [
        f"{name} (p = {p:.3f})"
        for (name, _), p in zip(tests, adjusted, strict=True)
        if p < ALPHA and failed.get(name, 0) * tried > hard * sizes[name]
    ]
    if harder:
        return f"measured failures by category are {told}. Harder than the rest beyond chance: {', '.join(harder)}."
    return f"measured failures by category are {told}. No category can be called harder: the counts are too small."


def _p(failed: int, size: int, hard: int, tried: int) -> float:
    """A case that was tried several times may fail more often than there are cases."""
    return fisher(min(failed, size), size, min(hard, tried), tried)


def _counts(words: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


def _since(stored: StoredRun, store: Store) -> str:
    """Against the previous run of the same model, whatever the reason of a failure."""
    before = next(earlier_of_same_model(stored, store), None)
    if before is None:
        return ""
    went: dict[int, dict[str, bool]] = {before.pk: {}, stored.pk: {}}
    for cell in cells_of(store, list(went)):
        if cell.decided:
            went[cell.run][cell.case] = cell.passed
    then, now = went[before.pk], went[stored.pk]
    shared = then.keys() & now.keys()
    fixed = sum(now[case] and not then[case] for case in shared)
    broke = sum(then[case] and not now[case] for case in shared)
    both = sum(not then[case] and not now[case] for case in shared)
    p = mcnemar(fixed, broke)
    chance = "no more than chance" if p >= ALPHA else "more than chance"
    return (
        f"{before.run.native_id[:8]} of {day_of(before.run)}. Failed in both {both}; failed then, pass now {fixed}; "
        f"passed then, fail now {broke}. The difference is {chance} (exact McNemar, {fixed} against {broke}, "
        f"p = {p:.2f})."
    )


def _told_before(remembered: Remembered) -> Iterator[str]:
    """What earlier reports about the model say is behind several failures."""
    for report in reversed(remembered.shelved.same_model):
        for pattern in report.patterns[:TOLD]:
            yield f'{report.date or "undated"}: "{short_line(pattern, PATTERN)}"'


def _actions(remembered: Remembered, stored: StoredRun) -> Iterator[Action]:
    for one in remembered.effects:
        action = one.action
        yield Action(
            date=action.date[:10],
            what=action.what,
            path=action.path,
            cases=tuple(case_name(stored.run, case) for case in action.addresses),
            worked=WORKED[one.worked],
            why=one.why,
        )


def _impact(failures: Sequence[Failure]) -> Iterator[Impact]:
    kinds = (
        ("Genuine model faults", [one for one in failures if one.owner == "model"]),
        ("Known gap", [one for one in failures if one.label == "KNOWN_GAP"]),
        ("Actionable on our side (eval, lint, grader, task)", [one for one in failures if _is_ours(one)]),
        ("Ran into a limit (budget)", [one for one in failures if one.owner == "budget"]),
        ("Says nothing about the model, repeat", [one for one in failures if one.owner in MACHINERY]),
        ("Not known", [one for one in failures if one.owner == "unknown"]),
    )
    for what, members in kinds:
        if members:
            yield Impact(what=what, count=len(members))


def _is_ours(one: Failure) -> bool:
    return one.owner in ("grader", "task") and one.label != "KNOWN_GAP"


def _bounds(lines: Sequence[ScoreLine], failures: Sequence[Failure]) -> str:
    by_policy = {one.policy: one for one in lines}
    strict = by_policy.get("strict")
    if strict is None or not strict.total:
        return ""
    not_own = sum(one.owner not in ("model", "budget", "unknown") for one in failures)
    most = min(strict.passed + not_own, strict.total)
    told = (
        f"The model's score lies between {percent(strict.rate)} ({strict.passed}/{strict.total}, everything counts "
        f"against it) and {percent(most / strict.total)} ({most}/{strict.total}, if every failure that is not its own "
        "had passed)."
    )
    best = next((by_policy[name] for name in ("reviewed", "clean") if name in by_policy), None)
    if best is None or not best.total or best.low is None or best.high is None:
        return told
    figure = f"{percent(best.rate)} ({best.passed}/{best.total}), interval {100 * best.low:.1f}–{100 * best.high:.1f}"
    return f"{told} Our best single figure is {best.policy}: {figure}."


def _suspicious(stored: StoredRun, store: Store) -> Iterator[str]:
    found: dict[str, list[str]] = {}
    for one in suspicious_passes(stored, store):
        found.setdefault(one.means, []).append(one.case_name)
    for means, cases in found.items():
        yield f"{means} ({plural(len(cases), 'pass', 'passes')}: {named(cases, ODD)})"


def _limits(gathered: Gathered, remembered: Remembered) -> Iterator[str]:
    by_rule = [one for one in gathered.failures if not one.reviewed]
    if by_rule:
        count = plural(len(by_rule), "classification")
        yield f"{count} come from rules alone and may be wrong; nobody has read them yet."
    for skipped in remembered.shelf.skipped[:3]:
        yield f"An earlier report could not be read: {skipped}"


SHARED = 2
TITLE, SHOWN = 120, 8


def shared_texts(causes: Causes, patterns: Iterable[Pattern], failures: int) -> Iterator[str]:
    """Texts that failures of different buckets share: a hint, and no cause that anybody has read."""
    told = {frozenset(one.cases) for one in patterns}
    for cause in causes.shared:
        if frozenset(cause.cases) not in told:
            text = f'"{cause.text}"' if cause.verbatim else cause.text
            yield f"{short_line(text, TITLE)} in {cause.count} of {failures}: {named(cause.cases, SHOWN)}"


def patterns_of(stored: StoredRun, store: Store, gathered: Gathered, remembered: Remembered) -> tuple[Pattern, ...]:
    """Buckets of more than one failure, the largest first."""
    members: dict[str, list[int]] = {}
    for at, attempt in enumerate(gathered.ids):
        if attempt in gathered.slips:
            members.setdefault(gathered.slips[attempt].id, []).append(at)
    known = {one.id: one for one in buckets_of(store, stored.run.suite)}
    found = []
    for bucket_id, places in members.items():
        if len(places) < SHARED or bucket_id not in known:
            continue
        bucket, failures = known[bucket_id], [gathered.failures[at] for at in places]
        read = sum(one.reviewed for one in failures)
        found.append(
            Pattern(
                title=bucket.title,
                cases=tuple(dict.fromkeys(one.case for one in failures)),
                rows=len(failures),
                state=f"{bucket.status}, {read} of {len(failures)} read",
                final=bucket.status == "final",
                parameters=in_common(bucket.parameters),
                documented=_documented([gathered.ids[at] for at in places], remembered),
            )
        )
    return tuple(sorted(found, key=lambda one: (-one.rows, one.title)))


def _documented(attempts: Iterable[str], remembered: Remembered) -> str:
    """Earlier reports that name one of the failures."""
    dates: dict[str, int] = {}
    for attempt in attempts:
        for one in remembered.named.cases.get(split_attempt_id(attempt).case, ()):
            dates[one.date] = dates.get(one.date, 0) + 1
    return f"yes: {', '.join(f'{date} ({often} of them)' for date, often in sorted(dates.items()))}" if dates else ""
