"""`errata review next --adjudicate`: a third reviewer decides between two, without knowing who they are."""

import pytest

from reading import RUN_B, an_answer, as_model, reviewed_next, submitted
from terminal import done, errata, import_fixtures

CASE = "latest/004-actions/003-rate_limit_guard"


@pytest.fixture
def two_opinions():
    import_fixtures(RUN_B)
    first = reviewed_next(thing=CASE, reviewer="first-reader", label="MODEL_FAULT", cause="It allows a fourth call")
    other = reviewed_next(thing=CASE, reviewer="other-reader", label="OVERLY_STRICT", cause="The text is too strict")
    return first, other


def decided(tmp_path, reviewer="third", **fields):
    got = done("review", "next", "latest", "--adjudicate", "--format", "json", *as_model(reviewer)).row
    return submitted(tmp_path / "v.json", an_answer(got, **fields), *as_model(reviewer), "--json")


def test_the_decision_stands_and_ends_the_dispute(two_opinions, tmp_path):
    assert decided(tmp_path, label="MODEL_FAULT").code == 0

    shown = done("show", CASE, "--json").row
    assert shown["standing"]["verdict"]["reviewer"]["name"] == "third"
    assert {one["label"] for one in shown["standing"]["readings"]} == {"MODEL_FAULT", "OVERLY_STRICT"}
    assert done("review", "status", "latest", "--json").row["disputed"] == []
    (dispute,) = done("review", "agreement", "latest", "--json").row["disputes"]
    assert dispute["decided"] == "MODEL_FAULT" and set(dispute["labels"]) == {
        "agent:first-reader",
        "agent:other-reader",
    }


def test_show_names_the_readings(two_opinions, tmp_path):
    decided(tmp_path, label="MODEL_FAULT")
    page = done("show", CASE).out

    assert "reading   MODEL_FAULT: It allows a fourth call (agent:first-reader)" in page
    assert "reading   OVERLY_STRICT: The text is too strict (agent:other-reader)" in page


def test_whoever_has_reviewed_it_does_not_decide(two_opinions):
    row = done("review", "next", "latest", "--adjudicate", "--format", "json", *as_model("first-reader")).row

    assert row["why"] == "no_dispute"


def test_a_decision_between_verdicts_that_do_not_exist_is_refused(two_opinions, tmp_path):
    result = decided(tmp_path, label="MODEL_FAULT", adjudicates=["no-such-verdict"])

    assert result.code == 2
    assert "`adjudicates` names a verdict" in result.talk


def test_where_reviews_agree_there_is_nothing_to_decide():
    import_fixtures(RUN_B)
    for reviewer in ("a", "b"):
        reviewed_next(thing=CASE, reviewer=reviewer)

    result = errata("review", "next", CASE, "--adjudicate", *as_model("c"))

    assert result.code == 2
    assert "its reviews agree, or were decided on" in result.talk


def test_as_text_the_readings_follow_the_packet(two_opinions):
    page = done("review", "next", "latest", "--adjudicate", "--format", "text", *as_model("third")).out

    assert "reading A" in page and "reading B" in page
    assert "It allows a fourth call" in page
