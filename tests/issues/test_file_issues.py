"""`file_issues.sh` for real, against a stand-in for `gh` that writes down every call and fails at random."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from standing_in import calls, environment, filing, put_in_place, state
from tests.length import every

from errata.issues.manifest import IssueFile, manifest, marker, script

NAMES = ["test-001", "test-002", "test-003", "test-004"]
NASTY = "Add type hints to `loader` \"now\" $HOME $(touch pwned) 'x' \\ | & ; <b> @all #1"


@pytest.fixture
def folder(tmp_path):
    """A batch of four issues, one with a title that a shell would love to run."""
    batch = tmp_path / "a folder" / "analysis"
    (batch / "issues").mkdir(parents=True)
    bodies = {
        "epic": "# [E2E] Epic\n\nall\n",
        **{name: f"# [E2E] {name}: {NASTY} - FAIL\n\nbody of {name} $(id)\n" for name in NAMES},
    }
    for name, body in bodies.items():
        (batch / "issues" / f"{name}.md").write_text(f"{body}\n<!-- {marker('b1', name)} -->\n")
    (batch / "comments").mkdir()
    (batch / "comments" / "analysis.md").write_text("# Analysis\n\n`$(id)`\n")
    (batch / "issues" / "manifest.tsv").write_text(
        manifest("b1", [IssueFile(name, f"issues/{name}.md") for name in NAMES])
    )
    (batch / "file_issues.sh").write_text(script())
    (batch / "file_issues.sh").chmod(0o755)
    return batch


@pytest.fixture
def gh(tmp_path):
    return put_in_place(tmp_path)


def assert_all_filed_once(gh):
    found = state(gh)
    titles = [one["title"] for one in found["issues"]]
    assert titles == ["[E2E] Epic", *(f"[E2E] {name}: {NASTY} - FAIL" for name in NAMES)]
    assert len(found["comments"]) == 2
    assert {one["on"] for one in found["comments"]} == {"1"}
    links, analysis = (one["body"] for one in found["comments"])
    assert links.count("/issues/") == len(NAMES)
    assert analysis.startswith("# Analysis\n\n`$(id)`\n")


@pytest.mark.req("S-25", "S-26", "S-27", "S-28")
def test_an_epic_an_issue_for_each_test_and_two_comments_are_filed(folder, gh):
    result = filing(folder, gh)

    assert result.returncode == 0, result.stderr
    assert_all_filed_once(gh)
    assert result.stdout.endswith("1 epic, 4 issues, 2 comments; recorded in filed.tsv\n")


@pytest.mark.req("S-38")
@pytest.mark.trap(22)
def test_titles_and_bodies_of_any_characters_arrive_as_they_are(folder, gh):
    filing(folder, gh, cwd=folder)

    assert state(gh)["issues"][1]["body"] == f"\nbody of test-001 $(id)\n\n<!-- {marker('b1', 'test-001')} -->\n"
    assert not list(folder.rglob("pwned"))


@pytest.mark.req("S-24", "S-29")
def test_the_label_is_made_before_anything_is_filed(folder, gh):
    filing(folder, gh)

    verbs = [" ".join(call[:2]) for call in calls(gh)]
    assert verbs.index("label create") < verbs.index("issue create")
    assert state(gh)["labels"] == ["bug", "evaluation"]


@pytest.mark.req("S-23", "S-31")
def test_a_dry_run_shows_titles_and_paths_and_sends_and_writes_nothing(folder, gh):
    before = sorted(folder.rglob("*"))
    result = filing(folder, gh, "--dry-run")

    assert result.returncode == 0, result.stderr
    assert (
        f"would create  test-002   [E2E] test-002: {NASTY} - FAIL\n              body from issues/test-002.md"
        in result.stdout
    )
    assert not (gh / "calls.jsonl").exists()
    assert sorted(folder.rglob("*")) == before


def test_a_second_run_files_nothing_again(folder, gh):
    filing(folder, gh)
    first = state(gh)
    result = filing(folder, gh)

    assert result.returncode == 0
    assert result.stdout.count("skip") == 7
    assert state(gh) == first


@pytest.mark.parametrize("seed", every(3, range(12)))
def test_whatever_fails_nothing_is_filed_twice(folder, gh, seed):
    """Half of the failures come after GitHub has done what was asked."""
    for _ in range(80):
        result = filing(folder, gh, GH_FAILS="0.3", GH_SEED=str(seed))
        if result.returncode == 0:
            break
    else:
        pytest.fail(result.stderr)

    assert_all_filed_once(gh)


SLOW_DOWN = "HTTP 403: You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
NO_RIGHT = "GraphQL: Resource not accessible by personal access token (createIssue)"


@pytest.mark.req("S-29", "S-44")
def test_it_waits_where_github_asks_to_slow_down_and_goes_on(folder, gh):
    """Calls 4 and 5 create the first issue."""
    result = filing(folder, gh, GH_REFUSES=SLOW_DOWN, GH_REFUSED="4,5", FILE_ISSUES_BACKOFF="0")

    assert result.returncode == 0, result.stderr
    assert result.stderr.count("GitHub asks to slow down: waiting 0 s") == 2
    assert_all_filed_once(gh)


def test_it_does_not_wait_for_ever_and_can_be_run_again(folder, gh):
    result = filing(folder, gh, GH_REFUSES=SLOW_DOWN, GH_REFUSED="3,4,5,6,7", FILE_ISSUES_BACKOFF="0")

    assert result.returncode == 1
    assert "run this script again later; it goes on where it stopped" in result.stderr
    assert filing(folder, gh).returncode == 0
    assert_all_filed_once(gh)


@pytest.mark.parametrize("call", ["1", "2", "3", "8"], ids=["labels", "a label", "the epic", "a comment"])
def test_a_missing_permission_is_explained_and_not_tried_again(folder, gh, call):
    result = filing(folder, gh, GH_REFUSES=NO_RIGHT, GH_REFUSED=call, FILE_ISSUES_BACKOFF="0")

    assert result.returncode == 1
    assert NO_RIGHT in result.stderr
    assert "needs write access to issues and labels of this repository" in result.stderr
    assert len(calls(gh)) == int(call) + 1
    assert filing(folder, gh).returncode == 0
    assert_all_filed_once(gh)


@pytest.mark.parametrize("after", every(2, [0.05, 0.15, 0.3, 0.5]))
def test_killed_at_any_moment_nothing_is_filed_twice(folder, gh, after):
    started = subprocess.Popen(
        [folder / "file_issues.sh"], env=environment(gh), start_new_session=True, stdout=subprocess.DEVNULL
    )
    time.sleep(after)
    os.killpg(started.pid, signal.SIGKILL)
    started.wait()
    (gh / "state.json").exists() and state(gh)  # the stand-in itself is not half-written

    result = filing(folder, gh)
    assert result.returncode == 0, result.stderr
    assert_all_filed_once(gh)


@pytest.mark.req("S-30", "S-43")
@pytest.mark.parametrize("where", ["/", "folder"])
def test_its_syntax_is_sound_and_it_runs_from_any_folder(folder, gh, where):
    cwd = folder if where == "folder" else where

    assert subprocess.run(["bash", "-n", "file_issues.sh"], cwd=folder, check=False).returncode == 0
    assert filing(folder, gh, "--dry-run", cwd=cwd).returncode == 0


@pytest.mark.req("S-29")
def test_shellcheck_has_nothing_to_say(folder):
    checker = shutil.which("shellcheck") or str(Path(sys.executable).parent / "shellcheck")

    result = subprocess.run(
        [checker, "--severity=style", folder / "file_issues.sh"], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stdout) == (0, "")


@pytest.mark.req("S-29")
def test_it_is_strict_and_pauses_a_second_between_calls():
    assert "set -euo pipefail" in script()
    assert 'pause="${FILE_ISSUES_PAUSE:-1}"' in script()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("issue\ttest 1\tissues/test-001.md\tm\n", "other characters"),
        ("issue\ttest-9\t../../etc/passwd\tm\n", "outside of this folder"),
        ("issue\ttest-9\t/etc/passwd\tm\n", "outside of this folder"),
        ("issue\ttest-9\tissues/absent.md\tm\n", "issues/absent.md is missing"),
        ("odd\ttest-9\tissues/test-001.md\tm\n", "unknown kind: odd"),
    ],
)
def test_a_damaged_manifest_is_refused_before_anything_is_sent(folder, gh, line, told):
    with (folder / "issues" / "manifest.tsv").open("a") as file:
        file.write(line)

    found = filing(folder, gh)
    assert (found.returncode, told in found.stderr) == (1, True)
    assert not (gh / "calls.jsonl").exists()


@pytest.mark.req("S-27")
def test_very_many_issues_are_linked_in_several_comments(folder, gh):
    """With a hundred times fewer links to a comment, so that four issues need several."""
    path = folder / "file_issues.sh"
    path.write_text(path.read_text().replace("readonly per_comment=400", "readonly per_comment=3"))
    first, second = filing(folder, gh), filing(folder, gh)

    comments = [one["body"] for one in state(gh)["comments"]]
    assert [body.count("/issues/") for body in comments] == [3, 1, 0]
    assert first.stdout.endswith("1 epic, 4 issues, 3 comments; recorded in filed.tsv\n")
    assert second.stdout.count("skip") == 8


def test_a_body_that_is_too_long_is_cut_and_still_found(folder, gh):
    path = folder / "issues" / "test-002.md"
    path.write_text(path.read_text().replace("body of", "long line\n" * 9_000 + "body of"))
    filing(folder, gh, GH_FAILS="0.5", GH_SEED="3")
    for _ in range(80):
        if filing(folder, gh).returncode == 0:
            break

    bodies = [one["body"] for one in state(gh)["issues"] if "test-002" in one["title"]]
    assert len(bodies) == 1
    assert len(bodies[0]) < 65_000
    assert "cut here: the whole is in issues/test-002.md" in bodies[0]
    assert bodies[0].endswith(f"<!-- {marker('b1', 'test-002')} -->\n")


def test_an_unknown_option_is_refused(folder, gh):
    assert filing(folder, gh, "--force").returncode == 2
