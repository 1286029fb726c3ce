"""Whether a verifier's tests ran: what the harness recorded for each test counts more than a line of a log."""

import pytest

from errata.model import Artefact, Case, Check
from errata.testing import a_run, an_attempt
from errata.triage import RunWide, attribute, built_in, observe


def attributed(log, *checks, task="", path="verifier/test-stdout.txt"):
    attempt = an_attempt(artefacts=(Artefact(role="log", path=path, text=log),), checks=checks)
    case = Case(run="r", suite="s", key="s/c", native_id="c", input=task)
    return attribute(attempt, observe(a_run(), attempt, case, RunWide(), built_in()))


NOT_FOUND = "/app/run.sh: line 3: frobnicate: not found\n"
SUMMARY = "FAILED ../tests/test_outputs.py::test_it - AssertionError\n\x1b[1m2 failed\x1b[0m in 0.1s\n"


def test_colours_do_not_hide_that_tests_ran():
    """`2 failed` stands behind an escape whose last letter is a word's: no pattern for words saw it."""
    log = "sh: 1: uvx: not found\n\x1b[31m\x1b[1m2 failed\x1b[0m\x1b[31m in 0.07s\x1b[0m\n"

    assert attributed(log).owner == "model"
    assert attributed(log.splitlines()[0]).owner == "environment"


@pytest.mark.req("B-02")
def test_a_program_of_the_subject_that_is_not_found_is_no_evidence_against_the_verifier():
    assert attributed(NOT_FOUND).owner == "model"
    assert attributed(f"{NOT_FOUND}{SUMMARY}").owner == "model"


@pytest.mark.parametrize("line", ["/tests/test.sh: line 19: uvx: command not found", "sh: 1: pytest: not found"])
def test_a_program_that_the_verifier_runs_is(line):
    assert (found := attributed(line)).owner == "environment"
    assert found.signals[0].where == "verifier/test-stdout.txt:1"


def test_only_a_line_of_the_verifiers_own_script_is_certain():
    assert attributed("/tests/test.sh: line 19: uvx: command not found").confidence == "certain"
    assert attributed("bash: uvx: command not found").confidence == "likely"
    assert attributed("curl: (6) Could not resolve host: example.org").confidence == "likely"


def test_listed_results_count_more_than_a_line_of_the_log():
    line = "/tests/test.sh: line 19: uvx: command not found"
    failed = Check(name="test_output", kind="tests", status="fail", counts=False)
    whole = Check(name="tests", kind="tests", status="fail")

    assert attributed(line, failed).owner == "model"
    assert attributed(line, Check(name="test_output", kind="tests", status="pass"), failed).owner == "model"
    assert attributed(line, whole).owner == "environment"


def test_a_list_of_tests_that_had_to_pass_is_no_proof_that_they_ran():
    demanded = Check(name="FAIL_TO_PASS", kind="tests", status="fail", achieved=0, max=2)
    listed = Check(name="FAIL_TO_PASS: test_a", kind="tests", status="fail", counts=False)

    assert attributed("bash: line 14: mvn: command not found\n", demanded, listed).owner == "environment"


def test_a_program_that_the_task_is_about_is_the_subjects_to_provide():
    line = "/tests/run-tests.sh: line 4: curl: command not found"

    assert attributed(line, task="Repair curl on this machine.").owner == "model"
    assert attributed(line, task="Sort the list.").owner == "environment"


def test_neither_is_what_could_not_be_fetched_where_the_task_is_to_repair_fetching():
    line = "/tests/setup-uv-pytest.sh: line 25: uv: command not found"

    assert attributed(line, task="For some reason I can't curl example.com, can you fix it?").owner == "model"
    assert attributed(line, task="Sort the list.").owner == "environment"


def test_an_agents_log_beside_the_tests_is_not_the_verifiers():
    line = "bash: pytest: command not found"

    assert attributed(line, path="test-case-3/panes/post-agent.txt").owner == "model"
    assert attributed(line, path="test-case-3/panes/post-test.txt").owner == "environment"


def test_a_long_line_without_spaces_is_searched_once():
    """A log may hold a file as base64: tried from each of its characters, this line took minutes."""
    line = "/tests/test.sh: line 19: uvx: command not found"

    assert attributed(f"{'QUJD' * 50_000}\n{line}").owner == "environment"
    assert attributed(f"{'QUJD' * 50_000}: not found").owner == "model"


@pytest.mark.parametrize(
    "line",
    [
        "curl: (6) Could not resolve host: example.org",
        "pip: Temporary failure in name resolution",
        "tar: write error: No space left on device",
        "E: Could not get lock /var/lib/dpkg/lock",
        "error: externally-managed-environment",
        "node: error while loading shared libraries: libz.so.1: cannot open shared object file",
        "bash: /usr/bin/node: Exec format error",
        "run.sh: /bin/bsh: bad interpreter: No such file",
        "E: Unable to locate package tmux",
        "E: Failed to fetch http://deb.example.org/tmux.deb",
        "E: Package 'tmux' has no installation candidate",
        "wget: unable to resolve",
        "error: Failed to download https://example.org/uv",
        "/usr/bin/python3: No module named pytest",
        "ERROR: Could not find a version that satisfies the requirement numpy",
        "x No solution found when resolving tool dependencies",
        "browserType.launch: Executable doesn't exist at /root/.cache/chrome",
    ],
)
def test_each_fault_of_the_environment_is_found(line):
    assert attributed(f"Preparing\n{line}\nDone\n").owner == "environment"


@pytest.mark.parametrize(
    "line",
    [
        "ERROR: file or directory not found: /tests/test_outputs.py",
        "python3: can't open file '/tests/test_outputs.py': [Errno 2]",
        "bash: line 1: /tests/test.sh: No such file or directory",
        "============================ no tests ran in 0.01s =============================",
    ],
)
def test_each_line_about_absent_tests_is_found(line):
    tests = Check(name="tests", kind="tests", status="fail")

    assert attributed(f"Preparing\n{line}\nDone\n", tests).owner == "grader"
