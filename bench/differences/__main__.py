"""`make bench-differences`: planted deviations of models in categories, found and wrongly discoveries.

For each kind of suite: how many of the five planted deviations of 25 points are reported in the mean, and the share of
false ones among all reported. Where nothing is planted, the share of suites with anything reported.
"""

import argparse
from typing import NamedTuple

from bench.differences.suites import KINDS, PLANTED, Kind, make_suite
from errata.compare.deviations import deviations

FIRST, SEEDS = 1_000, 200
"""The level of the test was chosen on the seeds 0 to 199."""


class Discoveries(NamedTuple):
    right: int
    wrong: int
    seeds: int
    with_wrong: int

    @property
    def power(self) -> float:
        return self.right / self.seeds

    @property
    def false_share(self) -> float:
        return self.wrong / max(self.right + self.wrong, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="how many")
    parser.add_argument("--first", type=int, default=FIRST)
    chosen = parser.parse_args()
    seeds = range(chosen.first, chosen.first + chosen.seeds)
    head = f"6 models × 500 cases in 8 categories, {PLANTED} planted deviations of 25 points"
    print(f"{head}, seeds {seeds[0]} to {seeds[-1]}")
    for kind in KINDS:
        discoveries = measure(kind, seeds)
        if kind.planted:
            false = f"false {discoveries.false_share:.1%} of those reported"
            figures = f"found {discoveries.power:.2f} of {kind.planted}   {false}"
        else:
            figures = f"something reported in {discoveries.with_wrong / discoveries.seeds:.1%} of the suites"
        print(f"  {kind.name:<30} {figures}", flush=True)


def measure(kind: Kind, seeds: range) -> Discoveries:
    right = wrong = with_wrong = 0
    for seed in seeds:
        suite = make_suite(kind, seed)
        reported = {(one.label, one.category) for one in deviations(suite.shares, suite.members) if one.deviates}
        right += len(reported & suite.planted)
        wrong += len(reported - suite.planted)
        with_wrong += bool(reported - suite.planted)
    return Discoveries(right, wrong, len(seeds), with_wrong)


if __name__ == "__main__":
    main()
