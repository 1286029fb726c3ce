"""docs/review.md against the records and the commands: its tables name every field, and no other; its examples hold."""

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from errata.json_output.review import form_of
from errata.model import Packet
from errata.model.codec import from_json, to_whole
from errata.review.answers import FIELDS
from reading import RUN_B, an_answer, submitted
from terminal import done, errata, import_fixtures

PAGE = (Path(__file__).parent.parent / "docs" / "review.md").read_text(encoding="utf-8")
CALLED = ("--reviewer", "my-agent")


@pytest.fixture(autouse=True)
def imported(tmp_path, monkeypatch):
    for name in ("ERRATA_STORE", "ERRATA_AUTHOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    import_fixtures(RUN_B)


def fields(heading, table=0):
    """What the tables of a section name in their first column, one table after the other."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    tables = re.findall(r"^\| field \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", section, re.MULTILINE)
    return {name for row in tables[table].splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])}


def examples():
    return [json.loads(block) for block in re.findall(r"^```json\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)]


def ran(line):
    return subprocess.run(shlex.split(line), capture_output=True, text=True, check=True).stdout


def handed(thing="latest"):
    return done("review", "next", thing, *CALLED).row


def test_the_packet_is_described_whole():
    packet = handed()["packet"]

    assert fields("Packets") == set(packet) == set(Packet.__struct_fields__) - {"extra", "ref"}


def test_the_verdict_is_described_whole():
    form = to_whole(form_of(from_json(json.dumps(handed()["packet"]), Packet), "token"))

    assert fields("Verdicts") == set(form) == {*FIELDS, "attempt_id", "lease", "packet_hash", "taxonomy"}


def test_what_next_prints_is_described_whole():
    assert fields("An agent or a script") == set(handed())


def test_what_next_prints_where_nothing_is_left_is_described_whole():
    shown = re.search(r"`next` prints\n`({\"packet\": null.*?})`", PAGE)

    row = done("review", "next", "latest", "--owner", "simulator").row
    assert shown is not None
    assert re.findall(r'"(\w+)":', shown[1]) == list(row)


def test_what_submit_prints_is_described_whole(tmp_path):
    result = handed()
    wrong = {"label": "BAD_LUCK", "evidence": [{"place": "nowhere", "quote": "this was never written"}]}
    refused = submitted(tmp_path / "v.json", an_answer(result, **wrong), *CALLED, "--json").row
    taken = submitted(tmp_path / "v.json", an_answer(result), *CALLED, "--json").row

    assert fields("An agent or a script", 1) == set(taken)
    assert fields("An agent or a script", 2) == set(refused)


@pytest.mark.parametrize("name", ["label", "cause", "reasoning", "evidence", "confidence"])
def test_what_is_said_to_be_needed_is(tmp_path, name):
    result = an_answer(handed())
    del result[name]

    assert f"| `{name}` | yes |" in PAGE
    assert submitted(tmp_path / "v.json", result, *CALLED).code == 2


@pytest.mark.parametrize("example", examples(), ids=lambda example: example["label"])
def test_the_examples_are_taken(tmp_path, example):
    lease = handed(example["attempt_id"])["answer"]["lease"]

    taken = submitted(tmp_path / "v.json", example | {"lease": lease}, *CALLED, "--json").row
    assert (taken["accepted"], taken["label"]) == (True, example["label"])


def test_an_example_shows_the_label_none():
    assert [example["owner"] for example in examples() if example["label"] == "none"] == ["provider"]


def test_an_owner_that_contradicts_the_label_is_refused_as_the_page_says(tmp_path):
    row = submitted(tmp_path / "v.json", an_answer(handed(), owner="grader"), *CALLED)

    assert "the owner contradicts the label" in PAGE
    assert (row.code, "is for the owner `model`, not `grader`" in row.talk) == (2, True)


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
def test_the_lines_for_jq_do_what_is_said(tmp_path):
    result = handed()
    (tmp_path / "packet.json").write_text(json.dumps(result))
    filled = an_answer(result)
    wanted = {name: filled[name] for name in ("label", "cause", "reasoning", "evidence", "confidence")}
    (tmp_path / "fields.json").write_text(json.dumps(wanted))
    fill, read = re.findall(r"^jq .*$", PAGE, re.MULTILINE)

    answer = ran(fill.partition(" | errata")[0])
    texts = ran(read)

    assert submitted(tmp_path / "v.json", json.loads(answer), *CALLED).code == 0
    assert "── task\nDefine a table `visits`" in texts


def test_the_name_of_whoever_gives_none_is_the_one_on_the_page():
    assert done("review", "next", "latest").row["reviewer"] == "agent:agent"
    assert "stored as `agent:agent`" in PAGE


def test_caps_are_said_to_hold_for_one_command():
    page = " ".join(errata("review", "run", "--help").out.split())

    assert "Spend at most this much in this command." in page
    assert "apply to one command" in PAGE


@pytest.mark.parametrize(
    "word", ["span", "marker", "standing", "redacted", "stale", "in hand", "cost of pass", "frontier", "pooled"]
)
def test_the_glossary_has_the_words_of_the_review_and_of_scores(word):
    glossary = (Path(__file__).parent.parent / "docs" / "glossary.md").read_text(encoding="utf-8")

    assert f"| **{word}** |" in glossary
