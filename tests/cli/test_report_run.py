"""`errata report` about one run: every part of the report that people keep, on the runs of the sample."""

import json
import re
from typing import NamedTuple

import pytest

from errata.memory.reading.report import read_report
from errata.memory.words import LabelWords
from report_pages import (
    DAY,
    EARLIER,
    RUN_A,
    RUN_B,
    RUN_D,
    VERDICTS,
    facts,
    folded,
    only,
    reported,
    section,
    table,
    working_in,
)
from terminal import FIXTURES, Said, done, import_fixtures

PROMPTS = FIXTURES / "promptfoo" / "export" / "data" / "results.json"
GROUPS = ["Eval improvements", "Lint/config changes", "Model-specific notes", "No action needed"]


class Report(NamedTuple):
    result: Said
    text: str


@pytest.fixture(scope="module")
def run_a(tmp_path_factory):
    with working_in(tmp_path_factory.mktemp("run-a")) as folder:
        result = reported(RUN_A, "--reports", EARLIER)
        return Report(result, only(folder / "reports", "*.md").read_text())


@pytest.fixture(scope="module")
def run_b(tmp_path_factory):
    with working_in(tmp_path_factory.mktemp("run-b")) as folder:
        result = reported(RUN_B, "--reports", EARLIER)
        return Report(result, only(folder / "reports", "*.md").read_text())


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory):
    """Run b, with a verdict on every failure, after run a."""
    with working_in(tmp_path_factory.mktemp("reviewed")) as folder:
        earlier = ("--reports", EARLIER, "--store", "errata.db")
        import_fixtures(RUN_A, RUN_B, store="errata.db")
        done("review", "import", VERDICTS / "run-b.jsonl", "--reviewer", "reader", *earlier)
        result = reported(RUN_B, "--reports", EARLIER)
        return Report(result, only(folder / "reports", "*.md").read_text())


@pytest.mark.req("C-15", "C-23")
def test_the_head_tells_run_model_experiment_date_and_pass_rate(run_a):
    text = facts(run_a.text)

    assert text["Run ID"] == "jn709tmjsmt0gc4p4ysp6m6ztabx3hw2"
    assert text["Model"] == "acme/nimbus-2-coder (openrouter)"
    assert text["Experiment"] == "default"
    assert text["Date"] == "2026-03-02"
    assert text["Analysed"] == DAY
    assert text["Pass rate"].startswith("13/24 (54.2 %) of the evals in the log passed; not finished: ")


@pytest.mark.req("C-15")
def test_pending_and_missing_evals_are_named(run_a):
    text = facts(run_a.text)["Pass rate"]

    assert "not finished: 006-clients/003-presence_badge" in text
    assert "missing: 003-mutations/004-swap_order" in text


@pytest.mark.req("C-16", "C-24")
@pytest.mark.parametrize(("which", "counts"), [("run_a", [1, 2, 0, 2, 1, 1, 3]), ("run_b", [1, 0, 1, 1, 1, 2, 3])])
def test_failures_are_counted_at_every_step_also_where_none_failed(which, counts, request):
    rows = table(section(request.getfixturevalue(which).text, "Failure Summary"))

    assert [row["Step (first failed)"].partition(" ")[0] for row in rows] == [
        "none",
        "filesystem",
        "install",
        "deploy",
        "tsc",
        "eslint",
        "tests",
    ]
    assert [int(row["Count"]) for row in rows] == counts


@pytest.mark.req("C-16", "C-24")
def test_what_else_failed_in_an_eval_is_told_beside_it(run_b):
    rows = {row["Step (first failed)"]: row["Evals"] for row in table(section(run_b.text, "Failure Summary"))}

    assert rows["tsc"] == "002-queries/006-pagination_shape, also tests (50 % passed)"


@pytest.mark.req("C-17", "C-13", "A-06")
def test_the_classification_table_has_step_label_and_a_line_of_reasoning(reviewed):
    rows = {row["Eval"]: row for row in table(section(reviewed.text, "Classification"))}

    assert {case.partition("/")[2]: (row["Failed step"], row["Classification"]) for case, row in rows.items()} == {
        "002-http_greeting": ("eslint", "OVERLY_STRICT"),
        "003-optional_index": ("deploy", "MODEL_FAULT"),
        "001-text_lookup": ("tests (90 % passed)", "MODEL_FAULT"),
        "006-pagination_shape": ("tsc", "KNOWN_GAP"),
        "003-rate_limit_guard": ("tests (60 % passed)", "MODEL_FAULT"),
        "003-shared_validator": ("eslint", "MODEL_FAULT"),
        "004-pick_primitive": ("tests (none passed)", "MODEL_FAULT"),
    }
    assert rows["002-queries/001-text_lookup"]["Reasoning"].startswith("Returns the books oldest first")


@pytest.mark.req("C-13")
def test_machinery_stands_apart_and_has_no_label(reviewed):
    rows = table(section(reviewed.text, "Not classified: infrastructure"))

    assert [(row["Eval"], row["Owner"]) for row in rows] == [
        ("001-data_modeling/000-user_table", "provider"),
        ("003-mutations/005-batch_insert", "environment"),
    ]
    assert "Classification" not in rows[0]


@pytest.mark.req("C-25", "C-14")
def test_each_failure_has_step_error_classification_reasoning_and_both_snippets(reviewed):
    text = section(reviewed.text, "004-actions/003-rate_limit_guard")

    assert "- **Failed step**: tests (60 % passed)" in text
    assert "**Error**: `AssertionError: expected error text to match /limit reached/" in text
    assert "- **Classification**: MODEL_FAULT, owner model (certain)" in text
    assert "- **Reasoning**: `used > 3` is false on the fourth call" in text
    assert '```ts\nif (used > 3) throw new Error("too many requests, rate limit exceeded");\n```' in text
    assert '```ts\nif (used >= 3) throw new Error("limit reached");\n```' in text


@pytest.mark.req("C-25")
def test_quotes_stand_with_their_places(reviewed):
    text = section(reviewed.text, "004-actions/003-rate_limit_guard")

    assert "- `output/convex/guard.ts:5`: `if (used > 3) throw" in text


@pytest.mark.req("C-25")
def test_without_a_reader_the_first_place_where_the_code_differs_is_shown(run_b):
    text = section(run_b.text, "002-queries/001-text_lookup")

    model, expected = re.findall(r"```ts\n(.*?)\n```", text, re.DOTALL)
    assert '.order("desc")' in expected
    assert '.order("desc")' not in model
    assert "Model, `convex/books.ts` (first difference)" in text


@pytest.mark.req("C-18", "C-26", "A-07")
def test_a_cause_of_several_failures_is_a_pattern(reviewed):
    first = table(section(reviewed.text, "Cross-cutting Patterns"))[0]

    members = "001-data_modeling/003-optional_index, 002-queries/006-pagination_shape, 005-idioms/003-shared_validator"
    assert first["Failures"] == f"3 of 9: {members}"
    assert first["State"] == "final, 3 of 3 reviewed"


@pytest.mark.req("C-18")
def test_without_a_reader_the_words_that_logs_share_are_told(run_b):
    text = section(run_b.text, "Cross-cutting Patterns").replace("\u200b", "")

    assert "**Same text in the log**: @typescript-eslint/no-unused-vars in 2 of 9" in text


@pytest.mark.req("A-07")
def test_who_reads_a_report_later_finds_its_patterns(reviewed):
    written = [row["Cause"] for row in table(section(reviewed.text, "Cross-cutting Patterns"))]
    read = read_report(reviewed.text, path="reports/acme/nimbus-2-coder/jn7mqywb_2026-03-10.md", labels=LabelWords(()))

    assert written
    assert list(read.patterns) == written


@pytest.mark.req("C-19")
def test_categories_are_told_with_the_test_of_them(run_b):
    text = section(run_b.text, "Cross-cutting Patterns")

    assert "002-queries 2/4" in text
    assert "No category is significantly harder" in text


@pytest.mark.req("C-19")
def test_a_category_that_is_harder_beyond_chance_is_named(tmp_path):
    rows = [
        {"model": "m", "id": f"{topic}-{number}", "topic": topic, "ok": topic != "tides", "answer": str(number)}
        for topic in ("tides", "winds", "boats")
        for number in range(20)
    ]
    (tmp_path / "r.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (tmp_path / "r.jsonl.map.toml").write_text(
        '[run]\nmodel = { column = "model" }\n[case]\nname = "id"\ncategory = "topic"\n'
        '[attempt]\noutput = "answer"\npassed = "ok"\n'
    )
    reported("r.jsonl", "-o", "r.md")

    assert "Significantly harder than the rest: tides" in (tmp_path / "r.md").read_text()


@pytest.mark.req("C-20")
def test_a_pattern_tells_which_earlier_reports_document_it(reviewed):
    documented = [row["Documented before"] for row in table(section(reviewed.text, "Cross-cutting Patterns"))]

    assert documented[0] == "yes: 2026-02-12 (2 of them), 2026-02-20 (2 of them)"
    assert 'Patterns they name**: 2026-02-12: "Reserved names and validators."' in reviewed.text


@pytest.mark.req("C-20")
def test_a_pattern_that_no_report_tells_of_is_not_documented(tmp_path):
    import_fixtures(RUN_B, store="errata.db")
    done("review", "import", VERDICTS / "run-b.jsonl", "--reviewer", "r", "--store", "errata.db", "--reports", EARLIER)
    (tmp_path / "none").mkdir()
    reported(RUN_B, "--reports", "none", "-o", "r.md")

    rows = table(section((tmp_path / "r.md").read_text(), "Cross-cutting Patterns"))
    assert {row["Documented before"] for row in rows} == {"no"}


@pytest.mark.req("C-26", "C-05")
def test_what_fails_again_is_told_with_earlier_labels_and_whether_it_should_be_gone(run_b):
    text = section(run_b.text, "000-fundamentals/002-http_greeting")

    assert "**Repeat**: yes, OVERLY_STRICT on 2026-02-20." in text
    assert "The action of 2026-03-04 (eslint.config.mjs now ignores unused arguments)" in text
    assert "should have fixed it. It did not." in text
    assert "- **Recurring**: 4 of 9 failures" in run_b.text


@pytest.mark.req("C-21", "C-27")
@pytest.mark.parametrize("which", ["run_a", "run_b", "reviewed"])
def test_recommendations_stand_in_four_groups(which, request):
    text = section(request.getfixturevalue(which).text, "Recommendations")

    titles = re.findall(r"^\*\*(.+)\*\*$", text, re.MULTILINE)
    assert [title for title in titles if title in GROUPS] == GROUPS
    assert set(titles) <= {*GROUPS, "Review first", "Rerun"}


@pytest.mark.req("C-21")
def test_what_has_to_be_reviewed_or_rerun_is_not_called_no_action_needed(run_a):
    text = section(run_a.text, "Recommendations")
    groups = dict(re.findall(r"^\*\*(.+)\*\*$\n+((?:(?!\*\*).*\n?)*)", text, re.MULTILINE))

    presumed, supported = groups["Review first"].strip().splitlines()
    assert "Only presumed to be the model's: review these failures before you change anything" in presumed
    assert presumed.count("/") == 4
    assert supported == (
        "2. Supported by evidence as the model's mistakes, not reviewed yet (006-clients/002-optimistic_toggle)"
    )
    assert "then rerun the infrastructure failures" in groups["Rerun"]
    assert groups["No action needed"].strip() == "None."


@pytest.mark.req("C-27")
def test_what_a_reader_recommends_stands_in_its_group(reviewed):
    text = section(reviewed.text, "Recommendations")
    groups = dict(zip(GROUPS, re.split(r"^\*\*.+\*\*$", text, flags=re.MULTILINE)[1:], strict=True))

    assert "Explain the page shape in the guidelines" in groups["Eval improvements"]
    assert "Find out why the change of 2026-03-04" in groups["Lint/config changes"]
    assert "Does not know Convex's reserved index names" in groups["Model-specific notes"]
    assert "Fair failure; task and grader agree" in groups["No action needed"]


@pytest.mark.req("C-33")
def test_what_was_done_is_told_and_not_recommended_again(reviewed):
    text = section(reviewed.text, "Recommendations")

    # it was done, and the failure is back
    assert (
        "Done on 2026-03-04, no effect: Do not let unused parameters of handlers fail an eval, or say in the task that "
        "lint counts"
    ) in text
    assert text.count("Do not let unused parameters") == 1


@pytest.mark.req("C-33")
def test_without_the_action_it_is_recommended(tmp_path):
    (tmp_path / "none").mkdir()
    import_fixtures(RUN_B, store="errata.db")
    done("review", "import", VERDICTS / "run-b.jsonl", "--reviewer", "r", "--store", "errata.db", "--reports", EARLIER)
    reported(RUN_B, "--reports", "none", "-o", "r.md")

    text = section((tmp_path / "r.md").read_text(), "Recommendations")
    assert "Already done" not in text
    assert "`eslint.config.mjs`: Do not let unused parameters of handlers fail an eval" in text


@pytest.mark.req("C-28")
def test_the_net_impact_tells_what_is_ours_and_what_is_the_models(reviewed):
    text = section(reviewed.text, "Net Impact")

    assert {row[""]: (row["count"], row["of 9"]) for row in table(text)} == {
        "Genuine model faults": ("5", "56 %"),
        "Known gap": ("1", "11 %"),
        "Fixable in the eval (lint, grader, task)": ("1", "11 %"),
        "Infrastructure or knock-on; rerun": ("2", "22 %"),
    }
    assert "Reviewed range: 64.0–80.0 % (if all 4 left-out evals failed / passed)." in text
    assert "Best estimate: reviewed, 76.2 % (16/21), interval 54.9–89.4." in text


@pytest.mark.req("A-09")
@pytest.mark.parametrize(
    ("which", "of_the_model"),
    [
        ("run_a", "Model (not reviewed; 1 supported, 4 presumed)"),
        ("run_b", "Model (not reviewed; 5 presumed)"),
        ("reviewed", "Genuine model faults"),
    ],
)
def test_the_net_impact_of_every_report_accounts_for_all_its_failures(which, of_the_model, request):
    text = request.getfixturevalue(which).text
    counted = {row["Step (first failed)"]: int(row["Count"]) for row in table(section(text, "Failure Summary"))}
    impact = table(section(text, "Net Impact"))

    assert sum(int(row["count"]) for row in impact) == sum(counted.values())
    assert of_the_model in {row[""] for row in impact}


@pytest.mark.req("C-29")
def test_actions_taken_are_none_at_first(run_a):
    assert re.search(r"^## Actions taken\n\nNone\n", run_a.text, re.MULTILINE)


@pytest.mark.req("B-86")
@pytest.mark.parametrize("which", ["run_a", "run_b", "reviewed"])
def test_a_command_asks_no_question_of_an_agent(which, request):
    assert "?" not in folded(request.getfixturevalue(which).result)


@pytest.mark.req("C-30")
def test_the_words_tell_the_answer_labels_repeats_advice_and_the_file(run_b):
    result = folded(run_b.result)

    assert "5 of 9 failures are the model's (all presumed: no other run of these cases is in the store)." in result
    assert "MODEL_FAULT 5 · OVERLY_STRICT 1 · KNOWN_GAP 1 · not classified (infrastructure) 2" in result
    assert "repeats 4 of 9" in result
    assert "eslint.config.mjs: NO EFFECT" in result
    assert "wrote reports/acme/nimbus-2-coder/jn7mqywb_2026-03-10.md" in result
    assert len(run_b.result.out.splitlines()) < 30


@pytest.mark.req("J-30")
def test_a_report_is_provisional_until_every_failure_was_read(run_b, reviewed):
    assert facts(run_b.text)["Status"].startswith("PROVISIONAL. 0 of 9 failures reviewed")
    assert run_b.result.out.splitlines()[1].startswith("PROVISIONAL")
    assert facts(reviewed.text)["Status"].startswith("reviewed. 9 of 9 failures reviewed by file:reader")
    assert "PROVISIONAL" not in reviewed.text


@pytest.mark.req("C-07")
def test_where_all_passed_that_is_said_and_nothing_is_written(tmp_path):
    result = reported(RUN_D)

    assert "All passed: nothing to analyse, and no report was written." in result.out
    assert not (tmp_path / "reports").exists()


@pytest.mark.req("C-31")
def test_a_report_writes_its_own_files_and_nothing_else(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (project / "eslint.config.mjs").write_text("export default [];\n")
    with working_in(project):
        reported(RUN_B, "--html", "--reports", EARLIER)

    assert sorted(path.relative_to(project).as_posix() for path in project.rglob("*") if path.is_file()) == [
        "errata.db",
        "eslint.config.mjs",
        "reports/acme/nimbus-2-coder/jn7mqywb_2026-03-10.html",
        "reports/acme/nimbus-2-coder/jn7mqywb_2026-03-10.md",
    ]
    assert (project / "eslint.config.mjs").read_text() == "export default [];\n"


def test_json_has_all_that_the_report_says():
    row = done("report", RUN_B, "--json", "--reports", EARLIER, "--date", DAY).row

    assert row["run"].startswith("jn7mqywb")
    assert row["written"] == ["reports/acme/nimbus-2-coder/jn7mqywb_2026-03-10.md"]
    assert len(row["report"]["failures"]) == 9
    assert row["report"]["failures"][0]["repeat"]["should_be_gone"] is True


def test_an_attempt_is_one_of_all_attempts_at_its_case(tmp_path):
    rows = [("a", 1, False), ("a", 2, True), ("a", 3, True), ("b", 1, False)]
    with working_in(tmp_path):
        (tmp_path / "rows.jsonl").write_text(
            "".join(json.dumps({"id": case, "n": number, "ok": ok}) + "\n" for case, number, ok in rows)
        )
        (tmp_path / "map.toml").write_text('[case]\nname = "id"\n[attempt]\nindex = "n"\npassed = "ok"\n')
        done("import", "rows.jsonl", "--map", "map.toml")
        done("report", "latest")
        (page,) = [path.read_text() for path in tmp_path.rglob("*.md")]

    assert "### a, attempt 1 of 3\n" in page
    assert "### b\n" in page


@pytest.mark.req("C-22")
def test_reports_about_one_evaluation_have_the_prompt_in_their_names(tmp_path):
    with working_in(tmp_path):
        reported(PROMPTS, "--profile", "run")

    names = [path.name.partition("_")[0] for path in (tmp_path / "reports" / "unknown" / "echo").iterdir()]
    assert sorted(names) == ["eval-S6Y-terse", "eval-S6Y-verbose"]
    assert "provider unknown" in next((tmp_path / "reports" / "unknown").rglob("*.md")).read_text()
