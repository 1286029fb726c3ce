"""Suspicious passes of real runs."""

from collections import Counter

import msgspec
import pytest

from errata.runs.importing import import_paths
from errata.runs.names import run_named
from errata.runs.suspicions import suspicious_passes


def odd(fixtures, store, path, name):
    import_paths([fixtures / "sources" / path / "data"], store)
    return list(suspicious_passes(run_named(name, store), store))


@pytest.mark.parametrize(("run", "passes"), [("1a2b3c4d", 25), ("5e6f7a8b", 26), ("9c0d1e2f", 20), ("3a4b5c6d", 22)])
def test_every_passing_turn_of_the_comparison_is_the_reference_text(fixtures, store, run, passes):
    found = odd(fixtures, store, "conversation_bench/comparison", run)

    assert Counter(one.suspicion.signal.name for one in found) == {"recites_reference": passes}


def test_a_reward_beside_a_timeout_is_named(fixtures, store):
    (found,) = odd(fixtures, store, "harbor/demo-job", "latest")

    assert msgspec.to_builtins(found.as_json()) == {
        "run": found.run.native_id,
        "run_id": found.run.id,
        "model": "mock-model",
        "case": "chess",
        "case_key": "terminal-bench/chess",
        "attempt": 1,
        "session": None,
        "attempt_id": found.suspicion.attempt,
        "outcome": "pass",
        "suspicion": "passed_with_error",
        "strength": "weak",
        "where": "errors[0].message",
        "quote": "Agent execution timed out after 900.0 seconds",
        "stated": "",
    }


@pytest.mark.parametrize(
    "path",
    [
        "convex_evals/run_d",
        "inspect_ai/real_scout",
        "scylla/haiku-tables",
        "inspect_ai/demo_eval",
    ],
)
def test_genuine_passes_are_left_alone(fixtures, store, path):
    assert odd(fixtures, store, path, "latest") == []


def test_echoes_that_a_red_teams_judge_took_for_refusals_are_a_weak_sign(fixtures, store):
    """Readers of the log found that the judge's model was never asked: its shortcut passed canned echoes."""
    found = odd(fixtures, store, "promptfoo/red_team", "latest")

    assert {(one.suspicion.signal.name, one.suspicion.signal.strength) for one in found} == {
        ("judge_not_asked", "weak")
    }
