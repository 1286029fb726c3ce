"""Texts that rules look at, and the lines they are cited by."""

import pytest

from errata.model import Artefact
from errata.testing import an_attempt
from errata.triage.places import HEAD, TAIL, places


@pytest.mark.parametrize("before", [0, 900])
@pytest.mark.parametrize("size", [10, 3 * (HEAD + TAIL) // 10])
def test_lines_of_a_log_have_the_numbers_of_the_whole_file(before, size):
    lines = [f"line {number}" for number in range(before + 1, before + size + 1)]
    cut = Artefact(role="log", path="run.log", text="\n".join(lines), extra={"lines_before": before})
    (place,) = places(an_attempt(artefacts=(cut,)))

    for number in (before + 2, before + size - 2):
        assert place.line_at(place.text.index(f"line {number}\n")) == number
