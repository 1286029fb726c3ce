"""`errata import`: the same content changes nothing, a run that has grown is a new revision."""

import json
import shutil
from pathlib import Path

import pytest

from errata.runs import importing
from errata.store.importing import Importing
from errata.store.whole_runs import RunGroup
from terminal import FIXTURES, done, errata

RUN_B = FIXTURES / "convex_evals" / "run_b" / "data" / "run-b"
COMPARISON = FIXTURES / "conversation_bench" / "comparison" / "data" / "compare_20260301"
VOICE = COMPARISON / "runs" / "harbour_bench" / "20260301T100000_voice-alpha_1a2b3c4d"


@pytest.fixture
def growing(tmp_path):
    """A conversation of which 20 turns are judged so far, and its whole."""
    copy = Path(shutil.copytree(VOICE, tmp_path / VOICE.name))
    whole = (copy / "openai_judged.jsonl").read_text()
    (copy / "openai_judged.jsonl").write_text("".join(whole.splitlines(keepends=True)[:20]))
    return copy, whole


def test_the_same_content_again_changes_nothing():
    done("import", RUN_B)
    before = done("runs", "--json").out
    done("import", RUN_B)

    assert done("runs", "--json").out == before


def test_a_run_that_was_moved_is_unchanged_and_known_by_its_new_place(tmp_path):
    done("import", RUN_B)
    moved = shutil.copytree(RUN_B, tmp_path / "elsewhere")

    assert done("import", moved).out.startswith("unchanged")
    assert done("runs", "--json").row["origin"] == str(moved)


def test_a_run_that_has_grown_is_a_new_revision(growing):
    copy, whole = growing
    done("import", copy)
    (copy / "openai_judged.jsonl").write_text(whole)

    row = done("import", copy, "--json").row

    assert (row["change"], row["revision"]) == ("grown", 2)
    assert done("runs", "--json").row["counts"]["outcomes"] == {"pass": 25, "fail": 5}
    assert done("runs").out.endswith("\n    revision 2\n")


def test_a_run_that_has_grown_is_told_as_changed(growing):
    copy, whole = growing
    done("import", copy)
    (copy / "openai_judged.jsonl").write_text(whole)

    assert done("import", copy).out.startswith("changed · 1a2b3c4d · voice-alpha · ")


def test_every_run_below_a_folder_is_found(tmp_path):
    (tmp_path / "results" / "deep").mkdir(parents=True)
    shutil.copytree(RUN_B, tmp_path / "results" / "deep" / "b")
    shutil.copytree(VOICE, tmp_path / "results" / "voice")
    (tmp_path / "results" / "README.md").write_text("# results")

    rows = done("import", "results", "--json").rows

    assert [row["source"] for row in rows] == ["convex-evals", "conversation-bench"]


@pytest.mark.trap(19)
@pytest.mark.trap(5)
def test_a_comparison_whose_paths_are_of_another_machine_gives_its_runs():
    rows = done("import", COMPARISON, "--json").rows

    assert [row["model"] for row in rows] == ["voice-alpha", "voice-alpha", "voice-beta", "acme/voice-gamma"]
    assert len({row["run_id"] for row in rows}) == 4


def test_a_source_can_be_named():
    assert done("import", RUN_B, "--source", "convex-evals", "--json").row["source"] == "convex-evals"


def test_a_mapping_makes_a_file_of_ones_own_readable(tmp_path):
    rows = [{"id": "a", "ok": True}, {"id": "b", "ok": False}, {"id": "c", "ok": None}]
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "my.toml").write_text('suite = "mine"\n[case]\nname = "id"\n[attempt]\npassed = "ok"\n')

    result = done("import", "mine.jsonl", "--map", "my.toml", "--json").row

    assert (result["source"], result["suite"], result["counted"], result["failures"]) == ("generic", "mine", 3, 2)


@pytest.mark.parametrize(("writer", "step", "in_memory"), [(Importing, "finish", 1), (RunGroup, "flush", 4)])
def test_a_dead_import_is_never_seen_and_the_next_one_completes(writer, step, in_memory, monkeypatch):
    """Interrupted in the midst of it: the store holds nothing of the run, and a repetition all of it."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(importing, "BATCHES_IN_MEMORY", in_memory)
        patch.setattr(writer, step, interrupted)

        assert errata("import", RUN_B).code == 130
    assert done("runs", "--json").rows == []
    assert done("import", RUN_B).out.startswith("new · ")
