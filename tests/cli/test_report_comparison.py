"""`errata report` about several judged runs: counts from the rows, causes with datapoints, what sets each apart."""

import csv
import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from report_pages import COMPARISON, VERDICTS, facts, folded, only, plain, reported, section, table, tables, working_in
from terminal import FIXTURES, Said, done, errata, import_fixtures

RUNS = sorted((COMPARISON / "runs" / "harbour_bench").iterdir())
LABELS = ["voice-alpha run 1", "voice-alpha run 2", "voice-beta", "acme/voice-gamma"]
MODELS = ["voice-alpha", "voice-beta", "acme/voice-gamma"]


class Report(NamedTuple):
    result: Said
    text: str
    folder: Path


@pytest.fixture(scope="module")
def provisional(tmp_path_factory):
    with working_in(tmp_path_factory.mktemp("provisional")) as folder:
        result = reported("--comparison-dir", COMPARISON, "-o", "r")
        return Report(result, only(folder, "*analysis.md").read_text(), folder)


@pytest.fixture(scope="module")
def final(tmp_path_factory):
    with working_in(tmp_path_factory.mktemp("final")) as folder:
        import_fixtures(COMPARISON, store="errata.db")
        done("review", "import", VERDICTS / "comparison.jsonl", "--reviewer", "reader", "--store", "errata.db")
        result = reported("--comparison-dir", COMPARISON, "-o", "r")
        return Report(result, only(folder, "*analysis.md").read_text(), folder)


def judged(run):
    return [json.loads(line) for line in (run / "openai_judged.jsonl").read_text().splitlines()]


def modes_in(text):
    """Title → the text of its section, of every cause."""
    causes = text.partition("\n## Causes\n")[2].partition("\n## ")[0]
    parts = re.split(r"^### (.+?) \(\d+ rows?.*\)$", causes, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


@pytest.mark.req("J-16", "J-32", "J-24")
def test_the_report_has_all_its_sections(final):
    assert re.findall(r"^## (.+)$", final.text, re.MULTILINE) == [
        "Summary",
        "Cases and Runs",
        "Run Set",
        "Top-Line Comparison",
        "Differences Between Runs",
        "Not Measured",
        "Where Models Differ",
        "Causes",
        "Recommendations",
        "Shared and Unique",
        "Suspect tasks",
        "Per Model",
        "Categories",
        "Doubts",
    ]


@pytest.mark.req("J-16", "J-25")
def test_the_buckets_are_causes_with_their_turns_in_each_run(final):
    rows = {row["cause"].rpartition(" (")[2].rstrip(")"): row for row in table(section(final.text, "Causes"))}

    assert [rows["state_memory_failure"][run] for run in LABELS] == ["14", "14", "11", "14"]
    assert [rows["partial_multi_tool_execution"][run] for run in LABELS] == ["11", "11", "–", "11, 20"]
    assert rows["total"]["rows"] == "26"


@pytest.mark.req("J-14", "J-25")
def test_followers_stand_below_the_cause_they_follow_from(provisional):
    rows = table(section(provisional.text, "Causes"))
    at = next(at for at, row in enumerate(rows) if "premature_end_session" in row["cause"])

    assert (rows[at]["rows"], rows[at]["voice-beta"]) == ("1", "24")
    assert (rows[at + 1]["rows"], rows[at + 1]["voice-beta"]) == ("5", "25, 26, 27, 28, 29")
    assert rows[at + 1]["owner"] == "collateral"


@pytest.mark.req("J-25")
def test_where_the_worst_dimension_is_mostly_one_mistake_that_is_told(provisional):
    text = (
        "instruction_following fails most often (11 rows), but 6 of these rows come from one mistake and its knock-on"
    )

    assert text in provisional.text


@pytest.mark.req("J-17")
def test_the_words_tell_main_modes_of_each_model_shared_turns_and_the_path(final):
    result = folded(final.result)

    assert (
        "voice-alpha: 9 failed rows in 2 runs: acts on an unclear name instead of asking which is meant (22" in result
    )
    assert "voice-beta: 10 failed rows in 1 run, 5 of them knock-on: hangs up in the middle of a task (24" in result
    assert "acme/voice-gamma: 7 failed rows in 1 run: carries out half of a request" in result
    assert "all 11 Cancel both of them please. · 22 Ask Rosa to hold a life jacket for me." in result
    assert "wrote r/deep_error_analysis.md" in result
    assert "wrote r/failure_review_rows.jsonl · 26 rows" in result


@pytest.mark.req("J-18")
def test_by_default_it_goes_below_results_and_the_rows_beside_it(tmp_path):
    reported("--run-dir", RUNS[0], "--run-dir", RUNS[2])

    assert sorted(path.name for path in (tmp_path / "results" / "harbour_bench").iterdir()) == [
        "deep_error_analysis.md",
        "failure_review_rows.csv",
        "failure_review_rows.jsonl",
    ]


@pytest.mark.req("J-18", "J-03")
def test_a_comparison_folder_gets_its_own_report_and_output_wins(tmp_path):
    shutil.copytree(COMPARISON, tmp_path / "compare")
    reported("--comparison-dir", "compare")
    reported("--comparison-dir", "compare", "--output", "elsewhere/mine.md")

    assert (tmp_path / "compare" / "deep_error_analysis.md").is_file()
    assert (tmp_path / "elsewhere" / "mine.md").is_file()
    assert (tmp_path / "elsewhere" / "failure_review_rows.csv").is_file()


@pytest.mark.req("J-04")
def test_run_folders_win_over_a_comparison_folder(tmp_path):
    reported("--comparison-dir", COMPARISON, "--run-dir", RUNS[0], "--run-dir", RUNS[1], "-o", "r")

    rows = table(section((tmp_path / "r" / "deep_error_analysis.md").read_text(), "Run Set"))
    assert [row["directory"] for row in rows] == [run.name for run in RUNS[:2]]


@pytest.mark.req("J-05", "J-03")
@pytest.mark.parametrize(
    ("option", "file"), [("--run-dir", "openai_judged.jsonl"), ("--comparison-dir", "run_results.csv")]
)
def test_what_is_missing_is_named(tmp_path, option, file):
    result = errata("report", option, tmp_path)

    assert (result.code, f"has no `{file}`" in result.talk) == (2, True)


@pytest.mark.req("J-08", "J-18", "J-06")
def test_the_rows_are_the_failed_rows_as_they_were_judged(tmp_path):
    reported("--comparison-dir", COMPARISON, "-o", "r")
    rows = [json.loads(line) for line in (tmp_path / "r" / "failure_review_rows.jsonl").read_text().splitlines()]
    expected = [row for run in RUNS for row in judged(run) if any(value is False for value in row["scores"].values())]

    assert Counter((row["model_name"], row["turn"]) for row in rows) == Counter(
        (row["model_name"], row["turn"]) for row in expected
    )
    text = {(row["turn"], row["assistant_text"]): row for row in rows}
    for row in expected:
        found = text[row["turn"], row["assistant_text"]]
        assert (found["user_text"], found["judge_reasoning"]) == (row["user_text"], row["judge_reasoning"])
        assert json.loads(found["scores_json"]) == row["scores"]
        assert json.loads(found["tool_calls_json"]) == row["tool_calls"]
        assert json.loads(found["tool_results_json"]) == row["tool_results"]


@pytest.mark.req("J-08", "J-18")
def test_the_table_has_the_same_rows_and_the_columns_that_are_asked_for(tmp_path):
    reported("--comparison-dir", COMPARISON, "-o", "r")
    lines = [json.loads(line) for line in (tmp_path / "r" / "failure_review_rows.jsonl").read_text().splitlines()]
    with (tmp_path / "r" / "failure_review_rows.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))

    assert (
        list(rows[0])
        == list(lines[0])
        == [
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
        ]
    )
    assert rows == [{name: str(value) for name, value in line.items()} for line in lines]


def test_the_rows_have_the_verdicts_beside_the_label_of_the_rules(final):
    rows = [json.loads(line) for line in (final.folder / "r" / "failure_review_rows.jsonl").read_text().splitlines()]
    columns = ("error_mode_candidate", "verdict_label", "verdict_owner", "verdict_reviewer", "verdict_state")
    (moved,) = [row for row in rows if row["model_name"] == "voice-beta" and row["turn"] == 11]

    assert [moved[name] for name in columns] == [
        "partial_multi_tool_execution",
        "state_memory_failure",
        "model",
        "file:reader",
        "final",
    ]
    assert {row["verdict_state"] for row in rows} == {"final"}


def test_reviewers_recommendations_are_listed_by_model_and_cause_with_who_gave_them(final, provisional):
    (row,) = table(section(final.text, "Recommendations"))

    assert row == {
        "model": "voice-beta",
        "cause": "Hangs up in the middle of a task",
        "recommendation": "Count turns 24 to 29 as one failure of this model (model-specific notes)",
        "turns": "24",
        "recommended by": "file:reader",
    }
    assert "advice   voice-beta: Count turns 24 to 29 as one failure of this model (file:reader)" in final.result.out
    assert "## Recommendations" not in provisional.text


def test_they_are_the_rows_that_a_review_exports(tmp_path):
    reported("--comparison-dir", COMPARISON, "-o", "r")
    handles = [run.name.rpartition("_")[2] for run in RUNS]
    done("review", "export", *handles, "-o", "export", "--store", "errata.db")

    for name in ("failure_review_rows.jsonl", "failure_review_rows.csv"):
        assert (tmp_path / "r" / name).read_bytes() == (tmp_path / "export" / name).read_bytes()


@pytest.mark.req("J-19", "J-27")
def test_dimensions_are_counted_from_the_rows_and_not_from_a_summary(provisional):
    shown = {row["dimension"]: row for row in tables(section(provisional.text, "Top-Line Comparison"))[2]}

    for run, label in zip(RUNS, LABELS, strict=True):
        rows = judged(run)
        for dimension in rows[0]["scores"]:
            values = [row["scores"][dimension] for row in rows]
            counted = f"{values.count(False)}/{len(values) - values.count(None)}"
            assert shown[dimension][label] == counted


@pytest.mark.req("J-26", "J-19")
def test_numbers_of_charts_and_summaries_change_nothing_of_the_counts(tmp_path, provisional):
    shutil.copytree(COMPARISON, tmp_path / "compare")
    table_of_runs = tmp_path / "compare" / "run_results.csv"
    with table_of_runs.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row |= {"pass_rows": "30", "fail_rows": "0", "pass_row_rate": "1.0", "fail_row_rate": "0.0"}
    with table_of_runs.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    reported("--comparison-dir", "compare", "-o", "r")

    text = (tmp_path / "r" / "deep_error_analysis.md").read_text()
    for title in ("Causes", "Shared and Unique"):
        assert section(text, title) == section(provisional.text, title)
    changed, before = (
        [row | {"checkup": ""} for row in table(section(one, "Run Set"))] for one in (text, provisional.text)
    )
    assert changed == before
    assert {row["checkup"] for row in table(section(text, "Run Set"))} == {"NOT FIT"}


@pytest.mark.req("J-26")
def test_whether_runs_differ_is_told_with_the_test_of_it_and_what_it_is_worth(provisional):
    assert "No significant difference between the runs (exact McNemar test, p Holm-corrected for 6 pairs)" in (
        provisional.text
    )
    assert (
        "Smallest p: voice-alpha run 2 vs. voice-beta (p = 0.66; p = 1.00 without knock-on and "
        "infrastructure failures)" in provisional.text
    )
    assert "never from a summary or a chart" in provisional.text


@pytest.mark.req("J-20")
def test_modes_are_no_second_judge(provisional, final):
    for text in (provisional.text, final.text):
        assert "Causes come from reviewers and rules, not from a second judge." in text


@pytest.mark.req("J-21")
def test_every_mode_cites_turns(final):
    found = {title: facts(result)["Where"] for title, result in modes_in(final.text).items()}

    assert len(found) == 7
    assert all(re.match(r"\d+ \(“.+”\)", where) for where in found.values())
    half = found["Carries out half of a request that has several steps"]
    assert half.startswith("11 (“Cancel both of them please.”); 20 (")


@pytest.mark.req("J-22")
@pytest.mark.parametrize("model", MODELS)
def test_of_each_model_every_mode_says_what_goes_wrong_where_and_in_which_dimensions(final, model):
    rows = table(section(final.text, model))

    assert list(rows[0]) == ["error mode", "mistake", "rows", "turns", "dimensions"]
    for row in rows:
        assert re.search(r"[a-z]{3} [a-z]", row["mistake"])
        assert re.match(r"\d+", row["turns"])
        assert re.match(r"[a-z_]+ \d+", row["dimensions"])


@pytest.mark.req("J-22")
def test_before_anybody_has_read_a_mode_is_told_by_what_its_label_means(provisional):
    text = modes_in(provisional.text)["Multi-step request only partly carried out"]

    assert "(by rule, not reviewed)" in facts(text)["What goes wrong"]
    assert facts(text)["Failed dimensions"] == "tool_use_correct 5, state_tracking 1"


@pytest.mark.req("J-13", "J-14", "J-22")
def test_a_mode_that_was_read_tells_the_mistake_and_apart_what_the_grader_sees_of_it(final):
    text = modes_in(final.text)["Forgets what the caller said earlier"]

    assert facts(text)["What goes wrong"] == "The name of turn 0 is not kept; the class of turn 8 is not kept"
    assert (
        "voice-beta, 11: one of two bookings is not cancelled" in text.partition("Other consequences for the grader")[2]
    )
    assert "1 of 26 rows got another cause in review; both are recorded." in final.text


@pytest.mark.req("J-23", "J-28")
def test_datapoints_show_turn_input_output_calls_with_results_and_the_judge(provisional):
    (row,) = (
        row
        for result in modes_in(provisional.text).values()
        for row in table(result)
        if row["row"] == "voice-alpha run 1, 26"
    )

    assert row["input"] == "“What was the price of the adult ticket again?”"
    assert row["output"] == "“It was 16 crowns; I have also booked you another ticket.”"
    assert row["calls and results"] == (
        'book_boat_tour {"name": "Lena Okafor", "boat": "Ticket", "slot": "Sat 10:00"} → '
        '{"status": "error", "message": "unknown boat"}'
    )
    assert row["judge"] == "“Wrong number (18 is right) and an unrequested booking.”"
    assert row["failed"] == "tool_use_correct, instruction_following, kb_grounding"


@pytest.mark.req("J-23")
def test_every_mode_has_datapoints(provisional):
    assert all(table(result) for result in modes_in(provisional.text).values())


@pytest.mark.req("J-24", "J-09")
def test_the_top_line_tells_failed_rows_what_stood_for_answers_and_the_worst_dimensions(provisional):
    rows = tables(section(provisional.text, "Top-Line Comparison"))[0]

    assert [(row["run"], row["failed rows"]) for row in rows] == list(
        zip(LABELS, ["5/30", "4/30", "10/30", "7/29"], strict=True)
    )
    assert [row["MODEL_ENDED_SESSION"] for row in rows] == ["0", "0", "1", "0"]
    assert [row["MODEL_ENDED_SESSION_EARLY"] for row in rows] == ["0", "0", "5", "0"]
    assert [row["EMPTY_RESPONSE"] for row in rows] == ["0", "1", "0", "1"]
    assert rows[2]["top failed dimensions"] == "instruction_following 7, tool_use_correct 4, state_tracking 2"


@pytest.mark.req("J-24", "J-32", "J-11")
def test_shared_failures_and_what_only_one_fails_or_passes(provisional):
    text = section(provisional.text, "Shared and Unique")
    rows = {row[""]: (row["only it fails (turns)"], row["only it passes (turns)"]) for row in table(text)}

    assert facts(text)["Failed by all 4 runs"] == facts(text)["Failed by all 3 models"] == "11, 22"
    assert facts(text)["voice-alpha, unstable over 2 runs"] == "5, 19, 26"
    assert rows["voice-beta"] == ("8, 17, 24; knock-on: 25, 27, 28, 29", "14")
    assert rows["acme/voice-gamma, over all its runs"] == ("3, 13, 20, 23", "26")
    assert rows["voice-alpha, over all its runs"] == ("5, 19", "none")


@pytest.mark.req("J-32")
@pytest.mark.parametrize("model", MODELS)
def test_of_each_model_the_dominant_dimensions_are_told_with_their_share(provisional, model):
    text = facts(section(provisional.text, model))

    assert re.match(r"[a-z_]+ \d+ \(\d+ %\), .* of \d+ failed rows", text["Dominant dimensions"])
    assert set(text) == {"Dominant dimensions", "Instead of an answer", "Only it fails", "Only it passes"}


@pytest.mark.req("J-30")
def test_a_report_of_rules_says_so_once_and_at_each_cause_how_much_was_reviewed(provisional):
    assert facts(provisional.text)["Status"].startswith("PROVISIONAL. 0 of 26 failed rows reviewed")
    assert provisional.result.out.splitlines()[0].startswith("4 runs, 26 failed rows, 0 reviewed: PROVISIONAL")
    assert provisional.text.count("PROVISIONAL") == 1
    assert "provisional" not in provisional.text
    assert all(facts(mode)["State"].startswith("0 of ") for mode in modes_in(provisional.text).values())


@pytest.mark.req("J-30", "J-02")
def test_a_report_whose_buckets_were_all_read_is_final(final):
    assert facts(final.text)["Status"].startswith("final. 26 of 26 failed rows reviewed by file:reader")
    assert "7 of 7 causes final" in facts(final.text)["Status"]
    assert "PROVISIONAL" not in final.text
    assert final.result.out.splitlines()[0] == "4 runs, 26 failed rows, 26 reviewed: final."


@pytest.mark.req("J-30", "J-31")
def test_two_of_three_rows_are_not_enough(tmp_path):
    import_fixtures(COMPARISON, store="errata.db")
    lines = map(json.loads, (VERDICTS / "comparison.jsonl").read_text().splitlines())
    verdicts = [line for line in lines if "knowledge_grounding_error" in str(line)]
    named = [json.dumps(line | {"bucket": "knowledge-grounding-error"}) for line in verdicts[:2]]
    (tmp_path / "some.jsonl").write_text("\n".join(named))
    done("review", "import", "some.jsonl", "--reviewer", "reader", "--store", "errata.db")
    reported("--comparison-dir", COMPARISON, "-o", "r")

    text = (tmp_path / "r" / "deep_error_analysis.md").read_text()
    rows = [row for row in table(section(text, "Causes")) if "knowledge_grounding_error" in row["cause"]]
    assert {row["status"]: row["rows"] for row in rows} == {"reviewed": "2", "assigned": "2"}
    assert facts(text)["Status"].startswith("PROVISIONAL. 2 of 26 failed rows reviewed")


def test_runs_whose_tasks_differ_are_refused_and_compared_on_what_they_share_if_asked(tmp_path):
    for model, prompt in (("one", "When?"), ("two", "Where?")):
        rows = [{"model": model, "id": f"t{number}", "prompt": prompt, "ok": number > 1} for number in range(6)]
        (tmp_path / f"{model}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        (tmp_path / f"{model}.jsonl.map.toml").write_text(
            'suite = "s"\n[run]\nmodel = { column = "model" }\n[case]\nname = "id"\ninput = "prompt"\n'
            '[attempt]\npassed = "ok"\n'
        )
    refused = errata("report", "one.jsonl", "two.jsonl", "-o", "r")
    reported("one.jsonl", "two.jsonl", "--common", "-o", "r")

    assert (refused.code, "--common" in refused.talk) == (4, True)
    text = (tmp_path / "r" / "deep_error_analysis.md").read_text()
    assert "tasks edited in between" in section(text, "Run Set")
    assert facts(section(text, "Shared and Unique"))["Failed by all 2 runs"] == "t0, t1"


def test_doubts_of_the_measurement_and_of_the_readers_stand_apart(final):
    text = section(final.text, "Doubts")

    measured, _, readers = text.partition("From reviewers:")
    assert "openai_summary.json has 29 passes for tool_use_correct; the rows have 28" in measured
    assert "acme/voice-gamma, 23: the judge also faults more than two sentences" in plain(readers)


@pytest.mark.req("B-85")
def test_only_turns_of_a_conversation_are_called_dependent(tmp_path, monkeypatch):
    """promptfoo tests are not turns of a conversation."""
    monkeypatch.chdir(tmp_path)
    import_fixtures(FIXTURES / "promptfoo" / "export" / "data")
    tests = [json.loads(line)["run_id"] for line in done("runs", "--json").out.splitlines()][:3]

    of_tests = folded(done("report", *tests, "--profile", "comparison", "-o", "tests", "--common"))
    of_turns = folded(done("report", *RUNS[:2], "-o", "turns"))

    assert "exact McNemar test" in of_tests
    assert "not independent" not in of_tests
    assert "The turns of a conversation are not independent" in of_turns
