"""What earlier reports name: the failures of a run that repeat, what was done about them, and failures like one."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

import msgspec

from errata.memory.known_gaps import is_infrastructure, measured_failures
from errata.memory.spelling import CaseSpellings, canonical_step
from errata.model import Action, FailureKey, Run
from errata.model.history import MATCHES, ActionResult, CaseEffect, EffectReason, Match, Mention, Worked
from errata.model.prior_report import PriorFailure, PriorReport
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


class MentionedCases(msgspec.Struct, frozen=True):
    cases: dict[str, tuple[Mention, ...]]
    ambiguous: tuple[tuple[Mention, tuple[str, ...]], ...] = ()
    """A name, in the mention's text, that fits several cases: none of them is taken for meant."""


def mentions(reports: Iterable[PriorReport], names: CaseSpellings) -> MentionedCases:
    by_case: dict[str, list[Mention]] = {}
    ambiguous = []
    for report in reports:
        for failure, keys in ((one, names.find(one.case)) for one in measured_failures(report)):
            mention = _mention(report, failure)
            if len(keys) == 1:
                by_case.setdefault(keys[0], []).append(mention)
            elif keys:
                ambiguous.append((msgspec.structs.replace(mention, text=failure.case), keys))
    return MentionedCases({key: tuple(_one_per_report(some)) for key, some in by_case.items()}, tuple(ambiguous))


def _one_per_report(some: Iterable[Mention]) -> Iterator[Mention]:
    """Two names in one report may be one case; the first that has a label is kept."""
    by_report: dict[str, Mention] = {}
    for mention in some:
        if mention.report not in by_report or (mention.label and not by_report[mention.report].label):
            by_report[mention.report] = mention
    return iter(by_report.values())


def outcomes_in(report: PriorReport, names: CaseSpellings, task_labels: Collection[str] | None = None) -> RunOutcomes:
    """The outcomes of a run as far as a report shows them: the cases that failed, and at which check.

    With `task_labels`, of another model: which failures a person gave to the task or its checks.
    """
    matched = [(keys[0], one) for one in measured_failures(report) if len(keys := names.find(one.case)) == 1]
    signs: dict[str, tuple[FailureSign, ...]] = {}
    for key, failure in matched:
        signs[key] = (*signs.get(key, ()), sign_of_check(failure.failed_check))
    return RunOutcomes(
        run=report.run,
        at=min(filter(None, (one.date for one in report.runs)), default=report.date or report.written),
        failed=frozenset(signs),
        signs=signs,
        reports=frozenset((report.path,)),
        not_the_models=None
        if task_labels is None
        else frozenset(key for key, one in matched if one.label in task_labels and not one.by_rule),
    )


def with_case_keys(action: Action, names: CaseSpellings) -> Action:
    """The action with the keys of those cases of a run that it names; the others keep their names."""
    keys = (found[0] if len(found := names.find(name)) == 1 else name for name in action.addresses)
    return msgspec.structs.replace(action, addresses=tuple(dict.fromkeys(keys)))


def effects_on(
    case: str, actions: Iterable[Action], now: RunOutcomes, before: Sequence[RunOutcomes]
) -> tuple[ActionResult, ...]:
    about = [msgspec.structs.replace(one, addresses=(case,)) for one in actions if case in one.addresses]
    return effects(about, now, before)


# --- the entries on the same case and check, or with a similar text


class ReportQuery(Struct):
    is_similar: Callable[[str], bool]
    text: str = ""
    """Entries that hold these very words are the nearest."""
    case: str = ""
    names: CaseSpellings = CaseSpellings(())
    sign: FailureSign = FailureSign()
    infrastructure: bool = False
    """Whether it is an infrastructure failure; one of the model on the same case is another failure."""
    is_own: Callable[[PriorReport], bool] = lambda _: False
    """Whether a report is about the run that is looked at: what it states of the case is the failure itself."""


class ReportMatch(Struct):
    match: Match
    case: str
    """As the report writes it; empty for a pattern over several cases."""
    key: str = ""
    """The case key, where the case is the one that is looked for."""
    mention: Mention


def find_entries(reports: Iterable[PriorReport], query: ReportQuery) -> list[ReportMatch]:
    """The nearest first, then the newest."""
    matches = [match for report in reports for match in _in_report(report, query)]
    newest = sorted(matches, key=lambda one: one.mention.date, reverse=True)
    return sorted(newest, key=lambda one: MATCHES.index(one.match))


def _in_report(report: PriorReport, query: ReportQuery) -> Iterator[ReportMatch]:
    is_own = query.is_own(report)
    for failure in report.failures:
        is_case = bool(query.case) and query.names.find(failure.case) == (query.case,)
        match = None if is_own and is_case else _match(failure, query, is_case=is_case)
        if match:
            mention = _mention(report, failure)
            yield ReportMatch(match=match, case=failure.case, key=query.case if is_case else "", mention=mention)
    for pattern in report.patterns:
        match = _text_match(pattern, query)
        if match:
            mention = Mention(
                report=report.path, date=report.date, run=report.run, model=_model(report, ""), text=pattern
            )
            yield ReportMatch(match=match, case="", mention=mention)


def _match(failure: PriorFailure, query: ReportQuery, *, is_case: bool) -> Match | None:
    by_case = _case_match(failure, query) if is_case else None
    matches = [match for match in (by_case, _text_match(failure.reasoning, query)) if match]
    return min(matches, key=MATCHES.index, default=None)


def _case_match(failure: PriorFailure, query: ReportQuery) -> Match | None:
    """Checks that are unknown on one side do not differ, but do not agree either."""
    if is_infrastructure(failure) != query.infrastructure:
        return None
    checks = sign_of_check(failure.failed_check).checks
    if not checks or not query.sign.checks:
        return "same_case"
    return None if checks.isdisjoint(query.sign.checks) else "same_check"


def _text_match(text: str, query: ReportQuery) -> Match | None:
    if query.text and query.text.casefold() in text.casefold():
        return "same_text"
    return "similar_text" if query.is_similar(text) else None


def _mention(report: PriorReport, failure: PriorFailure) -> Mention:
    return Mention(
        report=report.path,
        line=failure.ref.line if failure.ref else None,
        date=report.date,
        run=failure.run or report.run,
        model=_model(report, failure.run),
        label=failure.label,
        by_rule=failure.by_rule,
        failed_check=failure.failed_check,
        text=failure.reasoning,
    )


def _model(report: PriorReport, run: str) -> str:
    return next((one.model for one in report.runs if run and one.id == run and one.model), report.model)


def texts_in(reports: Iterable[PriorReport]) -> Iterator[str]:
    for report in reports:
        yield from (failure.reasoning for failure in report.failures if failure.reasoning)
        yield from report.patterns
