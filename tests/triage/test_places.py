"""Texts that rules look at, and the lines they are cited by."""

import pytest

from errata.model import Artefact, Check
from errata.testing import an_attempt
from errata.triage.places import HEAD, TAIL, places
from errata.triage.rulebook import built_in


@pytest.mark.parametrize("before", [0, 900])
@pytest.mark.parametrize("size", [10, 3 * (HEAD + TAIL) // 10])
def test_lines_of_a_log_have_the_numbers_of_the_whole_file(before, size):
    lines = [f"line {number}" for number in range(before + 1, before + size + 1)]
    cut = Artefact(role="log", path="run.log", text="\n".join(lines), extra={"lines_before": before})
    (place,) = places(an_attempt(artefacts=(cut,)))

    for number in (before + 2, before + size - 2):
        assert place.line_at(place.text.index(f"line {number}\n")) == number


def test_a_literal_that_a_compiler_quotes_is_no_evidence_about_the_network():
    quoted = "convex/jobs.ts(9,7): error TS2322: Type '\"ETIMEDOUT\"' is not assignable to type '\"done\"'."
    failed = Check(name="tsc", status="fail", kind="step", explanation=quoted)
    broken = Check(name="tsc", status="fail", kind="step", explanation=quoted + "\nerror: read ETIMEDOUT")

    assert not list(built_in().signals(places(an_attempt(checks=(failed,))), "convex-evals"))
    (matched,) = built_in().signals(places(an_attempt(checks=(broken,))), "convex-evals")
    assert matched.signal.quote == "error: read ETIMEDOUT"
