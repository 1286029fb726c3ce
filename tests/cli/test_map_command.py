"""`errata map`: it drafts, shows, writes, and leads from an unknown table to its runs."""

import json
import tomllib

import pytest

import errata as package
from terminal import done, errata

TABLE = "task_id,model,prompt,answer,gold,correct,status\n" + "".join(
    f"t{number},m,What is {number} + 1?,{number + 1},{number + 1 if number % 2 else 0},{number % 2},done\n"
    for number in range(6)
)


@pytest.fixture
def results(at_home):
    path = at_home / "results.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_an_unknown_table_is_answered_with_the_command_that_drafts_a_mapping(results):
    refused = errata("import", "results.csv")

    assert refused.code == 2
    assert "`errata map results.csv` drafts a mapping for a table of your own" in refused.talk


def test_the_mapping_is_written_and_the_import_uses_it(results):
    mapped = done("map", "results.csv")
    imported = done("import", "results.csv", "--json").row

    assert "Wrote results.csv.map.toml" in mapped.out
    assert "errata import results.csv" in mapped.talk
    assert (imported["model"], imported["attempts"], imported["failures"]) == ("m", 6, 3)


def test_a_dry_run_prints_a_mapping_that_can_be_used_and_writes_nothing(results, at_home):
    shown = done("map", "results.csv", "--dry-run").out
    text = shown[: shown.index("First 6 rows")]

    assert tomllib.loads(text)["attempt"]["passed"] == "correct"
    assert not list(at_home.rglob("*.toml"))


def test_an_existing_mapping_is_only_replaced_on_demand(results, at_home):
    (at_home / "results.csv.map.toml").write_text("mine", encoding="utf-8")
    refused = errata("map", "results.csv")

    assert refused.code == 2
    assert "`results.csv.map.toml` already exists" in refused.talk
    assert (at_home / "results.csv.map.toml").read_text(encoding="utf-8") == "mine"
    done("map", "results.csv", "--force")
    assert "correct" in (at_home / "results.csv.map.toml").read_text(encoding="utf-8")


def test_a_place_that_cannot_be_written_is_named_with_a_way_out(results):
    refused = errata("map", "results.csv", "--output", "nowhere/my.toml")

    assert refused.code == 2
    assert "`nowhere/my.toml` can't be written" in refused.talk
    assert "`--output FILE`" in refused.talk


def test_doubts_are_listed_with_the_alternatives(at_home):
    rows = [{"id": number, "score": number % 2, "fine": number % 3 == 0} for number in range(6)]
    (at_home / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    drafted = done("map", "log.jsonl", "--json").row
    doubts = {doubt["key"]: doubt for doubt in drafted["doubts"]}

    assert doubts["[attempt] passed"]["chosen"] == '"score"'
    assert doubts["[attempt] passed"]["alternatives"] == ["`fine`"]
    assert "# unsure: its values are 0, 1" in drafted["text"]


def test_an_import_prints_unknown_status_words(results):
    results.write_text(TABLE.replace(",done\n", ",usageLimits\n", 2), encoding="utf-8")
    done("map", "results.csv")
    imported = done("import", "results.csv")

    assert "note: unknown status words: 2 × `usageLimits`; assign them in `[status_words]`" in imported.talk


def test_an_import_prints_values_that_were_not_understood(results):
    done("map", "results.csv")
    results.write_text(TABLE.replace(",0,done", ",maybe,done"), encoding="utf-8")

    assert "note: 3 values of `passed` could not be understood: 3 × `maybe`" in done("import", "results.csv").talk


def test_a_disagreement_of_judge_and_program_is_on_the_page_of_the_checkup(at_home):
    rows = [{"id": n, "exact_match": n % 2 == 0, "judge_correct": n % 2 == 0 or n == 1} for n in range(10)]
    (at_home / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done("map", "log.jsonl")
    done("import", "log.jsonl")
    [finding] = [one for one in errata("check", "log", "--json").row["findings"] if "judge" in one["name"]]

    assert finding["name"] == "judge_contradicts_program"
    disagree = {"attempts": 1, "only_judge_passes": 1, "only_program_passes": 0, "disputed_passes": 0}
    assert finding["numbers"] == {"of": 10, **disagree}
    assert "judge_contradicts" in done("show", "log/1").out
    assert "judge and program disagree in 1 of these failures: 1" in done("failures", "log").out


@pytest.mark.parametrize("content", ["", "just some prose\nwithout columns\n", "[1, 2, 3]", '{"a": '])
def test_a_file_without_rows_is_refused_in_words(at_home, content):
    (at_home / "log.txt").write_text(content, encoding="utf-8")
    refused = errata("map", "log.txt")

    assert refused.code == 2
    assert "hint:" in refused.err


def test_the_api_drafts_the_same_mapping(results):
    drafted = package.draft_mapping(results, dry_run=True)

    assert drafted.text == done("map", "results.csv", "--json").row["text"]
    assert [row.outcome for row in drafted.rows[:2]] == ["fail", "pass"]
