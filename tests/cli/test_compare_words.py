"""What a comparison states of its pairs, its ranking and its intervals is never at odds with itself."""

from hypothesis import given
from hypothesis import strategies as st
from tests.compare.matrices import a_matrix

from errata.cli.compare.matrix import CaseLabels
from errata.cli.compare.tables import fitting_interval, pair_words
from errata.compare.pairs import pairings, without_cells
from terminal import done

BETA, UNFIT = "9c0d1e2f", "0b1c2d3e"
FAILED = 12
"""Cases that one of two runs has to fail alone before a pair shows it."""


def pairs_of(*words: str, out: tuple[tuple[int, int], ...] = ()):
    """Pairs of runs over their cells, and without those of `out`: a run and a case."""
    matrix = a_matrix(*words)
    return pairings(matrix, without_cells(matrix, [(pk, f"suite/{case}") for pk, case in out]))


def test_a_pair_that_differs_only_by_infrastructure_failures_is_said_to():
    (pair,) = pairs_of("." * FAILED, "F" * FAILED, out=tuple((2, case) for case in range(FAILED)))

    assert pair_words(pair, CaseLabels(word="case", short={})).endswith(
        "no significant difference. If infrastructure and knock-on failures count: 0 and 12 (p < 0.001)."
    )


@given(st.integers(0, 8), st.integers(0, 8), st.integers(0, 30))
def test_no_interval_without_0_stands_beside_a_test_that_finds_no_difference(first, second, both):
    (pair,) = pairs_of("." * (first + both) + "F" * second or ".", "F" * first + "." * (both + second) or ".")
    shown = fitting_interval(pair.all)

    assert shown in (None, pair.all.interval)
    if shown is not None:
        assert pair.all.differs or shown[0] <= 0 <= shown[1]


def test_a_difference_from_a_run_that_is_not_fit_is_not_called_reliable(library):
    page = " ".join(done("compare", BETA, UNFIT, "--store", library).out.split())

    assert "voice-beta (mode rehydrated) is NOT FIT: a difference from it is not reliable." in page
