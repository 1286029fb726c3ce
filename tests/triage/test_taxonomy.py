"""Taxonomies of one's own, beside the built-in ones."""

import pytest

from errata.errors import SettingsError
from errata.testing import an_attempt
from errata.triage.taxonomy import built_in, suggestions, version_of, with_added

MINE = """
name = "mine"
version = "1"

[[label]]
name = "GRUMPY_JUDGE"
owner = "grader"
meaning = "the judge was in a bad mood"
owners = ["grader"]
"""


@pytest.fixture
def added(tmp_path):
    def add(text=MINE, name="mine.toml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return add


def test_without_files_there_are_the_built_in_ones():
    assert with_added([]) == built_in()


def test_a_taxonomy_of_ones_own_is_appended(added):
    assert [one.name for one in with_added([added()])] == [*(one.name for one in built_in()), "mine"]


def test_one_of_the_same_name_takes_the_place_of_a_built_in_one(added):
    name = built_in()[0].name

    found = with_added([added(MINE.replace('"mine"', f'"{name}"'))])

    assert len(found) == len(built_in())
    assert found[0].label[0].name == "GRUMPY_JUDGE"


def test_its_label_is_suggested(added):
    result = suggestions("any", an_attempt(), "grader", frozenset(), with_added([added()]))

    assert result["mine"] == "GRUMPY_JUDGE"


def test_a_changed_word_makes_another_version(added):
    before = version_of(with_added([added()]))

    assert before != version_of(with_added([added(MINE.replace("bad mood", "good mood"))]))


def test_the_version_does_not_depend_on_the_order_of_the_files(added):
    one, other = added(), added(MINE.replace('"mine"', '"yours"'), "yours.toml")

    assert version_of(with_added([one, other])) == version_of(with_added([other, one]))


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (MINE.replace('"grader"\nmeaning', '"judge"\nmeaning'), "judge"),
        (MINE + 'colour = "red"\n', "colour"),
        (MINE + 'cues = "("\n', "missing )"),
        (MINE + MINE.split("\n\n")[1], "`GRUMPY_JUDGE` is listed twice"),
        ('name = "mine"\nversion = "1"\nlabel = []\n', "no `[[label]]`"),
        ("name = ", "Invalid value"),
    ],
    ids=["owner", "field", "cue", "twice", "empty", "toml"],
)
def test_what_is_wrong_in_a_file_is_told(added, text, wrong):
    path = added(text)

    with pytest.raises(SettingsError) as result:
        with_added([path])

    assert str(path) in result.value.message
    assert wrong in result.value.message


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(SettingsError, match="No such file"):
        with_added([tmp_path / "none.toml"])


@pytest.mark.req("C-13")
def test_the_two_later_labels_of_convex_evals_are_suggested_only_on_request():
    attempt = an_attempt(execution="error", measurement="not_run", outcome="none")

    assert "convex-evals-later" not in suggestions("convex-evals", attempt, "harness", frozenset())
    assert {one.name for one in built_in() if one.opt_in} == {"convex-evals-later"}
