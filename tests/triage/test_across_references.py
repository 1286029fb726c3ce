"""A reference solution whose own files disagree proves nothing about the task."""

import pytest

from errata.model import Check
from errata.testing import an_attempt
from errata.triage.across import CaseElsewhere, _reference_fails

OWN = Check(name="tests", status="fail", explanation="unresolved")


@pytest.mark.parametrize(
    ("other", "speaks"),
    [
        ((), True),
        ((Check(name="results.json: resolved", status="pass", counts=False),), False),
        ((Check(name="results.json: resolved", status="fail", counts=False),), True),
        ((Check(name="lint", status="pass", counts=False),), True),
    ],
)
def test_a_reference_that_another_file_lists_as_resolved_does_not_speak_against_the_task(other, speaks):
    gold = an_attempt(run="gold", outcome="fail", checks=(OWN, *other))

    assert bool([*_reference_fails(CaseElsewhere(reference=gold), an_attempt(run="model"))]) is speaks
