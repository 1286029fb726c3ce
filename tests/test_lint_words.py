"""The lint for names and phrases finds what it should, and nothing else."""

import ast
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "scripts"))
import lint_words

HERE = lint_words.ROOT / "src" / "errata" / "sample.py"


def names(source):
    return [problem.text for problem in lint_words.names_in(HERE, ast.parse(source))]


def prose(source):
    return [problem.text for problem in lint_words.prose_in_code(HERE, source, ast.parse(source))]


@pytest.mark.parametrize(
    "source",
    ["told = 1", "def f(one): ...", "for found in x: ...", "class Said: ...", "def told(): ...", "_FOUND = 1"],
)
def test_a_name_that_holds_nothing_is_listed(source):
    assert len(names(source)) == 1


@pytest.mark.parametrize(
    "source", ["[one for one in x]", "lambda one: one", "founded = 1", "class Founder: ...", "x.told"]
)
def test_other_names_are_not(source):
    assert names(source) == []


def test_a_variable_of_a_test_has_a_name_that_holds_something():
    here = lint_words.ROOT / "tests" / "test_sample.py"
    source = "def test_it():\n    told = done()\n    page = told.out\n\nclass A:\n    said: str\n"

    assert [problem.line for problem in lint_words.variables_in_test(here, source)] == [2]


def test_a_name_of_a_long_comprehension_is_listed():
    assert len(names("[\n    one\n    for one in x\n]")) == 1


def test_a_function_is_a_verb_but_a_property_may_be_a_question():
    assert len(names("class A:\n    def measured(self): ...")) == 1
    assert names("class A:\n    @property\n    def measured(self): ...") == []


def test_a_metaphor_is_listed_wherever_it_is_in_a_name():
    assert len(names("def put_on_shelf(): ...")) == 1


@pytest.mark.parametrize(
    "source",
    [
        '"""The log says nothing about it."""',
        "# written anew",
        'x = "what stands in the log"',
        'x = f"{name} says {value}"',
        "# these are no failures",
        "# it counts, also if it was never measured",
        '"""Files, each whole or not at all."""',
        'x = "right about four times in ten"',
        "# runs are left out, and named",
    ],
)
def test_a_phrase_is_listed_in_docstrings_comments_and_messages(source):
    assert prose(source)


@pytest.mark.parametrize(
    "source",
    [
        'x = "there is no run"',
        'x = "it is no longer there"',
        'x = r"\\bsays\\b nothing"',
        'x = "says"',
        'x = "he said so"  # words: quoted',
    ],
)
def test_patterns_single_words_and_quotes_are_not_prose(source):
    assert prose(source) == []


def test_code_in_markdown_is_not_prose(tmp_path, monkeypatch):
    monkeypatch.setattr(lint_words, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("It shows `told`.\n\n```\nit was told\n```\n\nIt was told.\n")

    assert [problem.line for problem in lint_words.prose_in_text(page)] == [7]


def test_of_rules_only_what_people_read_is_checked(tmp_path, monkeypatch):
    monkeypatch.setattr(lint_words, "ROOT", tmp_path)
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rule]]\nmatch = "the server said no"\nmeans = "the server said no to it"\n')

    assert [problem.line for problem in lint_words.prose_in_rules(rules)] == [3]
