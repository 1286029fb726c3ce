"""SWE-bench's reports of 2024: lists of instances and a log for each."""

import json
from collections import Counter
from pathlib import Path

import pytest

from errata import sources
from errata.model import Artefact, Attempt, Run, SourceRef, Unreadable
from errata.model.attempt import stand_in_of
from errata.sources import swe_bench
from errata.sources.swe_bench import lists_2024
from terminal import done, errata

FOLDER = Path(__file__).parents[1] / "fixtures" / "sources" / "swe_bench" / "lists_2024" / "data"


@pytest.fixture(autouse=True)
def own_store(at_home):
    """Commands write into a store of the test."""


def runs():
    """By name: the run, and its attempts by instance."""
    found = {}
    for path in (FOLDER / "SWE-bench_Lite_golden", FOLDER / "run-1"):
        items = [*swe_bench.read(path)]
        run = next(item for item in items if isinstance(item, Run))
        found[run.name] = run, {item.case: item for item in items if isinstance(item, Attempt)}
    return found


def test_a_folder_of_such_reports_is_found_and_read_as_runs():
    assert {found.source.NAME for found in sources.find(FOLDER)} == {"swe-bench"}
    assert {name: (run.subject.model, run.suite, len(made)) for name, (run, made) in runs().items()} == {
        "SWE-bench_Lite_golden": ("SWE-bench_Lite_golden", "SWE-bench", 1),
        "run-1": ("acme-1.5", "SWE-bench", 9),
    }


def test_a_run_of_the_reference_patches_is_a_reference_and_others_are_not():
    assert {name: stand_in_of(run) for name, (run, _) in runs().items()} == {
        "SWE-bench_Lite_golden": "reference",
        "run-1": "",
    }


@pytest.mark.parametrize(
    ("number", "expected", "error"),
    [
        (1, ("completed", "scored", "fail"), None),  # no patch
        (2, ("completed", "error", "none"), ("install_fail", "setup")),
        (3, ("completed", "error", "none"), ("reset_failed", "environment")),
        (4, ("completed", "scored", "fail"), None),  # the patch does not apply
        (5, ("completed", "error", "none"), ("test_errored", "scoring")),
        (6, ("completed", "error", "none"), ("test_timeout", "scoring")),
        (7, ("completed", "scored", "fail"), None),
        (8, ("completed", "scored", "pass"), None),
        (9, ("missing", "not_run", "none"), None),  # generated, and never evaluated
    ],
)
def test_what_the_lists_say_of_an_instance(number, expected, error):
    attempt = runs()["run-1"][1][f"SWE-bench/acme__widget-{number}"]

    assert (attempt.execution, attempt.measurement, attempt.outcome) == expected
    assert [(one.type, one.phase) for one in attempt.errors] == ([error] if error else [])


def resolved_golden(folder, name, *instances):
    """The lists of a run of the reference patches, with other instances resolved."""
    document = json.loads((FOLDER / "SWE-bench_Lite_golden" / "report.json").read_text())
    ids = [*document["generated"], "acme__widget-7", "acme__widget-8"]
    document |= {"generated": ids, "with_logs": ids, "applied": ids, "resolved": [*document["resolved"], *instances]}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(document))
    return folder


def test_two_reports_of_one_run_that_disagree_are_a_finding_on_the_first_page(tmp_path):
    folder = resolved_golden(tmp_path / "evals" / "SWE-bench_Lite_golden", "report.json")
    resolved_golden(folder, "results.json", "acme__widget-7")
    page = " ".join(done("analyze", folder, "--no-report").out.split())

    assert "files_disagree report.json has 1 resolved, results.json has 2; report.json counts; 1 case differs:" in page
    assert "1 case differs: acme__widget-7" in page
    shown = done("show", "latest/acme__widget-7", "--json").row
    assert "results.json lists it as resolved" in json.dumps(shown)


@pytest.mark.parametrize("model", ["SWE-bench_Lite_golden", "lite-gold", "gold", "reference"])
def test_no_failure_of_the_reference_patches_is_a_models(tmp_path, model):
    """Whatever else is in the store: a second run of them that passed would make the first one look like a mistake."""
    folder = resolved_golden(tmp_path / "evals" / model, "report.json")
    resolved_golden(tmp_path / "evals" / f"again_{model}", "report.json", "acme__widget-7", "acme__widget-8")
    for path in (folder, tmp_path / "evals" / f"again_{model}"):
        done("import", path)
    owners = {row["owner"] for row in done("failures", folder, "--json").rows}

    assert owners
    assert "model" not in owners


def test_a_reference_that_another_report_resolves_is_no_evidence_against_the_task(tmp_path):
    folder = resolved_golden(tmp_path / "evals" / "SWE-bench_Lite_golden", "report.json")
    resolved_golden(folder, "results.json", "acme__widget-7")
    model = resolved_golden(tmp_path / "evals" / "acme-1", "report.json")
    for path in (folder, model):
        done("import", path)
    owners = {row["case"]: row["owner"] for row in done("failures", model, "--json").rows}

    assert owners == {"acme__widget-7": "model", "acme__widget-8": "task"}


def submission(root, *, total=6, **lists):
    """A published submission: the short report, and the predictions beside it."""
    folder = root / "20240402_acme_agent"
    (folder / "results").mkdir(parents=True)
    short = {"no_generation": [], "no_logs": [], "resolved": ["acme__widget-1", "acme__widget-2"]} | lists
    (folder / "results" / "results.json").write_text(json.dumps(short))
    rows = [{"instance_id": f"acme__widget-{number}", "model_patch": f"diff {number}", "model_name_or_path": "acme-1"}
            for number in range(1, total + 1)]  # fmt: skip
    if rows:
        (folder / "all_preds.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def read_one(path):
    items = [*swe_bench.read(path)]
    (run,) = [item for item in items if isinstance(item, Run)]
    return run, {item.case.rpartition("-")[2]: item for item in items if isinstance(item, Attempt)}, items


def test_a_short_report_takes_the_failed_instances_from_the_predictions(tmp_path):
    folder = submission(tmp_path, no_generation=["acme__widget-5"], no_logs=["acme__widget-6"])
    (found,) = sources.find(tmp_path)
    run, attempts, _ = read_one(found.path)

    assert (found.path, run.name, run.subject.model) == (folder, "20240402_acme_agent", "acme-1")
    assert {number: (one.measurement, one.outcome) for number, one in attempts.items()} == {
        "1": ("scored", "pass"),
        "2": ("scored", "pass"),
        "3": ("scored", "fail"),
        "4": ("scored", "fail"),
        "5": ("scored", "fail"),
        "6": ("error", "none"),
    }
    assert attempts["3"].output.text == "diff 3"
    assert attempts["6"].errors[0].message == "the evaluation left no log"


def test_two_submissions_are_two_runs(tmp_path):
    for name in ("lite", "verified"):
        submission(tmp_path / name).rename(tmp_path / name / f"agent_on_{name}")

    assert [row["run"] for row in done("import", tmp_path, "--json").rows] == ["agent_on_lite", "agent_on_verified"]


def test_a_short_report_without_predictions_counts_against_its_split(tmp_path):
    folder = submission(tmp_path / "evaluation" / "lite", total=0)
    run, attempts, _ = read_one(folder / "results")

    assert (run.stated_passes, run.expected_cases, run.measured_attempts) == ((2, 300), 300, 300)
    assert len(attempts) == 2


@pytest.mark.req("N-05")
@pytest.mark.parametrize(("resolved", "no_generation", "no_logs", "predicted"), [
    (234, 2, 3, 0), (100, 0, 40, 0), (50, 30, 0, 0), (250, 20, 10, 500), (250, 20, 10, 400), (0, 0, 5, 0),
    (352, 0, 0, 501), (372, 1, 0, 900),
])  # fmt: skip
def test_planned_is_in_the_log_and_measured_elsewhere_and_missing(
    tmp_path, resolved, no_generation, no_logs, predicted
):
    """As published: an instance may be in both other lists, and all count against the split.

    More predictions than the split has instances are those of other submissions, too.
    """
    ids = [f"acme__widget-{number}" for number in range(1, 501)]
    lists = {"resolved": ids[:resolved], "no_generation": ids[resolved : resolved + no_generation + 1]}
    lists["no_logs"] = ids[resolved + no_generation : resolved + no_generation + no_logs]
    folder = submission(tmp_path / "evaluation" / "verified", total=predicted, **lists)
    _, attempts, _ = read_one(folder)
    done("analyze", folder, "--no-report")
    found = {one["name"]: one["numbers"] for one in errata("check", "latest", "--json").row["findings"]}
    score = done("score", "latest", "--json").row["scores"]["as_reported"]

    assert found.get("cases_not_in_log", {}).get("cases", 0) + len(attempts) == 500
    assert not {"missing_cases", "aggregate_mismatch", "no_verdict"} & set(found)
    assert (score["passed"], score["total"]) == (resolved, 500)


@pytest.mark.req("N-05")
@pytest.mark.parametrize("edited", [False, True])
def test_a_submission_that_stands_in_two_folders_is_not_two_tries_of_one_run(tmp_path, edited):
    """As in a repository with two copies of the published experiments, and the predictions of others beside them."""
    ids = [f"acme__widget-{number}" for number in range(1, 360)]
    for name in ("first", "second"):
        submission(tmp_path / name / "evaluation" / "verified", total=0, resolved=ids[edited and name == "second" :])
    (tmp_path / "other_preds.jsonl").write_text(
        json.dumps({"instance_id": "b__b-1", "model_patch": "x", "model_name_or_path": "b"}) + "\n"
    )
    items = list(swe_bench.read(tmp_path))
    runs = [item for item in items if isinstance(item, Run)]

    assert [run.variant for run in runs] == [{}, {"folder": "second/evaluation/verified/20240402_acme_agent/results"}][
        : edited + 1
    ]
    assert {item.copy_of for item in items if isinstance(item, Unreadable)} == (
        set() if edited else {runs[0].native_id}
    )
    assert len({item.id for item in items if isinstance(item, Attempt)}) == sum(
        isinstance(item, Attempt) for item in items
    )


@pytest.mark.req("N-05")
def test_reports_with_names_of_their_own_in_one_folder_are_runs_of_their_own(tmp_path):
    """As a published collection has them: one file for each of 125 agents, in one folder."""
    folder = submission(tmp_path / "evaluation" / "verified", total=0) / "results"
    for name, resolved in (("results_acme", 3), ("results_other-2", 1), ("report", 2)):
        short = {
            "no_generation": [],
            "no_logs": [],
            "resolved": [f"acme__widget-{at}" for at in range(1, resolved + 1)],
        }
        (folder / f"{name}.json").write_text(json.dumps(short))
    items = list(swe_bench.read(folder))
    passes = Counter(item.run for item in items if isinstance(item, Attempt) and item.outcome == "pass")
    named = {item.name: passes[item.id] for item in items if isinstance(item, Run)}

    assert named == {"20240402_acme_agent": 2, "results_acme": 3, "results_other-2": 1}


def test_a_short_report_of_an_unknown_split_says_that_failures_are_not_named(tmp_path):
    _, _, items = read_one(submission(tmp_path, total=0) / "results")

    assert any("does not name the instances that failed" in item.why for item in items if isinstance(item, Unreadable))


def test_the_tests_that_a_log_lists_stand_beside_the_verdict():
    attempt = runs()["run-1"][1]["SWE-bench/acme__widget-7"]
    tests = next(check for check in attempt.checks if check.name == "tests")

    assert (tests.status, tests.achieved, tests.max) == ("fail", None, None)
    assert [check.name for check in attempt.checks if check.failed or not check.counts] == [
        "tests",
        "tests/test_widget.py::test_folds",
        "test_closes (widget.tests.Case)",
    ]
    assert [(one.role, one.path) for one in attempt.artefacts] == [("log", "acme__widget-7.acme-1.5.eval.log")]


def test_lines_of_other_programs_are_no_tests_and_colours_hide_none():
    log = (
        "\x1b[31mFAILED\x1b[0m astropy/nddata/tests/test_nddata.py::test_mask - ValueError\n"
        "ERROR conda.cli.main_run:execute(124): `conda run pytest` failed.\nFAILED (errors=1)\n"
    )

    assert list(lists_2024._tests(lists_2024._test_output(log))) == [
        ("astropy/nddata/tests/test_nddata.py::test_mask", False)
    ]


LISTED = "PASSED a.py::b\nFAILED a.py::c - TypeError: no\n"


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (LISTED + "===== 2 failed, 79 passed in 2.62s =====\n", (79, 81)),
        (LISTED + "= 7 failed, 864 passed, 16 skipped, 3069 warnings in 13.31s =\n", (864, 871)),
        ("test_a ok\ntest_b F\ntests finished: 55 passed, 1 failed, 29 skipped, in 2.93 seconds", (55, 56)),
        ("test_a (t.T) ... FAIL\nRan 23 tests in 0.268s\n\nFAILED (failures=8, errors=1, skipped=2)\n", (12, 21)),
        ("test_a (t.T) ... ok\nRan 8 tests in 0.010s\n\nOK\n", (8, 8)),
    ],
)
def test_passed_and_all_tests_are_those_that_the_runner_counts(log, expected):
    assert lists_2024._counts(lists_2024._test_output(log)) == expected


@pytest.mark.parametrize(
    "log", [LISTED, "nothing ran", "Ran 1 test in 0.1s\n\nFAILED (errors=3)\n", "Ran 0 tests in 0.1s\n\nOK\n"]
)
def test_where_the_runner_counts_nothing_or_more_than_the_tests_no_number_is_known(log):
    assert lists_2024._counts(lists_2024._test_output(log)) == (None, None)


def test_a_patch_that_does_not_apply_is_explained_by_git():
    log = "error: patch failed: tests/test_a.py:581\nerror: tests/test_a.py: patch does not apply\nApply patch failed\n"
    artefact = Artefact(role="log", path="a.eval.log", text=log)
    (check,) = lists_2024._checks(("generated", "no_apply"), artefact, SourceRef(file="a.eval.log"))

    assert (check.name, check.status) == ("patch_applied", "fail")
    assert check.explanation == "error: patch failed: tests/test_a.py:581"
