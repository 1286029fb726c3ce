"""`errata review export` and `import`: a spreadsheet is a fine reviewer, there and back."""

import csv
import json

import pytest

from errata.model import Packet
from errata.review.tables import VERDICT
from reading import RUN_B
from terminal import FIXTURES, done, errata, import_fixtures

COMPARISON = FIXTURES / "conversation_bench" / "comparison" / "data"
J_08 = ("model_name", "turn", "failed_dimensions", "error_mode_candidate", "user_text", "assistant_text",
        "judge_reasoning", "scores_json", "tool_calls_json", "tool_results_json")  # fmt: skip
GOOD = {
    "label": "MODEL_FAULT",
    "cause": "Another order than the task asks for",
    "reasoning": "The log shows it.",
    "confidence": "likely",
}


@pytest.fixture
def imported():
    import_fixtures(RUN_B)


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def written(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def table(imported, tmp_path):
    done("review", "export", "latest", "-o", tmp_path / "failures.csv")
    return tmp_path / "failures.csv"


def filled(row, **changes):
    """With a quote from the place `status`, which every failure of this run has."""
    texts = row["error"].split("\n")
    quote = texts[texts.index("[status]") + 1]
    return row | GOOD | {"evidence_place": "status", "evidence_quote": quote} | changes


@pytest.mark.req("J-08")
def test_a_folder_gets_every_form_for_judged_turns(tmp_path):
    import_fixtures(COMPARISON)
    done("review", "export", *(row["run"] for row in done("runs", "--json").rows), "-o", tmp_path / "out")

    names = {path.name for path in (tmp_path / "out").iterdir()}
    header = (tmp_path / "out" / "failure_review_rows.csv").read_text().splitlines()[0]

    assert names == {"packets.jsonl", "review.csv", "failure_review_rows.jsonl", "failure_review_rows.csv"}
    assert tuple(header.split(",")) == (*J_08, "run_id", "follows_turn", *VERDICT)


@pytest.mark.req("J-15")
def test_what_rules_suggest_is_a_column_of_its_own_and_no_label(table):
    rows = rows_of(table)

    assert {row["suggested_owner"] for row in rows} == {"model", "grader", "provider", "environment"}
    assert not any(row["label"] for row in rows)


def test_an_exported_packet_has_every_field(imported):
    packet = done("review", "export", "latest").rows[0]

    assert set(packet) == set(Packet.__struct_fields__) - {"extra", "ref"}
    assert (packet["version"], packet["history"], packet["redacted"]) == (1, [], True)
    assert set(packet["question"]) == {"taxonomy", "version", "labels", "rule", "decisive"}
    assert all(
        set(one) == {"name", "rule", "rules_version", "where", "quote", "stated", "strength"}
        for one in packet["signals"]
    )


def test_a_filled_table_comes_back(table):
    rows = [filled(row) for row in rows_of(table)]

    result = done("review", "import", written(table, rows), "--reviewer", "sheet")

    assert "9 verdicts imported" in result.out and "0 refused" in result.out
    assert done("review", "status", "latest", "--json").row["reviewers"] == {"file:sheet": 9}


def test_a_bad_row_is_told_with_its_line_and_the_good_ones_are_kept(table):
    rows = [filled(row) for row in rows_of(table)]
    rows[0]["evidence_quote"] = "this was never written by anybody"
    rows[1]["label"] = "BAD_LUCK"

    result = errata("review", "import", written(table, rows), "--json")

    bad = [row for row in result.rows if row["state"] == "refused"]
    assert result.code == 2
    assert sum(row["state"] != "refused" for row in result.rows) == 7
    assert ["never written" in bad[0]["reasons"][0], "BAD_LUCK" in bad[1]["reasons"][0]] == [True, True]
    assert all(row["line"] > 1 for row in bad)


def test_a_row_about_no_failure_is_told(table):
    rows = [filled(row) for row in rows_of(table)]
    rows[0]["attempt_id"] = "0123456789abcdef:nothing#1"

    result = errata("review", "import", written(table, rows))

    assert result.code == 2
    assert "line 2" in result.out and "8 verdicts imported" in result.out


def test_importing_the_same_file_again_changes_nothing(table):
    written(table, [filled(row) for row in rows_of(table)])
    done("review", "import", table)

    again = done("review", "import", table)

    assert "9 unchanged" in again.out
    row = rows_of(table)[0]
    assert len(done("show", row["attempt_id"], "--json").row["verdicts"]) == 1


@pytest.mark.req("J-13")
def test_a_changed_label_is_told_with_the_old_one(table):
    rows = [filled(row) for row in rows_of(table)]
    done("review", "import", written(table, rows))
    rows[2]["label"] = "AMBIGUOUS_TASK"

    result = done("review", "import", written(table, rows))

    assert "MODEL_FAULT → AMBIGUOUS_TASK" in result.out


def test_what_triage_suggests_is_no_old_label(table):
    rows = done("review", "import", written(table, [filled(row) for row in rows_of(table)]), "--json").rows

    assert {(row["state"], row["old_label"]) for row in rows} == {("new", None)}


def test_answers_come_back_as_json_lines_too(imported, tmp_path):
    packet = done("review", "export", "latest").rows[0]
    status = next(place["text"] for place in packet["places"] if place["place"] == "status")
    answer = GOOD | {"attempt_id": packet["attempt_id"], "evidence": [{"place": "status", "quote": status}]}
    (tmp_path / "answers.jsonl").write_text(json.dumps(answer) + "\n")

    assert "1 verdict imported" in done("review", "import", tmp_path / "answers.jsonl").out


def test_what_may_have_been_filled_in_is_not_written_over(table):
    before = table.read_bytes()
    table.write_bytes(before + b"work of hours")

    result = errata("review", "export", "latest", "-o", table)

    assert result.code == 2
    assert table.read_bytes().endswith(b"work of hours")


def test_a_person_behind_a_table_stands_over_others(table):
    rows = [filled(row) for row in rows_of(table)]
    done("review", "import", written(table, rows), "--person", "--reviewer", "ada")

    assert done("failures", "latest", "--json").rows[0]["verdict"]["reviewer"] == "person:ada"


def test_a_run_has_no_packet(imported):
    assert "about one failure" in errata("show", "latest", "--packet").talk
