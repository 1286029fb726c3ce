"""One short pass of every source's fuzz target; `make soak` runs them at length."""

import pytest
from soak import fuzz, small_logs
from tests.length import LONG

INPUTS = 500 if LONG else 3


@pytest.mark.parametrize("target", small_logs.targets())
def test_a_damaged_log_is_read_or_refused_in_words(target, tmp_path):
    figures = fuzz.fuzz(target, tmp_path, INPUTS, "1", analysed_every=INPUTS if LONG else 10 * INPUTS)

    read = figures["read"] + figures["read up to the damage"] + figures["refused in words"]
    assert read + figures["analysed"] == figures["inputs"] == INPUTS


def test_a_damaged_log_is_analysed_without_a_bug(tmp_path):
    figures = fuzz.fuzz("errata_jsonl", tmp_path, 2, "1", analysed_every=1)

    assert figures["analysed"] == 2


@pytest.mark.parametrize("target", small_logs.targets())
def test_a_short_log_still_has_attempts(target):
    logs = small_logs.small_logs(target)

    assert all(log.files for log in logs)
    assert sum(len(content) for log in logs for content in log.files.values()) / len(logs) < 150_000
