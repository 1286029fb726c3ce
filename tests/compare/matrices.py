"""Matrices for tests: a word for each run, a letter for each case."""

from hypothesis import strategies as st

from errata.compare.matrix import Matrix, columns_of, matrix_of
from errata.model import Subject
from errata.model.cells import Cell
from errata.testing import a_run

STATES = {
    ".": ("passed", 1, 0),
    "F": ("failed", 0, 1),
    "e": ("error", 0, 1),
    "c": ("follows", 0, 1),
    "?": ("unscored", 0, 0),
    "-": ("missing", 0, 0),
    "~": ("mixed", 1, 1),
    "!": ("contradictory", 1, 1),
}
NOT_KNOWN = " "


def a_matrix(*runs: str, models: str = "") -> Matrix:
    """`a_matrix(".F", "F.", models="aa")`: two runs of model `a` over the cases 0 and 1."""
    named = models or "abcdefghij"[: len(runs)]
    made = [
        (a_run(native_id=f"run-{pk}", subject=Subject(model=model)), pk)
        for pk, (model, _) in enumerate(zip(named, runs, strict=True), 1)
    ]
    return matrix_of(columns_of(made), [cell for pk, word in enumerate(runs, 1) for cell in cells(pk, word)])


def cells(pk: int, word: str) -> list[Cell]:
    return [
        Cell(pk, f"suite/{number}", STATES[letter][0], max(sum(STATES[letter][1:]), 1), *STATES[letter][1:])
        for number, letter in enumerate(word)
        if letter != NOT_KNOWN
    ]


def numbers(cases) -> list[int]:
    return [int(case.removeprefix("suite/")) for case in cases]


def words(letters: str = "".join(STATES) + NOT_KNOWN):
    """Up to five runs of up to three models over up to seven cases, in words, and the names of the models."""

    def of_length(length):
        run = st.text(alphabet=letters, min_size=length, max_size=length)
        return st.lists(st.tuples(run, st.sampled_from("abc")), min_size=1, max_size=5)

    return st.integers(min_value=1, max_value=7).flatmap(of_length)
