"""What leaves the machine tells neither secrets nor people. The corpus is tests/fixtures/review/secrets.toml."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from errata.text.private import for_others, tree_for_others, without_people

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
    told = tree_for_others({"env": [{"API_KEY": "s3cr3t-value", "n": 3, "owner": "anna@lind.io"}], "none": None})

    assert told == {"env": [{"API_KEY": "[redacted:named]", "n": 3, "owner": "[redacted:email]"}], "none": None}


HOSTILE = [
    *("@", "a@", "a.", "a.b@", "a@b.", "@b.c", "é@", "a-", "sk-", "ghp_", "SG.a", "key=", "--token ", "_pass"),
    *("/home/", "/home/a", "home/", "C:\\Users\\", "-home-a", "%2Fhome"),
    *("machine a login b ", " -u a", "uthorization: "),
]
SCRIPT = """
import sys
from errata.text.private import for_others
piece = sys.stdin.buffer.read().decode()
for head in ("", "a@", "/home/"):
    for_others(head + piece * (200_000 // len(piece)))
"""


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_long_hostile_text_is_done_in_reasonable_time(piece):
    done = subprocess.run([sys.executable, "-c", SCRIPT], input=piece.encode(), timeout=60, check=False)

    assert done.returncode == 0
