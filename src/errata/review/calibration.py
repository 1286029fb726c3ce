"""A reviewer measured against labels that people gave: precision and recall of each label, and what is confused."""

from collections import Counter
from collections.abc import Mapping

import msgspec

from errata.review.agreement import cohen_kappa


class LabelMeasure(msgspec.Struct, frozen=True, kw_only=True):
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


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    labelled: int
    """Attempts that people labelled."""
    compared: int
    """Of these, those that the reviewer has a verdict on."""
    right: int
    kappa: float | None
    labels: tuple[LabelMeasure, ...]
    confusion: dict[str, dict[str, int]]
    """People's label → the reviewer's label → how often."""
    misses: tuple[tuple[str, str, str], ...]
    """Attempt, people's label, the reviewer's label."""

    @property
    def accuracy(self) -> float | None:
        return self.right / self.compared if self.compared else None


def calibrate(people: Mapping[str, str], reviewer: Mapping[str, str]) -> Calibration:
    """Both: attempt → label. What the reviewer has not read is counted as not compared, never as wrong or right."""
    both = [(attempt, label, reviewer[attempt]) for attempt, label in people.items() if attempt in reviewer]
    true, given = [label for _, label, _ in both], [label for _, _, label in both]
    right = Counter(label for _, label, said in both if label == said)
    counted_true, counted_given = Counter(true), Counter(given)
    confusion: dict[str, dict[str, int]] = {}
    for (label, said), count in sorted(Counter(zip(true, given, strict=True)).items()):
        confusion.setdefault(label, {})[said] = count
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
