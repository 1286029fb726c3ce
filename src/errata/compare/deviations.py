"""Where a model does better or worse than its other categories and the other models lead to expect.

The table of models × categories is fitted by one effect for each model and one for each category, on the logit scale.
The fit is robust (Huber), and a deviation that was found takes no part in it: a model that breaks down in a category
would otherwise make all others look good there. How much a rate varies by chance is taken from the differences between
models on the same case, so the difficulty of a case adds no noise. Each cell is tested against the expectation from all
other cells, by a binomial test with as many tries as its cases are worth.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import exp, fsum, log, sqrt
from operator import mul, sub

import msgspec

from errata.compare.intervals import wilson
from errata.compare.significance import benjamini_hochberg, binomial_p
from errata.model.output.compare import DeviationOutput

LEVEL = 0.02
"""Of corrected p. A deviation that is too small to be found still shifts what is expected of others; with this level at
most 5 % of the reported ones are false, see `make bench-differences`."""
DOUBTFUL = 0.1
"""Below this corrected p, a cell takes no part in what is expected of others."""
FEWEST = 5
"""Cases of a cell that is tested."""
HUBER = 1.0
"""From this many standard errors on, a cell pulls no harder."""
ROUNDS, SWEEPS = 8, 60
CLOSE = 1e-6
STEEPEST = 6.0
"""Logit of a rate that counts as nearly all or nothing."""
MOST, LEAST = 1.2, 0.05
"""Of the variance of independent tries."""

Shares = Mapping[str, float]
"""Case → the share of attempts that passed."""
Place = tuple[str, str]
"""A model and a category."""


class _Cell(msgspec.Struct):
    cases: int
    rate: float
    level: float
    """The rate on the cases of the whole category: where some were not measured, they may be the hard ones."""
    noise: float
    """The variance of one case by chance, as a part of that of independent tries."""


class _Test(msgspec.Struct, frozen=True):
    expected: float
    size: float
    """Independent tries of the cell with the same uncertainty, that of the expectation included."""
    p: float


def deviations(shares: Mapping[str, Shares], members: Mapping[str, Iterable[str]]) -> tuple[DeviationOutput, ...]:
    """The most certain first. `shares`: model → its cases; `members`: category → its cases."""
    table = _table({label: values for label, values in shares.items() if values}, members)
    labels, categories = dict.fromkeys(place[0] for place in table), dict.fromkeys(place[1] for place in table)
    is_rate = all(0 <= share <= 1 for values in shares.values() for share in values.values())
    if len(labels) < 2 or len(categories) < 2 or not is_rate:
        return ()
    tests = _settle(table, len(labels))
    # of two models one is tested: what is a weakness of one is a strength of the other
    tested = [place for place in table if len(labels) > 2 or place[0] == next(iter(labels))]
    adjusted = benjamini_hochberg([tests[place].p for place in tested])
    made = [
        _deviation(place, table[place], tests[place], corrected)
        for place, corrected in zip(tested, adjusted, strict=True)
    ]
    return tuple(sorted(made, key=lambda one: (one.p, -abs(one.deviation))))


def _deviation(place: Place, cell: _Cell, test: _Test, adjusted: float) -> DeviationOutput:
    low, high = wilson(cell.level * test.size, test.size) or (0.0, 1.0)
    return DeviationOutput(
        label=place[0],
        category=place[1],
        cases=cell.cases,
        rate=cell.rate,
        expected=test.expected,
        deviation=cell.level - test.expected,
        interval=(min(low, cell.level) - test.expected, max(high, cell.level) - test.expected),
        p=test.p,
        adjusted=adjusted,
        deviates=adjusted <= LEVEL,
    )


# the table


def _table(shares: Mapping[str, Shares], members: Mapping[str, Iterable[str]]) -> dict[Place, _Cell]:
    means = {label: fsum(values.values()) / len(values) for label, values in shares.items()}
    levels = _levels(shares, means)
    table: dict[Place, _Cell] = {}
    for category, cases in members.items():
        known = [case for case in cases if case in levels]
        if len(known) >= FEWEST:
            table |= _column(category, known, shares, levels)
    return table


def _levels(shares: Mapping[str, Shares], means: Mapping[str, float]) -> dict[str, float]:
    """Case → how easy it is: by how much the models measured on it, at least two, are above their own means."""
    totals: dict[str, float] = {}
    counts: Counter[str] = Counter()
    for label, values in shares.items():
        counts.update(values.keys())
        mean = means[label]
        for case, share in values.items():
            totals[case] = totals.get(case, 0.0) + share - mean
    return {case: totals[case] / count for case, count in counts.items() if count > 1}


def _column(
    category: str, known: Sequence[str], shares: Mapping[str, Shares], levels: Mapping[str, float]
) -> dict[Place, _Cell]:
    whole = fsum(levels[case] for case in known) / len(known)
    cells: dict[Place, _Cell] = {}
    squares, freedom, independent = 0.0, 0.0, 0.0
    for label, values in shares.items():
        measured = known if all(map(values.__contains__, known)) else [case for case in known if case in values]
        if len(measured) < FEWEST:
            continue
        own = [values[case] for case in measured]
        apart = list(map(sub, own, map(levels.__getitem__, measured)))
        rate, mean = fsum(own) / len(own), fsum(apart) / len(apart)
        level = min(max(mean + whole, 0.0), 1.0)
        cells[label, category] = _Cell(len(own), rate, level, 1.0)
        squares += max(sum(map(mul, apart, apart)) - len(apart) * mean * mean, 0.0)
        freedom += len(own) - 1
        independent += len(own) * level * (1 - level)
    count = len(cells)
    # each case's own mean is taken off, so that its models vary by one part less
    if count > 1 and independent:
        noise = squares / (freedom * (count - 1) / count) / (independent / sum(cell.cases for cell in cells.values()))
        for cell in cells.values():
            cell.noise = min(max(noise, LEAST), MOST)
    return cells if count > 1 else {}


# the fit


def _settle(table: Mapping[Place, _Cell], models: int) -> dict[Place, _Test]:
    """Until what is found no longer changes the expectation of the rest."""
    exceptions: frozenset[Place] = frozenset()
    seen = {exceptions}
    fit = _Fit(table)
    for _ in range(ROUNDS):
        fit.run(exceptions)
        tests = fit.tests()
        exceptions = _exceptions(tests, models)
        if exceptions in seen:
            break
        seen.add(exceptions)
    return tests


def _exceptions(tests: Mapping[Place, _Test], models: int) -> frozenset[Place]:
    """In a category only a minority of the models: the others are the expectation."""
    adjusted = dict(zip(tests, benjamini_hochberg([test.p for test in tests.values()]), strict=True))
    places: list[Place] = []
    often: dict[str, int] = {}
    for place in sorted(tests, key=lambda place: tests[place].p):
        if adjusted[place] <= DOUBTFUL and 2 * (often.get(place[1], 0) + 1) < models:
            places.append(place)
            often[place[1]] = often.get(place[1], 0) + 1
    return frozenset(places)


class _Fit:
    """One effect for each model and one for each category, by turns until both stand still."""

    def __init__(self, table: Mapping[Place, _Cell]) -> None:
        self.table = table
        self.rows: dict[str, list[Place]] = {}
        self.columns: dict[str, list[Place]] = {}
        for place in table:
            self.rows.setdefault(place[0], []).append(place)
            self.columns.setdefault(place[1], []).append(place)
        mean = fsum(cell.level * cell.cases for cell in table.values()) / sum(cell.cases for cell in table.values())
        self.of_row = dict.fromkeys(self.rows, 0.0)
        self.of_column = dict.fromkeys(self.columns, _logit(mean))
        self.rates: dict[Place, float] = {}
        self.weights: dict[Place, float] = {}
        """The information of each cell about the effects."""

    def run(self, without: frozenset[Place]) -> None:
        for _ in range(SWEEPS):
            self._weigh(without)
            moved = max(self._move(self.of_column, self.columns), self._move(self.of_row, self.rows))
            if moved < CLOSE:
                break
        self._weigh(without)

    def _weigh(self, without: frozenset[Place]) -> None:
        for place, cell in self.table.items():
            rate = self.rates[place] = _logistic(self.of_row[place[0]] + self.of_column[place[1]])
            information = cell.cases / cell.noise * rate * (1 - rate)
            off = abs(cell.level - rate) * sqrt(cell.cases / (cell.noise * rate * (1 - rate)))
            pull = 0.0 if place in without else min(1.0, HUBER / off) if off else 1.0
            self.weights[place] = pull * information

    def _move(self, effects: dict[str, float], lines: Mapping[str, Sequence[Place]]) -> float:
        """One Newton step for each effect; the largest of them."""
        largest = 0.0
        for name, places in lines.items():
            weight = fsum(self.weights[place] for place in places)
            if not weight:
                continue
            step = min(max(fsum(self._score(place) for place in places) / weight, -1.0), 1.0)
            before, effects[name] = effects[name], min(max(effects[name] + step, -STEEPEST), STEEPEST)
            for place in places:
                self.rates[place] = _logistic(self.of_row[place[0]] + self.of_column[place[1]])
            largest = max(largest, abs(effects[name] - before))
        return largest

    def _score(self, place: Place) -> float:
        cell, rate = self.table[place], self.rates[place]
        return self.weights[place] * (cell.level - rate) / (rate * (1 - rate))

    def tests(self) -> dict[Place, _Test]:
        rows = {name: fsum(self.weights[place] for place in places) for name, places in self.rows.items()}
        columns = {name: fsum(self.weights[place] for place in places) for name, places in self.columns.items()}
        whole = fsum(self.weights.values())
        return {place: self._test(place, rows[place[0]], columns[place[1]], whole) for place in self.table}

    def _test(self, place: Place, row: float, column: float, whole: float) -> _Test:
        """Against the expectation without the cell itself."""
        cell, rate, weight = self.table[place], self.rates[place], self.weights[place]
        full = cell.cases / cell.noise * rate * (1 - rate)
        left = [max(part - weight, 1e-9) for part in (row, column, whole)]
        uncertain = min(1 / left[0] + 1 / left[1] - 1 / left[2], 1e9)
        leverage = min(weight * (1 / row + 1 / column - 1 / whole) if row and column else 0.0, 0.95)
        expected = cell.level - (cell.level - rate) / (1 - leverage)
        expected = min(max(expected, _logistic(-STEEPEST)), _logistic(STEEPEST))
        size = cell.cases / cell.noise / (1 + full * uncertain)
        return _Test(expected, size, binomial_p(cell.level * size, size, expected))


def _logistic(value: float) -> float:
    return 1 / (1 + exp(-value))


def _logit(rate: float) -> float:
    kept = min(max(rate, _logistic(-STEEPEST)), _logistic(STEEPEST))
    return log(kept / (1 - kept))
