"""What to do: what reviewers recommend, what rules allow to say, and nothing that was done already."""

import re
from collections.abc import Callable, Iterator, Sequence

from errata.memory.acted_on import acted_on
from errata.model import Action
from errata.model.output.report.run import Advice, Failure
from errata.model.words import RecommendationGroup
from errata.report.parts import plural
from errata.report.run_failures import Gathered
from errata.runs.history import Remembered
from errata.text.outgoing import short_line

DONE = 120
_EVAL = re.compile(r"(?i)task|grader|answer|(?:^|/)evals?/")
REPEATED = 2
"""A model that fails a case in so many reports and runs gets a note."""


def advice_of(failures: Sequence[Failure], gathered: Gathered, remembered: Remembered) -> tuple[Advice, ...]:
    """In the order of the groups; what several failures share is said once."""
    found: dict[tuple[RecommendationGroup, str, str], list[str]] = {}
    for group, text, path, case in (*_read(failures, gathered), *_by_rule(failures)):
        found.setdefault((group, text.strip().rstrip("."), path), []).append(case)
    made = [_advice(group, text, path, cases, remembered.actions) for (group, text, path), cases in found.items()]
    return (*_without_effect(remembered), *made)


def _advice(
    group: RecommendationGroup, text: str, path: str, cases: Sequence[str], actions: Sequence[Action]
) -> Advice:
    acting = group in ("eval", "config")
    done = acted_on(text, actions, group=group, cases=cases, path=path) if acting else None
    told = f"{done.date[:10]}: {short_line(' '.join(filter(None, (done.path, done.what))), DONE)}" if done else ""
    return Advice(group=group, text=text, cases=tuple(cases), path=path, done=told)


Told = tuple[RecommendationGroup, str, str, str]


def _read(failures: Sequence[Failure], gathered: Gathered) -> Iterator[Told]:
    for one, attempt in zip(failures, gathered.ids, strict=True):
        stood = gathered.said.get(attempt)
        told = stood.standing.verdict.recommendation if stood is not None else None
        if _is_steady(one) and not (told is not None and told.group == "model" and told.text):
            yield "model", f"{one.short or one.error} {_again(one)}", "", one.case
        if told is not None and told.text:
            again = f" {_again(one)}" if told.group == "model" and _is_steady(one) else ""
            yield told.group, f"{told.text.strip().rstrip('.')}{again}", told.target_path, one.case
        elif stood is not None and one.owner == "model":
            yield "none", "Fair failures: the task asks for it and the model did otherwise", "", one.case


def _by_rule(failures: Sequence[Failure]) -> Iterator[Told]:
    for one in failures:
        if one.reviewed:
            continue
        for applies, group, text in _RULES:
            if applies(one):
                yield group, text, "", one.case
                break


def _is_steady(one: Failure) -> bool:
    return one.owner == "model" and one.repeat.reports + one.repeat.runs >= REPEATED


def _again(one: Failure) -> str:
    """By how many it was told before."""
    told = [plural(count, word) for count, word in ((one.repeat.reports, "report"), (one.repeat.runs, "run")) if count]
    return f"(again: {' and '.join(told)} before)"


_RULES: tuple[tuple[Callable[[Failure], bool], RecommendationGroup, str], ...] = (
    (
        lambda one: one.label == "KNOWN_GAP",
        "eval",
        "A known gap fails again: explain what is missing in the task, or leave the case out of the score",
    ),
    (lambda one: one.owner == "harness", "config", "Mend the harness, then repeat what it kept from being measured"),
    (
        lambda one: one.owner in ("provider", "environment", "simulator"),
        "none",
        "Repeat them (`errata rerun`), change nothing",
    ),
    (
        lambda one: one.owner == "collateral",
        "none",
        "They follow from another failure, or the run was stopped: mend that, then repeat them",
    ),
    (
        lambda one: one.owner == "grader",
        "config",
        "Look at what was demanded: by the rules, the grader or lint fails what was asked for",
    ),
    (lambda one: one.owner == "task", "eval", "Look at the task: by the rules, it does not say what is checked"),
    (lambda one: one.owner == "budget", "config", "Look at the limits that ended them"),
    (lambda one: one.owner == "unknown", "none", "No rule knows what happened: read them (`errata review next`)"),
    (lambda one: one.owner == "model", "none", "By the rules the model's; read them before anything is changed"),
)


def _without_effect(remembered: Remembered) -> Iterator[Advice]:
    for one in remembered.effects:
        if one.worked == "no":
            action = one.action
            what = action.path or short_line(action.what, DONE)
            yield Advice(
                group=_kind(action),
                text=f"Find out why the change of {action.date[:10]} ({what}) has no effect: {one.why}",
            )


def _kind(action: Action) -> RecommendationGroup:
    """A change of a task or a grader is the eval's, all else is configuration."""
    return "eval" if _EVAL.search(action.path) else "config"
