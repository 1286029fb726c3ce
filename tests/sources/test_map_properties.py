"""`errata map` on any table: it never breaks, and what it writes can be read; what it is unsure of, it lists."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.length import LONG

from errata.errors import ErrataError
from errata.sources.generic import mapping
from errata.sources.generic.draft import draft_mapping

NAMES = st.sampled_from(
    ["id", "task", "model", "passed", "score", "status", "output", "answer", "expected", "error", "gpt-4_ok", "run_1",
     "judge_score", "usage", "latency", "Time (s)", "a.b", "x[0]", "{model}", "^up", "@file", "", "q\"uote", "ünïcode"]
)  # fmt: skip
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3000),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.sampled_from(["pass", "FAIL", "TIMEOUT", "null", "0,5", "1/2", "85 %", "2026-03-01T10:00:00Z", "two words", ""]),
    st.text(max_size=8),
    st.lists(st.fixed_dictionaries({"role": st.just("user"), "content": st.text(max_size=3)}), max_size=2),
    st.dictionaries(NAMES, st.one_of(st.integers(0, 9), st.booleans(), st.text(max_size=3)), max_size=3),
)
ROWS = st.lists(st.dictionaries(NAMES, VALUES, min_size=1, max_size=7), min_size=1, max_size=6)


def is_sound(path: Path) -> None:
    try:
        drafted = draft_mapping(path)
    except ErrataError as refused:
        assert refused.hint
        return
    (path.parent / "map.toml").write_text(drafted.text, encoding="utf-8")
    mapping.load(path.parent / "map.toml")
    assert len(drafted.rows) + len(drafted.unreadable) > 0


@settings(max_examples=1_000 if LONG else 40, deadline=None)
@given(ROWS)
def test_any_lines_give_a_mapping_that_loads(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("lines") / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    is_sound(path)


@settings(max_examples=1_000 if LONG else 30, deadline=None)
@given(
    st.recursive(
        VALUES, lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(NAMES, inner, max_size=4))
    )
)
def test_any_document_gives_a_mapping_that_loads_or_a_refusal(tmp_path_factory, document):
    path = tmp_path_factory.mktemp("document") / "log.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    is_sound(path)


def drafted(folder: Path, rows: list[dict[str, Any]]):
    path = folder / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return draft_mapping(path)


def doubts(draft) -> dict[str, str]:
    return {doubt.key: " ".join((doubt.why, *doubt.alternatives)) for doubt in draft.doubts}


@pytest.mark.parametrize("name", ["score", "reward", "result", "match", "status", "ok"])
def test_a_yes_or_no_under_a_name_that_may_mean_something_else_is_a_doubt(tmp_path: Path, name: str):
    draft = drafted(tmp_path, [{"id": f"c{number}", name: number % 2} for number in range(6)])

    assert tomllib.loads(draft.text)["attempt"]["passed"] == name
    assert "is this pass and fail?" in doubts(draft)["[attempt] passed"]


@pytest.mark.parametrize("name", ["truncated", "has_image", "cached", "is_valid", "flagged"])
def test_a_yes_or_no_that_is_no_verdict_is_never_taken_for_one(tmp_path: Path, name: str):
    draft = drafted(tmp_path, [{"id": f"c{number}", name: number % 2 == 0} for number in range(6)])

    assert "passed" not in tomllib.loads(draft.text).get("attempt", {})
    assert f"`{name}`" in doubts(draft)["[attempt] passed"]


def test_the_verdict_that_follows_from_the_others_is_chosen(tmp_path: Path):
    rows = [
        {
            "id": number,
            "lint": number % 2 == 0,
            "tests": number % 3 == 0,
            "success": number % 2 == 0,
            "ok": number % 6 == 0,
        }
        for number in range(12)
    ]

    assert tomllib.loads(drafted(tmp_path, rows).text)["attempt"]["passed"] == "ok"


@pytest.mark.parametrize(
    ("column", "values", "unit"),
    [
        ("took_ms", [1.5, 2.5], "ms"),
        ("took", [1500, 2500], "ms"),
        ("took", [1.5, 2.5], "s"),
        ("took_seconds", [1500, 9], "s"),
    ],
)
def test_the_unit_of_a_duration_is_named_or_doubted(tmp_path: Path, column: str, values: list[float], unit: str):
    draft = drafted(tmp_path, [{"id": at, column: value} for at, value in enumerate(values)])
    chosen = tomllib.loads(draft.text)["attempt"]["duration"]

    assert (chosen["unit"] if isinstance(chosen, dict) else "s") == unit
    assert ("[attempt] duration" in doubts(draft)) == (column == "took")


def test_a_headline_that_the_rows_do_not_give_is_a_doubt(tmp_path: Path):
    path = tmp_path / "log.json"
    rows = [{"id": number, "passed": number % 2 == 0} for number in range(4)]
    path.write_text(json.dumps({"accuracy": 0.9, "results": rows}), encoding="utf-8")

    assert "the document states 0.9; the rows give 0.5" in doubts(draft_mapping(path))["[run] headline"]


def test_unknown_status_words_are_a_doubt_and_known_ones_are_assigned(tmp_path: Path):
    words = ["done", "usageLimits", "max_turns", "aborted", "done", "done"]
    draft = drafted(tmp_path, [{"id": at, "passed": True, "status": word} for at, word in enumerate(words)])

    assert tomllib.loads(draft.text)["status_words"] == {"limit": ["max_turns"], "cancelled": ["aborted"]}
    assert "`usageLimits`" in doubts(draft)["[attempt] status"]


def test_a_word_that_occurs_only_with_errors_is_an_error(tmp_path: Path):
    rows = [
        {"id": at, "passed": at > 1, "status": "ok" if at > 1 else "failed", "error": "" if at > 1 else "boom"}
        for at in range(6)
    ]

    assert tomllib.loads(drafted(tmp_path, rows).text)["status_words"]["error"] == ["failed"]


def test_a_large_table_is_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "log.csv"
    path.write_text("id,passed\n" + "".join(f"c{number},1\n" for number in range(20_000)), encoding="utf-8")
    monkeypatch.setattr("errata.sources.generic.draft.sample.ROWS_CAP", 300)

    assert sum(draft_mapping(path).outcomes.values()) == 200
