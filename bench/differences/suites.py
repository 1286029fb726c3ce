"""Generated results of six models on 500 cases in eight categories, with planted deviations of 25 points."""

import math
import random
from typing import NamedTuple

MODELS, CASES, CATEGORIES, PLANTED = 6, 500, 8, 5
EFFECT = 0.25
TOGETHER = 2
Place = tuple[str, str]


class Kind(NamedTuple):
    """What a suite is like."""

    name: str
    spread: float = 2.0
    """Of the difficulty of cases, in logits: benchmarks have cases that nearly all models pass, and others."""
    planted: int = PLANTED
    together: str = ""
    """`category` or `model`: planted ones crowd there."""
    missing: float = 0.0
    uneven: bool = False


KINDS = (
    Kind("a usual suite"),
    Kind("cases more alike", spread=1.0),
    Kind("three in one model", together="model"),
    Kind("two in one category", together="category"),
    Kind("a tenth not measured", missing=0.1),
    Kind("categories of 20 to 150 cases", uneven=True),
    Kind("nothing planted", planted=0),
)


class Suite(NamedTuple):
    shares: dict[str, dict[str, float]]
    members: dict[str, list[str]]
    planted: frozenset[Place]


def make_suite(kind: Kind, seed: int) -> Suite:
    chance = random.Random(f"{kind.name} {seed}")
    models = [f"model-{number}" for number in range(MODELS)]
    categories = [f"category-{number}" for number in range(CATEGORIES)]
    weights = [0.3, 0.2, 0.15, 0.1, 0.1, 0.06, 0.05, 0.04] if kind.uneven else None
    case_in = {
        f"case-{number}": chance.choices(categories, weights)[0] if weights else categories[number % CATEGORIES]
        for number in range(CASES)
    }
    members = {name: [case for case, its in case_in.items() if its == name] for name in categories}
    planted = _planted(kind, models, categories, chance)
    # a wider spread pulls all rates towards one half
    scale = math.sqrt(1 + kind.spread**2 / 3)
    skill = {model: scale * chance.uniform(0.2, 1.4) for model in models}
    ease = {name: chance.gauss(0, 0.4) for name in categories}
    difficulty = {case: chance.gauss(0, kind.spread) for case in case_in}
    shares: dict[str, dict[str, float]] = {model: {} for model in models}
    for model in models:
        for name, cases in members.items():
            rates = [1 / (1 + math.exp(difficulty[case] - skill[model] - ease[name])) for case in cases]
            for case, rate in zip(cases, _moved(rates, (model, name) in planted), strict=True):
                passed = chance.random() < rate
                if chance.random() >= kind.missing:
                    shares[model][case] = float(passed)
    return Suite(shares, members, planted)


def _planted(kind: Kind, models: list[str], categories: list[str], chance: random.Random) -> frozenset[Place]:
    """At most two in a category: where half of the models deviate, nobody can tell which half does."""
    planted: list[Place] = []
    if kind.together == "model":
        planted = [(models[0], name) for name in chance.sample(categories, 3)]
    elif kind.together == "category":
        planted = [(model, categories[0]) for model in chance.sample(models, 2)]
    every = [(model, name) for model in models for name in categories]
    for place in chance.sample(every, len(every)):
        if len(planted) >= kind.planted:
            break
        if place not in planted and sum(name == place[1] for _, name in planted) < TOGETHER:
            planted.append(place)
    return frozenset(planted)


def _moved(rates: list[float], is_planted: bool) -> list[float]:
    """Lower by 25 points in the mean; where that is not possible, higher."""
    mean = sum(rates) / len(rates) if rates else 0.0
    if not is_planted:
        return rates
    if mean > EFFECT + 0.05:
        return [rate * (1 - EFFECT / mean) for rate in rates]
    return [rate + (1 - rate) * EFFECT / (1 - mean) for rate in rates]
