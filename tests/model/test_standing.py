"""Of all verdicts on an attempt, which one stands and whether it is final."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.model import Counts, Reviewer, Run, SourceInfo, StoredRun, Verdict
from errata.model.standing import final, may_be_stale, standing


def a_verdict(number=1, label="MODEL_FAULT", name="a", kind="llm", **changes):
    whole = {"id": f"v{number}", "attempt": "r:c#1", "taxonomy": "t", "owner": "model", "cause": "c"}
    whole |= {"confidence": "likely", "reviewer": Reviewer(kind=kind, name=name), "at": f"2026-03-0{number}T00:00:00Z"}
    return Verdict(**(whole | {"label": label} | changes))


def labels_of_changes(verdicts, suggested=""):
    return [(change.old, change.new) for change in standing(verdicts, suggested=suggested).changes]


def test_without_verdicts_nothing_stands():
    assert standing([]) is None
    assert final([]) is None


def test_the_newest_stands():
    assert standing([a_verdict(2, "B"), a_verdict(1, "A")]).verdict.label == "B"


def test_a_person_stands_over_newer_machines():
    assert standing([a_verdict(1, "A", "anna", "person"), a_verdict(2, "B")]).verdict.label == "A"


def test_of_several_people_the_newest_stands():
    given = [a_verdict(1, "A", "anna", "person"), a_verdict(2, "B", "bo", "person")]

    assert standing(given).verdict.label == "B"


def test_an_inherited_verdict_stands_only_where_nobody_read_it():
    inherited = a_verdict(9, "A", "anna", "person", inherited_from="v0")

    assert standing([inherited]).verdict.label == "A"
    assert standing([inherited, a_verdict(1, "B")]).verdict.label == "B"


@pytest.mark.req("J-30")
def test_an_inherited_verdict_is_never_final():
    assert final([a_verdict(1, inherited_from="v0")]) is None


def test_a_superseded_verdict_does_not_stand():
    assert standing([a_verdict(2, "A", "anna", "person"), a_verdict(1, "B", supersedes="v2")]).verdict.label == "B"


def test_other_labels_are_a_dispute():
    found = standing([a_verdict(1, "A", "a"), a_verdict(2, "B", "b")])

    assert [one.label for one in found.disagreeing] == ["A"]
    assert found.is_disputed


def test_other_owners_under_no_label_are_a_dispute():
    first = a_verdict(1, "none", "a", owner="provider", needs_second=True)
    second = a_verdict(2, "none", "b", owner="harness", needs_second=True)

    assert standing([first, second]).is_disputed
    assert final([first, second]) is None


def test_what_a_reviewer_said_before_is_no_dispute():
    assert not standing([a_verdict(1, "A"), a_verdict(2, "B")]).is_disputed


def test_a_person_settles_a_dispute():
    given = [a_verdict(1, "A", "a"), a_verdict(2, "B", "b"), a_verdict(3, "A", "anna", "person")]
    found = standing(given)

    assert [one.label for one in found.disagreeing] == ["B"]
    assert not found.is_disputed


def test_labels_of_different_taxonomies_are_no_dispute():
    assert not standing([a_verdict(1, "A", "a", taxonomy="other"), a_verdict(2, "B", "b")]).is_disputed


def test_an_inherited_label_is_no_dispute():
    assert not standing([a_verdict(1, "A", "a", inherited_from="v0"), a_verdict(2, "B", "b")]).is_disputed


def test_a_verdict_of_its_own_is_final():
    assert final([a_verdict()]).id == "v1"


SPOKEN_TO = a_verdict(3, "A", "a", needs_second=True)


def test_where_the_packet_talked_one_verdict_is_not_final():
    assert final([SPOKEN_TO]) is None
    assert standing([SPOKEN_TO]).verdict == SPOKEN_TO


@pytest.mark.parametrize(
    ("second", "counts"),
    [
        (a_verdict(1, "A", "b", needs_second=True), True),
        (a_verdict(1, "A", "anna", "person"), True),
        (a_verdict(1, "B", "b", needs_second=True), False),
        (a_verdict(1, "A", "a", needs_second=True), False),
        (a_verdict(1, "A", "A ", "command", needs_second=True), False),
        (a_verdict(1, "A", "b", inherited_from="v0"), False),
        (a_verdict(1, "A", "b", taxonomy="other"), False),
        (a_verdict(2, "A", "b", id="old"), True),
    ],
    ids=[
        "another agrees",
        "a person agrees",
        "disagrees",
        "the same",
        "the same name",
        "inherited",
        "other words",
        "old",
    ],
)
def test_a_second_reviewer_must_agree_on_the_label(second, counts):
    assert (final([SPOKEN_TO, second]) is not None) is counts


def test_a_second_who_changed_their_mind_does_not_count():
    given = [SPOKEN_TO, a_verdict(1, "A", "b", id="first"), a_verdict(2, "B", "b", id="second")]

    assert final(given) is None


@pytest.mark.req("J-13")
def test_old_and_new_label_are_kept_when_a_label_changes():
    assert labels_of_changes([a_verdict(1, "A"), a_verdict(2, "B"), a_verdict(3, "B"), a_verdict(4, "A")]) == [
        ("A", "B"),
        ("B", "A"),
    ]


@pytest.mark.req("J-13")
def test_the_first_change_is_from_what_triage_suggested():
    change = standing([a_verdict(1, "B")], suggested="A").changes[0]

    assert (change.old, change.new, change.by.name, change.verdict) == ("A", "B", "a", "v1")
    assert change.at == "2026-03-01T00:00:00Z"


def test_a_confirmed_suggestion_is_no_change():
    assert labels_of_changes([a_verdict(1, "A")], suggested="A") == []


def test_a_machine_after_a_person_changes_nothing():
    assert labels_of_changes([a_verdict(1, "A", "anna", "person"), a_verdict(2, "B")]) == []


verdicts = st.builds(
    a_verdict,
    number=st.integers(1, 9),
    label=st.sampled_from("AB"),
    name=st.sampled_from("ab"),
    kind=st.sampled_from(["llm", "person"]),
    needs_second=st.booleans(),
    inherited_from=st.sampled_from([None, "v0"]),
    at=st.sampled_from([None, "2026-01-01", "2026-01-02"]),
)


@given(st.lists(verdicts, max_size=5), st.randoms())
def test_the_order_in_which_they_come_does_not_matter(given_, chance):
    shuffled = list({one.id: one for one in given_}.values())
    first = standing(shuffled)
    chance.shuffle(shuffled)

    assert standing(shuffled) == first


def test_a_verdict_given_within_the_second_of_the_import_is_about_its_content():
    run = Run(native_id="r", source=SourceInfo(name="test"), revision=2)
    stored = StoredRun(run=run, counts=Counts(), pk=1, imported_at="2026-03-01T10:00:00.100000Z", digest="")

    assert not may_be_stale(a_verdict(at="2026-03-01T10:00:00.900000Z"), stored)
    assert may_be_stale(a_verdict(at="2026-03-01T09:59:59.900000Z"), stored)
