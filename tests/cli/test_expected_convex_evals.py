"""What is known of the four convex-evals samples comes out of the commands."""

import pytest

from terminal import FIXTURES, done, errata

A, B, C, D = "jn709tmj", "jn7mqywb", "jn7h2dcx", "jn7maewn"
SAMPLES = {name: FIXTURES / "convex_evals" / f"run_{name}" / "data" / f"run-{name}" for name in "abcd"}


@pytest.fixture(scope="module")
def listed(library):
    return {row["run"][:8]: row for row in done("runs", "--json", "--store", library).rows}


@pytest.fixture(scope="module")
def analysed(tmp_path_factory):
    store = tmp_path_factory.mktemp("analysed") / "errata.db"
    rows = done("analyze", *SAMPLES.values(), "--no-report", "--json", "--store", store).rows
    return {row["run"][:8]: row for row in rows}


def failures(library, run):
    return done("failures", run, "--json", "--store", library).rows


def findings(library, run):
    return {one["name"]: one for one in errata("check", run, "--json", "--store", library).row["findings"]}


@pytest.mark.req("C-15")
@pytest.mark.parametrize(("run", "rate", "of"), [(A, 13 / 24, 24), (B, 16 / 25, 25), (C, 0, 25), (D, 1, 25)])
def test_the_pass_rate_is_as_the_harness_counts(library, run, rate, of):
    reported = done("show", run, "--json", "--store", library).row["run"]["reported"]
    (one,) = [one for one in reported if one["name"] == "passedCount/totalEvals"]

    assert one["value"] == pytest.approx(rate, abs=0.001)
    assert one["n"] == of


@pytest.mark.req("C-15")
def test_the_summary_names_model_and_experiment(analysed):
    assert analysed[B]["model"] == "acme/nimbus-2-coder"
    assert analysed[B]["variant"] == {"experiment": "default"}
    assert (analysed[B]["passed"], analysed[B]["total"]) == (16, 25)


@pytest.mark.req("C-15")
@pytest.mark.trap(4)
def test_the_pending_and_the_missing_eval_are_named(library):
    found = findings(library, A)

    assert found["missing_cases"]["text"].endswith("003-mutations/004-swap_order")
    assert found["unfinished_cases"]["text"].endswith("006-clients/003-presence_badge")
    assert found["missing_cases"]["severity"] == found["unfinished_cases"]["severity"] == "error"


@pytest.mark.req("C-16")
@pytest.mark.trap(1)
@pytest.mark.parametrize(
    ("run", "steps"),
    [
        (A, {"filesystem": 2, "deploy": 2, "tsc": 1, "eslint": 1, "tests": 3, "": 1}),
        (B, {"install": 1, "deploy": 1, "tsc": 1, "eslint": 2, "tests": 3, "": 1}),
        (C, {"": 25}),
    ],
)
def test_failures_are_told_by_their_first_failed_step(analysed, run, steps):
    assert analysed[run]["first_failed_checks"] == steps


@pytest.mark.req("C-16")
@pytest.mark.parametrize(
    ("run", "steps"),
    [
        (A, {"deploy": 2, "eslint": 1, "filesystem": 2, "tests": 4, "tsc": 1}),
        (B, {"deploy": 1, "eslint": 2, "install": 1, "tests": 5, "tsc": 1}),
        (C, {}),
        (D, {}),
    ],
)
def test_every_failed_step_is_counted(listed, run, steps):
    assert listed[run]["counts"]["failed_checks"] == steps


@pytest.mark.req("C-19")
@pytest.mark.parametrize(
    ("run", "categories"),
    [
        (
            A,
            {
                "000-fundamentals": 1,
                "001-data_modeling": 1,
                "002-queries": 2,
                "003-mutations": 1,
                "004-actions": 2,
                "005-idioms": 1,
                "006-clients": 2,
            },
        ),
        (
            B,
            {
                "000-fundamentals": 1,
                "001-data_modeling": 2,
                "002-queries": 2,
                "003-mutations": 1,
                "004-actions": 1,
                "005-idioms": 2,
            },
        ),
    ],
)
def test_failures_are_told_by_category(analysed, run, categories):
    assert {name: of["failed"] for name, of in analysed[run]["categories"].items()} == categories


@pytest.mark.parametrize(
    ("run", "case", "step", "reason"),
    [
        (A, "000-fundamentals/002-http_greeting", ["eslint"], "eslint"),
        (A, "005-idioms/001-internal_helpers", [], "[rate_limit] error: 429 Too Many Requests"),
        (A, "006-clients/000-live_list", ["filesystem"], "[infrastructure] empty provider response"),
        (A, "006-clients/002-optimistic_toggle", ["filesystem"], "empty parsed model output"),
        (A, "004-actions/005-fetch_with_retry", ["deploy"], "timed out"),
        (B, "001-data_modeling/000-user_table", [], "upstream connect error or disconnect/reset before headers"),
        (B, "003-mutations/005-batch_insert", ["install"], "ECONNRESET"),
        (B, "005-idioms/003-shared_validator", ["eslint", "tests"], "eslint"),
        (B, "005-idioms/004-pick_primitive", ["tests"], "AssertionError: expected { b:"),
    ],
)
@pytest.mark.req("C-10")
def test_a_failure_says_which_steps_failed_and_why(library, run, case, step, reason):
    (failure,) = [row for row in failures(library, run) if row["case"] == case]

    assert failure["failed_checks"] == step
    assert reason in failure["reason"]


@pytest.mark.trap(2)
@pytest.mark.parametrize("run", [A, B])
def test_a_failure_of_lint_alone_shows_that_its_tests_passed(library, run):
    shown = done("show", f"{run}/000-fundamentals/002-http_greeting", "--json", "--store", library).row

    assert {check["name"]: check["status"] for check in shown["attempt"]["checks"]}["tests"] == "pass"


@pytest.mark.trap(3)
def test_a_path_with_rate_limit_in_it_is_an_answer_that_was_measured(library):
    for run in (A, B):
        (failure,) = [row for row in failures(library, run) if row["case"] == "004-actions/003-rate_limit_guard"]

        assert (failure["execution"], failure["measurement"], failure["outcome"]) == ("completed", "scored", "fail")


@pytest.mark.req("C-11")
def test_an_attempt_holds_code_answer_grader_and_task(library):
    shown = done("show", f"{B}/003-mutations/005-batch_insert", "--json", "--store", library).row

    assert shown["case"]["input"].startswith("Write a mutation `addMany`")
    assert [file["path"] for file in shown["attempt"]["artefacts"] if file["role"] == "output"] == ["convex/rows.ts"]
    assert {file["role"] for file in shown["case"]["artefacts"]} == {"task", "expected", "grader"}
    assert all(file["text"] for file in shown["attempt"]["artefacts"] + shown["case"]["artefacts"])


def test_a_model_that_was_never_reached_is_unavailable(library, analysed):
    finding = findings(library, C)["unavailable"]

    assert finding["numbers"] == {"attempts": 25}
    assert finding["evidence"][0]["quote"] == "error: No endpoints found for acme/drift-mini-preview."
    assert analysed[C]["unavailable"]
    assert not analysed[C]["fit"]


def test_an_unavailable_run_says_nothing_about_its_model():
    page = done("analyze", SAMPLES["c"]).out

    assert "UNAVAILABLE: all 25 attempts" in page
    assert "  > error: No endpoints found for acme/drift-mini-preview.\n" in page
    assert "This run does not measure the model." in page


@pytest.mark.req("C-07", "all passed", "nothing to analyse")
def test_where_all_passed_there_is_nothing_to_analyse(tmp_path):
    result = done("analyze", SAMPLES["d"])

    assert result.out == "Run jn7maewn · acme/nimbus-2-coder · 25 of 25 passed. Nothing to analyse.\n"


@pytest.mark.req("C-07")
def test_where_all_passed_no_report_is_written(tmp_path):
    done("analyze", SAMPLES["d"])

    assert {path.name for path in tmp_path.iterdir()} == {".errata", "scratch"}
