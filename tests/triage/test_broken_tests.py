"""Test code that can't run for a fault of its own is the grader's; what the subject's work breaks is not."""

from pathlib import Path

import pytest

from errata.model import Artefact, Check, Output
from errata.testing import a_run, an_attempt
from errata.triage import RunWide, attribute, built_in, observe, runner_output

LOGS = Path(__file__).parents[1] / "fixtures/triage/test_logs"
COLLECTION = sorted(LOGS.glob("collection.*.txt"))


def attributed(attempt, case=None):
    return attribute(attempt, observe(a_run(), attempt, case, RunWide(), built_in()))


def with_log(log, **changes):
    return an_attempt(artefacts=(Artefact(role="log", path="panes/post-test.txt", text=log),), **changes)


def collecting(body, file="test_outputs.py"):
    return f"""=================================== ERRORS ====================================
_______________________ ERROR collecting {file} _______________________
{body}
=========================== short test summary info ============================
ERROR ../tests/{file}
!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
=============================== 1 error in 0.10s ===============================
"""


def failing(body, test="test_it"):
    return f"""=================================== FAILURES ===================================
________________________________ {test} ________________________________
{body}
=========================== short test summary info ============================
FAILED ../tests/test_outputs.py::{test}
============================== 1 failed in 0.10s ===============================
"""


FAULTS = {
    "annotation": "/tests/test_outputs.py:7: in <module>\n    def load(path: Path | str) -> dict | None:\n"
    "E   TypeError: unsupported operand type(s) for |: 'type' and 'type'",
    "decorator": "/tests/test_outputs.py:9: in <module>\n    @pytest.mark.parametrize('a', ids=1)\n"
    "E   TypeError: parametrize() missing 1 required positional argument: 'argvalues'",
    "name": "/tests/test_outputs.py:3: in <module>\n    ROOT = Pth('/app')\nE   NameError: name 'Pth' is not defined",
    "library": "/tests/test_outputs.py:5: in <module>\n    X = os.getcwdx()\n"
    "E   AttributeError: module 'os' has no attribute 'getcwdx'",
    "import": "/tests/test_outputs.py:2: in <module>\n    from typing import Selff\n"
    "E   ImportError: cannot import name 'Selff' from 'typing' (/usr/lib/python3.12/typing.py)",
}


@pytest.mark.req("B-08")
@pytest.mark.parametrize("fault", FAULTS)
def test_a_test_file_that_cannot_be_collected_for_its_own_fault_is_the_graders(fault):
    found = attributed(with_log(collecting(FAULTS[fault])))

    assert (found.owner, found.confidence, found.decided_by) == ("grader", "likely", "broken_test")


def test_a_name_that_a_test_function_lacks_is_the_graders():
    body = "    def test_it():\n>       assert np.allclose(run(), 1)\nE       NameError: name 'np' is not defined\n\n"

    assert attributed(with_log(failing(f"{body}/tests/test_outputs.py:12: NameError"))).owner == "grader"


def test_a_missing_fixture_of_pytest_is_the_graders():
    log = failing("E       fixture 'servr' not found\n/tests/test_outputs.py:8", "ERROR at setup of test_it")

    assert attributed(with_log(log)).owner == "grader"


NAME_ERROR = "    def test_it():\n>       np.x\nE       NameError: name 'np' is not defined\n\n"


@pytest.mark.parametrize("file", ["tests/test_x.py", "test_x.py", "app/tests/test_x.py", "/app/tests/test_x.py"])
def test_the_tests_of_a_repository_may_be_the_subjects_own(file):
    missing = failing(f"E       fixture 'servr' not found\n{file}:8", "ERROR at setup of test_it")

    assert attributed(with_log(missing)).owner == "model"
    assert attributed(with_log(failing(f"{NAME_ERROR}{file}:12: NameError"))).owner == "model"


@pytest.mark.parametrize("file", ["/tests/test_x.py", "../tests/test_x.py", "../../tests/test_x.py"])
def test_those_in_the_harnesss_folder_are_not(file):
    missing = failing(f"E       fixture 'servr' not found\n{file}:8", "ERROR at setup of test_it")

    assert attributed(with_log(missing)).owner == "grader"
    assert attributed(with_log(failing(f"{NAME_ERROR}{file}:12: NameError"))).owner == "grader"


LINKS = [
    "During handling of the above exception, another exception occurred:",
    "The above exception was the direct cause of the following exception:",
]


@pytest.mark.parametrize("link", LINKS)
def test_the_error_and_the_place_of_chained_exceptions_are_those_of_the_last(link):
    """The name is missing in the subject's code; the test only reports it."""
    subjects = (
        "    def run():\n>       np.x\nE       NameError: name 'np' is not defined\n\n/app/src/app.py:3: NameError"
    )
    own = "    def test_it():\n>       fail(str(e))\nE       AssertionError: it did not run\n\n"
    log = failing(f"{subjects}\n\n{link}\n\n{own}/tests/test_x.py:9: AssertionError")

    (test,) = runner_output.tests_in(log)
    assert (test.error, test.message) == ("AssertionError", "AssertionError: it did not run")
    assert (test.file, test.line, test.source) == ("/tests/test_x.py", 9, "fail(str(e))")
    assert log[test.offset :].startswith("E       AssertionError")
    assert attributed(with_log(log)).owner == "model"


def test_a_log_in_colour_is_cleaned_once_for_all_rules(monkeypatch):
    calls = []
    monkeypatch.setattr(runner_output, "clean", lambda text: calls.append(text) or text)
    log = f"\x1b[31mred\x1b[0m\n{failing(NAME_ERROR)}"

    attributed(with_log(log))

    assert calls.count(log) == 1


SUBJECTS = {
    "its module": "/tests/test_outputs.py:7: in <module>\n    from solution import solve\n"
    "E   ImportError: cannot import name 'solve' from 'solution' (/app/solution.py)",
    "its attribute": "/tests/test_outputs.py:7: in <module>\n    X = solution.solve\n"
    "E   AttributeError: module 'solution' has no attribute 'solve'",
    "its code": "/tests/test_outputs.py:7: in <module>\n    import solution\n/app/solution.py:3: in <module>\n"
    "    def f(x: int | None):\nE   TypeError: unsupported operand type(s) for |: 'type' and 'NoneType'",
    "its data": "/tests/test_outputs.py:7: in <module>\n    N = DATA['n'] + 1\n"
    'E   TypeError: can only concatenate str (not "int") to str',
    "its output": "/tests/test_outputs.py:7: in <module>\n    X = re.search('a', OUT).group()\n"
    "E   AttributeError: 'NoneType' object has no attribute 'group'",
}


@pytest.mark.parametrize("work", SUBJECTS)
def test_a_collection_that_the_subjects_work_breaks_stays_the_models(work):
    assert attributed(with_log(collecting(SUBJECTS[work]))).owner == "model"


def test_a_name_that_the_subjects_own_test_lacks_stays_the_models():
    body = "    def test_it():\n>       np.x\nE       NameError: name 'np' is not defined\n\n"

    assert attributed(with_log(failing(f"{body}pkg/modeling/tests/test_separable.py:12: NameError"))).owner == "model"


@pytest.mark.parametrize("log", COLLECTION, ids=lambda path: path.stem)
def test_the_collection_errors_of_the_published_trials_stay_the_models(log):
    assert len(COLLECTION) == 7
    assert attributed(with_log(log.read_text("utf-8"))).owner == "model"


THREW = """Custom function threw error: Unexpected token 'return'
Stack Trace: SyntaxError: Unexpected token 'return'
    at new Function (<anonymous>)
    at handleJavascript (file:///app/node_modules/promptfoo/dist/src/evaluator.js:4300:22)"""


def javascript(text, **changes):
    return Check(name="javascript", kind="assertion", status="fail", explanation=text, **changes)


def test_an_assertion_that_does_not_parse_is_the_graders():
    found = attributed(an_attempt(output=Output(text="7"), checks=(javascript(THREW),)))

    assert (found.owner, found.decided_by) == ("grader", "broken_test")


def test_beside_an_assertion_that_was_refused_it_puts_the_failure_in_doubt():
    refused = Check(name="regex", kind="assertion", status="fail", explanation="Expected output to match regex")
    found = attributed(an_attempt(output=Output(text="x"), checks=(javascript(THREW), refused)))

    assert (found.owner, found.also, found.proof_reason) == ("model", ("grader",), "in_doubt")


def test_an_assertion_that_throws_for_the_answer_stays_the_models():
    """`JSON.parse` of an answer that is no JSON is a SyntaxError, too."""
    threw = "Custom function threw error: Unexpected token 'S', \"Sure!\" is not valid JSON\nStack Trace: SyntaxError: "
    threw += (
        "Unexpected token 'S', \"Sure!\" is not valid JSON\n    at JSON.parse (<anonymous>)\n    at eval (eval at <a>)"
    )

    assert attributed(an_attempt(output=Output(text="Sure!"), checks=(javascript(threw),))).owner == "model"


def test_the_output_of_tests_that_passed_is_no_failure():
    """With -rA, pytest prints a heading for each of them."""
    passes = "==================================== PASSES ====================================\n"
    passes += "_________________________________ test_other _________________________________\n"
    passes += "----------------------------- Captured stdout call -----------------------------\nok\n"
    body = "    def test_it():\n>       np.x\nE       NameError: name 'np' is not defined\n\n"
    body += "/tests/test_outputs.py:12: NameError"
    log = failing(body).replace("=========================== short", f"{passes}=========================== short")

    assert attributed(with_log(log)).confidence == "likely"
    assert [test.name for test in runner_output.tests_in(log)] == ["test_it"]
