"""What a reader has in hand: handed out again, beside another, given back; and why nothing is handed out."""

import pytest

from reading import RUN_B, an_answer, as_model, submitted
from terminal import done, errata, import_fixtures

TEXT_LOOKUP = "002-queries/001-text_lookup"


@pytest.fixture
def imported():
    import_fixtures(RUN_B)


def said(*options, thing="latest"):
    return done("review", "next", thing, *options)


def handed(*options, thing="latest"):
    return said(*options, thing=thing).row


def lease_of(row):
    return row["answer"]["attempt_id"], row["answer"]["lease"]


def test_who_asks_again_gets_the_same_packet_under_the_same_lease(imported):
    first, again = handed(), said()

    assert lease_of(again.row) == lease_of(first)
    assert (first["again"], again.row["again"]) == (False, True)
    assert (first["until"], first["waiting"]) == (again.row["until"], again.row["waiting"])


def test_one_more_is_given_to_who_asks_for_it(imported):
    first, more = handed(), said("--another")

    assert lease_of(more.row) != lease_of(first)
    assert more.row["besides"] == ["001-data_modeling/003-optional_index"]
    assert "also leased to you: 001-data_modeling/003-optional_index" in more.talk


def test_a_case_that_is_taken_by_name_again_keeps_its_lease(imported):
    first = handed(thing=f"jn7mqywb/{TEXT_LOOKUP}")
    again = handed(thing=f"jn7mqywb/{TEXT_LOOKUP}")

    assert lease_of(again) == lease_of(first)


def test_what_was_taken_by_name_is_what_is_in_hand(imported):
    named = handed(thing=f"jn7mqywb/{TEXT_LOOKUP}")

    assert lease_of(handed()) == lease_of(named)


def test_what_was_given_back_waits_again(imported):
    first = handed()
    row = done("review", "release", "latest", "--json").row

    assert row == {"reviewer": "agent:agent", "released": [first["packet"]["attempt_id"]]}
    assert handed()["again"] is False


def test_a_lease_that_was_given_back_is_none(imported, tmp_path):
    first = handed()
    done("review", "release", "latest")

    assert "has expired" in submitted(tmp_path / "v.json", an_answer(first)).talk


def test_nobody_gives_back_what_another_has_in_hand(imported):
    handed(*as_model("a"))
    page = done("review", "release", "latest", *as_model("b")).out

    assert page == "`agent:b` has no lease on `latest`\n"
    assert done("review", "status", "latest", "--json").row["in_hand"] == 1


def test_ones_own_verdict_is_corrected_without_a_lease_while_another_packet_is_in_hand(imported, tmp_path):
    first = handed()
    submitted(tmp_path / "v.json", an_answer(first))
    handed()

    corrected = submitted(tmp_path / "v.json", an_answer(first, label="OVERLY_STRICT", lease=""), "--json")

    assert (corrected.code, corrected.row["state"]) == (0, "changed")
    assert done("review", "status", "latest", "--json").row["in_hand"] == 1


def test_the_answer_says_which_failure_it_is_about_whatever_stands_around_it(imported, tmp_path):
    first = handed()
    submitted(tmp_path / "v.json", an_answer(first))
    second = handed()

    around = second | {"answer": an_answer(first, label="OVERLY_STRICT")}
    row = submitted(tmp_path / "v.json", around, "--json").row

    assert (row["attempt_id"], row["state"]) == (first["packet"]["attempt_id"], "changed")


def test_when_all_is_in_hand_that_is_told(imported):
    for _ in range(9):
        handed("--another")
    result = said("--another")

    assert result.row == {
        "packet": None,
        "why": "in_hand",
        "failures": 9,
        "read": 0,
        "in_hand": 9,
    }
    assert "everything that is waiting is leased to `agent:agent`, 9 in all" in result.talk
    assert "return them with `errata review release latest --reviewer agent`" in " ".join(result.talk.split())


def test_a_filter_that_fits_no_failure_is_not_the_end_of_a_review(imported):
    result = said("--owner", "simulator")

    assert result.row["why"] == "no_match"
    assert "no failure of `latest` matches `--owner simulator`" in result.talk
    assert result.row["failures"] == 0


def test_a_case_that_did_not_fail_fits_no_failure(imported):
    assert "no failure of `latest` matches `--case greeting_query`" in said("--case", "greeting_query").talk


@pytest.mark.parametrize("command", [["run", "--command", "true"], ["export"]], ids=lambda words: words[0])
def test_other_commands_say_so_too(imported, command):
    result = done("review", *command, "latest", "--owner", "simulator")

    assert "matches `--owner simulator`" in result.talk


def test_an_owner_that_does_not_exist_is_a_slip(imported):
    assert errata("review", "next", "latest", "--owner", "nobody").code == 2


def test_what_others_have_read_is_handed_out_for_a_second_opinion(imported, tmp_path):
    first = handed(*as_model("a"))
    submitted(tmp_path / "v.json", an_answer(first), *as_model("a"))

    second = handed("--second", *as_model("b"))

    assert second["packet"] == first["packet"]
    assert second["waiting"] == 0


def test_ones_own_reading_is_no_second_opinion(imported, tmp_path):
    submitted(tmp_path / "v.json", an_answer(handed()))

    result = said("--second")

    assert result.row["why"] == "no_second"
    assert "nothing that others have reviewed is waiting for `agent:agent`" in result.talk


def test_a_reader_who_finds_all_read_by_others_is_told_of_second_opinions(imported, tmp_path):
    while (result := handed(*as_model("a")))["packet"]:
        submitted(tmp_path / "v.json", an_answer(result), *as_model("a"))

    assert "`--second` gives 9 that others have reviewed" in said(*as_model("b")).talk


def test_a_packet_can_be_had_as_text(imported):
    page = said("--format", "text", thing=f"jn7mqywb/{TEXT_LOOKUP}").out

    assert "── run.log   (" in page
    assert "\n   13  [vitest] AssertionError: expected [ 1, 2, 3 ] to deeply equal [ 3, 2, 1 ]\n" in page
    assert "errata review submit FILE --reviewer agent" in page
    assert max(map(len, page.splitlines())) <= 100


def test_a_long_word_is_whole_in_the_text_so_that_it_can_be_quoted(tmp_path):
    word = "x" * 130
    (tmp_path / "rows.jsonl").write_text(f'{{"id": "one", "ok": false, "answer": "so {word} it is"}}\n')
    (tmp_path / "map.toml").write_text('[case]\nname = "id"\n[attempt]\npassed = "ok"\noutput = "answer"\n')
    done("import", "rows.jsonl", "--map", "map.toml")

    assert word in said("--format", "text").out


def test_nothing_is_told_as_text_as_well(imported):
    assert (
        said("--owner", "simulator", "--format", "text").out == "no failure of `latest` matches `--owner simulator`\n"
    )
