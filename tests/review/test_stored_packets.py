"""Packets of real runs: everything about a failure is there, and other runs are remembered."""

import csv
import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from errata.errors import NotFoundError, SettingsError
from errata.model import Packet, Reviewer, Verdict, attempt_id
from errata.model.codec import to_json
from errata.model.filters import Filters
from errata.review.packet import PacketOptions
from errata.review.packet_size import UNLIMITED
from errata.review.stored import packets as stored_packets
from errata.review.tables import write_rows, write_table
from errata.runs.importing import import_paths
from errata.runs.names import are_judged_turns
from errata.runs.review_context import question_for
from errata.runs.view import RunView
from errata.store.removal import remove_run
from errata.store.reviews import keep_verdicts
from errata.store.runs import all_runs, exclude, find_run
from errata.verbs.review import context_for, export, packet_of, packets_of

CONVEX = "sources/convex_evals/{}/data"
CONVERSATIONS = "sources/conversation_bench/comparison/data/compare_20260301"
BETA = "20260301T130000_voice-beta_9c0d1e2f"
GUARD = "convex-evals/004-actions/003-rate_limit_guard"


@pytest.fixture
def convex(store, fixtures):
    import_paths([fixtures / CONVEX.format("run_b")], store)
    return find_run(store, "jn7mqywb")


@pytest.fixture
def conversations(store, fixtures):
    import_paths([fixtures / CONVERSATIONS], store)
    return [one for one in all_runs(store) if one.run.suite == "harbour_bench"]


@pytest.fixture
def beta(conversations):
    return next(one for one in conversations if one.run.native_id == BETA)


def of_case(stored, store, case: str, **options) -> Packet:
    return packet_of(attempt_id(stored.run.id, case), store, options=PacketOptions(**options))


def remembering(stored, store, case: str, entry: dict) -> Packet:
    """The packet where this is known of the case, too."""
    context = context_for(stored, store)

    def history(keys):
        return {key: (entry, *known) for key, known in context.history(keys).items()}

    knowing = msgspec.structs.replace(context, history=history)
    return stored_packets.packet_of(attempt_id(stored.run.id, case), knowing, store)


def texts(packet: Packet) -> dict[str, str]:
    return {place.place: place.text for place in packet.places}


def examples(fixtures: Path) -> list[dict]:
    return json.loads((fixtures / "packets/examples.json").read_text(encoding="utf-8"))


def judged_rows(fixtures: Path, run: str) -> list[dict]:
    path = fixtures / CONVERSATIONS / "runs/harbour_bench" / run / "openai_judged.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def failed_rows(fixtures: Path, run: str) -> list[dict]:
    return [row for row in judged_rows(fixtures, run) if False in row["scores"].values()]


def includes(whole: str, part: str) -> bool:
    """The same text; of two JSON objects, that all of one is in the other."""
    if whole == part:
        return True
    more, less = json.loads(whole), json.loads(part)
    return {name: more.get(name) for name in less} == less


def test_the_convex_example_is_found_place_by_place(convex, store, fixtures):
    wanted = examples(fixtures)[0]
    made = of_case(convex, store, GUARD)

    assert made.id == wanted["id"]
    sources = {place.place: place.source for place in made.places}
    for place in wanted["places"]:
        assert texts(made)[place["place"]] == place["text"]
        file = place["source"].partition("#")[0]
        assert file.endswith(sources[place["place"]].partition("#")[0])


def test_the_conversation_example_is_found_place_by_place(beta, store, fixtures):
    wanted = examples(fixtures)[1]
    made = of_case(beta, store, "harbour_bench/turn-24")

    assert made.id == wanted["id"] and made.run["id"] == wanted["run"]["id"]
    sources = {place.place: place.source for place in made.places}
    for place in wanted["places"]:
        assert includes(texts(made)[place["place"]], place["text"])
        assert Path(place["source"].partition("#")[0]).name == Path(sources[place["place"]].partition("#")[0]).name


@pytest.mark.parametrize("number", [0, 1])
def test_the_facts_of_the_examples_are_found(number, convex, conversations, beta, store, fixtures):
    wanted = examples(fixtures)[number]
    made = of_case([convex, beta][number], store, [GUARD, "harbour_bench/turn-24"][number])

    words = {"passed": "pass", "failed": "fail"}
    checks = [(one["name"], words.get(one["status"], one["status"])) for one in wanted["facts"]["checks"]]
    assert [(one["name"], one["status"]) for one in made.facts["checks"]] == checks
    for name in ("execution", "measurement", "outcome", "usage"):
        assert made.facts[name] == wanted["facts"][name]
    assert {name: made.run[name] for name in ("harness", "model", "experiment", "date")} == {
        name: wanted["run"][name] for name in ("harness", "model", "experiment", "date")
    }


@pytest.mark.req("C-10")
@pytest.mark.parametrize(
    ("case", "step", "error"),
    [
        ("004-actions/003-rate_limit_guard", "tests", "AssertionError: expected error text to match /limit reached/"),
        ("001-data_modeling/003-optional_index", "deploy", 'the index "by_creation_time" uses a reserved name'),
        ("002-queries/006-pagination_shape", "tsc", "convex/messages.ts(5,3): error TS2322"),
        ("003-mutations/005-batch_insert", "install", "ECONNRESET downloading package manifest convex"),
        ("000-fundamentals/002-http_greeting", "eslint", "@typescript-eslint/no-unused-vars"),
    ],
)
def test_a_packet_says_which_step_failed_and_the_exact_error(convex, store, case, step, error):
    made = of_case(convex, store, f"convex-evals/{case}")

    assert made.facts["failed_step"] == step
    assert error in made.facts["error_line"]
    assert any(error in place.text for place in made.places)


@pytest.mark.req("C-11")
def test_code_reference_grader_and_task_are_there_to_be_read(convex, store):
    for packet in packets_of(convex, store, Filters(execution="completed")):
        kinds = {name.partition("/")[0] for name in texts(packet)}
        assert {"task", "output", "reference", "grader"} <= kinds, packet.id


@pytest.mark.req("C-14")
def test_what_a_structured_result_needs_is_in_the_packet(convex, store):
    made = of_case(convex, store, GUARD)

    assert made.case_key.endswith("004-actions/003-rate_limit_guard")
    assert (made.facts["category"], made.facts["failed_step"]) == ("004-actions", "tests")
    assert "\n" not in made.facts["error_line"]
    assert [label.label for label in made.question.labels] == [
        "MODEL_FAULT",
        "OVERLY_STRICT",
        "AMBIGUOUS_TASK",
    ]
    assert "used > 3" in texts(made)["output/convex/guard.ts"]
    assert "used >= 3" in texts(made)["reference/convex/guard.ts"]


@pytest.mark.req("C-12")
@pytest.mark.parametrize("taxonomy", ["", "owners", "convex-evals", "conversation-bench", "scylla"])
def test_every_question_says_where_the_burden_of_proof_lies(taxonomy):
    assert question_for("convex-evals", taxonomy).rule.startswith(
        "A failure is the model's unless evidence shows otherwise."
    )


@pytest.mark.req("C-13")
def test_a_gap_on_record_is_offered_as_the_fourth_label(convex, store):
    recorded = remembering(convex, store, GUARD, {"known_gap": "no answer can pass"})

    assert [label.label for label in recorded.question.labels][3:] == ["KNOWN_GAP"]


@pytest.mark.req("J-06", "J-12")
def test_every_failed_row_is_in_its_packet_as_it_was_judged(conversations, store, fixtures):
    for stored in conversations:
        packets = {packet.facts["turn"]: packet for packet in packets_of(stored, store)}
        for row in failed_rows(fixtures, stored.run.native_id):
            packet = packets[row["turn"]]
            places = texts(packet)
            assert (places["input"], places["output"]) == (row["user_text"], row["assistant_text"])
            assert places["judge_reasoning"] == row["judge_reasoning"]
            assert json.loads(places.get("tool_calls", "[]")) == row["tool_calls"]
            assert json.loads(places.get("tool_results", "[]")) == row["tool_results"]
            failed = [one["name"] for one in packet.facts["checks"] if one["status"] == "fail"]
            assert failed == [name for name, value in row["scores"].items() if value is False]


@pytest.mark.req("J-28")
def test_a_failure_of_tools_keeps_its_calls_whatever_the_budget(beta, store, fixtures):
    (row,) = [row for row in failed_rows(fixtures, BETA) if row["turn"] == 8]
    places = texts(of_case(beta, store, "harbour_bench/turn-8", budget=1))

    assert json.loads(places["tool_calls"]) == row["tool_calls"]
    assert json.loads(places["tool_results"]) == row["tool_results"]


@pytest.mark.req("J-07", "J-08")
def test_the_rows_of_a_comparison_are_all_rows_with_a_false_dimension(conversations, store, fixtures):
    file = io.StringIO()
    rows = export(conversations, store, options=PacketOptions(budget=UNLIMITED))
    write_table(rows, file, judged=True, answers=False, redact=lambda packet: packet)
    written = list(csv.DictReader(io.StringIO(file.getvalue(), newline="")))

    raw = [(run.run.subject.model, row) for run in conversations for row in failed_rows(fixtures, run.run.native_id)]
    wanted = sorted((model, row["turn"], row["assistant_text"]) for model, row in raw)
    assert sorted((row["model_name"], int(row["turn"]), row["assistant_text"]) for row in written) == wanted
    assert [(row["model_name"], int(row["turn"])) for row in written] == [entry[:2] for entry in wanted]
    assert len(written) == 26


@pytest.mark.req("J-08")
def test_the_rows_have_scores_calls_and_results_as_sorted_json(conversations, store, fixtures):
    file = io.StringIO()
    write_rows(export(conversations, store), file, redact=lambda packet: packet)
    (row,) = [
        one
        for one in map(json.loads, file.getvalue().splitlines())
        if (one["model_name"], one["turn"]) == ("voice-beta", 24)
    ]
    (raw,) = [row for row in failed_rows(fixtures, BETA) if row["turn"] == 24]

    assert (row["user_text"], row["assistant_text"]) == (raw["user_text"], raw["assistant_text"])
    assert row["judge_reasoning"] == raw["judge_reasoning"]
    assert row["scores_json"] == json.dumps(raw["scores"], sort_keys=True)
    assert row["tool_calls_json"] == json.dumps(raw["tool_calls"], sort_keys=True)
    assert row["tool_results_json"] == json.dumps(raw["tool_results"], sort_keys=True)
    assert (row["failed_dimensions"], row["error_mode_candidate"]) == (
        "tool_use_correct,instruction_following,state_tracking",
        "premature_end_session",
    )


def test_only_conversations_have_rows_of_judged_turns(convex, conversations):
    assert are_judged_turns(conversations) and not are_judged_turns([convex, *conversations])


def test_there_is_a_packet_for_every_failure_in_the_same_order(beta, store):
    wanted = [failure.attempt.id for failure in RunView(beta, store).failures(Filters())]

    assert [packet.attempt_id for packet in packets_of(beta, store)] == wanted


@pytest.mark.parametrize(
    "filters",
    [
        {"owner": "collateral"},
        {"failed_check": "kb_grounding"},
        {"case": "turn-2"},
        {"execution": "cancelled"},
        {"category": "implicit_correction"},
        {"outcome": "fail", "measurement": "scored"},
        {"owner": "grader"},
    ],
)
def test_filters_mean_what_they_mean_for_failures(beta, store, filters):
    wanted = [failure.attempt.id for failure in RunView(beta, store).failures(Filters(**filters))]

    assert sorted(packet.attempt_id for packet in packets_of(beta, store, Filters(**filters))) == sorted(wanted)


def test_some_failures_can_be_asked_for(beta, store):
    wanted = [attempt_id(beta.run.id, f"harbour_bench/turn-{number}") for number in (24, 8)]

    assert {packet.attempt_id for packet in packets_of(beta, store, attempts=wanted)} == set(wanted)


def test_the_packet_of_one_is_that_of_all(beta, store):
    for packet in packets_of(beta, store):
        assert to_json(packet_of(packet.attempt_id, store)) == to_json(packet)


def test_a_passed_attempt_has_a_packet_too(beta, store):
    assert of_case(beta, store, "harbour_bench/turn-0").facts["outcome"] == "pass"


@pytest.mark.parametrize("wrong", ["nonsense", "0123456789abcdef:suite/a#1"])
def test_an_attempt_that_is_not_there_is_told(beta, store, wrong):
    with pytest.raises(NotFoundError):
        packet_of(wrong, store)


def test_a_case_that_is_not_there_is_told(beta, store):
    with pytest.raises(NotFoundError, match="has no attempt"):
        of_case(beta, store, "harbour_bench/turn-99")


def test_other_runs_are_told_of_with_their_outcome(beta, store):
    result = of_case(beta, store, "harbour_bench/turn-11").history

    assert sorted((one["model"], one["outcome"], one["failed_checks"]) for one in result) == [
        ("acme/voice-gamma", "fail", ["tool_use_correct"]),
        ("voice-alpha", "fail", ["tool_use_correct"]),
        ("voice-alpha", "fail", ["tool_use_correct"]),
    ]


def test_an_excluded_run_is_not_told_of(beta, conversations, store):
    for one in conversations:
        exclude(store, one.run.id, reason="broken", author="ada")

    assert of_case(beta, store, "harbour_bench/turn-11").history == ()


def a_verdict(stored, case: str, **changes) -> Verdict:
    given = {
        "id": "v1",
        "attempt": attempt_id(stored.run.id, case),
        "taxonomy": "conversation-bench",
        "label": "partial_multi_tool_execution",
        "owner": "model",
        "cause": "Cancels one of two",
        "confidence": "certain",
        "reviewer": Reviewer(kind="llm", name="m"),
        "at": "2026-03-05T10:00:00Z",
    }
    return Verdict(**given | changes)


def test_what_was_found_in_an_earlier_run_is_told(beta, conversations, store):
    earlier = next(one for one in conversations if one.run.native_id.endswith("1a2b3c4d"))
    case = "harbour_bench/turn-11"
    by_model = a_verdict(earlier, case)
    by_person = a_verdict(earlier, case, id="v2", label="other", reviewer=Reviewer(kind="person", name="ada"))
    later = a_verdict(earlier, case, id="v3", at="2026-03-06T10:00:00Z")
    keep_verdicts(store, [by_model, by_person, later])

    assert of_case(beta, store, case).history[0] == {
        "verdict": "other",
        "owner": "model",
        "cause": "Cancels one of two",
        "run": earlier.run.native_id,
        "model": "voice-alpha",
        "date": "2026-03-05",
        "reviewer": "person",
    }


def test_verdicts_on_the_failure_itself_and_on_later_runs_are_not_told(beta, conversations, store):
    later = next(one for one in conversations if one.run.native_id.endswith("3a4b5c6d"))
    keep_verdicts(store, [a_verdict(one, "harbour_bench/turn-11", id=one.run.id) for one in (beta, later)])

    assert not [one for one in of_case(beta, store, "harbour_bench/turn-11").history if "verdict" in one]


def test_what_reports_say_comes_before_what_the_store_tells(beta, store):
    text = {"report": "reports/a.md", "text": "flaky"}
    made = remembering(beta, store, "harbour_bench/turn-11", text)

    assert made.history[0] == text and len(made.history) == 4


def test_a_blind_packet_of_a_real_run_names_no_model(conversations, store):
    for stored in conversations:
        for packet in packets_of(stored, store, options=PacketOptions(blind=True)):
            shown = to_json(packet)
            assert stored.run.subject.model.encode() not in shown and b"voice-" not in shown


def test_every_sample_is_within_the_budget(convex, conversations, store):
    for stored in (convex, *conversations):
        for packet in packets_of(stored, store, options=PacketOptions(budget=1_500)):
            assert packet.size["tokens_estimated"] <= 1_500, packet.id


@pytest.mark.sqlite
def test_no_transaction_is_open_between_two_packets(beta, store):
    packets = packets_of(beta, store)
    next(packets)
    keep_verdicts(store, [a_verdict(beta, "harbour_bench/turn-11")])
    with closing(sqlite3.connect(store.path)) as other:
        busy, *_ = other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    assert busy == 0 and len(list(packets)) == 9


def test_a_run_that_goes_away_meanwhile_is_told(convex, store, monkeypatch):
    monkeypatch.setattr("errata.review.stored.packets.AT_ONCE", 2)
    packets = packets_of(convex, store)
    next(packets)
    remove_run(store, convex.run.id)

    with pytest.raises(NotFoundError, match="replaced or forgotten"):
        list(packets)


def test_earlier_sessions_and_parts_of_a_batch_are_in_the_packet(store, fixtures):
    import_paths([fixtures / "sources/scylla/batch-resumed/data"], store)
    names = {
        place.place.rpartition("/")[0]
        for stored in all_runs(store)
        for packet in packets_of(stored, store)
        for place in packet.places
    }

    assert any(name.startswith("earlier/session-1") for name in names)


def test_labels_come_from_the_taxonomy_of_the_source():
    assert question_for("conversation-bench").labels[0].label == "premature_end_session"


def test_a_source_without_labels_of_its_own_is_asked_for_the_owner():
    assert [label.label for label in question_for("inspect-ai").labels][:2] == ["model", "budget"]


def test_another_taxonomy_can_be_asked_for():
    assert question_for("convex-evals", "convex-evals-later").labels[-1].label == "TEST_FAILURE"
    assert question_for("convex-evals", "owners").taxonomy == "owners"


def test_an_unknown_taxonomy_is_told_with_the_nearest():
    with pytest.raises(SettingsError) as refused:
        question_for("convex-evals", "convex-eval")

    assert "convex-evals" in refused.value.hint


def test_packets_survive_their_own_json(beta, store):
    for packet in packets_of(beta, store):
        assert msgspec.json.decode(to_json(packet), type=Packet) == packet
