"""Which failures come again on a rerun."""

import pytest

from errata.triage.rulebook import _LASTING, is_lasting
from errata.triage.rulesets import rules_in_use


@pytest.mark.parametrize(
    "reason",
    [
        "sh: 1: uvx: not found",
        "Error: spawn ps ENOENT",
        "ModuleNotFoundError: No module named 'numpy'",
        "OSError: [Errno 28] No space left on device",
        "mkdir: cannot create directory '/logs': Permission denied",
        "error while loading shared libraries: libGL.so.1: cannot open shared object file",
        "Your credit balance is too low",
    ],
)
def test_what_is_missing_full_or_forbidden_stays(reason):
    assert is_lasting("", reason)


@pytest.mark.parametrize(
    "reason",
    [
        "API error: 503 Service Unavailable",
        "Error: socket hang up",
        "read ECONNRESET",
        "429 Too Many Requests",
        "Temporary failure in name resolution",
        "setup timed out after 600 seconds",
        "empty after 8 calls",
        "",
    ],
)
def test_what_may_be_gone_the_next_time_does_not(reason):
    assert not is_lasting("", reason)


def test_every_lasting_rule_is_in_the_rule_book():
    assert set(rules_in_use().book.rules) >= _LASTING
