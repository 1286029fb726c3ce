"""Agreement beyond chance, against the textbooks' examples and brute force."""

from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.model import Reviewer, Verdict
from errata.review.agreement import agreement, cohen_kappa, fleiss_kappa, krippendorff_alpha, owner_of

LABELS = st.sampled_from("abc")

# Fleiss 1971, table 1: 10 subjects, 14 raters, 5 categories; published kappa 0.210
FLEISS = [
    (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
    (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
]  # fmt: skip

# Krippendorff 2011, example C: 4 observers, 12 units, values missing; published nominal alpha 0.743
OBSERVERS = ("1 2 3 3 2 1 4 1 2 . . .", "1 2 3 3 2 2 4 1 2 5 . 3", ". 3 3 3 2 3 4 2 2 5 1 .", "1 2 3 3 2 4 4 1 2 5 1 .")


def a_verdict(attempt, name, label, **changes):
    reviewer = Reviewer(kind="llm", name=name)
    whole = {"id": f"{attempt}{name}", "attempt": attempt, "taxonomy": "t", "label": label, "owner": "model"}
    return Verdict(**(whole | {"cause": "c", "confidence": "likely", "reviewer": reviewer} | changes))


def test_cohens_kappa_of_the_textbook():
    one = ["yes"] * 25 + ["no"] * 25
    other = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15

    assert cohen_kappa(one, other) == pytest.approx(0.4)


def test_fleiss_kappa_of_the_textbook():
    rows = [[label for label, count in enumerate(counts) for _ in range(count)] for counts in FLEISS]

    assert fleiss_kappa(rows) == pytest.approx(0.210, abs=0.0005)


def test_krippendorffs_alpha_of_the_textbook():
    units = [
        [value for value in unit if value != "."] for unit in zip(*(row.split() for row in OBSERVERS), strict=True)
    ]

    assert krippendorff_alpha(units) == pytest.approx(0.743, abs=0.0005)


@given(st.lists(st.lists(LABELS, min_size=2, max_size=4), min_size=1, max_size=8))
def test_alpha_is_what_counting_all_pairs_gives(units):
    observed = sum(sum(a != b for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in units)
    values = [value for unit in units for value in unit]
    expected = sum(a != b for a, b in permutations(values, 2)) / (len(values) - 1)

    found = krippendorff_alpha(units)
    assert found is None if expected == 0 else found == pytest.approx(1 - observed / expected)


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=20))
def test_kappa_does_not_change_when_the_reviewers_change_places(pairs):
    one, other = zip(*pairs, strict=True)

    assert cohen_kappa(one, other) == pytest.approx(cohen_kappa(other, one)) if cohen_kappa(one, other) else True


@given(st.lists(LABELS, min_size=2, max_size=20))
def test_who_always_says_the_same_as_another_agrees_wholly_or_nothing_can_be_said(labels):
    assert cohen_kappa(labels, labels) in (None, pytest.approx(1.0))


@given(st.lists(st.tuples(LABELS, LABELS), min_size=2, max_size=20))
def test_fleiss_of_two_raters_lies_no_higher_than_the_share_of_equal_ratings(pairs):
    found = fleiss_kappa(pairs)

    assert found is None or found <= sum(a == b for a, b in pairs) / len(pairs) + 1e-9


def test_one_label_everywhere_gives_no_kappa():
    assert cohen_kappa(["x"] * 5, ["x"] * 5) is None
    assert krippendorff_alpha([["x", "x"]] * 5) is None


def test_inherited_verdicts_do_not_count():
    found = agreement([a_verdict("r:c", "a", "x"), a_verdict("r:c", "b", "x", inherited_from="v9")])

    assert found.attempts == 0


def test_of_each_reviewer_the_newest_verdict_counts():
    found = agreement(
        [
            a_verdict("r:c", "a", "y", id="2", at="2026-02-02"),
            a_verdict("r:c", "a", "x", id="1", at="2026-02-01"),
            a_verdict("r:c", "b", "y"),
        ]
    )

    assert found.disagreements == ()
    assert found.pairs[0].confusion == {"y": {"y": 1}}


def test_disagreements_are_a_queue_for_a_person():
    verdicts = [
        a_verdict(attempt, name, label)
        for attempt, labels in {"r:c1": "xx", "r:c2": "xy"}.items()
        for name, label in zip("ab", labels, strict=True)
    ]

    assert agreement(verdicts).disagreements == ("r:c2",)


def test_fleiss_needs_three_reviewers_who_read_the_same():
    names = ("a", "b", "c")
    verdicts = [a_verdict(f"r:c{at}", name, label) for at, label in enumerate("xyxy") for name in names]
    found = agreement(verdicts)

    assert found.fleiss == pytest.approx(1.0)
    assert len(found.pairs) == len(list(combinations(names, 2)))


def test_two_labels_of_one_owner_agree_on_who_has_to_act():
    result = {"r:c1": [("x", "task"), ("y", "task")], "r:c2": [("x", "model"), ("x", "model")]}
    verdicts = [
        a_verdict(attempt, name, label, owner=owner)
        for attempt, given_ in result.items()
        for name, (label, owner) in zip("ab", given_, strict=True)
    ]
    labels, owners = agreement(verdicts), agreement(verdicts, owner_of)

    assert (labels.pairs[0].same, labels.disagreements) == (1, ("r:c1",))
    assert (owners.pairs[0].same, owners.pairs[0].kappa, owners.alpha, owners.disagreements) == (2, 1.0, 1.0, ())


def test_one_label_without_an_owner_of_its_own_may_hide_a_disagreement_on_who_has_to_act():
    verdicts = [
        a_verdict("r:c", "a", "none", owner="provider"),
        a_verdict("r:c", "b", "none", owner="harness"),
    ]

    assert agreement(verdicts).disagreements == ()
    assert agreement(verdicts, owner_of).disagreements == ("r:c",)


def test_all_three_measures_are_given_for_owners():
    owners = ("model", "task", "model", "grader")
    verdicts = [
        a_verdict(f"r:c{at}", name, "x", owner=owner) for at, owner in enumerate(owners) for name in ("a", "b", "c")
    ]
    found = agreement(verdicts, owner_of)

    assert (found.fleiss, found.alpha) == (pytest.approx(1.0), pytest.approx(1.0))
    assert [pair.kappa for pair in found.pairs] == [pytest.approx(1.0)] * 3


@pytest.mark.parametrize(
    "other",
    [Reviewer(kind="llm", name="Anna "), Reviewer(kind="person", name="anna"), Reviewer(kind="agent", name="ANNA")],
)
def test_nobody_agrees_with_themselves(other):
    anna = Reviewer(kind="llm", name="anna")
    verdicts = [
        a_verdict("r:c", "a", "x", id="1", at="2026-01-01", reviewer=anna),
        a_verdict("r:c", "a", "x", id="2", at="2026-01-02", reviewer=other),
    ]

    assert agreement(verdicts).attempts == 0
