"""Compare each reviewer with people: the label, the decisive step and its agent."""

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from errata.model import Verdict
from errata.model.counts import Interval, RightShare, wilson
from errata.model.record import Struct
from errata.model.standing import standing
from errata.review.agreement import cohen_kappa, newest_by_reviewer
from errata.review.human_labels import HumanLabel, HumanLabels, SkippedRow
from errata.review.speakers import match_agent

NEAR, FAR = 1, 3
"""Steps that a reviewer may be off."""


class LabelMeasure(Struct):
    label: str
    given: int
    """How often the reviewer gave it."""
    true: int
    """How often people did."""
    right: int

    @property
    def precision(self) -> float | None:
        return self.right / self.given if self.given else None

    @property
    def recall(self) -> float | None:
        return self.right / self.true if self.true else None


class StepMeasure(Struct):
    """Over failures whose decisive step people marked and the reviewer reviewed; naming no step is wrong."""

    exact: RightShare
    within_one: RightShare
    within_three: RightShare
    unnamed: int
    """Reviewed, but no step is named."""
    misses: tuple[tuple[str, int, int | None], ...]
    """Attempt, people's step, the reviewer's step."""


class Calibration(Struct):
    labelled: int
    """Attempts that people labelled."""
    compared: int
    """Those of them that the reviewer has a verdict on."""
    right: int
    kappa: float | None
    labels: tuple[LabelMeasure, ...]
    confusion: dict[str, dict[str, int]]
    """People's label → the reviewer's label → how often."""
    misses: tuple[tuple[str, str, str], ...]
    """Attempt, people's label, the reviewer's label."""
    steps: StepMeasure | None = None
    """None where people marked no step of what the reviewer reviewed."""
    agents: RightShare | None = None

    @property
    def accuracy(self) -> float | None:
        return self.right / self.compared if self.compared else None

    @property
    def interval(self) -> Interval | None:
        """Of the accuracy: Wilson, 95 %."""
        return wilson(self.right, self.compared)


def calibrate(people: Mapping[str, str], reviewer: Mapping[str, str]) -> Calibration:
    """Both map attempts to labels. Attempts that the reviewer has not reviewed count as neither right nor wrong."""
    both = [(attempt, label, reviewer[attempt]) for attempt, label in people.items() if attempt in reviewer]
    true, given = [label for _, label, _ in both], [label for _, _, label in both]
    right = Counter(label for _, label, reviewers in both if label == reviewers)
    counted_true, counted_given = Counter(true), Counter(given)
    confusion: dict[str, dict[str, int]] = {}
    for (label, reviewers), count in sorted(Counter(zip(true, given, strict=True)).items()):
        confusion.setdefault(label, {})[reviewers] = count
    return Calibration(
        labelled=len(people),
        compared=len(both),
        right=right.total(),
        kappa=cohen_kappa(true, given),
        labels=tuple(
            LabelMeasure(label=label, given=counted_given[label], true=counted_true[label], right=right[label])
            for label in sorted({*true, *given})
        ),
        confusion=confusion,
        misses=tuple(one for one in both if one[1] != one[2]),
    )


def measure_steps(people: Mapping[str, int], reviewer: Mapping[str, int | None]) -> StepMeasure | None:
    """Both map attempts to steps; None is a verdict without a step."""
    both = [(attempt, step, reviewer[attempt]) for attempt, step in people.items() if attempt in reviewer]
    if not both:
        return None
    off = [None if given is None else abs(given - step) for _, step, given in both]

    def within(most: int) -> RightShare:
        return RightShare(right=sum(one is not None and one <= most for one in off), of=len(both))

    return StepMeasure(
        exact=within(0),
        within_one=within(NEAR),
        within_three=within(FAR),
        unnamed=off.count(None),
        misses=tuple(one for one in both if one[1] != one[2]),
    )


def measure_agents(people: Mapping[str, str], reviewer: Mapping[str, str]) -> RightShare | None:
    both = [(agent, reviewer[attempt]) for attempt, agent in people.items() if attempt in reviewer]
    right = sum(bool(given) and bool(match_agent(given, [agent])) for agent, given in both)
    return RightShare(right=right, of=len(both)) if both else None


class CalibrationResult(Struct):
    taxonomy: str
    labelled: int
    reviewers: dict[str, Calibration]
    """Kind and name → how they compare with people."""
    standing: Calibration | None
    """The verdicts that count, where several reviewers have reviewed; without those of people."""
    untaken: tuple[SkippedRow, ...]


def calibrate_reviewers(labels: HumanLabels, verdicts: Iterable[Verdict], *, taxonomy: str) -> CalibrationResult:
    """Labels are compared with verdicts of one taxonomy, steps and agents with all."""
    listed = list(verdicts)
    by_reviewer: dict[str, list[Verdict]] = {}
    for given in newest_by_reviewer(listed).values():
        for reviewer, verdict in given.items():
            by_reviewer.setdefault(reviewer, []).append(verdict)
    return CalibrationResult(
        taxonomy=taxonomy,
        labelled=len(labels.by_attempt),
        reviewers={
            reviewer: _calibrated(labels.by_attempt, given, taxonomy)
            for reviewer, given in sorted(by_reviewer.items())
            if any(verdict.attempt in labels.by_attempt for verdict in given)
        },
        standing=_calibrated(labels.by_attempt, _standing(listed), taxonomy) if len(by_reviewer) > 1 else None,
        untaken=labels.skipped,
    )


def _standing(verdicts: Iterable[Verdict]) -> list[Verdict]:
    by_attempt: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.inherited_from is None and verdict.reviewer.kind != "person":
            by_attempt.setdefault(verdict.attempt, []).append(verdict)
    return [current.verdict for given in by_attempt.values() if (current := standing(given)) is not None]


def _calibrated(people: Mapping[str, HumanLabel], verdicts: Iterable[Verdict], taxonomy: str) -> Calibration:
    given = {verdict.attempt: verdict for verdict in verdicts}
    measured = calibrate(
        {attempt: one.label for attempt, one in people.items() if one.label},
        {attempt: verdict.label for attempt, verdict in given.items() if verdict.taxonomy == taxonomy},
    )
    steps = measure_steps(
        {attempt: one.step for attempt, one in people.items() if one.step is not None},
        {attempt: verdict.decisive_step for attempt, verdict in given.items()},
    )
    agents = measure_agents(
        {attempt: one.agent for attempt, one in people.items() if one.agent},
        {attempt: verdict.decisive_agent for attempt, verdict in given.items()},
    )
    return msgspec.structs.replace(measured, steps=steps, agents=agents)
