"""Status words that nobody knows, and columns that a table does not have, on tables of one's own."""

import json
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from errata.checkup import examine
from errata.model import Attempt, Check, Run
from errata.sources.generic.reader import read_with_map_beside
from errata.triage import attribute, built_in, look_over, observe

MAP = """suite = "s"
[case]
name = "id"
[attempt]
"""


def read(folder, rows, columns):
    path = folder / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    lines = "".join(f'{field} = "{field}"\n' for field in columns)
    (folder / "rows.jsonl.map.toml").write_text(MAP + lines, encoding="utf-8")
    items = [*read_with_map_beside(path)]
    made = [item for item in items if isinstance(item, Attempt)]
    return next(item for item in items if isinstance(item, Run)), made


def attributed(run, attempt):
    rules = built_in()
    return attribute(attempt, observe(run, attempt, None, None, rules), rules=rules)


def table(folder, *statuses):
    rows = [{"id": f"c{at}", "passed": False, "output": "", "status": word} for at, word in enumerate(statuses)]
    return read(folder, rows, ("passed", "output", "status"))


@pytest.mark.parametrize(
    ("status", "owner"),
    [
        ("zorked", "unknown"),
        ("usageLimits", "provider"),
        ("quota_exceeded", "provider"),
        ("limitReached", "budget"),
        ("maxTurns", "budget"),
        # words that only repeat the verdict
        ("failed", "model"),
        ("done", "model"),
        ("completed", "model"),
    ],
)
def test_a_status_word_is_never_swallowed(tmp_path, status, owner):
    run, (attempt,) = table(tmp_path, status)

    assert attributed(run, attempt).owner == owner


@pytest.mark.req("N-07")
@pytest.mark.parametrize("word", ["usageLimits", "usage_limits", "rate_limited", "quota_exceeded", "judge_error"])
@pytest.mark.parametrize(("kind", "owner"), [("limit", "budget"), ("completed", "model")])
def test_a_status_that_the_mapping_classifies_is_not_read_as_text_again(tmp_path, word, kind, owner):
    mapping = f'{MAP}passed = "passed"\nstatus = "status"\n[status_words]\n{kind} = ["{word}"]\n'
    (tmp_path / "rows.jsonl").write_text(json.dumps({"id": "c", "passed": False, "status": word}), encoding="utf-8")
    (tmp_path / "rows.jsonl.map.toml").write_text(mapping, encoding="utf-8")
    run, attempt = (one for one in read_with_map_beside(tmp_path / "rows.jsonl") if isinstance(one, Run | Attempt))
    found = attributed(run, attempt)

    assert found.owner == owner
    assert {signal.name for signal in found.signals} <= {"limit_reached", "check_failed"}


def test_checks_that_measured_the_attempt_go_before_an_unknown_status(tmp_path):
    run, (attempt,) = table(tmp_path, "zorked")
    found = attributed(run, replace(attempt, checks=(Check(name="match", status="fail"),)))

    assert (found.owner, "unknown_status" in [one.name for one in found.signals]) == ("model", True)


@pytest.mark.req("B-18")
def test_a_checkup_lists_unknown_status_words_with_counts(tmp_path):
    run, made = table(tmp_path, "zorked", "usageLimits", "zorked", "failed")
    found = {one.name: one for one in examine(run, made, (), now=datetime(2026, 3, 1, tzinfo=UTC))}

    assert (
        found["unknown_statuses"].text
        == "3 attempts ended with an unknown status word: 2 × `zorked`, 1 × `usageLimits`"
    )


def test_an_error_in_a_table_without_answers_does_not_show_that_nothing_was_generated(tmp_path):
    rows = [{"id": "c", "error": "KeyError: 'x'", "output": ""}]
    run, (attempt,) = read(tmp_path, rows, ("error", "output"))
    with_answers = attributed(run, attempt)
    run, (attempt,) = read(tmp_path, rows, ("error",))
    without = attributed(run, attempt)

    assert (with_answers.owner, with_answers.decided_by) == ("harness", "crash_before_generation")
    assert (without.owner, [one.name for one in without.signals]) == ("unknown", [])


def test_an_error_before_the_first_token_is_not_the_providers_without_a_providers_words(tmp_path):
    rows = [{"id": f"c{at}", "error": "it went odd", "output": ""} for at in range(4)]
    run, made = read(tmp_path, rows, ("error", "output"))
    found = attributed(run, made[0])
    rules, wide = built_in(), look_over(made)
    in_the_run = attribute(made[0], observe(run, made[0], None, wide, rules), rules=rules)

    assert ("no_generation" in [one.name for one in found.signals], found.owner) == (True, "unknown")
    assert (in_the_run.owner, in_the_run.confidence) == ("unknown", "weak")


@pytest.mark.req("B-04")
def test_a_value_that_the_harness_reports_shows_that_something_was_measured(tmp_path):
    rows = [{"id": "c", "error": "it went odd", "output": "", "score": 0.4}]
    run, (attempt,) = read(tmp_path, rows, ("error", "output", "score"))

    assert "no_generation" not in [one.name for one in attributed(run, attempt).signals]
