"""`errata review next` and `errata review submit`: one packet out, one verdict in, by whoever can read JSON."""

import json

import pytest

from errata.settings import machine_user
from reading import RUN_B, an_answer, as_model, submitted
from terminal import FIXTURES, done, errata, import_fixtures

COMPARISON = FIXTURES / "conversation_bench" / "comparison" / "data"
BETA = "9c0d1e2f"


@pytest.fixture
def imported():
    import_fixtures(RUN_B)


@pytest.fixture
def answer_file(tmp_path):
    return tmp_path / "answer.json"


def handed(*options, thing="latest"):
    return done("review", "next", thing, *options).row


@pytest.mark.req("C-09", "C-10", "C-11")
def test_a_packet_holds_the_failed_step_the_error_the_code_the_answer_the_grader_and_the_task(imported):
    packet = handed(thing="jn7mqywb/004-actions/003-rate_limit_guard")["packet"]

    places = {place["place"].partition("/")[0] for place in packet["places"]}
    assert {"task", "output", "grader", "reference", "run.log"} <= places
    assert packet["facts"]["failed_step"] == "tests"
    assert "expected error text to match /limit reached/" in packet["facts"]["error_line"]


@pytest.mark.req("J-12", "J-28")
def test_a_judged_turn_is_read_with_its_input_output_reasoning_calls_and_results():
    import_fixtures(COMPARISON)
    packet = handed(thing=f"{BETA}/turn-11")["packet"]

    places = {place["place"] for place in packet["places"]}
    assert {"input", "output", "tool_calls", "tool_results", "expected"} <= places
    assert any(place.startswith("judge_reasoning") for place in places)
    assert [check["name"] for check in packet["facts"]["checks"] if check["status"] == "fail"]


@pytest.mark.req("C-13")
def test_the_labels_that_can_be_given_are_offered_and_one_for_what_fits_none(imported):
    result = handed()

    assert result["labels"] == ["MODEL_FAULT", "OVERLY_STRICT", "AMBIGUOUS_TASK", "none"]
    assert [one["label"] for one in result["packet"]["question"]["labels"]] == result["labels"][:-1]
    assert "provider" in result["owners"] and "model" not in result["owners"]


@pytest.mark.req("C-13")
def test_all_four_labels_are_offered_and_taken_where_a_gap_is_on_record(imported, answer_file):
    done("known", "add", "002-queries/006-pagination_shape", "--text", "The validator's fields are nowhere documented")
    result = handed(thing="jn7mqywb/002-queries/006-pagination_shape")

    assert result["labels"] == ["MODEL_FAULT", "OVERLY_STRICT", "AMBIGUOUS_TASK", "KNOWN_GAP", "none"]
    assert submitted(answer_file, an_answer(result, label="KNOWN_GAP")).code == 0


def test_a_reader_gets_one_packet_after_the_other(imported, answer_file):
    first = handed()
    submitted(answer_file, an_answer(first))
    second = handed()

    assert first["packet"]["attempt_id"] != second["packet"]["attempt_id"]
    assert (first["waiting"], second["waiting"]) == (8, 7)


@pytest.mark.req("C-14")
def test_a_verdict_is_kept_with_all_it_says(imported, answer_file):
    result = handed(thing="jn7mqywb/004-actions/003-rate_limit_guard")
    snippet = 'if (used > 3) throw new Error("too many requests, rate limit exceeded");'
    answer = an_answer(result, model_snippet=snippet, expected_snippet="if (used >= 3)", error_line="tests fail (60%)")
    assert submitted(answer_file, answer).code == 0

    verdict = done("show", "jn7mqywb/004-actions/003-rate_limit_guard", "--json").row["standing"]["verdict"]

    assert (verdict["label"], verdict["owner"]) == ("MODEL_FAULT", "model")
    assert (verdict["model_snippet"], verdict["expected_snippet"]) == (snippet, "if (used >= 3)")
    assert verdict["error_line"] == "tests fail (60%)"
    assert verdict["reasoning"] == answer["reasoning"]
    assert verdict["reviewer"] == {
        "kind": "agent",
        "name": "agent",
        "version": "",
        "reading": "",
        "caller": f"program:{machine_user()}",
    }


@pytest.mark.req("J-14")
def test_the_mistake_and_what_follows_from_it_are_kept_apart(imported, answer_file):
    answer = an_answer(handed(), underlying_mistake="forgot the order", consequences=["two tests fail"])
    submitted(answer_file, answer)

    verdict = done("show", answer["attempt_id"], "--json").row["standing"]["verdict"]

    assert (verdict["underlying_mistake"], verdict["consequences"]) == ("forgot the order", ["two tests fail"])


def test_a_verdict_can_come_on_standard_input(imported, monkeypatch):
    import io
    import sys
    from types import SimpleNamespace

    text = json.dumps(an_answer(handed()))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode()), isatty=lambda: False))

    assert done("review", "submit").out.startswith("001-data_modeling/003-optional_index   MODEL_FAULT")


def test_a_false_quote_is_refused_and_the_packet_stays_in_hand(imported, answer_file):
    result = handed()
    answer = an_answer(result)
    false = answer | {"evidence": [{"place": "task", "quote": "this was never written by anybody"}]}

    refused = submitted(answer_file, false, "--json")

    assert refused.code == 2
    assert refused.row["accepted"] is False
    assert "this was never written" in refused.row["reasons"][0]
    assert submitted(answer_file, answer).code == 0


@pytest.mark.parametrize(
    ("changes", "keys"),
    [
        ({"label": "KNOWN_GAP"}, {"labels"}),
        ({"owner": "grader"}, {"labels"}),
        ({"label": "none", "owner": "model"}, set()),
        ({"evidence": [{"place": "nowhere", "quote": "export default defineSchema"}]}, {"places"}),
        ({"evidence": []}, {"places"}),
        ({"evidence": [{"place": "task", "quote": "this was never written by anybody"}]}, set()),
        ({"cause": ""}, set()),
    ],
    ids=["gap", "owner", "none", "place", "no evidence", "quote", "cause"],
)
def test_what_can_be_chosen_from_is_told_only_where_the_choice_was_wrong(imported, answer_file, changes, keys):
    refused = submitted(answer_file, an_answer(handed(), **changes), "--json")

    assert refused.code == 2
    assert set(refused.row) - {"accepted", "attempt_id", "reasons"} == keys


def test_a_label_that_is_not_offered_is_named_by_no_reason(imported, answer_file):
    assert "KNOWN_GAP" not in submitted(answer_file, an_answer(handed(), label="BAD_LUCK")).talk


def test_an_owner_that_has_a_label_of_its_own_is_told_with_it(imported, answer_file):
    result = submitted(answer_file, an_answer(handed(), label="none", owner="model"))

    assert "one of `budget`, `provider`" in result.talk
    assert "for `model` there is the label `MODEL_FAULT`" in result.talk


def test_every_refused_try_is_counted(imported, answer_file):
    answer = an_answer(handed(), label="BAD_LUCK")
    for _ in range(3):
        submitted(answer_file, answer)
    status = done("review", "status", "latest", "--json").row

    assert (status["refused"], status["unmended"]) == (3, 1)
    assert [count for why, count in status["refusals"].items() if "BAD_LUCK" in why] == [3]


def test_the_name_of_a_packet_does_as_well_as_the_id_of_an_attempt(imported, answer_file):
    result = handed()
    answer = an_answer(result, packet=result["packet"]["id"])
    del answer["attempt_id"]

    assert submitted(answer_file, answer).code == 0


def test_a_verdict_handed_in_once_more_with_its_old_lease_changes_nothing(imported, answer_file):
    answer = an_answer(handed())
    submitted(answer_file, answer)
    again = submitted(answer_file, answer)

    assert again.code == 0
    assert len(done("failures", "latest", "--json").rows) == 9
    assert done("review", "status", "latest", "--json").row["reviewed"] == 1


def test_without_its_lease_a_packet_in_hand_is_not_answered(imported, answer_file):
    answer = an_answer(handed())

    result = submitted(answer_file, answer | {"lease": ""})

    assert result.code == 2
    assert "carries no lease" in result.talk


def test_another_lease_is_told(imported, answer_file):
    result = submitted(answer_file, an_answer(handed()) | {"lease": "0123456789abcdef"})

    assert (result.code, "carries another lease" in result.talk) == (2, True)


def test_a_lease_that_has_ended_is_told_with_what_to_do(imported, answer_file, monkeypatch):
    from datetime import timedelta

    monkeypatch.setattr("errata.review.stored.lease.LASTS", timedelta(seconds=-1))
    result = submitted(answer_file, an_answer(handed(thing="jn7mqywb/000-fundamentals/002-http_greeting")))

    assert result.code == 2
    assert result.err == (
        "error: The lease on `jn7mqywb/000-fundamentals/002-http_greeting` has expired, or belongs to another\n"
        "       reviewer than `agent:agent`\n"
        "\n"
        "hint: get it again with `errata review next jn7mqywb/000-fundamentals/002-http_greeting` and submit\n"
        "      the same verdict with the new lease; `--reviewer` must be the same for both\n"
    )


@pytest.mark.req("J-13")
def test_a_changed_label_is_kept_beside_the_old_one(imported, answer_file):
    result = handed(thing="jn7mqywb/000-fundamentals/002-http_greeting")
    submitted(answer_file, an_answer(result, label="AMBIGUOUS_TASK"))
    submitted(answer_file, an_answer(result, label="MODEL_FAULT", lease=""))

    shown = done("show", "jn7mqywb/000-fundamentals/002-http_greeting", "--json").row
    changes = [(change["old"], change["new"]) for change in shown["standing"]["changes"]]

    assert changes == [("OVERLY_STRICT", "AMBIGUOUS_TASK"), ("AMBIGUOUS_TASK", "MODEL_FAULT")]
    assert [verdict["label"] for verdict in shown["verdicts"]] == ["AMBIGUOUS_TASK", "MODEL_FAULT"]


def test_whoever_hands_in_learns_neither_what_triage_says_nor_what_others_said(imported, answer_file):
    """A grader's fault by triage: both answers are told alike, and so is one on what another has read."""
    result = [
        submitted(answer_file, an_answer(handed(*as_model(name)), label=label), *as_model(name), "--json").row
        for name, label in (("a", "OVERLY_STRICT"), ("b", "MODEL_FAULT"))
    ]
    second = handed(*as_model("c"), thing=result[0]["attempt_id"])
    third = submitted(answer_file, an_answer(second, label="AMBIGUOUS_TASK"), *as_model("c"), "--json").row

    assert [(row["state"], row["old_label"]) for row in (*result, third)] == [("new", None)] * 3


def test_one_may_return_to_what_one_said_before(imported, answer_file):
    result = handed()
    first, other = an_answer(result), an_answer(result, label="OVERLY_STRICT", lease="")
    for answer in (first, other, first | {"lease": ""}):
        assert submitted(answer_file, answer).code == 0

    assert done("show", first["attempt_id"], "--json").row["standing"]["verdict"]["label"] == "MODEL_FAULT"


def test_the_same_verdict_twice_is_one(imported, answer_file):
    answer = an_answer(handed())
    submitted(answer_file, answer)

    assert submitted(answer_file, answer | {"lease": ""}, "--json").row["state"] == "unchanged"
    assert len(done("show", answer["attempt_id"], "--json").row["verdicts"]) == 1


def test_a_person_stands_over_a_program_whoever_came_last(imported, answer_file):
    result = handed()
    submitted(answer_file, an_answer(result, label="OVERLY_STRICT", lease=""), "--person", *as_model("ada"))
    submitted(answer_file, an_answer(result))

    (row,) = done("failures", "latest", "--case", "optional_index", "--json").rows

    assert (row["verdict"]["label"], row["verdict"]["reviewer"]) == ("OVERLY_STRICT", "person:ada")


def test_a_program_does_not_take_back_what_a_person_of_its_name_said(imported, answer_file):
    result = handed(*as_model("ada"))
    submitted(answer_file, an_answer(result, label="OVERLY_STRICT", lease=""), "--person", *as_model("ada"))
    submitted(answer_file, an_answer(result), *as_model("ada"))

    (row,) = done("failures", "latest", "--case", "optional_index", "--json").rows
    assert row["verdict"]["label"] == "OVERLY_STRICT"


def test_a_person_may_go_without_quotes_an_agent_may_not(imported, answer_file):
    answer = an_answer(handed(), evidence=[], reasoning="", lease="")

    assert submitted(answer_file, answer, "--person", *as_model("ada")).code == 0
    assert submitted(answer_file, answer, *as_model("bot")).code == 2


def test_a_blind_packet_is_judged_as_it_was_read(imported, answer_file):
    result = handed("--blind", thing="jn7mqywb/000-fundamentals/002-http_greeting")
    submitted(answer_file, an_answer(result))

    verdict = done("show", result["packet"]["attempt_id"], "--json").row["standing"]["verdict"]

    assert verdict["blind"] is True
    assert verdict["packet_hash"] == result["answer"]["packet_hash"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "This is not JSON"),
        ("[1]", "One JSON object is expected"),
        ('{"label": "MODEL_FAULT"}', "The verdict does not name a failure"),
        ('{"attempt_id": "nope", "label": "x"}', "nope"),
        ("[" * 100_000, "This is not JSON"),
        ("\xff\xfe\x00", "This is no"),
    ],
    ids=["empty", "list", "which", "unknown", "deep", "bytes"],
)
def test_what_is_no_verdict_is_refused(imported, tmp_path, text, says):
    path = tmp_path / "x.json"
    path.write_bytes(text.encode("latin-1"))

    result = errata("review", "submit", path)

    assert (result.code, result.out) == (2, "")
    assert says in result.talk


@pytest.mark.parametrize("name", ["case", "case_key"])
def test_a_failure_may_be_named_by_run_and_case(imported, answer_file, name):
    result = handed()
    answer = an_answer(result, run="jn7mqywb", **{name: result["packet"]["case_key"]})
    del answer["attempt_id"]

    assert submitted(answer_file, answer).code == 0


def test_what_an_answer_names_is_never_imported(answer_file, tmp_path):
    result = submitted(answer_file, {"packet": str(RUN_B), "label": "MODEL_FAULT"})

    assert result.code == 2
    assert done("runs", "--json").rows == []


def test_a_store_that_does_not_hold_the_run_is_named(imported, answer_file, tmp_path):
    result = submitted(answer_file, an_answer(handed()), "--store", tmp_path / "other.db")

    assert result.code == 2
    assert f"this store is `{tmp_path / 'other.db'}` and holds no runs" in result.talk


def test_what_did_not_fail_is_not_handed_out(imported):
    result = errata("review", "next", "jn7mqywb/003-mutations/002-cascade_remove")

    assert result.code == 2
    assert "did not fail" in result.talk


def test_hidden_characters_and_secrets_do_not_reach_the_reader(tmp_path):
    row = {"id": "one", "ok": False, "answer": "key sk-ant-api03-abcdefghijklmnopqrstuvwxyz \u202e\x1b[31mred"}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "map.toml").write_text('[case]\nname = "id"\n[attempt]\npassed = "ok"\noutput = "answer"\n')
    done("import", "rows.jsonl", "--map", "map.toml")

    page = done("review", "next", "latest").out

    assert "sk-ant" not in page and "redacted" in page
    assert "\x1b" not in page and "\u202e" not in page
