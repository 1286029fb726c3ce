"""A single experiment tree: run = subject, case = test/tier/subtest, every run counted."""

import json
import shutil

import pytest
from scylla_fixtures import GEN2, TABLES, TREE, attempts, copied, facts, items, items_of, run_of

from errata.model import Case, Unreadable
from errata.sources import find, scylla

EXPERIMENT = GEN2 / "2026-03-20T09-00-00-test-002"


def test_a_case_is_a_subtest_and_its_category_the_tier():
    cases = [item for item in items_of(TREE) if isinstance(item, Case)]

    assert (cases[0].key, cases[0].category) == ("projectscylla/test-001/T0/00", "T0")
    assert len(cases) == 7


def test_the_answer_is_taken_out_of_the_json_of_the_cli():
    output = attempts(items_of(TREE))[0].output

    assert output.text.startswith("Task completed successfully!")


def test_criteria_of_each_judge_and_their_items_are_checks():
    checks = attempts(items_of(TREE))[0].checks
    first = next(check for check in checks if check.name == "functional/F4" and check.judge == "judge_01")

    assert (first.kind, first.achieved, first.max, first.status, first.counts) == ("criterion", 0.5, 0.5, "pass", False)
    assert first.explanation.startswith("Output is exactly")


def test_the_consensus_is_the_primary_check():
    check = attempts(items_of(TREE))[0].checks[0]

    assert (check.name, check.is_primary, check.status) == ("judges", True, "pass")
    assert check.value == pytest.approx(0.97333333)


@pytest.mark.parametrize("place", ["result.json", "T0/result.json"])
def test_the_cost_of_pass_of_a_tier_is_found_in_either_result(tmp_path, place):
    tree = copied(TREE, tmp_path)
    result = {"cost_of_pass": 0.5} if "/" in place else {"tier_results": {"T0": {"cost_of_pass": 0.5}}}
    (tree / place).write_text(json.dumps(result))
    parts = {part.path: part for part in run_of(items(tree)).parts}

    assert (parts["T0"].cost_of_pass, parts["T1"].cost_of_pass) == (0.5, None)


@pytest.mark.trap(20)
def test_a_command_keeps_the_names_of_its_environment_and_no_value():
    (command,) = attempts(items_of(TREE))[0].extra["command_log"]["commands"]

    assert command["env_names"] == ["HOME", "LANG", "PATH", "SHELL", "USER"]
    assert "env_vars" not in command


def test_descent_finds_the_tree_and_the_tables_below_a_folder(tmp_path):
    shutil.copytree(TREE, tmp_path / "dryrun" / "raw")
    shutil.copytree(TABLES, tmp_path / "dryrun" / "data")

    found = find(tmp_path / "dryrun", source="scylla")
    assert [one.path.name for one in found] == ["data", "raw"]


def test_the_same_subtest_has_the_same_key_in_tree_and_tables():
    assert {one.case for one in attempts(items_of(TREE))} == {one.case for one in attempts(items_of(TABLES))}


def test_a_tree_of_the_later_layout_is_read_alone():
    found = items(EXPERIMENT)

    assert {one.case: facts(one) for one in attempts(found)} == {
        "projectscylla/test-002/T0/00": ("completed", "scored", "pass"),
        "projectscylla/test-002/T0/01": ("completed", "scored", "fail"),
        "projectscylla/test-002/T0/02": ("error", "not_run", "none"),
        "projectscylla/test-002/T1/01": ("unfinished", "not_run", "none"),
    }
    assert run_of(found).native_status == "running"
    assert run_of(found).extra["checkpoints"]["."]["pid"] == 999999


def test_a_failed_try_of_a_run_that_was_made_again_is_superseded(tmp_path):
    root = copied(EXPERIMENT, tmp_path)
    (root / ".failed" / "T0" / "00").mkdir()
    (root / ".failed" / "T0" / "02" / "run_01").rename(root / ".failed" / "T0" / "00" / "run_01")

    later, earlier = (one for one in attempts(items(root)) if one.case.endswith("T0/00"))
    assert (later.superseded_by, earlier.superseded_by) == (None, later.id)


def checkpoint(tmp_path, **changes):
    root = copied(EXPERIMENT, tmp_path)
    data = json.loads((root / "checkpoint.json").read_text()) | changes
    (root / "checkpoint.json").write_text(json.dumps(data))
    return items(root)


def test_a_checkpoint_of_version_1_is_not_supported_and_the_runs_are_read(tmp_path):
    found = checkpoint(tmp_path, version="1.0")

    (bad,) = (item for item in found if isinstance(item, Unreadable))
    assert "not supported" in bad.why
    assert len(attempts(found)) == 4


@pytest.mark.parametrize("version", ["2.0", "3.0", "3.1"])
def test_checkpoints_since_version_2_are_read(tmp_path, version):
    found = checkpoint(tmp_path, version=version)

    assert not [item for item in found if isinstance(item, Unreadable)]
    assert run_of(found).source.format_version == f"checkpoint {version}"


def test_a_run_that_only_the_checkpoint_knows_is_not_lost(tmp_path):
    states = {"T0": {"07": {"1": "worktree_cleaned"}, "08": {"1": "rate_limited"}, "09": {"1": "pending"}}}
    found = attempts(checkpoint(tmp_path, run_states=states))

    assert {one.case[-5:]: one.execution for one in found if one.case[-2:] in ("07", "08", "09")} == {
        "T0/07": "missing",
        "T0/08": "error",
        "T0/09": "unfinished",
    }


def result(tmp_path, **changes):
    root = copied(EXPERIMENT, tmp_path)
    path = root / "completed" / "T0" / "00" / "run_01" / "run_result.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    return next(one for one in attempts(items(root)) if one.case.endswith("T0/00"))


@pytest.mark.trap(18)
def test_when_all_judges_are_invalid_the_measurement_is_broken(tmp_path):
    judges = [{"model": "m", "judge_number": 1, "is_valid": False, "reasoning": "usage limit reached"}]
    attempt = result(tmp_path, judges=judges, judge_passed=False, judge_score=0.0)

    assert facts(attempt) == ("completed", "error", "none")
    assert (attempt.errors[0].phase, attempt.errors[0].message) == ("scoring", "usage limit reached")


def test_exit_minus_one_without_tokens_is_no_answer_even_if_it_was_judged(tmp_path):
    attempt = result(tmp_path, exit_code=-1, token_stats={"input_tokens": 0, "output_tokens": 0}, judge_passed=False)

    assert facts(attempt) == ("error", "scored", "none")


@pytest.mark.trap(10)
def test_null_in_every_place_of_a_result_is_read(tmp_path):
    attempt = result(tmp_path, judges=None, token_stats=None, criteria_scores=None, judge_passed=None, judge_score=None)

    assert facts(attempt) == ("completed", "not_run", "none")


def test_files_of_the_set_up_are_no_output_of_the_agent(tmp_path):
    root = copied(EXPERIMENT, tmp_path)
    run = root / "completed" / "T0" / "00" / "run_01"
    names = ("CLAUDE.md", ".claude/agents/a.md", "src/flag.py", "../../secret")
    for name in names[:3]:
        (run / "workspace" / name).parent.mkdir(parents=True, exist_ok=True)
        (run / "workspace" / name).write_text(name)
    path = run / "run_result.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"changes": [{"path": name} for name in names]}))

    attempt = next(one for one in attempts(items(root)) if one.case.endswith("T0/00"))
    assert [one.path for one in attempt.artefacts if one.role == "output"] == ["workspace/src/flag.py"]


def test_a_limit_of_turns_is_a_limit_with_the_outcome_of_the_judges(tmp_path):
    root = copied(EXPERIMENT, tmp_path)
    agent = root / "completed" / "T0" / "01" / "run_01" / "agent"
    agent.mkdir()
    stdout = json.dumps({"type": "result", "subtype": "error_max_turns", "is_error": False, "num_turns": 30})
    (agent / "result.json").write_text(json.dumps({"exit_code": 0, "stdout": stdout}))

    attempt = next(one for one in attempts(items(root)) if one.case.endswith("T0/01"))
    assert (facts(attempt), attempt.limit.type) == (("limit", "scored", "fail"), "max_turns")


def test_a_tree_is_recognised_without_checkpoint_and_config(tmp_path):
    root = copied(EXPERIMENT, tmp_path)
    (root / "checkpoint.json").unlink()

    assert scylla.recognise(root) is not None
