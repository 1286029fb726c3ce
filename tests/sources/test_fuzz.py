"""One short pass of every source's fuzz target; `make soak` runs them at length."""

import random

import pytest
from soak import damage, fuzz
from tests.length import LONG

from terminal import FIXTURES


@pytest.mark.parametrize("target", fuzz.targets_in(FIXTURES))
def test_a_damaged_log_is_read_or_refused_in_words(target, tmp_path):
    told = fuzz.fuzz(target, tmp_path, rounds=100 if LONG else 6, largest=fuzz.SMALL)

    assert sum(told) == (100 if LONG else 6)


@pytest.mark.parametrize("kind", dict.fromkeys(damage.KINDS), ids=lambda kind: kind.__name__)
def test_damage_changes_a_log(kind):
    log = b'{"a": [1, {"b": "text"}], "c": null}\n{"a": [2], "c": 3}\n'
    changed = [kind(log, random.Random(seed)) for seed in range(20)]

    assert sum(one != log for one in changed) >= 15
