"""Whether an action worked: how the cases it addresses went in the runs before it and in a run after it."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import msgspec

from errata.memory.spelling import canonical_step
from errata.model import Action, FailureKey, Run
from errata.model.history import ActionResult, CaseEffect, EffectReason, Worked
from errata.model.record import Struct
from errata.model.times import is_local, moment_of
from errata.text.lazy_regex import lazy_regex

ALIKE = 0.6
"""The share of words that two keys need in common: the same rule, but another name in the message."""
_WORD = lazy_regex(r"[^\W\d_]{3,}")


class FailureSign(Struct):
    """What failed in one attempt, or what failed by a report; empty where that is unknown."""

    checks: frozenset[str] = frozenset()
    key: str = ""


def sign_of_key(key: FailureKey) -> FailureSign:
    checks = (canonical_step(name) or name for name in key.coarse.split("+"))
    return FailureSign(checks=frozenset(filter(None, checks)), key=key.exact.removeprefix(f"{key.coarse}:"))


def sign_of_check(check: str) -> FailureSign:
    name = canonical_step(check) or check.strip()
    return FailureSign(checks=frozenset((name,)) if name else frozenset())


def recurs(now: Iterable[FailureSign], before: Iterable[FailureSign]) -> bool:
    """Whether any of the failures came before; what is unknown on one side does not differ."""
    here, there = list(now), list(before)
    return not here or not there or any(is_same(one, other) for one in here for other in there)


def same_signs(now: Sequence[FailureSign], before: Sequence[FailureSign]) -> bool | None:
    """Whether any of the failures came before; none where one side is unknown."""
    return recurs(now, before) if now and before else None


def same_check(now: Sequence[FailureSign], check: str) -> bool | None:
    """The same by the check that a report names; none where it does not name a check of the harness."""
    step, checks = canonical_step(check), {name for sign in now for name in sign.checks}
    if not step or not checks or not all(map(canonical_step, checks)):
        return None
    return step in checks


def is_same(left: FailureSign, right: FailureSign) -> bool:
    if left.checks and right.checks and left.checks.isdisjoint(right.checks):
        return False
    return not left.key or not right.key or same_key(left.key, right.key)


def same_key(left: str, right: str) -> bool:
    here, there = set(_WORD.findall(left.casefold())), set(_WORD.findall(right.casefold()))
    if left == right or not here or not there:
        return left == right
    return len(here & there) / min(len(here), len(there)) >= ALIKE


DAY = len("2026-03-04")


class RunOutcomes(Struct):
    """The outcomes of a run's cases, from the store or an earlier report; by key, or by the report's name for them.

    A case that failed in one attempt and passed in another is in both. What is in none was not tried.
    """

    run: str
    at: str = ""
    """When it began: a time, or only the day."""
    subject: str = ""
    """The model, or agent and model; empty if unknown. Runs of another subject show nothing about an action."""
    suite: str = ""
    failed: frozenset[str] = frozenset()
    passed: frozenset[str] = frozenset()
    signs: Mapping[str, tuple[FailureSign, ...]] = msgspec.field(default_factory=dict)
    reports: frozenset[str] = frozenset()
    not_the_models: frozenset[str] | None = None
    """In a report on another model: the failures that it gives to the task or its checks. None for any other run."""


def effects(
    actions: Iterable[Action],
    now: RunOutcomes,
    before: Sequence[RunOutcomes],
    members: Mapping[str, Iterable[str]] | None = None,
) -> tuple[ActionResult, ...]:
    """What one run shows of each action. `members` has the cases of the buckets that actions may address."""
    return tuple(_effect(action, now, before, members or {}) for action in actions)


def newest_effect(
    action: Action, runs: Sequence[RunOutcomes], members: Mapping[str, Iterable[str]] | None = None
) -> ActionResult:
    newest_first = sorted(runs, key=lambda one: moment_of(one.at), reverse=True)
    results = [_effect(action, run, newest_first[at + 1 :], members or {}) for at, run in enumerate(newest_first)]
    telling = next((one for one in results if one.worked != "unknown"), None)
    nothing = ActionResult(action=action, worked="unknown", reason="no_run")
    lacking = next((one for one, run in zip(results, newest_first, strict=True) if run.not_the_models is None), nothing)
    if telling or any(case.reason != "not_measured" for case in lacking.cases):
        return telling or lacking
    return next((one for one in results if any(case.reason == "fails_elsewhere" for case in one.cases)), lacking)


def same_case(left: str, right: str) -> bool:
    """A report may leave out the suite, and more, of a case's key."""
    return left == right or left.endswith(f"/{right}") or right.endswith(f"/{left}")


def _effect(
    action: Action, now: RunOutcomes, before: Sequence[RunOutcomes], members: Mapping[str, Iterable[str]]
) -> ActionResult:
    cases = [case for address in action.addresses for case in members.get(address, (address,))]
    if not cases:
        return ActionResult(action=action, worked="unknown", reason="names_no_case", run=now.run)
    report = min(now.reports, default="")
    if order := _order(action, now):
        return ActionResult(action=action, worked="unknown", reason=order, run=now.run, report=report)
    earlier = [one for one in before if _comparable(one, now) and _is_before(one, action)]
    earlier.sort(key=lambda one: moment_of(one.at), reverse=True)
    shown = tuple(_case_effect(case, now, earlier) for case in dict.fromkeys(cases))
    if now.not_the_models is not None:  # it lists failures alone
        shown = tuple(one for one in shown if one.reason != "not_measured") or shown
    worked = _summary_of(shown)
    return ActionResult(action=action, worked=worked, reason="cases", cases=shown, run=now.run, report=report)


def _order(action: Action, now: RunOutcomes) -> EffectReason | None:
    """Why the action can't be placed before the run; none where it came before."""
    if not now.at:
        return "run_time_unknown"
    if action.report in now.reports:
        return "made_after_run"
    day, began = action.date[:DAY], now.at[:DAY]
    if day != began:
        return None if day < began else "made_after_run"
    done = _moment(action)
    if not (_is_exact(done) and _is_exact(now.at)):
        return "same_day"
    if moment_of(done) <= moment_of(now.at):
        return None
    # what was written down after the run began may have been done before
    return "made_after_run" if done == action.date else "same_day"


def _is_before(run: RunOutcomes, action: Action) -> bool:
    """What a report lists was done after its run, whatever day it names."""
    if action.report and action.report in run.reports:
        return True
    day, began = action.date[:DAY], run.at[:DAY]
    if not began or day != began:
        return "" < began < day
    done = _moment(action)
    return _is_exact(done) and _is_exact(run.at) and moment_of(run.at) < moment_of(done)


def _moment(action: Action) -> str:
    return action.date if len(action.date) > DAY else action.at or ""


def _is_exact(at: str) -> bool:
    return len(at) > DAY and not is_local(at)


def _comparable(earlier: RunOutcomes, now: RunOutcomes) -> bool:
    if now.not_the_models is not None:
        return True
    return not earlier.subject or not now.subject or earlier.subject == now.subject


def _case_effect(case: str, now: RunOutcomes, earlier: Sequence[RunOutcomes]) -> CaseEffect:
    """`earlier` has the newest first."""
    name = _name(case, now)
    failed, passed = _matching(case, now.failed), _matching(case, now.passed)
    if len(failed | passed) > 1:
        return CaseEffect(case=name, worked="unknown", reason="several_cases", matches=len(failed | passed))
    if not failed and not passed:
        return CaseEffect(case=name, worked="unknown", reason="not_measured")
    if now.not_the_models is not None:
        # what another model fails by itself shows nothing; a task or check that still fails it does
        fails = not failed.isdisjoint(now.not_the_models) and any(_same_known(case, now, one) for one in earlier)
        if not fails:
            return CaseEffect(case=name, worked="unknown", reason="fails_elsewhere", passes=False)
        return CaseEffect(case=name, worked="no", reason="fails_again", passes=False)
    if failed and passed:
        return CaseEffect(case=name, worked="unknown", reason="mixed_attempts")
    last = next((one for one in earlier if _matching(case, one.failed) or _matching(case, one.passed)), None)
    if last is None:
        return CaseEffect(case=name, worked="unknown", reason="no_earlier_run", passes=not failed)
    if not _matching(case, last.failed):
        return CaseEffect(case=name, worked="unknown", reason="passed_before", passes=not failed)
    if failed and not recurs(_signs(case, now), _signs(case, last)):
        return CaseEffect(case=name, worked="unknown", reason="fails_otherwise", passes=False)
    if failed:
        return CaseEffect(case=name, worked="no", reason="fails_again", passes=False)
    return CaseEffect(case=name, worked="yes", reason="passes_now", passes=True)


def _signs(case: str, run: RunOutcomes) -> tuple[FailureSign, ...]:
    return tuple(sign for key in _matching(case, run.failed) for sign in run.signs.get(key, ()))


def _same_known(case: str, now: RunOutcomes, before: RunOutcomes) -> bool:
    here, there = ([sign for sign in _signs(case, run) if sign.checks] for run in (now, before))
    return same_signs(here, there) is True


def _matching(case: str, known: frozenset[str]) -> set[str]:
    if case in known:
        return {case}
    return {one for one in _by_ending(known).get(_ending(case), ()) if same_case(case, one)}


@lru_cache(maxsize=256)
def _by_ending(known: frozenset[str]) -> dict[str, list[str]]:
    endings: dict[str, list[str]] = {}
    for case in known:
        endings.setdefault(_ending(case), []).append(case)
    return endings


def _ending(case: str) -> str:
    return case.rpartition("/")[2]


def _summary_of(cases: Sequence[CaseEffect]) -> Worked:
    """One answer for all cases of an action: a case that still fails outweighs any that passes."""
    kinds = {case.worked for case in cases}
    return "no" if "no" in kinds else "unknown" if "unknown" in kinds else "yes"


def _name(case: str, run: RunOutcomes) -> str:
    return case.removeprefix(f"{run.suite}/") if run.suite else case


def subject_of(run: Run) -> str:
    """What has to be the same for two runs to be compared: the model, its agent, the variant; no model equals none."""
    variant = (f"{key}={value}" for key, value in sorted(run.variant.items()))
    return " ".join(part for part in (run.subject.model or f"run {run.id}", run.subject.agent, *variant) if part)
