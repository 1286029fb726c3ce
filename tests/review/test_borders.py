"""Where a quote may begin and end (errata.review.borders), in every script."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.review.borders import Passage, cut_of, whole

SUBJECTS = ["the agent", "der Agent", "l’agent", "el agente", "агент", "에이전트가", "الوكيل", "एजेंट"]
VERBS = ["opened the page", "öffnete die Seite", "a ouvert la page", "открыл страницу", "페이지를", "فتح الصفحة"]
NEGATIONS = [
    "not", "never", "NOT", "nicht", "nie", "keineswegs", "pas", "jamais", "nunca", "no", "не", "никогда", "안", "못",
    "않았습니다", "لم", "ليس", "नहीं", "without", "didn't", "couldn’t",
]  # fmt: skip
UNITS = ["ms", " ms", " %", "%", ".5", ",5", "/7", " of 7", " / 7", "k", "e-5", " - x", "°"]
OPERATORS = ["!=", "!==", "==", "===", ">=", "<=", "+=", "-=", "**", "&&", "||", "<<", "->", "=>", "--"]
NOUNS = ["rooms", "Zimmer", "комнат", "개의", "غرف"]
UNBROKEN = ["不合格", "テストは成功しません", "ไม่ผ่านการทดสอบ", "недоступен", "असफल", "불합격", "غيرصحيح", "naïveté"]
PUNCTUATED = st.text(alphabet="ab é1 2.,:;-/'!=<>()[]{}\"不ないн\n", min_size=1, max_size=80)


def cut(text: str, quote: str) -> str | None:
    start = text.index(quote)
    return cut_of(text, Passage(start, start + len(quote)))


@given(st.sampled_from(SUBJECTS), st.sampled_from(NEGATIONS), st.sampled_from(VERBS))
def test_no_side_of_a_negation_is_quoted_without_it(subject, negation, verb):
    text = f"{subject} {negation} {verb}"

    assert cut(text, subject) == "negation"
    assert cut(text, verb) == "negation"
    assert cut(text, text) is None


@given(
    st.sampled_from(SUBJECTS),
    st.sampled_from(NEGATIONS),
    st.sampled_from(VERBS),
    st.sampled_from([". ", "; ", ", ", "\n"]),
)
def test_a_negation_of_another_clause_is_nobodys_business(subject, negation, verb, between):
    other = f"{subject} {negation} {verb}"

    assert cut(f"{other}{between}Room 7 was free", "Room 7 was free") is None
    assert cut(f"Room 7 was free{between}{other}", "Room 7 was free") is None


@given(
    st.integers(0, 10**6),
    st.sampled_from("+-−±<>≤≥~$€#/.,:"),
    st.sampled_from(NOUNS),
)
def test_no_number_loses_its_sign_or_its_first_half(number, sign, noun):
    spaced = () if sign in ".,:" else (sign, f"5 {sign} ")
    for before in (f"5{sign}", *spaced, "fewer than ", "3 of "):
        assert cut(f"it is {before}{number} {noun}", f"{number} {noun}"), before
    assert cut(f"it is {number} {noun}", f"it is {number} {noun}") is None


@given(
    st.integers(0, 10**6),
    st.sampled_from(UNITS),
)
def test_no_number_loses_its_unit_or_its_second_half(number, rest):
    assert cut(f"it took {number}{rest}", f"it took {number}")


@given(
    st.sampled_from(OPERATORS),
    st.data(),
)
def test_no_operator_is_cut(operator, data):
    at = data.draw(st.integers(1, len(operator) - 1))
    text = f"first {operator} second_of_them"

    assert cut_of(text, Passage(len("first ") + at, len(text)))
    assert cut_of(text, Passage(0, len("first ") + at))


@pytest.mark.parametrize("text", UNBROKEN)
def test_no_word_of_any_script_is_cut(text):
    assert all(cut_of(text, Passage(at, len(text))) and cut_of(text, Passage(0, at)) for at in range(1, len(text)))


@given(PUNCTUATED, st.data())
def test_what_is_offered_instead_can_be_quoted_and_holds_the_passage(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    passage = Passage(start, data.draw(st.integers(start + 1, len(text))))
    wider = whole(text, passage)

    assert wider.start <= passage.start
    assert wider.end >= passage.end
    assert cut_of(text, wider) is None


@given(PUNCTUATED)
def test_a_whole_line_is_never_cut_unless_the_line_before_ends_in_a_negation(text):
    for line in re.finditer(r"[^\s](?:[^\n]*[^\s])?", text):
        before = text[: line.start()].rstrip()
        assert cut_of(text, Passage(*line.span())) is None or before.endswith(("不", "ない", "!=", "<>"))


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ('if (a != b) throw new Error("limit reached");', 'throw new Error("limit reached");'),
        ("if not user: raise ValueError('no such user')", "raise ValueError('no such user')"),
        ("the task allows at most 3 calls per key in 60 seconds", "allows at most 3 calls per key in 60 seconds"),
        ("the tests did not run because the server was down", "the server was down"),
        ("[error] 12 tests failed", "12 tests failed"),
        ("- 12 tests failed", "12 tests failed"),
        ("at convex/guard.test.ts(31:9)", "guard.test.ts(31:9)"),
        ('{"valid": false, "reason": "the date is in the past", "n": 1}', "the date is in the past"),
        ("He could not stay. The room was booked by Ann.", "The room was booked by Ann."),
    ],
)
def test_part_of_a_line_that_says_the_same_is_quoted_freely(text, quote):
    assert cut(text, quote) is None


LINT_RULES = ["no-unused-vars", "@typescript-eslint/no-unused-vars", "import/no-unresolved", "react/no-danger"]


@given(st.sampled_from(LINT_RULES), st.sampled_from(["error", "warning", "✖"]), st.integers(1, 9_999))
def test_the_name_of_a_lint_rule_denies_nothing(rule, severity, line):
    text = f"src/index.ts\n  {line}:10  {severity}  'query' is defined but never used  {rule}\n"

    assert cut(text, "'query' is defined but never used") is None
    assert cut(text, "'query' is defined but") == "negation"


@pytest.mark.parametrize(
    "text",
    [
        "all tests passed  not-really",
        "3:10 all tests passed  no-more",
        "3:10  error  not all tests passed  no-unused-vars",
        "3:10  error  all tests passed no-more",
        "3:10  error  all tests passed  no more",
    ],
)
def test_only_the_rule_of_a_lint_line_is_left_out(text):
    assert cut(text, "all tests passed") == "negation"
