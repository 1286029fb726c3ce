"""The checkup of attempts that are alike: what one of them adds is added once for all."""

from collections import Counter
from dataclasses import fields, replace

from errata.checkup.gaps import CheckGaps
from errata.checkup.odd_numbers import OddNumbers
from errata.checkup.survey import RunSurvey
from errata.model import Attempt
from errata.model.alike import AlikeAttempt

_NUMBERS = ("counted", "rows", "measured_once", "passes_by_harness", "failed_rows")
_COUNTERS = ("executions", "measurements", "outcomes", "checks")
_CASES = ("cases", "present", "measured_cases", "passed_cases")
_ADDED = frozenset((*_NUMBERS, *_COUNTERS, *_CASES, "gaps", "odd"))


class AlikeCounts:
    """Adds the attempts of a run to its survey; those of a kind that adds nothing but numbers are only counted."""

    def __init__(self, survey: RunSurvey) -> None:
        self._survey = survey
        self._alone: dict[int, RunSurvey] = {}
        """The first attempt of a kind → what it adds."""
        self._cases: dict[int, list[int]] = {}
        self._times: Counter[int] = Counter()

    def counts_alike(self, attempt: Attempt) -> bool:
        """Whether all that such an attempt adds are numbers, and none of them is a sum of fractions."""
        alone = self._empty()
        alone.add(attempt)
        if not _adds_only_numbers(alone, self._empty()):
            return False
        self._alone[id(attempt)], self._cases[id(attempt)] = alone, []
        return True

    def _empty(self) -> RunSurvey:
        return RunSurvey(
            run=self._survey.run, unreadables=self._survey.unreadables, now=self._survey.now, unit=self._survey.unit
        )

    def add(self, each: AlikeAttempt) -> None:
        if each.is_itself:
            self._survey.add(each.attempt)
        else:
            kind = id(each.attempt)
            self._cases[kind].append(hash(each.case))
            self._times[kind] += each.often

    def finish(self) -> RunSurvey:
        """Once, after the last attempt."""
        for kind, cases in self._cases.items():
            _add_times(self._survey, self._alone[kind], self._times[kind], cases)
        self._cases.clear()
        return self._survey


def _adds_only_numbers(alone: RunSurvey, empty: RunSurvey) -> bool:
    others = (field.name for field in fields(RunSurvey) if field.name not in _ADDED)
    return (
        all(getattr(alone, name) == getattr(empty, name) for name in others)
        and replace(alone.gaps, asked=Counter()) == CheckGaps()
        and replace(alone.odd, cost_unknown=0) == OddNumbers(scale=alone.odd.scale)
    )


def _add_times(survey: RunSurvey, alone: RunSurvey, times: int, cases: list[int]) -> None:
    """The first of its kind was added before, so that every name is known, in the order of the log."""
    for name in _NUMBERS:
        setattr(survey, name, getattr(survey, name) + times * getattr(alone, name))
    for name in _COUNTERS:
        counted = getattr(survey, name)
        for key, often in getattr(alone, name).items():
            counted[key] += times * often
    for name in _CASES:
        if getattr(alone, name):
            getattr(survey, name).update(cases)
    for check, often in alone.gaps.asked.items():
        if check in survey.gaps.asked:
            survey.gaps.asked[check] += times * often
    survey.odd.cost_unknown += times * alone.odd.cost_unknown
