"""Two runs of one model in the texts that convex-evals' runner writes: a review, an action, and the run after it."""

import json
import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from errata.skills import skill_named
from report_pages import facts, folded, section, table, working_in
from terminal import FIXTURES, Said, done, errata

FIRST = FIXTURES / "convex_evals" / "runner_texts" / "data" / "run-e"
FIRST_RUN, SECOND_RUN = "jn7q4ht2", "jn7w8kz3"
DAYS = 86_400_000
REPORT = Path("reports/acme/nimbus-3-coder/jn7q4ht2_2026-08-05.md")
LINT, REMOVE, FILES, PATCH = (
    "000-fundamentals/002-http_greeting",
    "003-mutations/002-cascade_remove",
    "000-fundamentals/003-file_storage",
    "003-mutations/001-patch",
)
QUERIES = ("000-one_row", "001-text_lookup", "002-order", "003-first_ten", "005-filtered")
CLOSING = (
    "These are my findings. Would you like me to implement any of these recommendations, or would you like to discuss "
    "specific failures in more detail?"
)
VERDICTS: dict[str, dict[str, Any]] = {
    LINT: {
        "label": "OVERLY_STRICT",
        "cause": "An unused parameter fails lint although the endpoint works",
        "evidence": [{"place": "run.log", "quote": "'ctx' is defined but never used."}],
        "recommendation": {"group": "config", "text": "Allow unused arguments", "target_path": "eslint.config.mjs"},
    },
    REMOVE: {
        "label": "AMBIGUOUS_TASK",
        "cause": "The task does not say what happens to an unknown owner",
        "evidence": [
            {"place": "run.log", "quote": 'promise resolved "null" instead of rejecting'},
            {"place": "grader/grader.test.ts", "quote": 'test("rejects an unknown owner", async () => {'},
        ],
        "recommendation": {"group": "eval", "text": "State what an unknown owner means", "target_path": "TASK.txt"},
    },
}


def lint_text(case: str, file: str, place: str, name: str) -> str:
    """As eslint prints it below the runner's header."""
    return (
        f"Error: Failed to lint code:\n\n/tmp/convexeval-m3qz/output/acme/nimbus-3-coder/{case}/convex/{file}\n"
        f"  {place}  error  '{name}' is defined but never used. Allowed unused args must match /^_/u  "
        "@typescript-eslint/no-unused-vars\n\n✖ 1 problem (1 error, 0 warnings)\n\n"
    )


def type_text(at: int) -> str:
    """As tsc prints it below the runner's header."""
    return (
        f"Error: Failed to typecheck code:\nconvex/rows{at}.ts({at + 5},{at + 11}): error TS2345: Argument of type "
        f"'string' is not assignable to parameter of type 'Id<\"rows{at}\">'.\n"
    )


def second_run(folder: Path) -> Path:
    """Eight days after the first, from another checkout: all of its failures, two more of eslint, five more of tsc."""
    shutil.copytree(FIRST, folder)
    details = folder / "getRunDetails.envelope.json"
    run = json.loads(details.read_text().replace("convexeval-8f2k", "convexeval-m3qz").replace('"jh7', '"jh8'))["value"]
    run |= {"_id": SECOND_RUN + run["_id"][8:], "_creationTime": run["_creationTime"] + 8 * DAYS, "runId": "ci-5177"}
    texts = {
        FILES: ("eslint", lint_text(FILES, "files.ts", "14:21", "ctx")),
        PATCH: ("eslint", lint_text(PATCH, "notes.ts", "22:9", "args")),
        **{f"002-queries/{name}": ("tsc", type_text(at)) for at, name in enumerate(QUERIES)},
    }
    for one in run["evals"]:
        step, text = texts.get(f"{one['category']}/{one['name']}", ("", ""))
        if step:
            one["status"] |= {"kind": "failed", "failureReason": f"{step} fail"}
            (failed,) = (each for each in one["steps"] if each["name"] == step)
            failed["status"] = {"kind": "failed", "failureReason": text, "durationMs": 2100}
    details.write_text(json.dumps({"status": "success", "value": run}))
    return folder


class Story(NamedTuple):
    folder: Path
    first: str
    """The report about the first run, before the action."""
    acted: str
    """The same report after it."""
    result: Said
    second: str
    """Both files of the report about the second run."""
    facts: Any
    files: set[str]


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    with working_in(tmp_path_factory.mktemp("story")) as folder:
        Path("eslint.config.mjs").write_text("export default [];\n")
        done("import", FIRST)
        ids = {row["case"]: row["attempt_id"] for row in done("failures", FIRST_RUN, "--json").rows}
        filled = {"reasoning": "The quote shows it. The task says no more.", "confidence": "certain"}
        rows = [filled | verdict | {"attempt_id": ids[case]} for case, verdict in VERDICTS.items()]
        Path("verdicts.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        done("review", "import", "verdicts.jsonl", "--reviewer", "agent")
        done("report", FIRST_RUN, "--date", "2026-08-05")
        first = REPORT.read_text()
        what = ("--what", "allows unused arguments", "--path", "eslint.config.mjs", "--for", LINT)
        done("action", "add", *what, "--date", "2026-08-06", "--report", REPORT)
        acted = REPORT.read_text()
        second_run(folder / "run-f")
        done("import", "run-f")
        before = files_in(folder)
        result = done("report", SECOND_RUN, "--date", "2026-08-13")
        facts_of_it = done("report", SECOND_RUN, "--date", "2026-08-13", "--json").row
        second = "\n".join((folder / name).read_text() for name in facts_of_it["written"])
        return Story(folder, first, acted, result, second, facts_of_it["report"], files_in(folder) - before)


def files_in(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def failure(story: Story, case: str) -> Any:
    (found,) = (one for one in story.facts["failures"] if one["case"] == case)
    return found


@pytest.mark.req("C-22", "C-23")
def test_the_report_is_named_by_the_run_and_its_head_has_the_metadata(story):
    assert {name for name in story.files if name.endswith(".md") and "details" not in name} == {
        "reports/acme/nimbus-3-coder/jn7w8kz3_2026-08-13.md"
    }
    head = facts(story.second)

    assert head["Run ID"] == f"{SECOND_RUN}mzx8w0r6s1kd9vbyc3pen5fa"
    assert (head["Model"], head["Experiment"]) == ("acme/nimbus-3-coder (openrouter)", "default")
    assert (head["Date"], head["Analysed"]) == ("2026-08-12", "2026-08-13")
    assert head["Pass rate"].startswith("13/37 (35.1 %)")


@pytest.mark.req("C-29")
def test_a_report_has_no_actions_until_one_is_recorded(story):
    assert re.search(r"^## Actions taken\n\nNone\n", story.first, re.MULTILINE)
    assert re.search(r"^## Actions taken\n\nNone\n", story.second, re.MULTILINE)


@pytest.mark.req("C-32")
def test_an_action_is_recorded_with_file_change_failure_and_date(story):
    line = f"1. 2026-08-06: `eslint.config.mjs` allows unused arguments (addresses {LINT})."

    assert story.acted == story.first.replace("## Actions taken\n\nNone\n", f"## Actions taken\n\n{line}\n")


@pytest.mark.req("C-22", "C-32")
def test_a_report_of_a_later_day_carries_the_action_over(story):
    with working_in(story.folder):
        done("report", FIRST_RUN, "--date", "2026-08-07")
        text = REPORT.with_name("jn7q4ht2_2026-08-07.md").read_text()
        for later in REPORT.parent.glob("*_2026-08-07*"):
            later.unlink()

    assert f"`eslint.config.mjs` allows unused arguments (addresses {LINT})" in section(text, "Actions taken")


@pytest.mark.req("C-05")
def test_what_fails_again_is_a_repeat_and_an_action_should_have_fixed_it(story):
    repeat = failure(story, LINT)["repeat"]

    assert repeat["should_be_gone"] is True
    assert "OVERLY_STRICT on 2026-08-04" in section(story.second, LINT)
    assert "came before this run and should have fixed it. It did not." in section(story.second, LINT)
    assert failure(story, REMOVE)["repeat"]["should_be_gone"] is False
    assert "No action was recorded." in section(story.second, REMOVE)
    assert not failure(story, PATCH)["repeat"]["reports"]


@pytest.mark.req("C-18")
def test_a_lint_rule_that_several_evals_break_is_one_pattern_or_one_shared_text(story):
    shared = [one for one in story.facts["shared_texts"] if "no-unused-vars" in one["text"]]

    assert [set(one["cases"]) for one in shared] == [{LINT, FILES, PATCH}]
    assert "<n>" not in section(story.second, "Cross-cutting Patterns").replace("&lt;", "<")


@pytest.mark.req("C-18")
def test_a_type_error_that_several_evals_share_is_one_pattern(story):
    (found,) = [one for one in story.facts["patterns"] if "TS2345" in one["title"]]

    assert set(found["cases"]) == {f"002-queries/{name}" for name in QUERIES}


@pytest.mark.req("C-19")
def test_a_category_that_is_systematically_harder_is_named(story, tmp_path):
    """The first run, but with every eval passed outside of the queries, where all fail."""
    run = json.loads((story.folder / "run-f" / "getRunDetails.envelope.json").read_text())["value"]
    for one in run["evals"]:
        if one["category"] != "002-queries" and one["status"]["kind"] == "failed":
            one["status"]["kind"] = "passed"
            for step in one.get("steps", ()):
                step["status"] = {"kind": "passed", "durationMs": 1}
    run["_id"] = "jn7harder"
    (tmp_path / "harder.json").write_text(json.dumps(run))
    with working_in(tmp_path):
        row = done("report", "harder.json", "--json").row
        text = (tmp_path / row["written"][0]).read_text()

    assert [one["name"] for one in row["report"]["categories"] if one["harder"]] == ["002-queries"]
    assert "002-queries 8/8" in text
    assert "Significantly harder than the rest: 002-queries (p &lt; 0.001) (tested on" in text


@pytest.mark.req("C-20", "C-26")
def test_a_pattern_names_the_report_that_documents_it(story):
    rows = {row["Cause"]: row["Documented before"] for row in table(section(story.second, "Cross-cutting Patterns"))}
    by_cause = {one["title"]: one["cases"] for one in story.facts["patterns"]}
    (lint,) = (title for title, cases in by_cause.items() if LINT in cases)
    (types,) = (title for title in by_cause if "TS2345" in title)

    assert rows[lint] == "yes: 2026-08-04 (1 of them)"
    assert rows[types] == "no"
    about = section(story.second, "Cross-cutting Patterns")
    assert f"**Earlier reports**: 2026-08-04 {REPORT}" in about.replace("\\", "")
    assert "- **Recurring**: 12 of 23 failures" in about


@pytest.mark.req("C-33")
def test_what_was_done_is_not_recommended_again_but_what_had_no_effect_is_the_first_thing_to_do(story):
    advice = section(story.second, "Recommendations")

    assert "Allow unused arguments" not in advice
    assert f"Find out why the change of 2026-08-06 (eslint.config.mjs) had no effect: {LINT} fails again" in advice
    assert "eslint.config.mjs: NO EFFECT" in folded(story.result)


@pytest.mark.req("C-30")
def test_the_answer_shows_the_analysis_and_the_skill_ends_with_the_question(story):
    shown = folded(story.result)

    assert "16 of 23 failures are the model's" in shown
    assert "MODEL_FAULT 16 · OVERLY_STRICT 3 · not classified (infrastructure) 4" in shown
    assert "repeats 12 of 23" in shown
    assert " ".join(skill_named("analyze-run").text.replace("> ", "").split()).endswith(CLOSING)


@pytest.mark.req("C-31")
def test_only_the_report_is_written_and_no_code_is_changed(story):
    assert (story.folder / "eslint.config.mjs").read_text() == "export default [];\n"
    assert all(name.startswith("reports/") for name in story.files)
    with working_in(story.folder):
        wrong = errata("action", "add", "--what", "x", "--for", LINT, "--report", "eslint.config.mjs")
    assert wrong.code == 2
    assert (story.folder / "eslint.config.mjs").read_text() == "export default [];\n"
