"""Scorers beside the one that decides: each is counted and compared, and none is taken for the outcome."""

import json
from collections import Counter

import pytest

from errata import sources
from errata.model import Attempt
from terminal import FIXTURES, done

SEVERAL = (
    "inspect_ai/demo_json",
    "helm/mmlu",
    "lm_eval/dummy",
    "mlflow/evaluate",
    "braintrust/trials",
    "langsmith/repetitions",
)


def log_of(fixture):
    return FIXTURES / fixture / "data"


def analysed(path, *more):
    done("import", path)
    return [done("analyze", row["run_id"], "--json", "--no-report", *more).row for row in done("runs", "--json").rows]


@pytest.mark.req("N-06")
def test_each_scorer_of_an_inspect_log_is_counted():
    """From the log: `politeness` is a number between 0 and 1, the others are yes or no."""
    (path,) = log_of("inspect_ai/demo_json").glob("*.json")
    values = {}
    for sample in json.loads(path.read_text())["samples"]:
        scores = {name: score["value"] for name, score in (sample["scores"] or {}).items()}
        for name, value in (scores | scores.pop("multi", {})).items():
            values.setdefault(name, []).append({"C": 1, "I": 0}.get(value, value))
    (row,) = analysed(path)

    del values["includes"]
    assert row["other_checks"] == {
        name: {
            "passed": sum(given) if set(given) <= {0, 1} else None,
            "total": len(given),
            "mean": pytest.approx(sum(given) / len(given)),
        }
        for name, given in values.items()
    }
    line = done("analyze", row["run_id"], "--no-report").out.split("Other checks")[1].split("\n")[0]
    assert " ".join(line.split()) == "brevity 3 of 4 · politeness mean 0.5 · model_graded_qa 0 of 4"


@pytest.mark.req("N-06")
@pytest.mark.parametrize("fixture", SEVERAL)
def test_no_scorer_that_gives_a_verdict_is_dropped(fixture):
    given = Counter()
    for found in sources.find(log_of(fixture)):
        for attempt in sources.read(found):
            checks = attempt.checks if isinstance(attempt, Attempt) and attempt.counted else ()
            kinds = ("assertion", "criterion", "dimension", "reward")
            given.update(
                one.name
                for one in checks
                if not one.counts and one.kind in kinds and one.status in ("pass", "fail", "number")
            )

    shown = Counter()
    for row in analysed(log_of(fixture)):
        shown.update({name: count["total"] for name, count in row["other_checks"].items()})
    assert given == shown != {}


@pytest.mark.req("N-06")
def test_a_check_that_both_runs_have_is_compared(tmp_path):
    (path,) = log_of("inspect_ai/demo_json").glob("*.json")
    other = json.loads(path.read_text())
    other["eval"] |= {"model": "mockllm/other", "eval_id": "b", "run_id": "b", "task_id": "b"}
    for sample in other["samples"]:
        if sample["scores"]:
            sample["scores"]["model_graded_qa"]["value"] = "C"
            del sample["scores"]["multi"]
    (tmp_path / "other.json").write_text(json.dumps(other))
    done("import", path)
    done("import", tmp_path / "other.json")
    runs = [row["run_id"] for row in done("runs", "--json").rows]

    compared = {one["name"]: one for one in done("compare", *runs, "--json").row["other_checks"]}
    assert list(compared) == ["model_graded_qa"]
    assert {run: count["passed"] for run, count in compared["model_graded_qa"]["runs"].items()} == {
        "mockllm/model": 0, "mockllm/other": compared["model_graded_qa"]["all"]["total"] // 2
    }  # fmt: skip
    assert "other checks, passed" in done("compare", *runs).out


@pytest.mark.req("N-06")
def test_a_number_or_a_check_of_a_run_below_is_no_failed_check_beside_passes():
    """Judges of runs below the ones that count gave 0.83 of 1, which was told as 9 failures in 7 attempts."""
    (row,) = analysed(log_of("scylla/dryrun-tables"))

    assert row["without_failures"]["failed_checks"] == {}
    assert row["other_checks"]["proportionality"]["passed"] is None
