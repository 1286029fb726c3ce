"""Wide tables: words such as `err` beside 0 and 1 become status words; an empty cell was not run."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from errata.model import Attempt
from errata.sources.generic.draft import draft_mapping
from errata.sources.generic.mapping import load
from errata.sources.generic.reader import MappedSource

MODELS = ("GPT-4.1", "Qwen3-32B")


def imported(path: Path, mapping: str = "") -> list[Attempt]:
    """With the drafted mapping, or another one."""
    beside = path.with_name(f"{path.name}.map.toml")
    beside.write_text(mapping or draft_mapping(path).text, encoding="utf-8")
    return [item for item in MappedSource(load(beside)).read(path) if isinstance(item, Attempt)]


def wide(folder: Path, *rows: tuple[str, ...], names: tuple[str, ...] = MODELS) -> Path:
    path = folder / "wide.tsv"
    lines = ["\t".join(("task", *names)), *("\t".join((f"t{at}", *row)) for at, row in enumerate(rows))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def kinds(attempts: list[Attempt]) -> Counter[str]:
    return Counter(one.outcome if one.outcome != "none" else one.execution for one in attempts)


@pytest.mark.parametrize(("yes", "no"), [("1", "0"), ("1.0", "0.0"), ("pass", "fail"), ("T", "F"), ("✓", "✗")])
def test_words_among_verdicts_become_status_words(tmp_path: Path, yes: str, no: str):
    attempts = imported(wide(tmp_path, (yes, no), (yes, "err"), (no, "timeout"), ("", yes), (yes, "n/a"), (no, yes)))

    assert kinds(attempts) == {"pass": 5, "fail": 3, "error": 1, "limit": 1, "missing": 2}


def test_words_among_scores_become_status_words(tmp_path: Path):
    attempts = imported(wide(tmp_path, ("0.8", "0.25"), ("0.5", "err"), ("0.1", "timeout"), ("–", "0.9")))

    assert kinds(attempts) == {"number": 5, "error": 1, "limit": 1, "missing": 1}
    assert [one.extra for one in attempts if "not_understood" in one.extra] == []


def test_words_among_the_columns_of_attempts_become_status_words(tmp_path: Path):
    attempts = imported(wide(tmp_path, ("1", "0"), ("crash", "1"), ("0", ""), ("1", "1"), names=("run_1", "run_2")))

    assert kinds(attempts) == {"pass": 4, "fail": 2, "error": 1, "missing": 1}


def test_unknown_words_are_a_doubt(tmp_path: Path):
    drafted = draft_mapping(wide(tmp_path, ("1", "0"), ("0", "wobble"), ("1", "1")))

    assert any("`wobble`" in doubt.why for doubt in drafted.doubts)


def test_a_model_that_answered_nothing_with_a_verdict_was_run(tmp_path: Path):
    path = tmp_path / "wide.csv"
    path.write_text("task,gpt-4_answer,gpt-4_correct,qwen_answer,qwen_correct\na,,0,x,1\nb,,,y,0\n", encoding="utf-8")

    assert kinds(imported(path)) == {"fail": 2, "pass": 1, "missing": 1}


def test_an_answer_of_a_dash_is_an_answer(tmp_path: Path):
    mapping = 'models = ["GPT-4.1", "Qwen3-32B"]\n[case]\nname = "task"\n[attempt]\noutput = "{model}"'
    attempts = imported(wide(tmp_path, ("-", "None"), ("", "x")), mapping)

    assert sorted(one.execution for one in attempts) == ["completed", "completed", "completed", "missing"]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["1", "0", "err", "timeout", ""]), min_size=8, max_size=20))
def test_no_cell_is_lost_or_becomes_a_failure(tmp_path_factory, cells):
    rows = [("1", "0"), ("0", "1"), *((cell, "1") for cell in cells)]
    mapping = (
        'models = ["GPT-4.1", "Qwen3-32B"]\n[case]\nname = "task"\n[attempt]\npassed = "{model}"\n'
        '[status_words]\nerror = ["err"]\nlimit = ["timeout"]'
    )
    counts = kinds(imported(wide(tmp_path_factory.mktemp("t"), *rows), mapping))

    assert counts.total() == 2 * len(rows)
    assert counts["fail"] == 2 + cells.count("0")
    assert (counts["error"], counts["limit"], counts["missing"]) == tuple(map(cells.count, ("err", "timeout", "")))
