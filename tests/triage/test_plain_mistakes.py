"""Mistakes of the subject that are plain to see, beside failures that only look like them."""

import pytest

from errata.model import Artefact, Case, Check, Output
from errata.testing import a_run, an_attempt
from errata.triage import RunWide, attribute, built_in, observe, plain_mistakes

PYTHON = """Traceback (most recent call last):
  File "/app/solve.py", line 3
    def f(:
          ^
SyntaxError: invalid syntax"""
APPLES = "Anna has 5 apples and buys 6. How many has she?"


def case(task, expected=None):
    return Case(run="r", suite="s", key="s/c", native_id="c", input=task, expected=expected)


def attributed(attempt, task, expected=None):
    return attribute(attempt, observe(a_run(), attempt, case(task, expected), RunWide(), built_in()))


def proof(attempt, task, expected=None):
    found = attributed(attempt, task, expected)
    return found.owner, found.proof_reason, *[one.name for one in found.signals if one.name != "check_failed"][:1]


def tested(text, *artefacts):
    check = Check(name="test_run", kind="tests", status="fail", explanation=text)
    return an_attempt(checks=(check,), artefacts=artefacts)


tested.__test__ = False


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (PYTHON, "Write /app/solve.py."),
        ("image.c:12:5: error: expected ';' before '}' token", "Write image.c, and I will compile it."),
        ("src/index.ts(3,5): error TS1005: ';' expected.", "Write src/index.ts."),
        ("error[E0308]: mismatched types\n  --> src/main.rs:4:9", "Write src/main.rs."),
    ],
)
def test_a_program_that_does_not_compile_shows_the_subjects_mistake(text, task):
    assert proof(tested(text), task) == ("model", "self_evident", "does_not_compile")


def test_a_file_of_the_answer_counts_though_the_task_does_not_name_it():
    written = Artefact(role="output", path="output/src/solve.py", text="def f(:")

    assert proof(tested(PYTHON, written), "Solve it.")[1] == "self_evident"


@pytest.mark.parametrize(
    "text",
    [
        PYTHON.replace("/app/solve.py", "/tests/solve.py"),
        PYTHON.replace("/app/solve.py", "/usr/lib/python3/site-packages/solve.py"),
        PYTHON.replace("solve.py", "test_solve.py"),
        PYTHON.replace("solve.py", "given.py"),
        "AssertionError: the log of solve.py has an error: 3 != 4",
    ],
)
def test_a_file_of_the_tests_or_of_others_shows_nothing(text):
    assert proof(tested(text), "Write /app/solve.py.")[1] == "no_other_result"


def test_each_file_name_is_sought_once_in_the_task(monkeypatch):
    """A compiler may report a thousand errors in one file."""
    asked = []
    monkeypatch.setattr(plain_mistakes, "task_text", lambda case: asked.append(case) or "Write main.c.")
    text = "".join(f"lib/{name}.c:{line}:5: error: expected ';'\n" for line in range(300) for name in "ab")

    assert not list(plain_mistakes.does_not_compile(tested(text), case("Write main.c.")))
    assert len(asked) == 2


def test_words_before_the_end_of_a_long_log_start_no_search(monkeypatch):
    early = f"error: early\n{'image.c ' * 10_000}"
    assert proof(tested(f"{early}\nimage.c:12:5: error: no"), "Write image.c.")[1] == "self_evident"

    monkeypatch.setattr(plain_mistakes, "_BROKEN", None)
    assert proof(tested(early), "Write image.c.")[1] == "no_other_result"


def answered(text, *checks, **output):
    return an_attempt(output=Output(text=text, **output), checks=checks)


IS_JSON = Check(name="is-json", scorer="is-json", kind="assertion", status="fail", explanation="Expected valid JSON")


def test_prose_where_the_task_asks_for_json_shows_the_subjects_mistake():
    attempt = answered("Sure, here are three ideas.", IS_JSON)

    assert proof(attempt, "Give three ideas as JSON.") == ("model", "self_evident", "ignored_form")
    assert proof(attempt, "Give three ideas.")[1] == "no_other_result"
    assert proof(answered('Sure: {"ideas": [1,}', IS_JSON), "Give three ideas as JSON.")[1] == "no_other_result"


@pytest.mark.parametrize("template", ['"ANSWER: $LETTER" (without quotes)', "答案：[LETTER]"])
def test_a_choice_without_the_line_that_the_task_prescribes_shows_the_subjects_mistake(template):
    task = f"Your answer has the format {template} where LETTER is one of A, B.\nA) 3\nB) 4"
    accuracy = Check(name="accuracy", scorer="accuracy", status="fail")

    assert proof(answered("I like both of them.", accuracy), task, "B") == ("model", "self_evident", "ignored_form")
    assert proof(answered(f"{template.strip(chr(34))[:6]} A", accuracy), task, "B")[1] == "no_other_result"


CALLS = [{"algebra.roots": {"a": [1]}}]
NOT_DECODED = Check(name="ast_checker", scorer="ast_checker", status="fail", explanation="Failed to decode AST.")


def test_a_sentence_where_a_call_is_required_shows_the_subjects_mistake():
    assert proof(answered("I cannot help you with that.", NOT_DECODED), "Find the roots.", CALLS)[1] == "self_evident"
    assert proof(answered("roots(a=1", NOT_DECODED), "Find the roots.", CALLS)[1] != "self_evident"


EQUALS = Check(name="equals", scorer="equals", kind="assertion", status="fail", explanation="Expected output to equal")


@pytest.mark.req("B-27")
@pytest.mark.parametrize("answer", ["The answer is **11**.", "The answer is 11.", "Anna has **11** apples.", "11."])
def test_a_right_answer_in_words_is_the_graders_where_the_task_left_the_form_open(answer):
    found = attributed(answered(answer, EQUALS), APPLES, "11")

    assert (found.owner, found.confidence, found.decided_by) == ("grader", "likely", "strict_match")


@pytest.mark.parametrize(
    "answer", ["The answer is **12**.", "The answer is not 11.", "**5** and 6 are 11 or 12", "110"]
)
def test_a_wrong_answer_in_words_stays_the_models(answer):
    assert attributed(answered(answer, EQUALS), APPLES, "11").owner == "model"


def test_words_around_an_answer_that_the_task_wanted_bare_are_the_subjects_mistake():
    task = f"{APPLES} Reply with only the number."

    assert proof(answered("The answer is **11**.", EQUALS), task, "11") == ("model", "self_evident", "ignored_form")
