"""The harness's own number, recomputed from its rows: for every fixture it comes out, or it is told why it does not.

What the harness states is read here by the standard library alone, so that a source which misreads it is found out.
"""

import csv
import json
import os
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from inspect_ai_logs import raw

from errata import sources
from errata.model import Run
from errata.sources import errata_jsonl
from terminal import done, errata

FIXTURES = Path(__file__).parents[1] / "fixtures" / "sources"
NO_HEADLINE = {"code": "no_headline", "count": None, "of": None, "between": None, "stated": None, "words": []}


def data(*names: str) -> list[Path]:
    """The fixtures of some sources, the large ones too."""
    found = [
        path for name in names for path in (*FIXTURES.glob(f"{name}/*/data"), *FIXTURES.glob(f"{name}/large/*/data"))
    ]
    return sorted(path for path in found if not path.parent.name.startswith("errors"))


def named(path: Path) -> str:
    return path.relative_to(FIXTURES).as_posix().removesuffix("/data")


@cache
def scored(path: Path) -> dict[str, dict[str, Any]]:
    """What `errata score --json` says of each run at a path, by run id, with the findings of `errata check`."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", folder)
        patch.chdir(folder)
        store = os.path.join(folder, "errata.db")  # noqa: PTH118
        done("import", path, "--store", store)
        runs = [row["run_id"] for row in done("runs", "--json", "--store", store).rows]
        rows = done("score", *runs, "--json", "--store", store).rows
        findings = {run: errata("check", run, "--json", "--store", store).row["findings"] for run in runs}
    return {row["run_id"]: row["scores"]["as_reported"] | {"findings": findings[row["run_id"]]} for row in rows}


@cache
def runs_at(path: Path) -> dict[str, tuple[Path, Run]]:
    """By id: where it was found, and the run."""
    found = ((one.path, item) for one in sources.find(path) for item in sources.read(one) if isinstance(item, Run))
    return {run.id: (place, run) for place, run in found}


def value_of(score: dict[str, Any]) -> float | None:
    return score["rate"] if score["mean"] is None else score["mean"]


def recomputed(path: Path) -> Iterator[tuple[Path, Run, dict[str, Any]]]:
    for run_id, score in scored(path).items():
        yield *runs_at(path)[run_id], score


# Inspect


def inspect_headline(log: Path) -> float | None:
    """The first metric of the first scorer, where none is called the headline."""
    results = raw(log)[0].get("results") or {}
    scores = results.get("scores") or [{"metrics": results.get("metrics") or {}}]
    wanted = results.get("headline") or {}
    for score in scores:
        for name, metric in score["metrics"].items():
            if wanted.get("metric") in (None, name) and wanted.get("score") in (None, score.get("name")):
                return metric["value"]
    return None


@pytest.mark.parametrize("path", data("inspect_ai"), ids=named)
def test_the_headline_of_an_inspect_log(path):
    for log, _, score in recomputed(path):
        stated = inspect_headline(log)
        if stated is None:
            assert score["note"] == NO_HEADLINE
        elif score["reproduced"]:
            assert value_of(score) == pytest.approx(stated)
        else:
            # logs that were published without their rows, or with one of many
            assert {"missing_cases", "cases_not_in_log"} & {finding["name"] for finding in score["findings"]}


def test_every_inspect_log_that_has_its_rows_comes_out():
    result = [score["reproduced"] for path in data("inspect_ai") for _, _, score in recomputed(path)]

    assert result.count(True) == 19


# promptfoo


def promptfoo_rate(file: Path, pointer: str) -> float | None:
    """Of the column that stands at a pointer; none where its counts are not told."""
    place = json.loads(file.read_text())
    for part in pointer.split("/")[1:]:
        place = place[int(part)] if isinstance(place, list) else place[part]
    result = place.get("metrics") or {}
    counts = [result.get(f"test{word}Count") or 0 for word in ("Pass", "Fail", "Error")]
    return counts[0] / sum(counts) if sum(counts) else None


@pytest.mark.parametrize("path", data("promptfoo"), ids=named)
def test_the_pass_rate_of_every_column_of_promptfoo(path):
    for file, run, score in recomputed(path):
        assert score["reproduced"] is not False
        if file.suffix != ".jsonl":
            result = promptfoo_rate(file, run.ref.pointer)
            assert result is None or value_of(score) == pytest.approx(result)


def test_rows_alone_are_counted_as_promptfoo_counts_them():
    (path,) = (FIXTURES / "promptfoo" / "lines" / "data",)
    rows = [json.loads(line) for line in (path / "results.jsonl").read_text().splitlines()]
    result = {
        (column, prompt): [
            row["success"] for row in rows if (row["provider"]["id"], row["promptIdx"]) == (column, prompt)
        ]
        for column, prompt in {(row["provider"]["id"], row["promptIdx"]) for row in rows}
    }
    counted = sorted((score["passed"], score["total"]) for score in scored(path).values())

    assert counted == sorted((sum(passed), len(passed)) for passed in result.values())


# Harbor and terminal-bench


@pytest.mark.parametrize("path", data("harbor"), ids=named)
def test_the_mean_of_a_job_and_the_accuracy_of_a_terminal_bench_run(path):
    for folder, _, score in recomputed(path):
        if (folder / "results.json").is_file():
            stated = json.loads((folder / "results.json").read_text())["accuracy"]
        else:
            (stats,) = json.loads((folder / "result.json").read_text())["stats"]["evals"].values()
            stated = stats["metrics"][0]["mean"] if stats["metrics"] else harbor_mean(stats)
            assert score["total"] == stats["n_trials"]
        assert value_of(score) == pytest.approx(stated)


def harbor_mean(stats: dict[str, Any]) -> float:
    """A job that states no metric still names the trials of every reward."""
    rewards = [float(value) for value, names in stats["reward_stats"]["reward"].items() for _ in names]
    return sum(rewards) / len(rewards)


# convex-evals


def convex_answer(folder: Path, name: str) -> dict[str, Any]:
    return json.loads((folder / f"{name}.envelope.json").read_text())["value"]


CONVEX = [FIXTURES / "convex_evals" / name / "data" for name in ("run_a", "run_b", "run_c", "run_d")]


@pytest.mark.req("C-15")
@pytest.mark.parametrize("path", CONVEX, ids=named)
def test_the_prefix_rule_of_convex_evals(path):
    """No answer states its value; the rule is the harness's own."""
    ((folder, _, score),) = recomputed(path)
    done_ = [
        one["status"]
        for one in convex_answer(folder, "getRunDetails")["evals"]
        if one["status"]["kind"] in ("passed", "failed")
    ]
    counted = [
        one for one in done_ if not one.get("failureReason", "").startswith(("[rate_limit]", "[infrastructure]"))
    ]
    passed = sum(one["kind"] == "passed" for one in counted)

    assert (score["passed"], score["total"], score["stated"]) == (passed, len(counted), None)


@pytest.mark.req("C-15")
@pytest.mark.parametrize("path", CONVEX, ids=named)
def test_the_pass_rate_that_convex_evals_states_is_kept_beside_it(path):
    ((folder, run, score),) = recomputed(path)
    result = convex_answer(folder, "getFailedEvalsForRun")
    (stated,) = [one for one in run.reported if one.name == "passedCount/totalEvals"]

    assert (stated.value, stated.n) == (
        pytest.approx(result["passedCount"] / result["totalEvals"]),
        result["totalEvals"],
    )
    assert score["passed"] == result["passedCount"]
    assert "aggregate_mismatch" not in [finding["name"] for finding in score["findings"]]


# conversation-bench


def test_the_pass_row_rate_of_every_run_of_a_comparison():
    path = FIXTURES / "conversation_bench" / "comparison" / "data"
    with next(path.glob("*/run_results.csv")).open(newline="") as file:
        result = {row["run_id"]: row for row in csv.DictReader(file)}

    for _, run, score in recomputed(path):
        row = result[run.native_id]
        assert (score["passed"], score["total"]) == (int(row["pass_rows"]), int(row["turns_scored"]))
        assert value_of(score) == pytest.approx(float(row["pass_row_rate"]), abs=1e-5)


@pytest.mark.parametrize("name", ["damaged", "two_judges", "unjudged"])
def test_a_conversation_that_was_not_compared_has_no_rate_to_reproduce(name):
    for _, _, score in recomputed(FIXTURES / "conversation_bench" / name / "data"):
        assert score["note"] == NO_HEADLINE


def test_a_summary_that_counts_otherwise_than_its_rows_is_a_finding():
    ((_, _, score),) = recomputed(FIXTURES / "conversation_bench" / "damaged" / "data")

    assert "aggregate_mismatch" in [finding["name"] for finding in score["findings"]]


# ProjectScylla


@pytest.mark.parametrize("name", ["large/batch-gen1", "batch-cascade", "batch-resumed"])
def test_the_statuses_of_a_batch_summary(name):
    ((folder, _, score),) = recomputed(FIXTURES / "scylla" / name / "data")
    results = json.loads((folder / "batch_summary.json").read_text())["results"]

    assert (score["passed"], score["total"]) == (sum(one["status"] == "pass" for one in results), len(results))


@pytest.mark.parametrize("name", ["dryrun-tables", "haiku-tables"])
def test_the_pass_rate_of_an_export(name):
    for folder, run, score in recomputed(FIXTURES / "scylla" / name / "data"):
        row = json.loads((folder / "summary.json").read_text())["by_model"][run.subject.model]
        assert (score["total"], value_of(score)) == (row["total_runs"], pytest.approx(row["pass_rate"]))


@pytest.mark.parametrize("name", ["batch-gen2", "large/dryrun-tree", "dryrun-tier"])
def test_what_states_no_pass_rate_says_so(name):
    for _, _, score in recomputed(FIXTURES / "scylla" / name / "data"):
        assert score["note"] == NO_HEADLINE


# errata's own lines, and home-made ones


@pytest.mark.parametrize(
    "name", ["harbor/demo-job", "promptfoo/judge_error", "inspect_ai/demo_json", "convex_evals/run_a"]
)
def test_a_run_in_errata_s_own_lines_has_the_same_number(tmp_path, name):
    path = FIXTURES / name / "data"
    items = [item for one in sources.find(path) for item in sources.read(one)]
    (tmp_path / "own.jsonl").write_bytes(b"".join(errata_jsonl.write(items)))
    first, second = (sorted(map(_numbers, scored(one).values())) for one in (path, tmp_path / "own.jsonl"))

    assert first == second


def _numbers(score: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(str(score[name]) for name in ("passed", "total", "rate", "mean", "stated", "reproduced", "note"))


@pytest.mark.parametrize("path", data("errata_jsonl", "generic"), ids=named)
def test_rows_without_a_summary_have_no_number_to_reproduce(path):
    for _, run, score in recomputed(path):
        assert (score["note"], [one for one in run.reported if one.headline]) == (NO_HEADLINE, [])
