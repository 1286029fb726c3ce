"""Recommendations for a run: from reviewers and from rules, without what was already done."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from errata.memory.recommendations import find_action_for
from errata.model import Action
from errata.model.history import effect_text
from errata.model.output.report.run import Advice, AdviceKind, RunFailure
from errata.model.output.report.shared import DoneAction
from errata.model.standing import AttemptReview
from errata.model.words import RecommendationGroup
from errata.render.figures import plural
from errata.report.run_prose import short_of
from errata.runs.history import RunHistory
from errata.text.private import short_line

DONE = 120
_EVAL = re.compile(r"(?i)task|grader|answer|(?:^|/)evals?/")
REPEATED = 2
"""A case that a model failed in this many earlier reports and runs gets a note."""


class _Key(NamedTuple):
    """What failures share that get the same advice."""

    group: RecommendationGroup
    kind: AdviceKind
    text: str = ""
    path: str = ""
    reports: int = 0
    unreported_runs: int = 0


def collect_advice(
    failures: Sequence[RunFailure], standings: Mapping[str, AttemptReview], history: RunHistory
) -> tuple[Advice, ...]:
    """In the order of the groups; what several failures share is there once."""
    cases_by_key: dict[_Key, list[str]] = {}
    for key, case in (*_by_reviewers(failures, standings), *_by_rules(failures)):
        cases_by_key.setdefault(key, []).append(case)
    made = [Advice(**key._asdict(), cases=tuple(cases)) for key, cases in cases_by_key.items()]
    return (*_without_effect(history), *(_with_action(one, history.actions) for one in made))


def _with_action(advice: Advice, actions: Sequence[Action]) -> Advice:
    acting = advice.group in ("eval", "config")
    words = advice_words(advice)
    done = find_action_for(words, actions, group=advice.group, cases=advice.cases, path=advice.path) if acting else None
    return msgspec.structs.replace(advice, done=_done_action(done)) if done is not None else advice


def _done_action(action: Action) -> DoneAction:
    return DoneAction(date=action.date[:10], path=action.path, what=action.what)


def _by_reviewers(failures: Sequence[RunFailure], standings: Mapping[str, AttemptReview]) -> Iterator[tuple[_Key, str]]:
    for failure in failures:
        standing = standings.get(failure.attempt_id)
        given = standing.standing.verdict.recommendation if standing is not None else None
        again = (failure.repeat.reports, failure.repeat.unreported_runs)
        if _is_steady(failure) and not (given is not None and given.group == "model" and given.text):
            yield _Key("model", "repeated", short_of(failure) or failure.error, "", *again), failure.case
        if given is not None and given.text:
            counts = again if given.group == "model" and _is_steady(failure) else (0, 0)
            text = given.text.strip().rstrip(".")
            yield _Key(given.group, "recommendation", text, given.target_path, *counts), failure.case
        elif standing is not None and failure.owner == "model":
            yield _Key("none", "fair"), failure.case


def _by_rules(failures: Sequence[RunFailure]) -> Iterator[tuple[_Key, str]]:
    for failure in failures:
        rule = next((rule for rule in _RULES if rule.applies(failure)), None) if not failure.reviewed else None
        if rule is not None:
            yield _Key(rule.group, rule.kind), failure.case


def _is_steady(failure: RunFailure) -> bool:
    return failure.owner == "model" and failure.repeat.reports + failure.repeat.unreported_runs >= REPEATED


class _AdviceRule(NamedTuple):
    kind: AdviceKind
    group: RecommendationGroup
    applies: Callable[[RunFailure], bool]


_RULES = (
    _AdviceRule("known_gap", "eval", lambda one: one.label == "KNOWN_GAP"),
    _AdviceRule("harness", "config", lambda one: one.owner == "harness"),
    _AdviceRule("infrastructure", "none", lambda one: one.owner in ("provider", "environment", "simulator")),
    _AdviceRule("collateral", "none", lambda one: one.owner == "collateral"),
    _AdviceRule("grader", "config", lambda one: one.owner == "grader"),
    _AdviceRule("task", "eval", lambda one: one.owner == "task"),
    _AdviceRule("budget", "config", lambda one: one.owner == "budget"),
    _AdviceRule("unknown", "none", lambda one: one.owner == "unknown"),
    _AdviceRule("model", "none", lambda one: one.owner == "model"),
)

_WORDS: dict[AdviceKind, str] = {
    "fair": "Fair failures: the task states the requirement and the model did not meet it",
    "known_gap": "A known gap fails again: complete the task, or leave the case out of the score",
    "harness": "Fix the harness, then rerun the blocked cases",
    "infrastructure": "Rerun them (`errata rerun`); change nothing",
    "collateral": "Knock-on failures, or the run was stopped: fix the cause, then rerun them",
    "grader": "Check the grader: by the rules, the grader or lint rejects what the task asks for",
    "task": "Check the task: by the rules, it does not state what is checked",
    "budget": "Check the limits that ended them",
    "unknown": "No rule matches: review them (`errata review next`)",
    "model": "The model's by rule; review them before you change anything",
}


def _without_effect(history: RunHistory) -> Iterator[Advice]:
    for result in history.effects:
        if result.worked == "no":
            yield Advice(
                group=_group_of(result.action),
                kind="no_effect",
                action=_done_action(result.action),
                case_effects=result.cases,
            )


def _group_of(action: Action) -> RecommendationGroup:
    """A change of a task or a grader is the eval's, all else is configuration."""
    return "eval" if _EVAL.search(action.path) else "config"


def advice_words(advice: Advice) -> str:
    """One piece of advice as a sentence without its full stop."""
    if advice.kind == "no_effect" and advice.action is not None:
        action = advice.action
        what = action.path or short_line(action.what, DONE)
        shown = effect_text("cases", advice.case_effects, "no")
        return f"Find out why the change of {action.date} ({what}) has no effect: {shown}"
    text = _WORDS.get(advice.kind, advice.text)
    again = [
        plural(count, word) for count, word in ((advice.reports, "report"), (advice.unreported_runs, "run")) if count
    ]
    return f"{text} (again, after {' and '.join(again)})" if again else text


def done_words(action: DoneAction) -> str:
    """When it was done, and what."""
    return f"{action.date}: {short_line(' '.join(filter(None, (action.path, action.what))), DONE)}"
