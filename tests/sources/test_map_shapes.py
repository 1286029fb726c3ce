"""Tables as people make them, and what `errata map` makes of each: it has to read them as their owner would."""

import csv
import io
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from errata.sources.generic.draft import draft_mapping

CAPITALS = [
    ("France", "Paris"),
    ("Italy", "Rome"),
    ("Spain", "Madrid"),
    ("Peru", "Lima"),
    ("Japan", "Tokyo"),
    ("Mali", "Bamako"),
]


def table(header: list[str], rows: list[list[Any]], delimiter: str = ",") -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def results(**more: Any) -> list[dict[str, Any]]:
    return [{"task_id": f"t{number}", "passed": number % 3 == 0, "output": "text", **more} for number in range(6)]


SHAPES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "a table that pandas wrote, with its index": (
        "export.csv",
        table(
            ["", "question", "answer", "response", "correct", "latency_ms", "model"],
            [
                [
                    at,
                    f"What is the capital of {land}?",
                    city,
                    city if at % 2 else "Oslo",
                    str(bool(at % 2)),
                    900 + at,
                    "m",
                ]
                for at, (land, city) in enumerate(CAPITALS)
            ],
        ),
        {
            "run.model": {"column": "model"},
            "case.input": "question",
            "case.expected": "answer",
            "attempt.output": "response",
            "attempt.passed": "correct",
            "attempt.duration": {"column": "latency_ms", "unit": "ms"},
        },
    ),
    "a column for each model": (
        "wide.csv",
        table(["task_id", "gpt-4o", "claude-3.5-sonnet"], [[f"t{at}", at % 2, (at + 1) % 2] for at in range(6)]),
        {"models": ["gpt-4o", "claude-3.5-sonnet"], "case.name": "task_id", "attempt.passed": "{model}"},
    ),
    "several columns for each model": (
        "wide.csv",
        table(
            ["id", "question", "gold", "ours_answer", "ours_correct", "base_answer", "base_correct"],
            [[at, f"why {at}?", city, city, "TRUE", "x", "FALSE"] for at, (_, city) in enumerate(CAPITALS)],
        ),
        {
            "models": ["ours", "base"],
            "case.expected": "gold",
            "attempt.output": "{model}_answer",
            "attempt.passed": "{model}_correct",
        },
    ),
    "objects by model inside each row": (
        "responses.jsonl",
        lines(
            [
                {
                    "id": at,
                    "responses": {name: {"text": "hi", "correct": at % 2 == 0} for name in ("gpt-4o", "claude-3")},
                }
                for at in range(4)
            ]
        ),
        {
            "models": ["gpt-4o", "claude-3"],
            "attempt.output": "responses.{model}.text",
            "attempt.passed": "responses.{model}.correct",
        },
    ),
    "a column for each attempt": (
        "repeats.csv",
        table(["task", "run_1", "run_2"], [[f"t{at}", "pass", "fail"] for at in range(4)]),
        {"attempts": ["run_1", "run_2"], "case.name": "task", "attempt.passed": "{attempt}"},
    ),
    "a leaderboard with a column for each benchmark": (
        "board.csv",
        table(
            ["model", "Average", "ARC", "MMLU", "GSM8K"], [[f"org/m{at}", 60 + at, 51, 62, 70 + at] for at in range(4)]
        ),
        {
            "cases": ["ARC", "MMLU", "GSM8K"],
            "run.model": {"column": "model"},
            "run.headline": {"column": "Average"},
            "attempt.score": "{case}",
        },
    ),
    "a document with settings, a summary and results": (
        "results.json",
        json.dumps({"config": {"model": "m-1"}, "summary": {"accuracy": 1 / 3}, "results": results()}),
        {
            "rows": "results[]",
            "run.model": {"column": "$.config.model"},
            "run.headline": {"column": "$.summary.accuracy"},
            "case.name": "task_id",
            "attempt.passed": "passed",
        },
    ),
    "results by task": (
        "by_task.json",
        json.dumps({f"task-{at}": {"resolved": at % 2 == 0, "patch": "diff", "cost_usd": 0.1} for at in range(4)}),
        {"rows": "[]", "case.name": "@key", "attempt.passed": "resolved", "attempt.cost": "cost_usd"},
    ),
    "verdicts by task": (
        "verdicts.json",
        json.dumps({"model": "m", "results": {f"t{at}": at % 2 == 0 for at in range(5)}}),
        {"rows": "results[]", "case.name": "@key", "attempt.passed": "@value", "run.model": {"column": "$.model"}},
    ),
    "a list of runs": (
        "runs.json",
        json.dumps({"runs": [{"model": name, "accuracy": 1 / 3, "results": results()} for name in ("a", "b")]}),
        {
            "rows": "runs[].results[]",
            "run.model": {"column": "^model"},
            "run.headline": {"column": "^accuracy"},
            "attempt.passed": "passed",
        },
    ),
    "lists of results by model": (
        "by_model.json",
        json.dumps({name: results() for name in ("gpt-4o", "claude-3")}),
        {"rows": "[][]", "run.model": {"column": "@key"}, "case.name": "task_id"},
    ),
    "trials inside each task": (
        "trials.jsonl",
        lines([{"task_id": f"t{at}", "prompt": "do it now", "trials": results()[:2]} for at in range(4)]).replace(
            '"task_id": "t0", "passed"', '"passed"'
        ),
        {"rows": "trials[]", "case.input": "^prompt", "attempt.passed": "passed"},
    ),
    "scores in an object, one of a judge": (
        "scores.jsonl",
        lines(
            [
                {
                    "question_id": f"q{at}",
                    "completion": "text",
                    "correct": at % 2 == 0,
                    "scores": {"helpfulness": 1 + at % 5, "judge_tone": at / 10},
                    "judge_explanation": "it is fine",
                }
                for at in range(8)
            ]
        ),
        {
            "attempt.passed": "correct",
            "checks.helpfulness": "scores.helpfulness",
            "checks.judge_tone": {"column": "scores.judge_tone", "judge": True, "explanation": "judge_explanation"},
        },
    ),
    "a judge beside a program": (
        "both.jsonl",
        lines(
            [
                {"id": at, "exact_match": at % 2 == 0, "llm_judge": {"verdict": "correct" if at % 3 else "incorrect"}}
                for at in range(8)
            ]
        ),
        {"attempt.passed": "exact_match", "checks.llm_judge": {"column": "llm_judge.verdict", "judge": True}},
    ),
    "a judge alone": (
        "judged.csv",
        table(
            ["qid", "answer", "judge_score", "judge_reason"], [[at, "a", 1 + at % 5, "since it is"] for at in range(7)]
        ),
        {"attempt.score": {"column": "judge_score", "judge": True}, "attempt.judge_reasoning": "judge_reason"},
    ),
    "a table with decimal commas": (
        "punkte.csv",
        table(
            ["Nr", "Frage", "Antwort", "Erwartet", "Punkte", "Modell"],
            [[at, f"Was ist {land}?", city, city, f"0,{at}5", "modell-a"] for at, (land, city) in enumerate(CAPITALS)],
            ";",
        ),
        {
            "decimal": ",",
            "run.model": {"column": "Modell"},
            "case.name": "Nr",
            "case.expected": "Erwartet",
            "attempt.output": "Antwort",
            "attempt.score": "Punkte",
        },
    ),
    "verdicts in capitals with other words among them": (
        "caps.csv",
        table(
            ["test_case", "verdict", "error"],
            [
                ["a", "PASS", "null"],
                ["b", "FAIL", "null"],
                ["c", "ERROR", "OSError: x"],
                ["d", "TIMEOUT", ""],
                ["e", "PASS", ""],
            ],
        ),
        {
            "case.name": "test_case",
            "attempt.passed": "verdict",
            "attempt.error": "error",
            "status_words.limit": ["TIMEOUT"],
        },
    ),
    "names with spaces and units": (
        "sheet.csv",
        table(
            ["Question", "Model Answer", "Correct Answer", "Correct?", "Score (0-5)", "Time (s)", "Cost ($)"],
            [[f"Who is {at} there?", "bo", "al", "✓" if at % 2 else "✗", at % 6, "1.2s", "$0.01"] for at in range(8)],
        ),
        {
            "case.input": "Question",
            "case.expected": "Correct Answer",
            "attempt.output": "Model Answer",
            "attempt.passed": "Correct?",
            "attempt.duration": "Time (s)",
            "attempt.cost": "Cost ($)",
        },
    ),
    "objects as text in cells": (
        "cells.csv",
        table(
            ["id", "messages", "usage", "correct"],
            [
                [
                    at,
                    json.dumps([{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]),
                    str({"prompt_tokens": 5, "completion_tokens": 2}),
                    at % 2,
                ]
                for at in range(4)
            ],
        ),
        {
            "attempt.messages": "messages",
            "attempt.input_tokens": "usage.prompt_tokens",
            "attempt.output_tokens": "usage.completion_tokens",
        },
    ),
    "a rate for each problem": (
        "rates.tsv",
        table(["problem", "pass@1", "pass@10"], [[f"HumanEval/{at}", at / 10, at / 8] for at in range(6)], "\t"),
        {"case.name": "problem", "attempt.score": "pass@1"},
    ),
    "repeated trials of several models": (
        "long.csv",
        table(
            [
                "run_id",
                "model",
                "task",
                "trial",
                "output",
                "expected",
                "is_correct",
                "tokens_in",
                "started_at",
                "error",
            ],
            [
                ["r1", name, f"task{at}", trial, "a", "a", "yes" if at else "no", 9, "2026-03-01T10:00:00Z", ""]
                for name in ("a", "b")
                for at in range(3)
                for trial in (1, 2)
            ],
        ),
        {
            "run.model": {"column": "model"},
            "case.name": "task",
            "attempt.index": "trial",
            "attempt.passed": "is_correct",
            "attempt.input_tokens": "tokens_in",
            "attempt.started_at": "started_at",
            "attempt.error": "error",
        },
    ),
    "a document by columns, as pandas writes it": (
        "frame.json",
        json.dumps({"id": {"0": "a", "1": "b"}, "output": {"0": "x", "1": "y"}, "passed": {"0": True, "1": False}}),
        {"rows": ".", "case.name": "id", "attempt.passed": "passed"},
    ),
}


def keys_of(text: str) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for section, value in tomllib.loads(text).items():
        if isinstance(value, dict) and section in ("run", "case", "attempt", "checks", "status_words"):
            flat |= {f"{section}.{key}": child for key, child in value.items()}
        else:
            flat[section] = value
    return flat


@pytest.mark.parametrize("shape", SHAPES)
def test_the_columns_of_a_table_are_recognised(tmp_path: Path, shape: str):
    name, content, wanted = SHAPES[shape]
    (tmp_path / name).write_text(content, encoding="utf-8")
    found = keys_of(draft_mapping(tmp_path / name).text)

    assert {key: found.get(key) for key in wanted} == wanted


@pytest.mark.parametrize("shape", SHAPES)
def test_every_row_is_read_with_the_draft(tmp_path: Path, shape: str):
    name, content, _ = SHAPES[shape]
    (tmp_path / name).write_text(content, encoding="utf-8")
    drafted = draft_mapping(tmp_path / name)

    assert drafted.rows
    assert drafted.unreadable == ()


def write_files(folder: Path, files: dict[str, Any]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def test_a_folder_of_single_attempts_is_one_table(tmp_path: Path):
    files = {f"task_{at}.json": {"success": at % 2 == 0, "model": "m"} for at in range(4)}
    write_files(tmp_path, {**files, "summary.json": {"total": 4, "success_rate": 0.5}})
    found = keys_of(draft_mapping(tmp_path).text)

    assert (found["files"], found["rows"], found["case.name"]) == ("task_*.json", ".", "@file")
    assert found["attempt.passed"] == "success"


def test_a_folder_with_a_folder_for_each_model_has_a_run_for_each(tmp_path: Path):
    attempt = {"task": {"id": "t", "prompt": "fix the bug"}, "result": {"passed": True, "output": "diff"}}
    write_files(
        tmp_path,
        {
            f"{model}/case{at}.json": {**attempt, "task": {"id": f"t{at}", "prompt": "fix the bug"}}
            for model in ("gpt-4o", "claude-3")
            for at in range(3)
        },
    )
    drafted = draft_mapping(tmp_path)
    found = keys_of(drafted.text)

    assert (found["files"], found["run.model"]) == ("*/*.json", {"column": "@folder"})
    assert drafted.models == ("claude-3", "gpt-4o")


def test_a_folder_of_tables_is_a_run_for_each_file(tmp_path: Path):
    write_files(tmp_path, {f"{model}.jsonl": lines(results()) for model in ("gpt-4o", "claude-3")})
    drafted = draft_mapping(tmp_path)

    assert keys_of(drafted.text)["run.model"] == {"column": "@file"}
    assert Path(drafted.target) == tmp_path / "errata.map.toml"
