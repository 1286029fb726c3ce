"""Recommendations for a run: from reviewers and from rules, without what was already done."""

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from errata.memory.entries import find_action_for, times_recommended
from errata.memory.history import same_case
from errata.model import Action, Recommendation
from errata.model.history import effect_text
from errata.model.output.report.run import Advice, AdviceKind, RunFailure
from errata.model.output.report.shared import DoneAction
from errata.model.standing import AttemptReview
from errata.model.words import RecommendationGroup
from errata.render.document import Code, Line, line, marked
from errata.render.figures import plural
from errata.report.parts import name_list
from errata.report.run_prose import short_of
from errata.report.shared import done_action
from errata.runs.history import RunHistory
from errata.text.lazy_regex import lazy_regex
from errata.text.outgoing import short_line
from errata.triage.rulebook import is_lasting as is_lasting_fault

GROUPS: dict[RecommendationGroup, str] = {
    "eval": "Eval improvements",
    "config": "Lint/config changes",
    "guidelines": "Guideline additions",
    "model": "Model-specific notes",
    "none": "No action needed",
}
REVIEW, RERUN = "Review first", "Rerun"
_HEADING_OF_KIND: dict[AdviceKind, str] = {
    "model": REVIEW,
    "supported": REVIEW,
    "unknown": REVIEW,
    "infrastructure": RERUN,
    "not_graded": RERUN,
    "collateral": RERUN,
    "missing": RERUN,
}
"""Nothing is to be changed for these, but somebody has to act."""
HEADINGS = (*(title for group, title in GROUPS.items() if group != "none"), REVIEW, RERUN, GROUPS["none"])
ONLY_WITH_ADVICE = (GROUPS["guidelines"], REVIEW, RERUN)
"""Headings that are left out where nothing is below them."""
DONE = 120
_EVAL = lazy_regex(r"(?i)task|grader|answer|(?:^|/)evals?/")
_GUIDELINES = lazy_regex(r"(?i)(?:^|/)[\w.-]{0,99}guidelines?[\w-]{0,99}(?:\.\w{1,9})?$|(?:^|/)AGENTS\.md$")
REPEATED = 2
"""A case that a model failed in this many earlier reports and runs gets a note."""


_ACTED_ON = ("eval", "config", "guidelines")
"""The groups that somebody can carry out."""
_AFTER = ("made_after_run", "same_day", "run_time_unknown")
"""The run can't show whether an action worked: it came after it, or may have."""


class _AdviceKey(NamedTuple):
    """What failures share that get the same advice."""

    group: RecommendationGroup
    kind: AdviceKind
    text: str = ""
    path: str = ""
    reports: int = 0
    unreported_runs: int = 0


def collect_advice(
    failures: Sequence[RunFailure],
    standings: Mapping[str, AttemptReview],
    history: RunHistory,
    *,
    broken: Container[str] = (),
    missing: Sequence[str] = (),
) -> tuple[Advice, ...]:
    """In the order of the groups; what several failures share is there once.

    `broken`: ids of unmeasured attempts; `missing`: planned cases without a row in the log.
    """
    cases_by_key: dict[_AdviceKey, list[str]] = {}
    for key, case in (*_by_reviewers(failures, standings), *_by_rules(failures, broken)):
        cases_by_key.setdefault(key, []).append(case)
    if missing:
        cases_by_key[_AdviceKey("none", "missing")] = list(missing)
    made = [Advice(**key._asdict(), cases=tuple(cases)) for key, cases in cases_by_key.items()]
    judged = [judged for one in made for judged in _with_actions(one, history)]
    return (*_without_effect(history), *sorted(judged, key=lambda one: (one.tried is None, -one.recommended_before)))


def _with_actions(advice: Advice, history: RunHistory) -> Iterator[Advice]:
    """What rules advise for a case is done where anything was done about it after the run; the other cases stay."""
    if advice.kind == "recommendation" or advice.group not in _ACTED_ON:
        yield _with_action(advice, history)
        return
    open_cases = list(advice.cases)
    for action in history.actions:
        cases = tuple(case for case in open_cases if any(same_case(case, other) for other in action.addresses))
        if cases and history.result_of(action).reason in _AFTER:
            open_cases = [case for case in open_cases if case not in cases]
            yield msgspec.structs.replace(advice, cases=cases, done=done_action(action))
    if open_cases or not advice.cases:
        yield msgspec.structs.replace(advice, cases=tuple(open_cases))


def _with_action(advice: Advice, history: RunHistory) -> Advice:
    """Only what was made and may have worked is not recommended again; what is back, or never done, comes first."""
    if advice.group not in _ACTED_ON:
        return advice
    words = advice_words(advice)
    action = find_action_for(words, history.actions, cases=advice.cases, path=advice.path)
    if action is None:
        is_given = advice.kind == "recommendation"
        before = times_recommended(words, history.reports.same_model, cases=advice.cases) if is_given else 0
        return msgspec.structs.replace(advice, recommended_before=before)
    result = history.result_of(action)
    if result.reason in _AFTER or result.worked == "yes":
        return msgspec.structs.replace(advice, done=done_action(action))
    cases = [one for one in result.cases if any(same_case(one.case, case) for case in advice.cases)]
    is_back = any(one.worked == "no" for one in cases or result.cases)
    return msgspec.structs.replace(advice, tried=done_action(action)) if is_back else advice


def _by_reviewers(
    failures: Sequence[RunFailure], standings: Mapping[str, AttemptReview]
) -> Iterator[tuple[_AdviceKey, str]]:
    for failure in failures:
        standing = standings.get(failure.attempt_id)
        given = standing.standing.verdict.recommendation if standing is not None else None
        again = (failure.repeat.reports, failure.repeat.unreported_runs)
        if _is_steady(failure) and not (given is not None and given.group == "model" and given.text):
            yield _AdviceKey("model", "repeated", short_of(failure) or failure.error, "", *again), failure.case
        if given is not None and given.text:
            counts = again if given.group == "model" and _is_steady(failure) else (0, 0)
            text = given.text.strip().rstrip(".")
            yield _AdviceKey(_group_of_text(given), "recommendation", text, given.target_path, *counts), failure.case
        elif standing is not None and failure.owner == "model":
            yield _AdviceKey("none", "fair"), failure.case


def _group_of_text(given: Recommendation) -> RecommendationGroup:
    """Whatever the reviewer calls it, a change of the file with the guidelines is one of the guidelines."""
    is_change = given.group != "none" and _GUIDELINES.search(given.target_path) is not None
    return "guidelines" if is_change else given.group


def _by_rules(failures: Sequence[RunFailure], broken: Container[str]) -> Iterator[tuple[_AdviceKey, str]]:
    for failure in failures:
        if not failure.reviewed:
            kind = _kind_of(failure, is_broken=not failure.measured or failure.attempt_id in broken)
            yield _AdviceKey(_GROUP_OF_KIND.get(kind, "none"), kind), failure.case


def _kind_of(failure: RunFailure, *, is_broken: bool) -> AdviceKind:
    """A rerun alone helps against what may be gone the next time; what stays is repaired first."""
    if failure.label == "KNOWN_GAP":
        return "known_gap"
    quotes = "\n".join((failure.error, failure.reason, *(piece.quote for piece in failure.evidence)))
    is_lasting = is_lasting_fault(failure.decided_by, quotes)
    owner = failure.owner
    if owner == "provider" or owner == "environment" or owner == "simulator":
        return "repair" if is_lasting else "infrastructure"
    if owner == "grader" and is_broken:
        return "repair_grader" if is_lasting else "not_graded"
    return "supported" if owner == "model" and failure.proof == "shown" else owner


def _is_steady(failure: RunFailure) -> bool:
    return failure.owner == "model" and failure.repeat.reports + failure.repeat.unreported_runs >= REPEATED


_GROUP_OF_KIND: dict[AdviceKind, RecommendationGroup] = {
    "known_gap": "eval",
    "harness": "config",
    "repair": "config",
    "repair_grader": "config",
    "grader": "config",
    "task": "eval",
    "budget": "config",
}
"""No action is needed for the others."""

_WORDS: dict[AdviceKind, str] = {
    "fair": "Fair failures: the task states the requirement and the model did not meet it",
    "known_gap": "A known gap fails again: add the missing detail to the task description, or exclude the case",
    "harness": "Fix the harness, then rerun the blocked cases",
    "infrastructure": "Fix what broke, then rerun the infrastructure failures; `errata rerun` lists them",
    "repair": "Fix the environment or the account first, then rerun (`errata rerun`): a rerun alone fails the same way",
    "not_graded": "Judge or rerun the cases for which the grader gave no result; `errata rerun` lists them",
    "repair_grader": "Fix what the grader needs, then judge again or rerun (`errata rerun`): it gave no result",
    "missing": "Run the cases that are missing from the log; `errata rerun` lists them",
    "collateral": "Knock-on failures, or the run was stopped: fix the cause, then rerun them",
    "grader": "Check the grader: by the rules, the grader or lint rejects what the task asks for",
    "task": "Check the task: by the rules, the task or its reference is at fault",
    "budget": "Check the limits that ended these attempts",
    "unknown": "No rule matches these failures: review them (`errata review next`)",
    "model": "Only presumed to be the model's: review these failures before you change anything",
    "supported": "Supported by evidence as the model's mistakes, not reviewed yet",
}


def _without_effect(history: RunHistory) -> Iterator[Advice]:
    for result in history.effects:
        if result.worked == "no":
            yield Advice(
                group=_group_of(result.action),
                kind="no_effect",
                action=done_action(result.action),
                case_effects=result.cases,
            )


def _group_of(action: Action) -> RecommendationGroup:
    """A change of a task or a grader is the eval's, of the guidelines theirs, all else is configuration."""
    if _GUIDELINES.search(action.path):
        return "guidelines"
    return "eval" if _EVAL.search(action.path) else "config"


def advice_words(advice: Advice) -> str:
    """One piece of advice as a sentence without its full stop."""
    if advice.kind == "no_effect" and advice.action is not None:
        action = advice.action
        what = action.path or short_line(action.what, DONE)
        shown = effect_text("cases", advice.case_effects, "no")
        return f"Find out why the change of {action.date} ({what}) had no effect: {shown}"
    text = _WORDS.get(advice.kind, advice.text)
    if advice.kind == "repeated":
        text = f"Recurring model mistake: {text}"
    if advice.tried is not None:
        text = f"Done on {advice.tried.date}, no effect: {text}"
    elif advice.recommended_before:
        text = f"Recommended {_often(advice.recommended_before + 1)}, not done: {text}"
    again = [
        plural(count, word) for count, word in ((advice.reports, "report"), (advice.unreported_runs, "run")) if count
    ]
    return f"{text} (again, after {' and '.join(again)})" if again else text


def advice_line(advice: Advice, most: int) -> Line:
    """With the file that it is about, and the cases that it is for."""
    aimed = line(Code(advice.path), ": ") if advice.path else ()
    return line(aimed, marked(advice_words(advice)), f" ({name_list(advice.cases, most)})" if advice.cases else "")


def heading_of(advice: Advice) -> str:
    is_by_rule = advice.group == "none" and advice.kind in _HEADING_OF_KIND
    return _HEADING_OF_KIND[advice.kind] if is_by_rule else GROUPS[advice.group]


def done_line(advice: Advice, most: int) -> Line:
    """What was done; the recommendation itself only where somebody wrote one."""
    assert advice.done is not None
    wanted = f". Recommended: {advice_words(advice)}" if advice.kind == "recommendation" else ""
    cases = f" ({name_list(advice.cases, most)})" if advice.cases else ""
    where = (" (recorded in ", Code(advice.done.report), ")") if advice.done.report else ()
    date, what = advice.done.date, done_words(advice.done)
    return line(f"Already done on {date}", *where, ": ", marked(f"{what}{wanted}"), cases)


def _often(times: int) -> str:
    return "twice" if times == 2 else f"{times} times"


def done_words(action: DoneAction) -> str:
    return short_line(" ".join(filter(None, (action.path, action.what))), DONE)
