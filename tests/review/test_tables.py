"""Packets as tables, and tables that come back filled in."""

import csv
import io
import json
import tracemalloc

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.errors import SettingsError
from errata.model import Packet, PacketPlace
from errata.review.import_answers import FilledRow, UnusableRow, read_answers
from errata.review.labels import OWNERS
from errata.review.tables import ANSWERS, CELL, JUDGED, ExportRow, columns_of, rows_in_order, write_packets, write_table

ATTEMPT = "0123456789abcdef:bench/turn-7#1"


def as_it_is(packet: Packet) -> Packet:
    return packet


def a_packet(places: dict[str, str] | None = None, *, turn: int = 7, model: str = "voice-a", **facts) -> Packet:
    given = {
        "outcome": "fail",
        "checks": [{"name": "tool_use_correct", "status": "fail", "reason": None}],
        "turn": turn,
    }
    return Packet(
        id=f"run/turn-{turn}#1",
        run={"id": "run-1", "model": model},
        case_key=f"bench/turn-{turn}",
        attempt=1,
        attempt_id=ATTEMPT.replace("turn-7", f"turn-{turn}"),
        facts=given | facts,
        question=OWNERS,
        places=tuple(PacketPlace(place=name, source="", text=text) for name, text in (places or {}).items()),
    )


def table(*packets: Packet, judged: bool = False, answers: bool = True, redact=as_it_is) -> list[dict[str, str]]:
    file = io.StringIO()
    write_table(
        [ExportRow(one, "other", "model") for one in packets], file, judged=judged, answers=answers, redact=redact
    )
    return list(csv.DictReader(io.StringIO(file.getvalue(), newline="")))


@pytest.mark.req("J-08")
def test_a_table_of_judged_turns_begins_with_the_columns_that_are_asked_for():
    assert columns_of(judged=True, answers=True)[: len(JUDGED)] == JUDGED
    assert columns_of(judged=True, answers=False) == (
        "model_name",
        "turn",
        "failed_dimensions",
        "error_mode_candidate",
        "user_text",
        "assistant_text",
        "judge_reasoning",
        "scores_json",
        "tool_calls_json",
        "tool_results_json",
        "run_id",
        "follows_turn",
        "verdict_label",
        "verdict_owner",
        "verdict_reviewer",
        "verdict_state",
    )


def test_a_row_that_was_filled_in_names_the_turn_it_follows():
    (row,) = table(a_packet(follows="turn-3"), judged=True, answers=False)

    assert row["follows_turn"] == "3"


@pytest.mark.req("J-08")
def test_a_judged_row_holds_the_raw_content():
    places = {
        "input": "Cancel both.",
        "output": "Done ✓",
        "judge_reasoning": "Only one.",
        "tool_calls": '[{"name": "cancel", "args": {"b": 1, "a": "é"}}]',
    }
    checks = [
        {"name": "turn_taking", "status": "pass"},
        {"name": "tool_use_correct", "status": "fail"},
        {"name": "state_tracking", "status": "fail"},
        {"name": "kb_grounding", "status": "not_applicable"},
        {"name": "state_tracking", "status": "pass", "judge": "second", "counts": False},
    ]
    (row,) = table(a_packet(places, checks=checks), judged=True, answers=False)

    assert row == {
        "model_name": "voice-a",
        "turn": "7",
        "failed_dimensions": "tool_use_correct,state_tracking",
        "error_mode_candidate": "other",
        "user_text": "Cancel both.",
        "assistant_text": "Done ✓",
        "judge_reasoning": "Only one.",
        "scores_json": json.dumps(
            {"kb_grounding": None, "state_tracking": False, "tool_use_correct": False, "turn_taking": True}
        ),
        "tool_calls_json": '[{"args": {"a": "\\u00e9", "b": 1}, "name": "cancel"}]',
        "tool_results_json": "[]",
        "run_id": "run-1",
        "follows_turn": "",
        "verdict_label": "",
        "verdict_owner": "",
        "verdict_reviewer": "",
        "verdict_state": "",
    }


@pytest.mark.req("J-07")
@pytest.mark.parametrize(
    ("statuses", "rows"),
    [(("pass", "fail"), 1), (("pass", "not_applicable"), 0), (("unscored", "unscored"), 0), (("fail", "fail"), 1)],
)
def test_a_row_is_failed_where_any_dimension_is_false(statuses, rows):
    checks = [{"name": str(number), "status": status} for number, status in enumerate(statuses)]

    assert len(table(a_packet(checks=checks), judged=True)) == rows


def test_a_table_says_which_failure_a_row_is_and_leaves_room_for_the_answer():
    (row,) = table(a_packet())

    assert (row["run"], row["case"], row["attempt_id"]) == ("run-1", "bench/turn-7", ATTEMPT)
    assert (row["suggested_label"], row["suggested_owner"]) == ("other", "model")
    assert [row[name] for name in ANSWERS] == [""] * len(ANSWERS)


def test_several_places_of_one_kind_stand_under_their_names():
    (row,) = table(a_packet({"output/a.ts": "A\n", "output/b.ts": "B\n", "run.log": "boom"}))

    assert row["output"] == "[output/a.ts]\nA\n[output/b.ts]\nB"
    assert row["log"] == "boom"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", " =", "＝"])
def test_no_cell_starts_a_formula(start):
    (row,) = table(a_packet({"task": f"{start}cmd|' /C calc'!A0"}))

    assert row["task"] == f"'{start}cmd|' /C calc'!A0".replace("\r", "\n")


def test_line_ends_quotes_and_separators_survive():
    text = 'a "quoted", cell;\nwith lines\tand – dashes 漢字'

    assert table(a_packet({"output": text}))[0]["output"] == text


def test_a_cell_is_cut_where_a_spreadsheet_would_cut_it_in_silence():
    (row,) = table(a_packet({"output": "x" * 100_000}))

    assert len(row["output"]) < CELL and "characters left out …]" in row["output"]


@pytest.mark.req("J-08")
def test_raw_rows_are_never_cut():
    (row,) = table(a_packet({"output": "x" * 100_000}), judged=True, answers=False)

    assert row["assistant_text"] == "x" * 100_000


def test_everything_that_is_written_is_redacted():
    def redact(packet: Packet) -> Packet:
        places = [
            PacketPlace(place=one.place, source="", text=one.text.replace("secret", "***")) for one in packet.places
        ]
        return msgspec.structs.replace(packet, places=tuple(places))

    packet, file = a_packet({"output": "secret", "error": "secret"}), io.BytesIO()
    write_packets([ExportRow(packet)], file, redact=redact)

    assert "secret" not in file.getvalue().decode() + str(table(packet, redact=redact))


def test_packets_are_written_one_a_line():
    file = io.BytesIO()
    assert write_packets([ExportRow(a_packet(turn=1)), ExportRow(a_packet(turn=2))], file, redact=as_it_is) == 2

    ids = [json.loads(line)["id"] for line in file.getvalue().splitlines()]
    assert ids == ["run/turn-1#1", "run/turn-2#1"]


def test_rows_are_sorted_by_model_and_turn_over_several_runs():
    alpha = [ExportRow(a_packet(turn=turn, model="alpha")) for turn in (5, 11)]
    beta = [ExportRow(a_packet(turn=turn, model="beta")) for turn in (3,)]
    again = [ExportRow(a_packet(turn=turn, model="alpha")) for turn in (5, 7)]

    ordered = [
        (one.packet.run["model"], one.packet.facts["turn"])
        for one in rows_in_order([iter(beta), iter(alpha), iter(again)])
    ]
    assert ordered == [("alpha", 5), ("alpha", 5), ("alpha", 7), ("alpha", 11), ("beta", 3)]


class Counting(io.StringIO):
    """Remembers no more than how much was written."""

    written = 0

    def write(self, text: str) -> int:
        self.written += len(text)
        return len(text)


def test_memory_is_bounded_however_many_failures_are_exported():
    packet = a_packet({"output": "x" * 20_000})
    file = Counting()
    tracemalloc.start()
    write_table((ExportRow(packet) for _ in range(2_000)), file, judged=False, redact=as_it_is)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert file.written > 40_000_000 and peak < 2_000_000


HEADER = "attempt_id,task,label,cause,reasoning,evidence_place,evidence_quote,confidence,note"
ROW = f'{ATTEMPT},"a, b",model,slow,"It was\nslow.",run.log,timed out after 60 s,Likely,not sure'


def answers_in(tmp_path, content: str | bytes, name: str = "filled.csv"):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(read_answers(path))


def only(found) -> tuple[str, dict]:
    (one,) = found
    assert isinstance(one, FilledRow), one
    return one.which, json.loads(one.answer)


ANSWER = {
    "label": "model",
    "cause": "slow",
    "reasoning": "It was\nslow.",
    "confidence": "likely",
    "evidence": [{"place": "run.log", "quote": "timed out after 60 s"}],
    "doubts": ["not sure"],
}


@pytest.mark.parametrize(
    "mangled",
    [
        f"{HEADER}\n{ROW}\n".encode(),
        f"{HEADER}\n{ROW}\n".encode("utf-8-sig"),
        f"{HEADER}\n{ROW}\n".encode("utf-16"),
        f"{HEADER}\r\n{ROW}\r\n".replace("It was\n", "It was\r\n").encode(),
        f"{HEADER};mine\n{ROW};x\n".replace(",", ";").replace("a; b", "a, b").encode(),
        f"{HEADER}\n{ROW}\n".replace(",", "\t").replace("a\t b", "a, b").encode(),
        f"sep=;\n{HEADER}\n{ROW}\n".replace(",", ";").encode(),
        f"{HEADER.upper()}\n{ROW}".encode(),
        f"mine,{HEADER}\nx,{ROW}\n\n,,,\n".encode(),
    ],
    ids=["plain", "bom", "utf-16", "crlf", "semicolons", "tabs", "sep", "capitals", "more columns"],
)
def test_an_answer_is_read_as_spreadsheets_leave_it(tmp_path, mangled):
    which, answer = only(answers_in(tmp_path, mangled))

    assert which == ATTEMPT
    assert answer | {"reasoning": answer["reasoning"].replace("\r", "")} == ANSWER


def test_an_old_encoding_is_read(tmp_path):
    _, answer = only(answers_in(tmp_path, f"{HEADER}\n{ATTEMPT},,model,Zu spät – “leer”\n".encode("cp1252")))

    assert answer["cause"] == "Zu spät – “leer”"


def test_a_row_without_a_label_is_passed_over(tmp_path):
    assert answers_in(tmp_path, f"{HEADER}\n{ATTEMPT},a task,,,,,,,\n") == []


def test_an_answer_without_a_label_is_told_with_its_line(tmp_path):
    found = answers_in(tmp_path, f"{HEADER}\n{ROW}\n{ATTEMPT},,,it was slow,,,,,\n")

    assert found[1] == UnusableRow(4, "there is an answer, but no label")


def test_an_answer_to_nothing_is_told(tmp_path):
    (found,) = answers_in(tmp_path, f"{HEADER}\n,,model,slow\n")

    assert isinstance(found, UnusableRow) and found.line == 2


def test_a_table_without_the_columns_is_refused(tmp_path):
    with pytest.raises(SettingsError, match="not a table of answers"):
        answers_in(tmp_path, "a,b\n1,2\n")


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(SettingsError, match="can't be read"):
        list(read_answers(tmp_path / "missing.csv"))


def test_a_cell_that_was_kept_from_being_a_formula_is_itself_again(tmp_path):
    _, answer = only(answers_in(tmp_path, f"{HEADER}\n{ATTEMPT},,model,'-120 ms,,error,'=1+1 is wrong here\n"))

    assert (answer["cause"], answer["evidence"][0]["quote"]) == ("-120 ms", "=1+1 is wrong here")


def test_several_quotes_may_be_given(tmp_path):
    header = f"{HEADER},evidence_place_2,evidence_quote_2"
    _, answer = only(answers_in(tmp_path, f"{header}\n{ROW},output,All set.\n"))

    assert [one["place"] for one in answer["evidence"]] == ["run.log", "output"]


def test_verdicts_are_read_from_json_lines(tmp_path):
    lines = [
        {"attempt_id": ATTEMPT, "label": "model", "cause": "slow"},
        {"packet": "jn7mqywb/a#1", "verdict": {"label": "task", "cause": "unclear"}},
        {"id": "run/turn-7#1", "attempt_id": ATTEMPT, "places": [], "facts": {}},
    ]
    found = answers_in(tmp_path, "".join(f"{json.dumps(line)}\n" for line in lines), "verdicts.jsonl")

    assert [(one.which, json.loads(one.answer)) for one in found] == [
        (ATTEMPT, {"label": "model", "cause": "slow"}),
        ("jn7mqywb/a#1", {"label": "task", "cause": "unclear"}),
    ]


def test_verdicts_are_read_from_a_json_list(tmp_path):
    which, _ = only(answers_in(tmp_path, json.dumps([{"packet": "a/b#1", "label": "model"}]), "verdicts.json"))

    assert which == "a/b#1"


def test_a_broken_line_hides_nothing_of_the_others(tmp_path):
    good = json.dumps({"attempt_id": ATTEMPT, "label": "model"})
    found = answers_in(tmp_path, f'{good}\n{{"label": \n[1]\n{good}\n', "verdicts.jsonl")

    assert [type(one) for one in found] == [FilledRow, UnusableRow, UnusableRow, FilledRow]
    assert [one.line for one in found] == [1, 2, 3, 4]


def test_an_empty_file_holds_no_answers(tmp_path):
    assert answers_in(tmp_path, "") == []


@given(st.binary(max_size=400))
def test_no_file_can_crash_the_reader(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("any") / "file"
    path.write_bytes(data)
    try:
        found = list(read_answers(path))
    except SettingsError:
        return
    assert all(isinstance(one, FilledRow | UnusableRow) for one in found)


@given(
    st.dictionaries(st.sampled_from(["cause", "reasoning", "note"]), st.text(st.characters(codec="utf-8"), max_size=40))
)
def test_what_is_filled_in_comes_back(tmp_path_factory, given_texts):
    path = tmp_path_factory.mktemp("round") / "filled.csv"
    file = io.StringIO()
    write_table([ExportRow(a_packet({"output": "x,\ny"}))], file, judged=False, redact=as_it_is)
    header, row = csv.reader(io.StringIO(file.getvalue(), newline=""))
    cells = dict(zip(header, row, strict=True)) | {"label": "model"} | given_texts
    with path.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([header, [cells[name] for name in header]])
    _, answer = only(read_answers(path))

    for name in ("cause", "reasoning"):
        wanted = given_texts.get(name, "").strip()
        assert answer.get(name, "") in (wanted, wanted.removeprefix("'").strip())
