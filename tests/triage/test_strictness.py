"""Graders that refuse a right answer; and, as often, those that refuse a wrong one rightly."""

import pytest

from errata.model import Actor, Case, Check, Output, Step, ToolCall
from errata.testing import a_run, an_attempt
from errata.triage import RunWide, attribute, built_in, observe


def attributed(attempt, case):
    return attribute(attempt, observe(a_run(), attempt, case, RunWide(), built_in()))


def a_case(expected, task="What is it?", **changes):
    return Case(run="0" * 16, suite="suite", native_id="case-1", input=task, expected=expected, **changes)


def refused(answer, *, name="exact_match", text=None, **changes):
    check = Check(name=name, status="fail", **changes)
    return an_attempt(output=Output(text=answer if text is None else text, answer=answer), checks=(check,))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("1,000", "1000"),
        ("1000.0", 1000),
        ("paris.", "Paris"),
        ("\\boxed{\\frac{1}{2}}", "1/2"),
        ("March 5, 2024", "2024-03-05"),
        ('```json\n{"b": 2.0, "a": 1}\n```', '{"a": 1, "b": 2}'),
        ("“yes”", ["Yes", "Y"]),
        ("well–known", {"answer": "well-known"}),
        ("1,000", {"a": "1000"}),  # the only thing that is expected, whatever it is called
        ('{"to": "Rome", "from": "Oslo"}', {"from": "Oslo", "to": "Rome"}),  # a document that is expected as a whole
        ('```json\n[{"b": 2, "a": "1"}, []]\n```', [{"a": 1, "b": 2}, []]),
    ],
)
def test_the_expected_answer_in_another_form_is_the_graders(answer, expected):
    found = attributed(refused(answer), a_case(expected))

    assert (found.owner, found.confidence, found.decided_by) == ("grader", "likely", "strict_match")


@pytest.mark.parametrize(
    ("answer", "expected", "task"),
    [
        ("88.55%", "88.55", "What accuracy, in percent, does it reach?"),
        ("12 km", "12", "How many km is it?"),
        ("12.0 kilometres", "12", "How far is it in kilometres?"),
        ("3 crowns.", "3", "How many crowns does it cost?"),
    ],
)
def test_a_number_in_the_unit_that_was_asked_for_is_refused_by_a_strict_grader(answer, expected, task):
    found = attributed(refused(answer), a_case(expected, task))

    assert (found.owner, found.confidence, found.decided_by) == ("grader", "likely", "strict_match")


@pytest.mark.parametrize(
    ("answer", "expected", "task"),
    [
        ("88.55%", "88.55", "What does it reach?"),
        ("12 km", "12", "How many miles is it?"),
        ("12 M", "12", "How many m is it?"),
        ("12 km", "13", "How many km is it?"),
        ("12 km", "12", "How many km is it? Give the number only."),
        ("12 km", "12", "How many km is it? Answer without units."),
        ("12 km or 13 km", "12", "How many km is it?"),
    ],
)
def test_a_number_in_another_unit_or_where_none_is_wanted_is_the_models(answer, expected, task):
    assert attributed(refused(answer), a_case(expected, task)).owner == "model"


@pytest.mark.parametrize(("answer", "expected"), [("1001", "1000"), ("Sydney", "Canberra"), ("No", " Yes"), ("", "5")])
def test_another_answer_is_the_models(answer, expected):
    assert attributed(refused(answer), a_case(expected)).decided_by == "check_failed"


@pytest.mark.parametrize(
    "task",
    [
        "Answer exactly as written.",
        "Reply in upper case.",
        "Reply with JSON only.",
        "Give the number without commas.",
        "Round to two decimal places.",
        "Which version is it?",
    ],
)
def test_where_the_task_asks_for_a_form_another_form_is_only_a_doubt(task):
    found = attributed(refused("1,000"), a_case("1000", task))

    assert (found.owner, found.also) == ("model", ("grader",))


def test_the_quote_is_the_answer_as_it_stands():
    (seen,) = [one for one in attributed(refused("1,000"), a_case("1000")).signals if one.name == "strict_match"]

    assert (seen.where, seen.quote) == ("output.answer", "1,000")


def test_a_letter_and_its_text_are_the_same_choice():
    case = a_case("B", choices=("goggles", "breathing mask", "gloves"))

    assert attributed(refused("(B) Breathing mask", name="choice"), case).decided_by == "strict_match"


@pytest.mark.parametrize("answer", ["C", "gloves", "B) gloves", "either", "b or c"])
def test_another_choice_is_the_models(answer):
    case = a_case("B", choices=("goggles", "breathing mask", "gloves"))

    assert attributed(refused(answer, name="choice"), case).owner == "model"


def test_a_text_that_ends_in_the_number_in_another_form_holds_it():
    attempt = refused("In all that makes 1,000 boats.", name="includes")

    assert attributed(attempt, a_case("1000")).decided_by == "strict_match"


def test_a_number_on_the_way_to_another_is_not_the_answer():
    attempt = refused("Of 1,000 boats 100 left.\nAnswer: 900", name="includes")

    assert attributed(attempt, a_case("1000")).owner == "model"


@pytest.mark.parametrize(
    ("task", "owner"),
    [
        ("Name the colours in any order.", "grader"),
        ("Which colours are in the picture?", "grader"),
        ("What are the colours?", "grader"),
        ("Name the colours as they come.", "model"),
        ("Which colours come first, and which next?", "model"),
        ("Which colours are there, in alphabetical order?", "model"),
        ("Which are the two largest fields, the largest at the top?", "model"),
        ("Say the colours.", "model"),
    ],
)
def test_a_list_in_another_order_is_the_same_only_where_the_task_asks_for_a_set(task, owner):
    assert attributed(refused("blue, red"), a_case("red, blue", task)).owner == owner


def test_a_judge_is_no_comparison():
    assert attributed(refused("1,000", judge="a-judge"), a_case("1000")).owner == "model"


def test_another_check_that_failed_too_leaves_only_a_doubt():
    checks = (Check(name="exact_match", status="fail"), Check(name="latency", status="fail"))
    attempt = an_attempt(output=Output(answer="1,000"), checks=checks)

    assert attributed(attempt, a_case("1000")).also == ("grader",)


@pytest.mark.parametrize(("kind", "owner"), [("equals", "grader"), ("not-equals", "model"), ("is-json", "model")])
def test_of_several_assertions_only_that_of_the_failed_check_is_compared(kind, owner):
    expected = [{"type": kind, "value": "Paris"}, {"type": "latency", "threshold": 5}]
    attempt = an_attempt(output=Output(text="paris"), checks=(Check(name=kind, scorer=kind, status="fail"),))

    assert attributed(attempt, a_case(expected)).owner == owner


def test_a_refused_answer_that_is_the_reference_character_for_character_says_so():
    assert attributed(refused("1000"), a_case("1000")).decided_by == "answer_equals_reference"


def test_where_the_log_does_not_say_what_refused_the_expected_answer_it_was_too_strict():
    found = attributed(an_attempt(output=Output(answer="1,000")), a_case("1000"))

    assert (found.owner, found.decided_by) == ("grader", "strict_match")


@pytest.mark.parametrize("kind", ["step", "tests"])
def test_tests_of_the_work_compare_no_answers(kind):
    assert attributed(refused("1,000", kind=kind), a_case("1000")).owner == "model"


def test_nothing_is_said_of_an_answer_that_was_not_measured():
    attempt = an_attempt(measurement="error", outcome="none", output=Output(answer="1,000"))

    assert "strict_match" not in {one.name for one in attributed(attempt, a_case("1000")).signals}


REQUIRED = [{"math.factorial": {"number": [5]}}]


def decoded(arguments, **changes):
    check = Check(name="valid", scorer="simple_function_checker:wrong_func_name", status="fail")
    return an_attempt(output=Output(structured=[{"math_factorial": arguments}]), checks=(check,), **changes)


def test_a_right_call_under_a_name_with_an_underscore_is_the_graders():
    assert attributed(decoded({"number": "5"}), a_case(REQUIRED)).decided_by == "strict_match"


def test_a_call_with_a_wrong_argument_is_the_models_whatever_the_checker_complains_of():
    assert attributed(decoded({"number": 6}), a_case(REQUIRED)).owner == "model"


def test_a_judge_who_misses_a_call_that_was_made_is_doubted():
    call = ToolCall(name="cancel", arguments={"booking": "B-1"})
    attempt = an_attempt(
        steps=(Step(index=0, actor=Actor(role="assistant"), tool_calls=(call,)),),
        checks=(Check(name="tool_use_correct", kind="dimension", judge="openai", status="fail"),),
    )
    case = a_case({"golden_text": "Done.", "required_function_call": {"name": "cancel", "args": {"booking": "B-1"}}})
    found = attributed(attempt, case)

    assert (found.owner, found.also) == ("model", ("grader",))
    assert "judge_contradicts" in {one.name for one in found.signals}


@pytest.mark.parametrize(
    ("text", "confidence"),
    [("5 * 8 = 40\nThe answer is 40.", "likely"), ("… \\boxed{40}", "likely"), ("It is this:\n40", "weak")],
)
def test_an_answer_that_was_not_found_in_a_text_that_ends_in_it(text, confidence):
    (seen,) = [
        one for one in attributed(refused("[invalid]", text=text), a_case("40")).signals if one.name == "format_reject"
    ]

    assert seen.strength == confidence


@pytest.mark.parametrize(
    "text", ["The answer is 41.", "40 was my first thought.\nThe answer is 41.", "", "I can't say."]
)
def test_a_text_without_the_right_answer_was_rightly_refused(text):
    assert attributed(refused("[invalid]", text=text), a_case("40")).owner == "model"


def test_right_json_in_words_that_a_parser_stumbles_over_is_the_graders():
    check = Check(name="is-json", status="fail", explanation="Expected output to be valid JSON")
    attempt = an_attempt(output=Output(text='Sure! {"boat": "Heron"}'), checks=(check,))

    assert attributed(attempt, a_case({"boat": "Heron"})).decided_by == "format_reject"


def test_a_right_call_that_a_decoder_could_not_read_is_the_graders():
    check = Check(name="valid", status="fail", reason_code="ast_decoder:decoder_failed")
    attempt = an_attempt(output=Output(text="[math.factorial(number=5)]"), checks=(check,))

    assert attributed(attempt, a_case(REQUIRED)).decided_by == "format_reject"


@pytest.mark.parametrize("text", ["I cannot help with that.", "Error during inference: Error code: 429"])
def test_what_a_decoder_rightly_could_not_read_is_not_the_graders(text):
    check = Check(name="valid", status="fail", reason_code="ast_decoder:decoder_failed")
    attempt = an_attempt(output=Output(text=text), checks=(check,))

    assert attributed(attempt, a_case(REQUIRED)).owner == "model"


def test_a_measure_that_passes_with_another_filter_is_the_graders():
    checks = (
        Check(name="exact_match,strict", status="fail"),
        Check(name="exact_match,flexible", status="pass", counts=False),
    )

    assert attributed(an_attempt(checks=checks), a_case("18")).decided_by == "format_reject"


def test_tests_of_one_file_are_no_filters():
    checks = (Check(name="tests/test_a", status="fail"), Check(name="tests/test_b", status="pass"))

    assert attributed(an_attempt(checks=checks), a_case("18")).owner == "model"


def test_numbers_in_another_order_are_the_same_set():
    assert attributed(refused("5, 3, 2"), a_case("2, 3, 5", "Which primes divide 30?")).owner == "grader"
    assert attributed(refused("5, 3, 3"), a_case("2, 3, 5", "Which primes divide 30?")).owner == "model"


@pytest.mark.parametrize("answer", ['{"from": "Oslo", "to": "Bonn"}', '{"from": "Oslo"}', '["Oslo", "Rome"]', "Rome"])
def test_another_document_than_the_expected_one_is_refused_rightly(answer):
    found = attributed(refused(answer), a_case({"from": "Oslo", "to": "Rome"}))

    assert found.owner != "grader"
