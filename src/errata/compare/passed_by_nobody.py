"""How surprising it is that hardly any subject passes a case: by the subjects' own pass rates, case by case and by
category.

The counts alone make a case suspect where no subject passes it, or at most one in ten (never more than two), and so few
passes have a probability of at most 5 % at the subjects' own pass rates; at least three subjects must be measured.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from math import exp, fsum, lgamma, log, log1p, prod

from errata.compare.significance import holm
from errata.model.suspects import FEWEST, SuspectCategory, allowed_passes

ALPHA = 0.05

SubjectMask = int
"""Subjects by their numbers, one bit each."""


def is_suspect_by_counts(passed: int, p: float, subjects: int) -> bool:
    return subjects >= FEWEST and passed <= allowed_passes(subjects) and p <= ALPHA


def at_most(rates: Sequence[float], passes: int) -> float:
    """The probability that at most this many subjects pass, each independently at its own rate (Poisson binomial)."""
    chances = [1.0] + [0.0] * passes
    for rate in rates:
        for count in range(passes, 0, -1):
            chances[count] = chances[count] * (1 - rate) + chances[count - 1] * rate
        chances[0] *= 1 - rate
    return min(1.0, fsum(chances))


class CaseCounts:
    """Cases of a suite or a category, added one by one: who was measured, who passed, how many nobody passed."""

    def __init__(self) -> None:
        self._measured: Counter[SubjectMask] = Counter()
        self._passed: Counter[SubjectMask] = Counter()
        self.failed_by_all = 0

    def add(self, measured: SubjectMask, passed: SubjectMask) -> None:
        """One case: the subjects that were measured on it, and those of them that passed."""
        self._measured[measured] += 1
        self._passed[passed] += 1
        self.failed_by_all += self.is_failed_by_all(measured, passed)

    @staticmethod
    def is_failed_by_all(measured: SubjectMask, passed: SubjectMask) -> bool:
        return not passed and measured.bit_count() >= FEWEST

    @property
    def cases(self) -> int:
        """Those with enough subjects."""
        return sum(count for mask, count in self._measured.items() if mask.bit_count() >= FEWEST)

    def rates(self, mask: SubjectMask) -> list[float]:
        """The share of its cases that each of these subjects passes, never quite 0 or 1."""
        return [self._rate(subject) for subject in subjects_in(mask)]

    def _rate(self, subject: int) -> float:
        if subject not in self._rates:
            tried = sum(count for mask, count in self._measured.items() if mask >> subject & 1)
            passed = sum(count for mask, count in self._passed.items() if mask >> subject & 1)
            self._rates[subject] = (passed + 0.5) / (tried + 1)
        return self._rates[subject]

    @cached_property
    def _rates(self) -> dict[int, float]:
        """Asked for when all cases are counted."""
        return {}

    @property
    def expected(self) -> float:
        """Cases that nobody would pass if the subjects were independent and all cases equally difficult."""
        enough = ((mask, count) for mask, count in self._measured.items() if mask.bit_count() >= FEWEST)
        return fsum(count * prod(1 - rate for rate in self.rates(mask)) for mask, count in enough)


def subjects_in(mask: SubjectMask) -> list[int]:
    return [subject for subject in range(mask.bit_length()) if mask >> subject & 1]


def suspect_categories(categories: Mapping[str, CaseCounts]) -> tuple[SuspectCategory, ...]:
    """Categories with far more cases that nobody passes than their pass rates explain, the most surprising first.

    Cases differ in difficulty everywhere, so the share of surplus cases in all other categories is expected here, too.
    The binomial with the same mean has the heavier tail and is used in place of the Poisson binomial.
    """
    known = {name: counts for name, counts in categories.items() if name and counts.cases}
    expected = {name: counts.expected for name, counts in known.items()}
    cases = sum(counts.cases for counts in known.values())
    observed_in_all = sum(counts.failed_by_all for counts in known.values())
    expected_in_all = fsum(expected.values())
    tested = []
    for name, counts in known.items() if len(known) > 1 else ():
        by_rates = expected_in_all - expected[name]
        surplus = max(0.0, observed_in_all - counts.failed_by_all - by_rates) / (cases - counts.cases - by_rates)
        mean = expected[name] + surplus * (counts.cases - expected[name])
        tested.append((name, counts, mean, binomial_tail(counts.cases, mean / counts.cases, counts.failed_by_all)))
    adjusted = holm([p for *_, p in tested])
    named = [
        SuspectCategory(
            name=name, cases=counts.cases, failed_by_all=counts.failed_by_all, expected=mean, p=p, adjusted=corrected
        )
        for (name, counts, mean, p), corrected in zip(tested, adjusted, strict=True)
        if corrected < ALPHA
    ]
    return tuple(sorted(named, key=lambda one: (one.adjusted, one.p, one.name)))


def binomial_tail(n: int, rate: float, least: int) -> float:
    """The probability of at least this many among n."""
    if least <= 0 or rate >= 1:
        return 1.0
    if rate <= 0:
        return 0.0
    logs = (
        lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(rate) + (n - k) * log1p(-rate)
        for k in range(least, n + 1)
    )
    return min(1.0, fsum(exp(one) for one in logs))
