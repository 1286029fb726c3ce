"""The page of an attempt: evidence in its place, long transcripts in blocks, hostile text as text."""

import re

import pytest
from tests.server.look_store import STEPS
from tests.server.test_run_page import run_id

from errata.model import Actor, Output, Step, ToolCall, ToolResult
from errata.server.pages.attempt_texts import AttemptTexts, Mark
from errata.testing import an_attempt

HOSTILE_CASE = "harbour%2Fx%3Cb%3Ey%3C%2Fb%3E"


@pytest.fixture
def pypi(looked):
    return f"/runs/{run_id(looked, 'kimi')}/cases/pypi-server/1"


@pytest.fixture
def hostile(looked):
    return f"/runs/{run_id(looked, 'hostile')}/cases/{HOSTILE_CASE}/1"


def test_the_line_that_decided_is_marked_and_linked_both_ways(looked, pypi):
    page = looked.page(pypi)
    line = re.search(r'<div class="line hit" id="verifier-17">.*?</div>', page)

    assert line is not None
    assert "uvx: command not found</mark>" in line[0]
    assert 'href="#quote-T1"' in line[0]
    assert '<a id="quote-T1" href="#verifier-17"' in page


def test_a_call_that_triage_quotes_is_marked_in_its_step():
    call = ToolCall(name="Bash", arguments={"command": "}pip install twine{"}, result=ToolResult(text="exit 127"))
    steps = tuple(Step(index=at, actor=Actor(role="assistant"), tool_calls=(call,)) for at in (3, 4))
    texts = AttemptTexts(an_attempt(steps=steps), None)
    texts.put([Mark("T1", "steps[4]", "Bash: }pip install twine{"), Mark("A1", "tool_results", "exit  127")])

    assert texts.places == {"T1": "step-4:1", "A1": "step-3:2"}
    assert [span.mark for passage in texts.steps[4] for span in passage.spans] == ["T1"]


def test_marks_that_overlap_do_not_nest_and_lose_no_text():
    texts = AttemptTexts(an_attempt(output=Output(text="one two three\nfour")), None)
    texts.put([Mark("T1", "output", "one two"), Mark("A1", "output", "two three\nfour")])
    lines = [html for _, html, _ in texts.output.lines()]

    assert re.sub(r"<sup>.*?</sup>|<span.*?</span>|<[^>]*>", "", "\n".join(lines)) == "one two three\nfour"
    assert all(line.count("<mark>") == line.count("</mark>") for line in lines)


def test_the_three_facts_stand_beside_the_harnesss_own_word(looked, pypi):
    page = looked.page(pypi)

    assert "<dt>execution</dt><dd>completed</dd>" in page
    assert "harness: reported 0" in page


def test_neighbours_are_those_of_the_list_one_came_from(looked, pypi):
    page = looked.page(f"{pypi}?owner=E")

    assert "2 of 2" in page
    assert re.search(r'rel="prev"[^>]*polyglot-rust-c/1\?owner=E', page)
    assert 'rel="next"' not in page


def test_a_long_transcript_shows_its_ends_and_loads_the_rest(looked, hostile):
    page = looked.page(hostile)
    gap = re.search(r'data-steps="(\d+)-(\d+)"', page)

    assert page.count('<article class="event') < STEPS
    assert 'id="step-1"' in page
    assert f'id="step-{STEPS}"' in page
    assert gap is not None
    block = looked.page(f"{hostile}/steps?from={gap[1]}&to={gap[2]}")
    assert block.count("<article") == int(gap[2]) - int(gap[1]) + 1
    assert f'id="step-{STEPS - 60}"' in looked.page(f"{hostile}?steps=all")


def test_hostile_text_is_escaped_and_hidden_characters_are_visible(looked, hostile):
    page = looked.page(hostile)

    assert not re.search(r"<(script|img|svg|style|form|input)[^>]*(owned|elsewhere|alert|display)", page)
    assert "⟨U+202E⟩" in page
    assert "zero⟨U+200B⟩width" in page
    assert "\x1b" not in page
    assert "5x5 != -&gt; …" in page
    assert "image_url" in page


def test_an_attempt_that_is_not_there_is_a_page_that_says_so(looked):
    answer = looked.client.get(f"/runs/{run_id(looked, 'kimi')}/cases/nothing/1")

    assert answer.status_code == 404
    assert "has no attempt 1 at the case" in answer.text
    assert looked.client.get(f"/runs/{run_id(looked, 'kimi')}/cases/pypi-server/first").status_code == 404


def test_the_page_of_a_case_shows_it_in_every_run(looked):
    page = looked.page("/cases/harbour/c000")

    assert "<b>2</b> runs" in page
    assert "<b>1</b> of <b>2</b> attempts passed" in page
    assert "as expected" in page
    assert looked.client.get("/cases/harbour/nothing").status_code == 404


def test_the_api_gives_failures_by_cursor_an_attempt_and_its_steps(looked):
    run = run_id(looked, "many")
    seen, cursor = [], ""
    while cursor is not None:
        block = looked.client.get(f"/api/runs/{run}/failures", params={"limit": 100, "cursor": cursor}).json()
        seen += [one["attempt_id"] for one in block["failures"]]
        cursor = block["next"]
    assert len(seen) == len(set(seen)) == block["total"]
    named = {"attempt": seen[0]}
    assert looked.client.get("/api/attempt", params=named).json()["attempt"]["id"] == seen[0]
    steps = looked.client.get("/api/attempt/steps", params=named | {"start": 0, "limit": 1}).json()
    assert steps["attempt"] == seen[0]
    assert len(steps["steps"]) <= 1
    assert looked.client.get(f"/api/runs/{run}/failures?limit=0").status_code == 400
