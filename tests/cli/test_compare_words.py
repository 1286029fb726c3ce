"""What a comparison states of its pairs, its ranking and its intervals is never at odds with itself."""

from hypothesis import given
from hypothesis import strategies as st
from tests.compare.matrices import a_matrix

from errata.cli.compare.matrix import CaseLabels
from errata.cli.compare.tables import (
    about_intervals,
    ahead_in_words,
    clean_in_words,
    difference_in_words,
    fitting_interval,
)
from errata.compare.pairs import pairings, without_cells
from terminal import done

BETA, UNFIT = "9c0d1e2f", "0b1c2d3e"
FAILED = 12
"""Cases that one of two runs has to fail alone before three pairs show it."""


def pairs_of(*words: str, out: tuple[tuple[int, int], ...] = ()):
    """Pairs of runs over their cells, and without those of `out`: a run and a case."""
    matrix = a_matrix(*words)
    return pairings(matrix, without_cells(matrix, [(pk, f"suite/{case}") for pk, case in out]))


def test_pairs_that_differ_only_by_infrastructure_failures_are_said_to():
    infrastructure = tuple((3, case) for case in range(FAILED))
    pairs = pairs_of("." * FAILED, "." * FAILED, "F" * FAILED, out=infrastructure)

    assert [pair.all.differs for pair in pairs] == [False, True, True]
    assert clean_in_words(pairs) == (
        "Without infrastructure and knock-on failures (clean), none of the 3 pairs differs significantly."
    )
    assert ahead_in_words(pairs[1]) == "c fails more often than a"


def test_one_pair_that_differs_only_by_infrastructure_failures_is_said_to():
    pairs = pairs_of("." * FAILED, "F" * FAILED, out=tuple((2, case) for case in range(FAILED)))

    assert clean_in_words(pairs) == ""
    assert difference_in_words(pairs[0], CaseLabels(word="case", short={})).startswith(
        "Significant only if infrastructure and knock-on failures count (p < 0.001, exact McNemar, "
    )


def test_pairs_that_differ_only_without_infrastructure_failures_are_named():
    hidden = tuple((1, case) for case in range(FAILED, 2 * FAILED))
    pairs = pairs_of("." * FAILED + "F" * FAILED, "F" * FAILED + "." * FAILED, out=hidden)

    assert (
        clean_in_words(pairs) == "Without infrastructure and knock-on failures (clean), the difference is significant."
    )


def test_the_better_of_two_is_named_whichever_comes_first():
    (pair,), (other,) = pairs_of("." * FAILED, "F" * FAILED), pairs_of("F" * FAILED, "." * FAILED)

    assert ahead_in_words(pair) == "a is better than b"
    assert ahead_in_words(other) == "b is better than a"


@given(st.lists(st.text(alphabet=".F", min_size=14, max_size=14), min_size=3, max_size=4), st.data())
def test_a_ranking_without_differences_stands_only_beside_pairs_that_are_said_to_be_the_same_in_clean(words, data):
    cells = [(pk, case) for pk in range(1, len(words) + 1) for case in range(14)]
    pairs = pairs_of(*words, out=tuple(data.draw(st.lists(st.sampled_from(cells), max_size=30))))
    labels = {label for pair in pairs for label in (pair.first, pair.second)}

    better = {(pair.first, pair.second) for pair in pairs if pair.better}
    differing = {(pair.first, pair.second) for pair in pairs if pair.all.differs}
    stated = clean_in_words(pairs)

    assert len(labels) == len(words)
    assert bool(stated) == (better != differing)
    if stated and not better:
        assert "none of" in stated


def test_intervals_of_several_pairs_are_said_to_be_for_one_alone():
    assert "95 % intervals are not corrected for 3 pairs" in about_intervals(pairs_of("..", ".F", "FF"))


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


def test_a_run_that_is_not_fit_is_named_in_the_head_and_beside_its_scores(library):
    page = done("compare", BETA, UNFIT, "--store", library).out.splitlines()
    table = page.index("")

    assert any(line.startswith(f"NOT FIT  {UNFIT} ") and "2 of 30 planned" in line for line in page[:table])
    beside = next(at for at, line in enumerate(page) if at > table and line.startswith(UNFIT))
    assert any("NOT FIT" in line for line in page[beside : beside + 3])
    assert not any("NOT FIT" in line and BETA in line for line in page)


def test_json_has_which_runs_are_not_fit_and_why(library):
    runs = {run["run_id"]: run for run in done("compare", BETA, UNFIT, "--json", "--store", library).row["runs"]}
    fit, unfit = sorted(runs.values(), key=lambda run: not run["fit"])

    assert (fit["fit"], fit["problems"], unfit["fit"]) == (True, [], False)
    assert any("2 of 30 planned turns are not in the log" in problem for problem in unfit["problems"])
