"""Real logs with one number changed: which finding reports it, and which number is left alone."""

import json
import math
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from changed_logs import FIXTURES, change, copy_of, items
from hypothesis import given, settings
from hypothesis import strategies as st

from errata.checkup import examine
from errata.model import Attempt, Case, Finding, Run, Unreadable

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def findings(path: Path, name: str = "") -> list[Finding]:
    """What the checkup finds in the only run at the path; those of one name, if it is given."""
    read = items(path)
    (run,) = [item for item in read if isinstance(item, Run)]
    found = examine(
        run,
        [item for item in read if isinstance(item, Attempt)],
        [item for item in read if isinstance(item, Unreadable)],
        now=NOW,
        descriptions=[item for item in read if isinstance(item, Case)],
    )
    return [one for one in found if name in ("", one.name)]


def attempts(path: Path) -> list[Attempt]:
    return [item for item in items(path) if isinstance(item, Attempt)]


# --- counts ---


@pytest.mark.parametrize("log", ["every_eval_ever/from_inspect", "helm/demo", "lm_eval/dummy", "bfcl/simple"])
def test_a_count_of_cases_is_not_compared_with_rows(log):
    found = [item for item in items(FIXTURES / log / "data") if isinstance(item, Run)]

    assert {run.measured_unit for run in found} == {"cases"}


def leaderboard(folder: Path, **changes: Any) -> Path:
    fields = {"dirname": "2025-02-25", "test_cases": 225, "model": "m", "edit_format": "whole", "commit_hash": "abc"}
    fields |= {"pass_rate_1": 20.0, "pass_rate_2": 35.6, "pass_num_1": 45, "pass_num_2": 80, "total_cost": 4.2}
    lines = [f"{key}: {value}" for key, value in (fields | changes).items()]
    path = folder / "polyglot_leaderboard.yml"
    path.write_text("- " + "\n  ".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("changes", "name", "text"),
    [
        ({"pass_rate_2": 95.6}, "impossible_count", "pass_rate_2 0.956, but its own counts are 80 of 225"),
        ({"pass_rate_1": 35.6}, "impossible_count", "pass_rate_1 0.356, but its own counts are 45 of 225"),
        ({"pass_num_1": 300}, "impossible_count", "pass_num_1 300 of 225"),
        ({"total_cost": -4.2}, "impossible_cost", "total_cost -4.2, which is not an amount"),
    ],
)
def test_a_leaderboard_that_contradicts_itself_is_reported(tmp_path, changes, name, text):
    (found,) = findings(leaderboard(tmp_path, **changes), name)

    assert found.text == f"polyglot_leaderboard.yml states {text}"


@pytest.mark.parametrize(("correct", "is_certain"), [(0, False), (2, True), (3, True)])
def test_listed_failures_that_contradict_the_count_of_correct_answers_are_reported(tmp_path, correct, is_certain):
    log = copy_of("bfcl/simple", tmp_path)
    path = next(log.rglob("*_score.json"))
    first, *rest = path.read_text().splitlines(keepends=True)
    header = json.loads(first) | {"correct_count": correct, "accuracy": correct / 4}
    path.write_text(json.dumps(header) + "\n" + "".join(rest))
    (found,) = findings(log, "files_disagree")

    assert found.severity == ("error" if is_certain else "warning")
    assert f"4 results and 3 listed failures do not add up to {correct} of 4 correct" in found.text
    assert [one.outcome for one in attempts(log)].count("pass") == is_certain
    assert all(one.measurement != "unscored" for one in attempts(log))


# --- scores that are gone ---


@pytest.mark.parametrize(
    ("fixture", "file", "unit"),
    [("helm/demo", "per_instance_stats.json", "cases"), ("evalscope/repeats", "*/reviews/*/*.jsonl", "attempts")],
)
def test_a_score_that_was_removed_is_reported(tmp_path, fixture, file, unit):
    log = copy_of(fixture, tmp_path)
    assert findings(log, "no_verdict") == []
    (path,) = [path for path in log.rglob(file.rpartition("/")[2]) if path.match(file)]
    if path.suffix == ".jsonl":
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    else:
        change(path, lambda rows: rows[:-1])
    (found,) = findings(log, "no_verdict")
    (run,) = [item for item in items(log) if isinstance(item, Run)]

    stated = run.measured_attempts or 0
    assert found.text.startswith(f"the harness counts {stated} measured {unit}, but only {stated - 1} ")


def test_no_score_at_all_is_one_finding(tmp_path):
    log = copy_of("helm/demo", tmp_path)
    next(log.rglob("per_instance_stats.json")).write_text("[]")

    assert findings(log, "no_verdict") == []
    assert len(findings(log, "not_judged")) == 1


# --- scores that can't be ---


def changed_reward(folder: Path, reward: float, **parts: float) -> Path:
    log = next(copy_of("tau_bench/tau2", folder).glob("*.json"))
    rewards = {"reward": reward, "reward_breakdown": parts}
    change(log, lambda document: document["simulations"][0]["reward_info"].update(rewards))
    return log


@pytest.mark.parametrize("reward", [7.5, -1.0, 1.01])
def test_a_reward_outside_of_its_scale_is_reported(tmp_path, reward):
    (found,) = findings(changed_reward(tmp_path, reward, DB=1.0), "impossible_score")

    assert found.severity == "error"
    assert "a score outside of its scale (0 to 1)" in found.text
    assert found.evidence[0].stated == f"score {reward:g}"


@given(
    parts=st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=3), reward=st.sampled_from([0.0, 0.5, 1.0])
)
@settings(max_examples=10, deadline=None)
def test_a_reward_is_the_product_of_its_parts(parts, reward):
    with tempfile.TemporaryDirectory() as folder:
        named = {f"PART_{at}": value for at, value in enumerate(parts)}
        found = findings(changed_reward(Path(folder), reward, **named), "impossible_score")

    assert bool(found) == (math.prod(parts) != reward)


# --- costs ---


@pytest.mark.parametrize("cost", [-5, math.nan, math.inf])
@pytest.mark.parametrize("field", ["agent_cost", "user_cost"])
def test_a_cost_that_nobody_can_pay_is_reported_and_left_out_of_the_sum(tmp_path, field, cost):
    log = next(copy_of("tau_bench/tau2", tmp_path).glob("*.json"))
    change(log, lambda document: document["simulations"][0].update({field: cost}))
    (found,) = findings(log, "impossible_cost")

    assert found.text.startswith("1 attempt has a cost that is not an amount")
    assert found.text.endswith("left out of every sum")
    assert f"{cost:g}" in found.evidence[0].stated
    assert attempts(log)[0].usage.cost is None
