"""Judges and programs that measured the same attempts: how often they disagree, pair by pair and all together."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from errata.model import Attempt, Check, SourceRef
from errata.model.attempt import asks_whether_right, measured_pairs

PAIRS_CAP = 200
EXAMPLES = 3
SHARED = 10
KAPPA = 0.4
"""Two checks that agree so much more than chance ask for the same."""


class Disagreement(NamedTuple):
    case: str
    verdicts: str
    explanation: str
    """The judge's."""
    ref: SourceRef | None


@dataclass
class PairOfChecks:
    """A judge's check and a program's, over all attempts that have both."""

    judge: str
    program: str
    same_question: bool
    """By their names."""
    counts: dict[tuple[bool, bool], int] = field(default_factory=dict)
    """Judge passed, program passed → how many."""
    disputed_passes: int = 0
    """Attempts that count as passed although one of the two failed them."""
    first: list[Disagreement] = field(default_factory=list)

    def add(self, attempt: Attempt, judge: Check, program: Check) -> None:
        key = (judge.status == "pass", program.status == "pass")
        self.counts[key] = self.counts.get(key, 0) + 1
        self.disputed_passes += key[0] != key[1] and attempt.outcome == "pass"
        if key[0] != key[1] and len(self.first) < EXAMPLES:
            verdicts = f"{self.judge} {judge.status}, {self.program} {program.status}"
            self.first.append(Disagreement(attempt.case, verdicts, judge.explanation, attempt.ref))

    @property
    def shared(self) -> int:
        return sum(self.counts.values())

    @property
    def lenient(self) -> int:
        """Only the judge passed it."""
        return self.counts.get((True, False), 0)

    @property
    def strict(self) -> int:
        """Only the program passed it."""
        return self.counts.get((False, True), 0)

    @property
    def disputed(self) -> int:
        return self.lenient + self.strict

    @property
    def kappa(self) -> float:
        """Cohen's; 0 where chance alone would agree everywhere."""
        whole = self.shared
        both = self.counts.get((True, True), 0)
        judge, program = (both + self.lenient) / whole, (both + self.strict) / whole
        by_chance = judge * program + (1 - judge) * (1 - program)
        return (1 - self.disputed / whole - by_chance) / (1 - by_chance) if by_chance < 1 else 0.0


@dataclass
class Disagreements:
    judges: frozenset[str] = frozenset()
    """Scorers that are judges."""
    pairs: dict[tuple[str, str], PairOfChecks] = field(default_factory=dict)

    def add(self, attempt: Attempt) -> None:
        for judge, program in measured_pairs(attempt, self.judges):
            key = (judge.name, program.name)
            pair = self.pairs.get(key)
            if pair is None:
                if len(self.pairs) >= PAIRS_CAP:
                    continue
                same = asks_whether_right(judge) and asks_whether_right(program)
                pair = self.pairs[key] = PairOfChecks(judge.name, program.name, same)
            pair.add(attempt, judge, program)

    def disputed(self) -> Iterator[PairOfChecks]:
        """The pairs that ask for the same and do not always agree, the most disputed first."""
        is_only_pair = len(self.pairs) == 1
        pairs = [
            pair
            for pair in self.pairs.values()
            if pair.disputed and (pair.same_question or is_only_pair or (pair.shared >= SHARED and pair.kappa >= KAPPA))
        ]
        yield from sorted(pairs, key=lambda pair: -pair.disputed)


# --- several judges of the same attempts: how far they say the same, counted in one pass


@dataclass
class Panel:
    shared: int = 0
    """Attempts with the word of two judges or more."""
    disputed: int = 0
    passes: int = 0
    fails: int = 0
    apart: float = 0.0

    def add(self, attempt: Attempt) -> None:
        verdicts = list(_verdicts(attempt))
        if len(verdicts) < 2:
            return
        passed, failed = verdicts.count(True), verdicts.count(False)
        self.shared += 1
        self.disputed += bool(passed and failed)
        self.passes += passed
        self.fails += failed
        self.apart += 2 * passed * failed / (len(verdicts) - 1)

    @property
    def alpha(self) -> float | None:
        """Krippendorff's, for two words; None where all say one word, so that chance would agree everywhere."""
        votes = self.passes + self.fails
        by_chance = 2 * self.passes * self.fails
        return 1 - (votes - 1) * self.apart / by_chance if by_chance else None


def _verdicts(attempt: Attempt) -> Iterator[bool]:
    """A judge's word on the whole; where none gives one, whether it passed all that two judges were asked."""
    whole = [one.passed for one in attempt.judgements if one.valid and one.passed is not None]
    if whole:
        yield from whole
        return
    asked: dict[str, dict[str, bool]] = {}
    for check in attempt.checks:
        if check.judge and check.status in ("pass", "fail"):
            asked.setdefault(check.name, {})[check.judge] = check.status == "pass"
    shared = [said for said in asked.values() if len(said) > 1]
    for judge in sorted({judge for said in shared for judge in said}):
        yield all(said.get(judge, True) for said in shared)
