"""`edit_log.py` for real: with inspect-ai itself where it is installed, and with a stand-in for it everywhere."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from errata import sources
from errata.model import Attempt, Reviewer, Verdict
from errata.store.database import open_store
from errata.store.reviews import keep_verdicts
from terminal import FIXTURES, done

ROOT = Path(__file__).parent.parent.parent
STAND_IN = Path(__file__).parent.parent / "fixtures" / "writeback"
BENCH = ROOT / ".venv" / "bench" / "bin" / "python"
"""Where `make bench` has installed inspect-ai."""
HERE = importlib.util.find_spec("inspect_ai") is not None
PYTHON = sys.executable if HERE else str(BENCH)
REAL = pytest.param("inspect-ai", marks=pytest.mark.skipif(not HERE and not BENCH.exists(), reason="no inspect-ai"))

DEMO = FIXTURES / "inspect_ai" / "demo_json" / "data" / "demo.json"
HOSTILE = "x\"; import os; os.system('touch pwned') #\n\u202e\x1b[31m"


@pytest.fixture
def python(request):
    """The command that starts Python with inspect-ai or its stand-in, and its environment."""
    if getattr(request, "param", "stand-in") == "stand-in":
        return [sys.executable], {**os.environ, "PYTHONPATH": str(STAND_IN)}
    return [PYTHON], {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


with_both = pytest.mark.parametrize("python", ["stand-in", REAL], indirect=True)


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("ERRATA_STORE", raising=False)
    (tmp_path / "logs").mkdir()
    return Path(shutil.copy(DEMO, tmp_path / "logs" / "demo.json"))


def read_back(path):
    """Sample and epoch → attempt, as errata reads the log."""
    (found,) = sources.find(path)
    return {(one.case.rpartition("/")[2], one.index): one for one in sources.read(found) if isinstance(one, Attempt)}


def run(python, *words, cwd=None):
    command, environment = python
    return subprocess.run(
        [*command, *map(str, words)], env=environment, cwd=cwd, capture_output=True, text=True, timeout=120
    )


def blame_the_grader(case, **changes):
    """A person's verdict on a failure of the log that was imported last."""
    attempt = next(one for one in done("failures", "latest", "--json").rows if one["case"] == case)["attempt_id"]
    fields = {
        "id": f"v-{case}", "attempt": attempt, "taxonomy": "owners", "label": "grader", "owner": "grader",
        "cause": "the reference is wrong", "confidence": "certain", "at": "2026-11-16T00:00:00Z",
        "reviewer": Reviewer(kind="person", name="ada"),
    }  # fmt: skip
    keep_verdicts(open_store(Path(".errata/errata.db")), [Verdict(**fields | changes)])


@with_both
def test_what_was_not_measured_is_invalidated_in_a_copy_and_the_log_stays_as_it_is(log, python):
    before = log.read_bytes()
    done("writeback", log)

    result = run(python, "writeback/edit_log.py", log)

    assert result.returncode == 0, result.stderr
    assert "2 edits, 0 there already, 0 refused" in result.stdout
    assert log.read_bytes() == before
    edited = read_back(Path("writeback/demo.edited.json"))
    assert {name for (name, _), one in edited.items() if one.invalidated} == {"crash", "flaky"}
    output = edited["crash", 1].invalidated
    assert output.by == "errata 0.1.0"
    assert output.why.startswith("provider: the provider returned a server error (rule provider_server_error v")
    made = output.extra["metadata"]["errata"]
    assert made["evidence"][0]["quote"]
    assert (made["owner"], made["author"], made["confidence"]) == ("provider", "provider_server_error", "certain")


@with_both
def test_a_score_that_the_grader_got_wrong_becomes_unscored_and_its_history_keeps_it(log, python):
    done("import", log)
    blame_the_grader("toolerr")
    done("writeback", log)

    result = run(python, "writeback/edit_log.py", log)

    assert result.returncode == 0, result.stderr
    before, after = read_back(log)["toolerr", 1], read_back(Path("writeback/demo.edited.json"))["toolerr", 1]
    assert (before.outcome, after.outcome, after.measurement) == ("fail", "none", "unscored")
    (check,) = [one for one in after.checks if one.is_primary]
    assert check.history[0].value == next(one.value for one in before.checks if one.is_primary)
    assert (check.history[-1].by, check.history[-1].why) == (
        "errata 0.1.0",
        "grader: the reference is wrong (verdict person:ada, certain)",
    )


def test_edits_that_are_there_are_not_made_again(log, python):
    done("writeback", log)
    run(python, "writeback/edit_log.py", log)
    first = Path("writeback/demo.edited.json").read_bytes()

    result = run(python, "writeback/edit_log.py", log)

    assert "0 edits, 2 there already, 0 refused" in result.stdout
    assert Path("writeback/demo.edited.json").read_bytes() == first


def test_a_dry_run_says_what_it_would_do_and_writes_nothing(log, python):
    done("writeback", log)
    before = sorted(Path().rglob("*"))

    result = run(python, "writeback/edit_log.py", "--dry-run", log)

    assert result.returncode == 0
    assert "would    invalidate crash epoch 1" in result.stdout
    assert sorted(Path().rglob("*")) == before


def test_the_log_itself_is_edited_only_on_request(log, python):
    done("writeback", log)

    run(python, "writeback/edit_log.py", "--in-place", log)

    assert read_back(log)["crash", 1].invalidated
    assert not list(Path("writeback").glob("*.edited.*"))


def test_edits_are_not_made_in_the_log_of_another_run(log, python):
    done("writeback", log)
    other = json.loads(log.read_text())
    other["eval"]["eval_id"] = "another"
    log.write_text(json.dumps(other))

    result = run(python, "writeback/edit_log.py", log)

    assert result.returncode == 2
    assert "is a different run, another" in result.stderr


def test_an_invalidation_of_somebody_else_is_kept(log, python):
    done("writeback", log)
    edited = json.loads(log.read_text())
    provenance = {"timestamp": "2026-01-01T00:00:00+00:00", "author": "ada", "reason": "mine", "metadata": {}}
    next(one for one in edited["samples"] if one["id"] == "crash")["invalidation"] = provenance
    log.write_text(json.dumps(edited))

    result = run(python, "writeback/edit_log.py", log)

    assert result.returncode == 1
    assert "somebody else invalidated the sample" in result.stdout
    assert read_back(Path("writeback/demo.edited.json"))["crash", 1].invalidated.by == "ada"


def test_text_of_a_log_is_data_whatever_it_says(log, python):
    """Ids and errors of a log stand in the data alone; the script is the same for every log."""
    hostile = json.loads(log.read_text())
    crash = next(one for one in hostile["samples"] if one["id"] == "crash")
    crash["id"] = HOSTILE
    hostile["eval"]["dataset"]["sample_ids"] = [one["id"] for one in hostile["samples"]]
    crash["error"]["message"] += HOSTILE + " AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"
    log.write_text(json.dumps(hostile))
    done("writeback", log)

    result = run(python, "writeback/edit_log.py", log)

    assert result.returncode == 0, result.stderr
    assert Path("writeback/edit_log.py").read_text() == (ROOT / "src/errata/writeback/edit_log.py").read_text()
    assert "EXAMPLEKEY" not in Path("writeback/edits.json").read_text()
    assert not list(Path().rglob("pwned"))
    assert "\x1b" not in result.stdout
    assert "\u202e" not in result.stdout
    assert "2 edits" in result.stdout


def test_without_inspect_ai_the_script_says_what_is_needed(log):
    if HERE:
        pytest.skip("inspect-ai is installed")
    done("writeback", log)

    result = run(([sys.executable], {**os.environ, "PYTHONPATH": ""}), "writeback/edit_log.py", log)

    assert result.returncode == 2
    assert "inspect-ai is needed" in result.stderr
