"""`gate`, and the comments of `compare`: what changed from a baseline to a run, and whether a job passes."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple, cast

import msgspec

from errata.compare.comparison import Comparison, ComparisonOptions, left_out_of_clean
from errata.compare.gate import (
    AllowedCase,
    CaseFailure,
    Changes,
    Gate,
    GateInput,
    GateRules,
    changes_between,
    decide,
    failing_cases,
    parse_allowed,
    passed_before,
)
from errata.compare.trials import Timeouts
from errata.errors import NotComparableError, NotFoundError, SettingsError, did_you_mean
from errata.model import Attempt, Attribution, StoredRun
from errata.model.gate import CodeRef, GateRecord
from errata.model.run import case_name, why_excluded
from errata.model.times import moment_of, to_text
from errata.model.words import NOT_THE_SUBJECTS, OWNERS
from errata.runs.first_page import doubted_results
from errata.runs.names import run_named
from errata.runs.runset import RunSet
from errata.runs.standings import owner_of
from errata.runs.view import RunView
from errata.settings import branch_and_commit, job_address
from errata.store.database import Store
from errata.store.runs import code_refs_of, gates_of, keep_code_ref, keep_gate
from errata.store.same_work import beside
from errata.transcript.error_text import has_logs, says_more
from errata.triage.reasons import reason_in_words, reason_of

LATEST_GREEN = "latest-green"
BRANCH = "branch:"


class Baseline(msgspec.Struct, frozen=True):
    run: StoredRun | None
    why_none: str = ""


def baseline_for(stored: StoredRun, selector: str, store: Store) -> Baseline:
    """`latest-green` and `branch:NAME` mean a run of the same suite, model, agent and variant that is not newer."""
    if selector == LATEST_GREEN:
        green = {run_id for run_id, gate in gates_of(store).items() if gate.verdict == "passed"}
        run = next((one for one in comparable_runs(stored, store) if one.run.id in green), None)
        return Baseline(run, "" if run else "No earlier run of this suite and subject has passed a gate")
    if selector.startswith(BRANCH):
        return _of_branch(stored, selector.removeprefix(BRANCH), store)
    run = run_named(selector, store)
    if run.run.id == stored.run.id:
        raise NotFoundError(
            f"RUN and `--baseline {selector}` are the same run",
            hint=f"name another run, `{LATEST_GREEN}` or `{BRANCH}NAME`",
        )
    return Baseline(run)


def _of_branch(stored: StoredRun, branch: str, store: Store) -> Baseline:
    refs = code_refs_of(store)
    on_branch = {run_id for run_id, ref in refs.items() if ref.branch == branch}
    if not on_branch:
        known = sorted({ref.branch for ref in refs.values() if ref.branch})
        named = did_you_mean(branch, known) or (f"known are: {', '.join(known[:10])}" if known else "")
        return Baseline(None, f"No run in the store is from branch `{branch}`" + (f"; {named}" if named else ""))
    run = next((one for one in comparable_runs(stored, store) if one.run.id in on_branch), None)
    return Baseline(run, "" if run else f"No earlier run of this suite and subject is from branch `{branch}`")


def comparable_runs(stored: StoredRun, store: Store) -> Iterator[StoredRun]:
    """Other runs of the same suite and subject that are not newer, the newest first."""
    then = _moment(stored)
    for other in beside(stored, store):
        is_other = other.run.id != stored.run.id and why_excluded(other.run) is None
        if is_other and _subject(other) == _subject(stored) and _moment(other) <= then:
            yield other


class Repeats(NamedTuple):
    """Runs with equivalent attempts, the newest first."""

    runs: tuple[StoredRun, ...]
    is_one_commit: bool
    """Whether they are known to have tested the same code; else it may have changed between them."""


def repeats_of(stored: StoredRun, store: Store, *, without: str, most: int, known_commit: bool = False) -> Repeats:
    """The run and earlier ones of the same subject, version and commit.

    With `known_commit` the run alone where its commit is unknown.
    """
    refs = code_refs_of(store)
    commit = _commit(stored, refs)
    if known_commit and not commit:
        return Repeats((stored,), False)
    others = (
        other
        for other in comparable_runs(stored, store)
        if other.run.id != without
        and other.run.subject.agent_version == stored.run.subject.agent_version
        and _commit(other, refs) == commit
    )
    return Repeats((stored, *islice(others, most)), bool(commit))


def _commit(stored: StoredRun, refs: dict[str, CodeRef]) -> str:
    ref = refs.get(stored.run.id)
    if ref is not None and ref.commit:
        return ref.commit
    return stored.run.code.commit if stored.run.code is not None else ""


def _subject(stored: StoredRun) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    """Without the agent's version: that is what a gate tests. An unknown model is the same as an unknown one."""
    run = stored.run
    return run.subject.model, run.subject.agent, tuple(sorted(run.conditions.items()))


def _moment(stored: StoredRun) -> datetime:
    return moment_of(stored.run.started_at or stored.imported_at)


__all__ = [
    "FORMATS",
    "changes_as_gate",
    "code_refs_of",
    "compare_changes",
    "format_gate",
    "gate",
    "read_allow_list",
    "record_code_ref",
    "record_gate",
    "record_job",
]

FORMATS = ("github", "gitlab", "markdown", "junit")
LARGEST_LIST = 1_000_000

EARLIER = 5
"""Equivalent runs that show whether a case is flaky."""


def gate(
    stored: StoredRun, store: Store, rules: GateRules, *, baseline: str = "", timeouts: Timeouts = "count"
) -> Gate:
    """Nothing is stored; `record_gate` does that."""
    view = RunView(stored, store)
    _refuse_drop(rules, view, has_baseline=bool(baseline), timeouts=timeouts)
    chosen = baseline_for(stored, baseline, store) if baseline else Baseline(None)
    if chosen.run is None:
        alone = _alone(view, rules, chosen, timeouts)
        return decide(msgspec.structs.replace(alone, doubted=doubted_results([stored], store)), rules)
    try:
        comparison, changes = compare_changes(chosen.run, stored, store, timeouts=timeouts)
    except NotComparableError as problem:
        given = _alone(view, rules, chosen, timeouts)
        refused = msgspec.structs.replace(
            given, refusal=problem.message, differences=tuple(problem.hint.splitlines()), baseline=chosen.run
        )
        return decide(refused, rules)
    before, after = comparison.runs
    given = GateInput(
        run=stored,
        scores=after.scores,
        fit=not after.problems,
        problems=after.problems,
        baseline=chosen.run,
        baseline_scores=before.scores,
        baseline_problems=before.problems,
        changes=changes,
        doubted=doubted_results([stored, chosen.run], store),
        case_states=_states(view, rules),
    )
    return decide(given, rules)


def _refuse_drop(rules: GateRules, view: RunView, *, has_baseline: bool, timeouts: Timeouts) -> None:
    if rules.max_drop is None:
        return
    if not has_baseline:
        raise SettingsError("`--max-drop` compares with a baseline", hint="name one with `--baseline`")
    spread = view.scores(timeouts=timeouts).scores[rules.policy].spread
    if rules.max_drop >= 1 and (spread is None or spread.high <= 1):
        problem = f"A score between 0 and 1 can't drop by more than {rules.max_drop:g}"
        raise SettingsError(problem, hint="write a share, such as `--max-drop 0.05` or `--max-drop 5%`")


def _alone(view: RunView, rules: GateRules, chosen: Baseline, timeouts: Timeouts) -> GateInput:
    """The run without a comparison."""
    health = view.health
    return GateInput(
        run=view.stored,
        scores=view.scores(timeouts=timeouts).scores,
        fit=health.fit,
        problems=tuple(finding.text for finding in health.findings if finding.breaks),
        differences=(chosen.why_none,) if chosen.why_none else (),
        case_states=_states(view, rules),
    )


def _states(view: RunView, rules: GateRules) -> dict[str, bool]:
    """What an allow-list is checked against."""
    return {case_name(view.run, cell.case): cell.passed for cell in view.cells} if rules.allowed else {}


def compare_changes(
    before: StoredRun, after: StoredRun, store: Store, *, timeouts: Timeouts = "count", common: bool = False
) -> tuple[Comparison, Changes]:
    """Refused where the two did not measure the same thing; cases that only one of them has are listed."""
    runs = RunSet.of([before, after], store)
    options = ComparisonOptions(timeouts=timeouts, common=common, may_lack_cases=True)
    comparison = runs.compare(options)
    failures = _failures(runs.views[1], set(failing_cases(comparison)))
    unstable = _unstable(before, after, store, set(passed_before(comparison)))
    return comparison, changes_between(comparison, failures, unstable)


def changes_as_gate(
    before: StoredRun, after: StoredRun, store: Store, *, timeouts: Timeouts = "count", common: bool = False
) -> Gate:
    """What `compare --format` shows: the changes, without a verdict about them."""
    comparison, changes = compare_changes(before, after, store, timeouts=timeouts, common=common)
    first, second = comparison.runs
    given = GateInput(
        run=after,
        scores=second.scores,
        fit=not second.problems,
        problems=second.problems,
        baseline=before,
        baseline_scores=first.scores,
        baseline_problems=first.problems,
        changes=changes,
    )
    return decide(given, GateRules(owners=frozenset(OWNERS) - NOT_THE_SUBJECTS))


def _failures(view: RunView, cases: Collection[str]) -> dict[str, CaseFailure]:
    """Case → its failure; of several attempts the one that is the model's, if any."""
    failures: dict[str, CaseFailure] = {}
    for attempt in view.attempts(failures=True, counted=True) if cases else ():
        if attempt.case not in cases or not attempt.is_failure:
            continue
        failure = _failure(view, attempt)
        known = failures.get(attempt.case)
        if known is None or _rank(failure.owner) < _rank(known.owner):
            failures[attempt.case] = failure
    return failures


def _failure(view: RunView, attempt: Attempt) -> CaseFailure:
    attribution = view.attributions.get(attempt.id)
    standing = view.standings[attempt.id].standing if attempt.id in view.standings else None
    cause = standing.verdict.cause if standing is not None else ""
    return CaseFailure(
        owner=owner_of(attribution, standing),
        is_presumed=standing is None and attribution is not None and attribution.proof == "presumed",
        reason=cause or _reason(view, attempt, attribution),
        attempt=attempt.id,
    )


def _reason(view: RunView, attempt: Attempt, attribution: Attribution | None) -> str:
    """From the attempt, else from its logs."""
    text = reason_of(attempt, attribution).text
    if has_logs(attempt) and not says_more(text, attempt):
        text = reason_of(view.with_texts(attempt), attribution).text
    return reason_in_words(attempt, text)


def _rank(owner: str) -> int:
    return 0 if owner == "model" else 2 if owner in NOT_THE_SUBJECTS else 1


def _unstable(before: StoredRun, after: StoredRun, store: Store, cases: set[str]) -> set[str]:
    """Cases with mixed outcomes over equivalent attempts: runs that repeat the baseline, or the run at its commit."""
    if not cases:
        return set()
    groups = (
        repeats_of(before, store, without=after.run.id, most=EARLIER),
        repeats_of(after, store, without=before.run.id, most=EARLIER, known_commit=True),
    )
    return {case for repeats in groups if len(repeats.runs) > 1 for case in _mixed(repeats, store, cases)}


def _mixed(repeats: Repeats, store: Store, cases: set[str]) -> Iterator[str]:
    """Infrastructure failures don't count. A case that failed, and since then passes, may have been fixed."""
    comparison = _same_tasks(repeats.runs, store)
    if comparison is None:
        return
    matrix = comparison.matrix
    out = left_out_of_clean(matrix, [one.scores["clean"] for one in comparison.runs])
    for case in cases & matrix.rows.keys() - set(comparison.edited):
        cells = [cell for cell in reversed(matrix.rows[case]) if cell is not None and (cell.run, case) not in out]
        passed = [at for at, cell in enumerate(cells) if cell.passes]
        failed = [at for at, cell in enumerate(cells) if cell.fails]
        if passed and failed and (repeats.is_one_commit or passed[0] <= failed[-1]):
            yield case


def _same_tasks(runs: Sequence[StoredRun], store: Store) -> Comparison | None:
    """None where they did not measure the same thing."""
    try:
        return RunSet.of(runs, store).compare(ComparisonOptions(may_lack_cases=True))
    except NotComparableError:
        return None


def record_gate(made: Gate, store: Store, *, now: datetime) -> None:
    """So that `latest-green` finds the run."""
    baseline = made.given.baseline
    record = GateRecord(verdict=made.verdict, baseline=baseline.run.id if baseline else "", at=to_text(now))
    keep_gate(store, made.given.run.run.id, record)


def record_code_ref(run_ids: Iterable[str], store: Store, *, branch: str, commit: str, now: datetime) -> None:
    keep_code_ref(store, run_ids, CodeRef(branch=branch, commit=commit, at=to_text(now)))


def record_job(run_id: str, store: Store, *, now: datetime) -> None:
    """The branch and commit of this CI job: a run that is gated by its path was not imported with them."""
    branch, commit = branch_and_commit()
    if branch and run_id not in code_refs_of(store):
        record_code_ref([run_id], store, branch=branch, commit=commit, now=now)


def read_allow_list(path: Path) -> tuple[AllowedCase, ...]:
    try:
        if path.stat().st_size > LARGEST_LIST:
            raise SettingsError(f"`{path}` is too large for an allow-list", hint="it has one case per line")
        return parse_allowed(path.read_text(encoding="utf-8"), place=str(path))
    except (OSError, UnicodeDecodeError) as error:
        message = f"`{path}` can't be read: {error}"
        raise SettingsError(message, hint="name a text file with one case per line") from None


def format_gate(made: Gate, form: str, store: Store, *, is_gate: bool = True) -> str:
    if form == "junit":
        from errata.report.gate_comment import to_junit  # noqa: PLC0415 each format needs its own

        return to_junit(made)
    from errata.report.gate_comment import Forge, comment_of  # noqa: PLC0415

    ref = code_refs_of(store).get(made.given.run.run.id)
    return comment_of(made, cast(Forge, form), is_gate=is_gate, job=job_address(), ref=ref)
