"""conversation-bench: what the sample's runs must come to, counted from the records."""

import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from errata.model import Attempt, Item, Run, SourceRef, Unreadable
from errata.sources import conversation_bench

FIXTURES = Path(__file__).parent.parent / "fixtures" / "sources" / "conversation_bench"
COMPARISON = FIXTURES / "comparison" / "data" / "compare_20260301"
DAMAGED = FIXTURES / "damaged" / "data" / "20260302T100000_voice-beta_0b1c2d3e"
UNJUDGED = FIXTURES / "unjudged" / "data" / "20260302T090000_voice-delta_7d8e9f0a"
TWO_JUDGES = FIXTURES / "two_judges" / "data" / "20260401T080000_acme_voice-omega_0f1e2d3c"

ALPHA_1 = "20260301T100000_voice-alpha_1a2b3c4d"
ALPHA_2 = "20260301T113000_voice-alpha_5e6f7a8b"
BETA_1 = "20260301T130000_voice-beta_9c0d1e2f"
GAMMA_1 = "20260301T143000_acme_voice-gamma_3a4b5c6d"
BETA_2 = DAMAGED.name

DIMENSIONS = (
    "turn_taking",
    "tool_use_correct",
    "instruction_following",
    "kb_grounding",
    "ambiguity_handling",
    "state_tracking",
)


@cache
def items_at(path: Path) -> tuple[Item, ...]:
    return tuple(conversation_bench.read(path))


def runs_at(path: Path) -> dict[str, Run]:
    return {item.native_id: item for item in items_at(path) if isinstance(item, Run)}


def attempts_of(name: str) -> list[Attempt]:
    path = {DAMAGED.name: DAMAGED, UNJUDGED.name: UNJUDGED, TWO_JUDGES.name: TWO_JUDGES}.get(name, COMPARISON)
    run = runs_at(path)[name]
    return [item for item in items_at(path) if isinstance(item, Attempt) and item.run == run.id]


def turn(name: str, number: int) -> Attempt:
    return next(attempt for attempt in attempts_of(name) if attempt.position == number)


def rows_of(name: str) -> list[Attempt]:
    return [attempt for attempt in attempts_of(name) if attempt.execution != "missing"]


def failed_rows(name: str) -> list[Attempt]:
    """As the harness counts them: any dimension false."""
    return [attempt for attempt in rows_of(name) if attempt.failed_checks]


@pytest.mark.req("J-01", "J-07", "J-09", "J-19")
@pytest.mark.parametrize(
    ("name", "rows", "passed", "failed", "incomplete"),
    [
        (ALPHA_1, 30, 25, 5, 0),
        (ALPHA_2, 30, 26, 4, 0),
        (BETA_1, 30, 20, 10, 0),
        (GAMMA_1, 30, 22, 7, 1),
        (BETA_2, 29, 25, 4, 0),
    ],
)
def test_rows_are_counted_as_the_harness_counts_them(name, rows, passed, failed, incomplete):
    read = rows_of(name)

    assert len(read) == rows
    assert sum(attempt.reported == 1.0 for attempt in read) == passed
    assert len(failed_rows(name)) == failed
    assert sum(attempt.measurement == "unscored" for attempt in read) == incomplete


@pytest.mark.req("J-09")
@pytest.mark.parametrize(
    ("name", "ended", "early", "empty"),
    [(ALPHA_1, 0, 0, 0), (ALPHA_2, 0, 0, 1), (BETA_1, 1, 5, 0), (GAMMA_1, 0, 0, 1), (BETA_2, 0, 0, 0)],
)
def test_markers_are_counted_apart(name, ended, early, empty):
    statuses = Counter(attempt.native_status for attempt in rows_of(name))

    assert statuses["MODEL_ENDED_SESSION"] == ended
    assert statuses["MODEL_ENDED_SESSION_EARLY"] == early
    assert statuses["EMPTY_RESPONSE"] == empty


@pytest.mark.req("J-07")
@pytest.mark.parametrize(
    ("name", "turns"),
    [
        (ALPHA_1, [5, 11, 14, 22, 26]),
        (ALPHA_2, [11, 14, 19, 22]),
        (BETA_1, [8, 11, 17, 22, 24, 25, 26, 27, 28, 29]),
        (GAMMA_1, [3, 11, 13, 14, 20, 22, 23]),
        (BETA_2, [8, 11, 12, 22]),
    ],
)
def test_a_row_with_any_false_dimension_is_a_failed_row(name, turns):
    assert sorted(attempt.position for attempt in failed_rows(name)) == turns


@pytest.mark.req("J-09", "J-19")
@pytest.mark.parametrize(
    ("name", "counts"),
    [
        (ALPHA_1, (0, 2, 1, 2, 1, 1)),
        (ALPHA_2, (1, 1, 1, 0, 1, 1)),
        (BETA_1, (1, 4, 7, 1, 1, 2)),
        (GAMMA_1, (1, 3, 2, 1, 1, 1)),
    ],
)
def test_failed_dimensions_are_counted_from_the_rows(name, counts):
    failed = Counter(check for attempt in rows_of(name) for check in attempt.failed_checks)

    assert tuple(failed[dimension] for dimension in DIMENSIONS) == counts


@pytest.mark.trap(5)
@pytest.mark.req("J-01", "J-03")
def test_one_model_run_twice_stays_two_runs():
    models = Counter(run.subject.model for run in runs_at(COMPARISON).values())

    assert models == {"voice-alpha": 2, "voice-beta": 1, "acme/voice-gamma": 1}


@pytest.mark.trap(6)
def test_the_number_of_turns_is_the_benchmarks_own():
    assert {run.expected_cases for run in runs_at(COMPARISON).values()} == {30}


@pytest.mark.trap(7)
def test_turns_after_an_ended_session_follow_the_turn_that_ended_it():
    followers = [attempt for attempt in attempts_of(BETA_1) if attempt.follows]

    assert [attempt.position for attempt in followers] == [25, 26, 27, 28, 29]
    assert {attempt.follows for attempt in followers} == {turn(BETA_1, 24).id}
    assert {(one.execution, one.measurement, one.outcome) for one in followers} == {("cancelled", "scored", "none")}


def test_the_turn_that_ended_the_session_is_a_failure_of_its_own():
    ended = turn(BETA_1, 24)

    assert (ended.execution, ended.measurement, ended.outcome) == ("completed", "scored", "fail")
    assert ended.failed_checks == ("tool_use_correct", "instruction_following", "state_tracking")
    assert ended.follows is None


def test_a_legitimate_end_of_the_last_turn_has_no_marker():
    last = turn(ALPHA_1, 29)

    assert last.steps[1].tool_calls[0].name == "end_session"
    assert (last.outcome, last.native_status) == ("pass", "")


@pytest.mark.trap(8)
def test_null_is_not_applicable_and_not_false():
    statuses = {check.name: check.status for check in turn(ALPHA_1, 5).checks}

    assert statuses["kb_grounding"] == "fail"
    assert statuses["ambiguity_handling"] == "not_applicable"


@pytest.mark.trap(9)
def test_a_row_with_all_dimensions_null_has_no_verdict():
    unjudged = turn(GAMMA_1, 16)

    assert (unjudged.execution, unjudged.measurement, unjudged.outcome) == ("completed", "unscored", "none")
    assert {check.status for check in unjudged.checks} == {"not_applicable"}


def test_an_empty_response_is_an_error_with_the_retries_of_the_log():
    empty = turn(ALPHA_2, 19)

    assert (empty.execution, empty.measurement, empty.outcome) == ("error", "scored", "none")
    error, logged = empty.errors
    assert (error.type, error.message) == ("EMPTY_RESPONSE", "No valid response after max retries")
    assert error.ref is None, "the row itself has these words"
    assert (logged.type, logged.message, logged.ref.file) == ("EMPTY_RESPONSE", "retry_count=3", "run.log")
    assert logged.extra == {"lines": 3, "retry_count": 3}
    assert not error.recovered


def test_a_missing_turn_is_an_attempt_with_what_the_log_says_of_it():
    missing = [attempt for attempt in attempts_of(BETA_2) if attempt.execution == "missing"]

    assert [attempt.position for attempt in missing] == [7, 18]
    assert {(attempt.measurement, attempt.outcome) for attempt in missing} == {("not_run", "none")}
    assert missing[0].errors[0].message == "gave no answer within 15 s"
    assert missing[0].errors[0].at == "2026-03-02T10:07:45.000"
    assert [attempt.errors[0].ref for attempt in missing] == [
        SourceRef(file="run.log", line=41),
        SourceRef(file="run.log", line=42),
    ]


def test_a_turn_with_two_rows_is_two_attempts():
    first, second = (attempt for attempt in attempts_of(BETA_2) if attempt.position == 12)

    assert (first.index, first.duplicate_of, first.outcome) == (1, None, "pass")
    assert (second.index, second.duplicate_of, second.outcome) == (2, first.id, "fail")
    assert second.failed_checks == ("state_tracking",)
    assert (first.ref.line, second.ref.line) == (3, 17)


def rows_in(folder, transcript, judged):
    """What a conversation comes to whose transcript and judged rows have these (turn, time, answer)."""
    for name, rows in {"transcript.jsonl": transcript, "openai_judged.jsonl": judged}.items():
        lines = [{"turn": turn, "ts": f"2026-03-04T09:00:{ts}Z", "assistant_text": text} for turn, ts, text in rows]
        if name.startswith("openai"):
            lines = [line | {"scores": dict.fromkeys(DIMENSIONS, True), "judge_reasoning": "Good."} for line in lines]
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return [(item.where, item.why) for item in conversation_bench.read(folder) if isinstance(item, Unreadable)]


def test_a_conversation_that_began_again_names_the_rows_of_its_earlier_session(tmp_path):
    earlier = [(0, "01", "Hello."), (1, "02", "[MODEL_ENDED_SESSION] Bye!")]
    later = [(0, "11", "Hello."), (1, "12", "At nine."), (2, "13", "Sure.")]

    assert rows_in(tmp_path, [*earlier, *later], later) == [
        ("transcript.jsonl:1", "turn 0 of an earlier session, which the judge did not score; not counted"),
        ("transcript.jsonl:2", "turn 1 of an earlier session, which the judge did not score; not counted"),
    ]


def test_a_row_that_is_written_twice_after_the_judge_had_it_belongs_to_no_earlier_session(tmp_path):
    rows = [(0, "01", "Hello."), (1, "02", "At nine.")]

    assert rows_in(tmp_path, [*rows, (1, "09", "At ten.")], rows) == [
        ("transcript.jsonl:3", "repeats turn 1; the judge has fewer rows of it, so it is not counted")
    ]


def test_unsorted_rows_keep_their_place_in_the_conversation():
    positions = [attempt.position for attempt in rows_of(BETA_2)]

    assert positions != sorted(positions)
    assert len(set(positions)) == 28


def test_an_unjudged_conversation_is_neither_passed_nor_failed():
    facts = Counter((one.execution, one.measurement, one.outcome) for one in attempts_of(UNJUDGED.name))

    assert facts == {("completed", "not_run", "none"): 29, ("error", "not_run", "none"): 1}
    assert turn(UNJUDGED.name, 4).errors[0].type == "EMPTY_RESPONSE"


@pytest.mark.req("J-06")
def test_a_duplicate_tool_call_is_marked_and_keeps_its_result():
    first, second = turn(GAMMA_1, 6).steps[1].tool_calls

    assert (first.is_duplicate, second.is_duplicate) == (False, True)
    assert first.arguments == {"name": "Lena Okafor", "boat": "Heron", "slot": "Fri 11:00"}
    assert second.result.structured == {"status": "success", "booking": "B-101"}
    assert turn(GAMMA_1, 6).outcome == "pass"


@pytest.mark.req("J-06")
def test_a_turn_keeps_what_was_said_and_judged():
    attempt = turn(BETA_1, 17)

    assert [step.text for step in attempt.steps] == [
        "What time does the last boat leave on Sunday?",
        "The last boat leaves at 18:30.",
    ]
    (judgement,) = attempt.judgements
    assert (judgement.judge, judgement.model, judgement.version) == ("openai", "judge-large-1", "v7")
    assert judgement.reasoning == "Factual error: 17:30 is right."
    assert attempt.checks[0].explanation == "negative_ttfb (-120ms)"


def test_absent_tokens_stay_absent_and_a_negative_time_stays_as_it_is():
    attempt = turn(BETA_1, 17)

    assert attempt.usage.subject.tokens is None
    assert attempt.durations == {"ttfb": -0.12, "latency": 2.481}


@pytest.mark.req("J-27")
def test_the_first_judge_decides_and_the_second_is_kept():
    attempt = turn(TWO_JUDGES.name, 1)

    assert attempt.outcome == "fail"
    assert attempt.failed_checks == ("tool_use_correct",)
    assert [(check.judge, check.counts) for check in attempt.checks] == [("openai", True)] * 6 + [("claude", False)] * 6
    assert [one.reasoning for one in attempt.judgements] == ["First judge on turn 1.", "Second judge on turn 1."]
    assert [one.model for one in attempt.judgements] == ["judge-large-1", "judge-small-1"]


@pytest.mark.req("J-27")
def test_a_second_judges_failure_does_not_fail_a_turn():
    attempt = turn(TWO_JUDGES.name, 3)

    assert attempt.outcome == "pass"
    assert [check.name for check in attempt.checks if check.status == "fail"] == ["turn_taking"]
    assert attempt.checks[6].explanation == "overlap"


def test_a_turn_that_the_first_judge_passed_over_has_no_verdict():
    attempt = turn(TWO_JUDGES.name, 2)

    assert (attempt.execution, attempt.measurement, attempt.outcome) == ("completed", "unscored", "none")
    assert attempt.extra["judged"] is False
    assert attempt.failed_checks == ()
    assert [one.judge for one in attempt.judgements] == ["claude"]


def test_an_error_that_was_got_over_is_marked_so():
    (error,) = turn(TWO_JUDGES.name, 2).errors

    assert (error.type, error.recovered) == ("EMPTY_RESPONSE", True)


def test_results_are_matched_to_calls_by_name():
    _, assistant, left = turn(TWO_JUDGES.name, 1).steps

    booked, mailed = assistant.tool_calls
    assert (booked.result.structured, booked.result.is_error) == ({"status": "error", "reason": "full"}, True)
    assert (mailed.arguments, mailed.result.text) == ({"to": "guest"}, "sent")
    assert (left.kind, left.actor.name) == ("tool_result", "log_event")


def test_the_old_spelling_of_a_summary_is_read():
    reported = runs_at(TWO_JUDGES)[TWO_JUDGES.name].reported
    passes = {one.name: one.value for one in reported if one.metric == "passes" and one.scorer == "claude"}

    assert passes["turn_taking"] == 3


def test_a_loud_line_of_the_log_is_evidence():
    evidence = runs_at(TWO_JUDGES)[TWO_JUDGES.name].log_evidence

    assert [(one.name, one.ref.line) for one in evidence] == [("warning", 2), ("error", 3)]
