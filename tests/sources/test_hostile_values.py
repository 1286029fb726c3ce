"""Values that no record holds, in answers, reasons and what else a row has: the row and its verdict are kept."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from errata import sources
from errata.model import Attempt, Unreadable
from errata.model.codec import pack, storable
from terminal import FIXTURES, done

Steps = tuple[str | int, ...]
FORMATS: dict[str, tuple[str, list[Steps]]] = {
    "generic": ("generic/jsonl/data/nightly", [(1, "answer"), (1, "note"), (1, "prompt"), (1, "usage")]),
    "lm_eval": (
        "lm_eval/dummy/data/dummy/samples_demo_gen_2026-11-15T19-22-58.311841.jsonl",
        [(1, "resps", 0, 0), (1, "filtered_resps", 0), (1, "doc", "q"), (1, "target"), (1, "note")],
    ),
    "openai_evals": (
        "openai_evals/judged/data/260304101010HGFEDCBA_nimbus-2_tide-facts.jsonl",
        [(1, "data", "input"), (2, "data", "sampled", 0), (3, "data", "prompt", 0, "content"), (2, "data", "note")],
    ),
    "deepeval": (
        "deepeval/measures/data/test_run.json",
        [
            *(("testCases", 1, name) for name in ("actualOutput", "expectedOutput", "additionalMetadata")),
            ("testCases", 1, "metricsData", 0, "reason"),
            ("testCases", 1, "metricsData", 0, "verboseLogs"),
        ],
    ),
    "promptfoo": (
        "promptfoo/shared_4/data/v4evalToShare.json",
        [
            ("results", 1, "providerResponse", "output"),
            ("results", 1, "gradingResult", "reason"),
            ("results", 1, "testCase", "note"),
            ("results", 1, "metadata"),
        ],
    ),
    "langsmith": (
        "langsmith/repetitions/data/experiment_rows.jsonl",
        [
            (1, "run", "outputs"),
            (1, "run", "inputs", "q"),
            (1, "run", "extra", "metadata", "note"),
            (1, "evaluation_results", 0, "comment"),
        ],
    ),
    "langfuse": (
        "langfuse/dataset_run/data",
        [
            ("data", 0, "output"),
            ("data", 0, "input", "question"),
            ("data", 0, "metadata", "note"),
            ("data", 0, "observations", 0, "output", "content"),
            ("data", 0, "observations", 2, "input"),
        ],
    ),
    "braintrust": (
        "braintrust/spans/data/rows.jsonl",
        [(0, "output", "a"), (0, "metadata"), (1, "input", 0, "content"), (1, "output")],
    ),
    "pydantic_evals": (
        "pydantic_evals/scores/data/report.json",
        [("cases", 1, name) for name in ("output", "expected_output", "metadata", "attributes")]
        + [("cases", 1, "scores", "closeness", "reason")],
    ),
    "inspect_ai": (
        "inspect_ai/scorer_json/data/scorer.json",
        [
            ("samples", 0, "output", "choices", 0, "message", "content"),
            ("samples", 0, "metadata", "note"),
            ("samples", 0, "store"),
            ("samples", 0, "target"),
        ],
    ),
}


def deep(opening: str, inside: str, closing: str, times: int) -> str:
    return opening * times + inside + closing * times


DEEP = [
    deep(opening, inside, closing, times)
    for times in (190, 201, 300, 1_100, 20_000)
    for opening, inside, closing in (
        ("[", "", "]"),
        ('{"a":', "1", "}"),
        ('[{"a b":[', '"\\"]]}"', "]}]"),
        ('[1,{"x":"]]","y":', '"é"', '},"["]'),
    )
]
NUMBERS = [
    *("NaN", "Infinity", "-Infinity", "-0", "-0.0", "1e999", "-1e999", "1e-999", "0.1e400"),
    *("1" * digits for digits in (19, 20, 40, 400, 5_000)),
    *("-" + "9" * digits for digits in (19, 40, 5_000)),
    "0." + "3" * 5_000,
]
TEXTS = [
    '"\\u0000"',
    '"\\ud800"',
    '"a\\udc00b"',
    '"\\ud83d\\ude00"',
    '"\\uffff\\ufffe"',
    '"\\u202e\\u2066"',
    '"\\u001b[31m"',
    '""',
    '" "',
    '"' + "x" * 300_000 + '"',
    '"' + "[" * 3_000 + '"',
    '"' + "[" * 300 + "]" * 300 + '"',
    '"' + '{\\"a\\":' * 300 + "1" + "}" * 300 + '"',
    '"' + "\\n" * 5_000 + '"',
    *("true", "false", "null", "[]", "{}", "[null]", '{"": null}', '{"\\ud800": 1, "\\ud801": 2}'),
]
VALUES = [value.encode() for value in (*DEEP, *NUMBERS, *TEXTS)] + [b'"\xff\xfe"', b'"\xed\xa0\x80"', b'"\xc3"']


def test_there_are_sixty_values_and_eight_formats():
    assert (len(VALUES) >= 60, len(FORMATS) >= 8) == (True, True)


@pytest.mark.req("X-09")
@pytest.mark.parametrize("name", FORMATS)
def test_no_value_costs_a_row_or_a_verdict(name, tmp_path):
    file, places = FORMATS[name]
    lost = []
    for order, place in enumerate(places):
        texts = log_with_gap(FIXTURES / file, place)
        expected = verdicts(texts, b'"something"', tmp_path)
        assert expected
        for value in VALUES if ALL_VALUES else VALUES[order :: len(places)]:
            found = verdicts(texts, value, tmp_path)
            if found != expected:
                lost.append((place, value[:30], len(value), found))

    assert lost == []


ALL_VALUES = bool(os.environ.get("ERRATA_ALL_VALUES"))
"""Every value in every place, in four times the time; usually each is in one place of each format."""
GAP = "the value in question"


def log_with_gap(log: Path, place: Steps) -> dict[str, bytes]:
    """The files of the log with a mark in place of the value; by name."""
    paths = [log] if log.is_file() else sorted(path for path in log.rglob("*") if path.is_file())
    files = {path.name: path.read_bytes() for path in paths}
    first = next(name for name in files if name.startswith(("traces", "nightly")) or len(files) == 1)
    lines = files[first].decode().split("\n") if first.endswith(".jsonl") else [files[first].decode()]
    at, *steps = place if first.endswith(".jsonl") else (0, *place)
    row = holder = json.loads(lines[int(at)])
    for step in steps[:-1]:
        holder = holder[step]
    holder[steps[-1]] = GAP
    lines[int(at)] = json.dumps(row)
    return files | {first: "\n".join(lines).encode()}


def verdicts(files: dict[str, bytes], value: bytes, folder: Path) -> list[tuple[object, ...]]:
    """Ids, outcomes and scores of all attempts, and whether something was lost whole."""
    log = folder / "log"
    log.mkdir(exist_ok=True)
    for name, content in files.items():
        (log / name).write_bytes(content.replace(json.dumps(GAP).encode(), value))
    return list(_facts(log if len(files) > 1 else log / next(iter(files))))


def _facts(log: Path) -> Iterator[tuple[object, ...]]:
    (found,) = sources.find(log)
    for item in sources.read(found):
        assert pack(storable(item))
        if isinstance(item, Attempt):
            yield item.case, item.index, item.execution, item.measurement, item.outcome, item.reported
        elif isinstance(item, Unreadable) and not item.in_part:
            yield item.where, item.why


@pytest.mark.req("X-09")
def test_a_run_with_an_unreadable_row_has_not_all_passed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log = FIXTURES / "errata_jsonl" / "handmade" / "data" / "run.jsonl"
    rows = log.read_text(encoding="utf-8").split("\n")[:3]
    for name, lines in (("whole", rows), ("damaged", [*rows, rows[2][:60]])):
        Path(f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")

    assert "Nothing to analyse" in done("analyze", "whole.jsonl", "--store", "a.db").out
    assert "Nothing to analyse" not in done("analyze", "damaged.jsonl", "--store", "b.db").out
