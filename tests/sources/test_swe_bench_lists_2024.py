"""SWE-bench's reports of 2024: lists of instances and a log for each."""

from pathlib import Path

import pytest

from errata import sources
from errata.model import Attempt, Run
from errata.sources import swe_bench
from errata.sources.swe_bench import lists_2024
from errata.triage.across import stand_in_of

FOLDER = Path(__file__).parents[1] / "fixtures" / "sources" / "swe_bench" / "lists_2024" / "data"


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


def test_the_tests_that_a_log_lists_stand_beside_the_verdict():
    attempt = runs()["run-1"][1]["SWE-bench/acme__widget-7"]
    tests = next(check for check in attempt.checks if check.name == "tests")

    assert (tests.status, tests.achieved, tests.max) == ("fail", 2, 4)
    assert [check.name for check in attempt.checks if check.failed or not check.counts] == [
        "tests",
        "tests/test_widget.py::test_folds",
        "test_closes (widget.tests.Case)",
    ]
    assert [(one.role, one.path) for one in attempt.artefacts] == [("log", "acme__widget-7.acme-1.5.eval.log")]


def test_a_genuine_log_of_a_resolved_instance():
    attempt = runs()["SWE-bench_Lite_golden"][1]["SWE-bench/sympy__sympy-17655"]

    assert attempt.outcome == "pass"
    assert [(check.name, check.status, check.max) for check in attempt.checks] == [
        ("patch_applied", "pass", None),
        ("tests", "pass", 12),
    ]


def test_lines_of_other_programs_are_no_tests_and_colours_hide_none():
    log = (
        "\x1b[31mFAILED\x1b[0m astropy/nddata/tests/test_nddata.py::test_mask - ValueError\n"
        "ERROR conda.cli.main_run:execute(124): `conda run pytest` failed.\nFAILED (errors=1)\n"
    )

    assert list(lists_2024._tests(log)) == [("astropy/nddata/tests/test_nddata.py::test_mask", False)]
