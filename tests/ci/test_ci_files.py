"""The GitHub Action and the GitLab template: valid, and tried end to end against a forge on loopback."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml
from forge import GH, Forge

from suite_of_runs import write_logs
from terminal import PROGRAM, done

ROOT = Path(__file__).parents[2]
ACTION, TEMPLATE = ROOT / "action.yml", ROOT / "ci/gitlab-errata.yml"
SECRET = "t0ken"


def loaded(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_the_action_is_valid_and_never_puts_an_input_into_a_script(fixtures):
    action = loaded(ACTION)

    jsonschema.validate(action, json.loads((fixtures / "schemas/github-action.json").read_text()))
    assert all("${{" not in step["run"] for step in action["runs"]["steps"])
    assert all("uses" not in step for step in action["runs"]["steps"])


@pytest.fixture(scope="module")
def gitlab():
    """GitLab's own schema. A hidden job may hold anything, so that the template is checked as a job that extends it."""
    schema = json.loads((ROOT / "tests/fixtures/schemas/gitlab-ci.json").read_text())
    return jsonschema.validators.validator_for(schema)(schema)


def test_the_gitlab_template_is_valid(gitlab):
    template = loaded(TEMPLATE)
    (name,) = template

    assert name == ".errata-gate"
    assert list(gitlab.iter_errors(template)) == list(gitlab.iter_errors({"errata-gate": template[name]})) == []


@pytest.mark.parametrize(
    "wrong", [{"scripts": ["true"]}, {"artifacts": {"when": "sometimes"}}, {"cache": {"when": "x"}}]
)
def test_a_mistake_in_the_gitlab_template_is_seen(gitlab, wrong):
    assert list(gitlab.iter_errors({"errata-gate": loaded(TEMPLATE)[".errata-gate"] | wrong}))


def test_the_gitlab_example_of_the_docs_is_valid_with_the_template(gitlab):
    page = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
    example = yaml.safe_load(next(one for one in page.split("```yaml\n") if "extends:" in one).partition("```")[0])
    job = loaded(TEMPLATE)[example["evals"].pop("extends")] | example["evals"]

    assert list(gitlab.iter_errors(example | {"evals": job})) == []


def test_shellcheck_has_nothing_against_the_scripts(tmp_path):
    checker = shutil.which("shellcheck") or str(Path(sys.executable).parent / "shellcheck")
    (job,) = [one for one in loaded(TEMPLATE).values() if isinstance(one, dict)]
    (tmp_path / "gitlab.sh").write_text("# shellcheck disable=SC2086\n" + "\n".join(job["script"]))
    scripts = [ROOT / "ci/gate.sh", ROOT / "ci/post-comment.sh", tmp_path / "gitlab.sh"]
    result = subprocess.run([checker, "--shell=bash", *scripts], capture_output=True, text=True, check=False)

    assert (result.returncode, result.stdout) == (0, "")


@pytest.fixture
def forge():
    with Forge() as forge:
        yield forge


@pytest.fixture
def environment(at_home, forge):
    """As in a job: errata and a stand-in for `gh` on the path, and nothing of this machine's own CI."""
    programs = at_home / "bin"
    programs.mkdir()
    (programs / "errata").symlink_to(PROGRAM)
    (programs / "gh").write_text(GH.format(python=sys.executable))
    (programs / "gh").chmod(0o755)
    return {
        "PATH": f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(at_home),
        "ERRATA_STORE": str(at_home / ".errata/errata.db"),
        "ERRATA_RESULTS": "results",
        "ERRATA_BASELINE": "branch:main",
        "ERRATA_ARGUMENTS": "--allow-no-baseline",
    }


def baseline(letters="+++"):
    write_logs(Path("main"), {"main-run": letters}, model="m")
    done("import", "main", "--branch", "main")


def results(name, letters):
    shutil.rmtree("results", ignore_errors=True)
    write_logs(Path("results"), {name: letters}, model="m")


def run_action(environment, forge):
    """The steps of the action, as a runner executes them."""
    action = loaded(ACTION)
    job = environment | {
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_REPOSITORY": "acme/evals",
        "GITHUB_REF": "refs/pull/7/merge",
        "GITHUB_REF_NAME": "7/merge",
        "GITHUB_HEAD_REF": "topic",
        "GITHUB_STEP_SUMMARY": "summary.md",
        "ERRATA_COMMENT": "true",
        "GH_TOKEN": SECRET,
        "FORGE": forge.address,
    }
    for step in action["runs"]["steps"]:
        made = subprocess.run(["bash", "-eo", "pipefail", "-c", step["run"]], env=job, capture_output=True, text=True)
        if made.returncode:
            break
    return made


@pytest.mark.req("B-76")
def test_the_action_gates_every_run_comments_once_and_updates_the_comment(environment, forge):
    baseline()
    results("first", "++-")
    first = run_action(environment, forge)
    results("second", "+++")
    write_logs(Path("results"), {"other": "+++"}, model="n")
    second = run_action(environment, forge)

    assert (first.returncode, second.returncode) == (1, 0), (first.stderr, second.stderr)
    updated, other = forge.comments.values()
    assert "### Gate passed: no new failures" in updated
    assert "(topic)" in updated
    assert "only the fit and the score were checked" in other
    assert forge.tokens == {f"token {SECRET}"}
    assert (forge.calls.count("POST"), forge.calls.count("PATCH")) == (2, 1)
    summary = Path("summary.md").read_text()
    assert "Gate FAILED: 1 case passed in the baseline and fails now." in summary
    assert "`case-02`" in summary
    assert len(list(Path("errata-gate").glob("*.xml"))) == 3


def test_a_comment_needs_its_marker_and_a_forge_that_answers(environment, forge):
    Path("comment.md").write_text("hello\n")
    Path("marked.md").write_text("<!-- errata:0 -->\nhello\n")
    forge.comments = None
    job = environment | {"GITHUB_REPOSITORY": "acme/evals", "GH_TOKEN": SECRET, "FORGE": forge.address}
    made = [
        subprocess.run([ROOT / "ci/post-comment.sh", name, "7"], env=job, capture_output=True, text=True)
        for name in ("comment.md", "marked.md")
    ]

    assert [one.returncode for one in made] == [2, 1]
    assert "does not begin with a marker" in made[0].stderr


@pytest.mark.skipif(shutil.which("curl") is None, reason="the template uses curl")
def test_the_gitlab_job_comments_once_and_updates_the_comment(environment, forge):
    baseline()
    (job,) = [one for one in loaded(TEMPLATE).values() if isinstance(one, dict)]
    variables = {name: str(value) for name, value in job["variables"].items()}
    given = (
        variables
        | environment
        | {
            "CI_API_V4_URL": f"{forge.address}/api/v4",
            "CI_PROJECT_ID": "9",
            "CI_MERGE_REQUEST_IID": "3",
            "CI_COMMIT_BRANCH": "topic",
            "ERRATA_TOKEN": SECRET,
            "no_proxy": "*",
        }
    )
    codes = []
    for name, letters in {"first": "++-", "second": "+++"}.items():
        results(name, letters)
        made = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", "\n".join(job["script"])], env=given, capture_output=True
        )
        codes.append(made.returncode)

    assert codes == [1, 0], made.stderr
    (text,) = forge.comments.values()
    assert "Gate passed" in text
    assert forge.tokens == {SECRET}
    assert forge.calls == ["GET", "POST", "GET", "PUT"]


def test_the_workflows_of_the_docs_use_inputs_that_the_action_has():
    page = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
    flows = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)]
    inputs = loaded(ACTION)["inputs"]
    steps = [step for flow in flows for job in (flow.get("jobs") or {}).values() for step in job["steps"]]
    used = [step["with"] for step in steps if "errata@" in step.get("uses", "")]

    assert used
    assert all(name in inputs for given in used for name in given)
    assert any(one.get("extends") == ".errata-gate" for flow in flows for one in flow.values() if isinstance(one, dict))
