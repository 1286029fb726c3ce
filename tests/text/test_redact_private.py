"""What leaves the machine tells neither secrets nor people. The corpus is tests/fixtures/review/secrets.toml."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.length import LONG
from tests.time_limit import within

from errata.render.document import Code, Text, marked
from errata.text.outgoing import (
    for_others,
    outgoing_line,
    outgoing_lines,
    outgoing_tree,
    short_line,
    tree_for_others,
)
from errata.text.private import without_people

CORPUS = tomllib.loads((Path(__file__).parents[1] / "fixtures/review/secrets.toml").read_text(encoding="utf-8"))
SECRETS = [(one["text"].replace("·", ""), one["gone"], one["kind"]) for one in CORPUS["secret"]]
HARMLESS = [one["text"] for one in CORPUS["harmless"]]


@pytest.mark.trap(20)
@pytest.mark.parametrize(("text", "gone", "kind"), SECRETS)
def test_no_secret_of_the_corpus_survives(text, gone, kind):
    shown = for_others(text)

    assert gone not in shown
    assert f"[redacted:{kind}]" in shown


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays(text):
    assert for_others(text) == text


texts = st.sampled_from([text for text, _, _ in SECRETS] + HARMLESS) | st.text(max_size=40)


@given(st.lists(texts, max_size=6), st.sampled_from(["", " ", "\n", "/", "@", ":", "=", '"']))
@example(["/home/", "anna"], "")
@example(["github_pat_11ABC_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCd", "Authorization: Basic dXNlcjpodW50ZXIy"], ":")
def test_redacting_twice_changes_nothing_more(parts, between):
    once = for_others(between.join(parts))

    assert for_others(once) == once


@given(st.text(max_size=60), st.sampled_from([text for text, _, kind in SECRETS if kind in ("email", "user")]))
def test_people_are_found_among_other_lines(around, text):
    gone = next(one for line, one, _ in SECRETS if line == text)

    assert gone not in without_people(f"{around}\n{text}\n").replace(around, "")


def test_a_secret_split_by_an_escape_sequence_is_found():
    assert "hunter2hunter2" not in for_others("DB_PASSWORD\x1b[0m=hunter2\x1b[1mhunter2")


def test_a_name_in_a_key_of_a_dict_goes_too():
    assert tree_for_others({"/home/anna/x.py": 1}) == {"/home/[redacted:user]/x.py": 1}


def test_values_under_secret_names_go_at_any_depth():
    result = tree_for_others({"env": [{"API_KEY": "s3cr3t-value", "n": 3, "owner": "anna@lind.io"}], "none": None})

    assert result == {"env": [{"API_KEY": "[redacted:named]", "n": 3, "owner": "[redacted:email]"}], "none": None}


SIZE, SECONDS = (200_000, 60) if LONG else (20_000, 15)
HOSTILE = [
    *("@", "a@", "a.", "a.b@", "a@b.", "@b.c", "é@", "a-", "sk-", "ghp_", "SG.a", "key=", "--token ", "_pass"),
    *("/home/", "/home/a", "home/", "C:\\Users\\", "-home-a", "%2Fhome"),
    *("machine a login b ", " -u a", "uthorization: "),
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_long_hostile_text_is_done_in_reasonable_time(piece):
    with within(SECONDS):
        for head in ("", "a@", "/home/"):
            for_others(head + piece * (SIZE // len(piece)))


SECRET = "ghp_" + "a1B2" * 9


@pytest.mark.trap(20)
def test_secrets_addresses_and_home_folders_are_replaced():
    result = outgoing_line(f"token {SECRET} of ana.lopez@acme.io in /home/ana.lopez/x")

    assert result == "token [redacted:github-token] of [redacted:email] in /home/[redacted:user]/x"


@pytest.mark.trap(20)
def test_a_secret_at_the_place_of_the_cut_leaves_no_half():
    for width in range(20, 60):
        assert SECRET[:8] not in short_line(f"the key is {SECRET}, keep it", width)


def test_lines_stay_lines_in_a_snippet_and_become_one_elsewhere():
    assert outgoing_lines("\n a\r\nb\x1b[31m\n") == " a\nb"
    assert outgoing_line(" a\r\nb\u2028c\t d ") == "a b c d"


def test_every_text_of_a_tree_is_washed():
    assert outgoing_tree({"a": [SECRET, {"b": f"{SECRET}\x00"}], "n": 1, "no": None}) == {
        "a": ["[redacted:github-token]", {"b": "[redacted:github-token]"}],
        "n": 1,
        "no": None,
    }


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("has `code` in it", (Text("has "), Code("code"), Text(" in it"))),
        ("one ` alone", (Text("one ` alone"),)),
        ("`a` and `b", (Code("a"), Text(" and `b"))),
        ("", ()),
    ],
)
def test_what_reviewers_put_between_backticks_is_code(text, parts):
    assert marked(text) == parts
