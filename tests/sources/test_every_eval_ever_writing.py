"""Runs in the form of every_eval_ever: as its schema wants them, with errors told, and read back as they were."""

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from changed_logs import FIXTURES, attempts, runs
from json_schemas import problems

from errata.model import Case, Check, ErrorInfo, Output, Reported, Step, Subject, ToolCall, ToolResult
from errata.model.step import Actor
from errata.model.usage import Usage, UsageByRole
from errata.sources.errata_jsonl import write
from errata.sources.every_eval_ever.written_rows import error_of, rows_of
from errata.sources.every_eval_ever.written_summary import Tallies, naming_of, summary_of
from errata.testing import a_run, an_attempt
from terminal import done, errata

SCHEMAS = FIXTURES.parent / "every_eval_ever"
OF_SUMMARY, OF_ROW = (
    json.loads((SCHEMAS / f"{name}.schema.json").read_text()) for name in ("eval", "instance_level_eval")
)
WRITTEN = (
    "inspect_ai/demo_json",
    "inspect_ai/mixed_json",
    "promptfoo/judge_error",
    "harbor/demo-job",
    "tau_bench/tau2",
    "every_eval_ever/from_inspect",
    "deepeval/measures",
    "pydantic_evals/scores",
    "conversation_bench/damaged",
)


class Written(NamedTuple):
    source: Path
    summaries: list[Path]
    told: list[Any]
    err: str


@pytest.fixture(scope="module", params=WRITTEN)
def written(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    store, source = folder / "errata.db", FIXTURES / request.param / "data"
    done("import", source, "--store", store)
    ids = [row["run_id"] for row in done("runs", "--json", "--store", store).rows]
    result = done("export", *ids, "-o", folder / "out", "--json", "--store", store)
    return Written(source, [Path(row["files"][0]) for row in result.rows], result.rows, result.err)


def rows(summary: Path) -> list[dict[str, Any]]:
    samples = summary.with_name(f"{summary.stem}_samples.jsonl")
    return [json.loads(line) for line in samples.read_text().splitlines()]


def test_a_summary_keeps_to_the_schema(written):
    for file in written.summaries:
        assert not list(problems(json.loads(file.read_text()), OF_SUMMARY, OF_SUMMARY))


def test_every_row_keeps_to_the_schema(written):
    for file in written.summaries:
        assert not [result for row in rows(file) for result in problems(row, OF_ROW, OF_ROW)]


def test_all_outcomes_are_read_back_as_they_were(written):
    suites = [run.suite for run in runs(written.source)]

    def told(path: Path, names: list[str]) -> list[tuple[Any, ...]]:
        return sorted(
            (next((one.case.removeprefix(f"{name}/") for name in names if one.case.startswith(f"{name}/")), one.case),
             one.index, one.execution, one.measurement, one.outcome)
            for one in attempts(path) if one.counted
        )  # fmt: skip

    back = [one for file in written.summaries for one in told(file, [run.suite for run in runs(file)])]
    assert sorted(back) == told(written.source, suites)


def test_a_summary_names_its_rows(written):
    for file in written.summaries:
        detail = json.loads(file.read_text())["detailed_evaluation_results"]
        data = file.with_name(detail["file_path"].rpartition("/")[2]).read_bytes()

        assert (detail["total_rows"], detail["checksum"]) == (data.count(b"\n"), hashlib.sha256(data).hexdigest())
        assert file.as_posix().endswith(detail["file_path"].replace("_samples.jsonl", ".json"))


def test_what_broke_is_never_a_wrong_answer_alone(written):
    for file in written.summaries:
        for row in rows(file):
            metadata = row["metadata"]
            broke = metadata["errata_execution"] != "completed" or metadata["errata_measurement"] != "scored"
            assert bool(row.get("error")) is broke or row["evaluation"]["is_correct"]


def test_what_has_no_place_stands_in_the_summary_too(written):
    for file, made in zip(written.summaries, written.told, strict=True):
        details = json.loads(file.read_text())["source_metadata"]["additional_details"]
        result = [f"{what}: {count}" for what, count in made["not_expressed"].items()]
        assert details.get("not_expressed", "") == "; ".join(result)


def row_of(attempt: Any, case: Case | None = None, run: Any = None) -> dict[str, Any]:
    run = run or a_run(subject=Subject(model="acme/nimbus-2"))
    tallies = Tallies(run)
    tallies.add(attempt)
    return next(rows_of(naming_of(run), tallies, case, attempt))


@pytest.mark.parametrize(
    ("facts", "error"),
    [
        (("completed", "scored", "fail"), None),
        (("completed", "scored", "none"), None),
        (("completed", "error", "none"), "APIError: 503"),
        (("completed", "unscored", "none"), "APIError: 503"),
        (("error", "not_run", "none"), "APIError: 503"),
        (("limit", "scored", "fail"), "APIError: 503"),
    ],
)
def test_an_error_is_told_where_there_is_no_verdict(facts, error):
    execution, measurement, outcome = facts
    raised = ErrorInfo(type="APIError", message="503", phase="subject")

    attempt = an_attempt(execution=execution, measurement=measurement, outcome=outcome, errors=(raised,))

    assert error_of(attempt) == error


def test_a_gap_without_an_error_is_told_in_words():
    assert error_of(an_attempt(measurement="unscored", outcome="none")) == "not measured: unscored"
    assert error_of(an_attempt(execution="missing", measurement="not_run", outcome="none")).startswith("missing: ")


def test_what_the_harness_does_not_count_is_in_no_number():
    run = a_run(reported=(Reported(name="accuracy", metric="mean", headline=True),))
    broken = an_attempt(execution="error", outcome="none", reported_counted=False)

    assert "evaluation_result_id" not in row_of(broken, run=run)


def test_calls_of_tools_and_their_answers_are_messages():
    call = ToolCall(name="add", arguments={"x": 2}, result=ToolResult(text="4"))
    step = Step(index=0, actor=Actor(role="assistant"), kind="tool_call", tool_calls=(call,))
    row = row_of(an_attempt(steps=(step,), output=Output(text="4")))

    assert row["interaction_type"] == "agentic"
    assert row["messages"][0]["tool_calls"] == [{"id": "call_0_0", "name": "add", "arguments": {"x": "2"}}]
    assert (row["messages"][1]["role"], row["messages"][1]["content"]) == ("tool", "4")


def test_tokens_are_told_only_where_input_and_output_are_known():
    known = an_attempt(usage=UsageByRole(subject=Usage(input=3, output=4)))
    half = an_attempt(usage=UsageByRole(subject=Usage(input=3)))

    assert row_of(known)["token_usage"] == {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}
    assert "token_usage" not in row_of(half)


def test_secrets_and_people_are_not_written():
    case = Case(run="r", suite="s", native_id="a", input="key sk-ant-api03-" + "a" * 40 + " in /home/maryjane/x")
    result = json.dumps(row_of(an_attempt(), case))

    assert "sk-ant" not in result
    assert "maryjane" not in result


def test_a_check_of_one_case_is_no_number_of_the_run():
    run = a_run()
    tallies = Tallies(run)
    made = [an_attempt(case=f"suite/{at}", checks=(Check(name="same", status="pass", value=True),)) for at in range(3)]
    made.append(an_attempt(case="suite/x", checks=(Check(name="test_x", status="fail", value=False),)))
    for attempt in made:
        tallies.add(attempt)

    assert list(tallies.measures) == ["same"]


def results(run, *attempts):
    """Name of a number → its kind, its value and what it is over."""
    tallies = Tallies(run)
    for attempt in attempts:
        tallies.add(attempt)
    result = summary_of(run, naming_of(run), tallies, now=0.0, written_by="errata")["evaluation_results"]
    return {
        one["evaluation_result_id"]: (
            one["metric_config"]["metric_kind"],
            one["score_details"]["score"],
            one["score_details"].get("uncertainty", {}).get("num_samples"),
        )
        for one in result
    }


def graded(at, outcome, value, **changes):
    return an_attempt(case=f"suite/{at}", outcome=outcome, reported=value, reported_counted=True, **changes)


def test_a_pass_rate_is_a_rate_of_passes_and_graded_values_stand_beside_it():
    run = a_run(reported=(Reported(name="pass rate", metric="pass_rate", scorer="best", headline=True),))

    result = results(run, graded(1, "pass", 0.75), graded(2, "fail", 0.25))

    assert result == {"pass rate": ("pass_rate", 0.5, 2), "best": ("mean", 0.5, 2)}
    assert row_of(graded(1, "pass", 0.75), run=run)["evaluation"]["score"] == 1


@pytest.mark.parametrize(("stated", "n"), [(40, 40), (None, 2340)])
def test_the_harnesss_own_number_is_over_what_the_harness_says(stated, n):
    number = Reported(name="accuracy", metric="mean", value=0.38, n=stated, headline=True)

    result = results(a_run(reported=(number,), measured_attempts=2340), graded(1, "fail", 0.65))

    assert result == {"accuracy": ("mean", 0.38, n)}


def test_a_check_that_several_judges_made_is_one_value_of_an_attempt():
    checks = tuple(Check(name="tone", status="pass", value=value, judge=judge) for judge, value in (("a", 1), ("b", 0)))

    result = results(a_run(), an_attempt(case="suite/1", checks=checks), an_attempt(case="suite/2", checks=checks[:1]))

    assert result["tone"] == ("mean", 0.75, 2)


def test_files_that_are_there_are_not_written_over(tmp_path):
    path, out, store = FIXTURES / "ragas" / "csv" / "data", tmp_path / "out", tmp_path / "errata.db"
    first = done("export", path, "-o", out, "--json", "--store", store).row
    again = errata("export", path, "-o", out, "--store", store)

    assert (again.code, "already exists" in again.talk) == (2, True)
    assert done("export", path, "-o", out, "--force", "--json", "--store", store).row == first


def test_what_has_no_place_is_said_aloud(tmp_path):
    path, store = FIXTURES / "ragas" / "csv" / "data", tmp_path / "errata.db"
    result = done("export", path, "-o", tmp_path / "out", "--store", store)

    assert "not exported: files beside the answers: 1" in result.talk
    assert "wrote" in result.out


def test_names_of_any_length_give_paths_that_can_be_written(tmp_path):
    long = a_run(suite="s" * 5000, subject=Subject(model=f"{'ü' * 3000}p/{'m.' * 3000}"))
    (tmp_path / "long.jsonl").write_bytes(b"".join(write([long, an_attempt(run=long.id, case=f"{'s' * 5000}/c")])))
    done("import", tmp_path / "long.jsonl", "--store", tmp_path / "errata.db")

    done("export", long.id, "-o", tmp_path / "out", "--store", tmp_path / "errata.db")

    (summary,) = (tmp_path / "out").rglob("*.json")
    assert max(map(len, summary.parts)) <= 100
    assert json.loads(summary.read_text())["evaluation_id"].startswith("s" * 5000)
