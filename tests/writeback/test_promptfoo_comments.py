"""Comments in a copy of a promptfoo export: on the rows that are meant, and nothing else is changed."""

import json
import shutil
from pathlib import Path

import pytest

from errata import sources
from errata.model import Attempt
from errata.writeback.files import BEGIN, END
from terminal import FIXTURES, done

PROMPTFOO = FIXTURES / "promptfoo"
COPY = Path("writeback/results.commented.json")


@pytest.fixture(autouse=True)
def at_home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("ERRATA_STORE", raising=False)


@pytest.fixture
def export(tmp_path):
    return Path(shutil.copy(PROMPTFOO / "export" / "data" / "results.json", tmp_path / "results.json"))


def rows_of(path):
    return json.loads(path.read_text())["results"]["results"]


def comments_in(path):
    found = {at: (row.get("gradingResult") or {}).get("comment") for at, row in enumerate(rows_of(path))}
    return {at: comment for at, comment in found.items() if comment}


def facts_in(path):
    (found,) = sources.find(path)
    attempts = [one for one in sources.read(found) if isinstance(one, Attempt)]
    return [
        (one.id, one.execution, one.measurement, one.outcome, one.reported, [error.message for error in one.errors])
        for one in attempts
    ]


def test_rows_that_the_provider_failed_get_a_comment_with_the_rule_and_the_evidence(export):
    made = done("writeback", export, "--json").row

    comments = comments_in(COPY)
    assert len(comments) == len(made["changes"]) == 4
    assert {one["do"] for one in made["changes"]} == {"comment"}
    for at, comment in comments.items():
        assert rows_of(COPY)[at]["success"] is False
        assert comment.startswith(f"{BEGIN}\nprovider: the provider returned a server error (rule ")
        assert "\n> " in comment
        assert comment.endswith(END)


def test_nothing_else_in_the_export_is_changed(export):
    before = export.read_bytes()
    done("writeback", export)

    whole, copy = json.loads(before), json.loads(COPY.read_text())
    for row, other in zip(whole["results"]["results"], copy["results"]["results"], strict=True):
        graded = other["gradingResult"]
        if graded and graded.pop("comment", None) and not row["gradingResult"]:
            assert graded == {"pass": False, "score": row["score"], "reason": row["error"]}
            other["gradingResult"] = row["gradingResult"]
    assert copy == whole
    assert export.read_bytes() == before


def test_the_copy_is_read_as_the_export_was(export):
    done("writeback", export)

    assert facts_in(COPY) == facts_in(export)


def test_a_comment_of_a_person_is_kept_and_that_of_errata_replaced(export):
    done("writeback", export)
    copy = json.loads(COPY.read_text())
    at = next(iter(comments_in(COPY)))
    graded = copy["results"]["results"][at]["gradingResult"]
    graded["comment"] = f"!highlight look\n\n{BEGIN}\nwhat errata said before\n{END}"
    export.write_text(json.dumps(copy))

    done("writeback", export)

    comment = comments_in(COPY)[at]
    assert comment.startswith(f"!highlight look\n\n{BEGIN}\nprovider: ")
    assert comment.count(BEGIN) == 1
    assert "said before" not in comment


def test_an_export_that_has_changed_since_is_not_commented_on(export):
    done("import", export)
    changed = json.loads(export.read_text())
    for row in changed["results"]["results"]:
        row["id"] = "another"
    export.write_text(json.dumps(changed))

    runs = [row["run_id"] for row in done("runs", "--json").rows]
    made = done("writeback", *runs, "--json").row

    assert made["changes"] == []
    assert made["left"]["export_changed"] == 4
    assert not COPY.exists()


def test_lines_can_not_be_imported_again_and_get_no_comments():
    made = done("writeback", PROMPTFOO / "lines" / "data", "--json").row

    assert made["changes"] == []
    assert "not_importable" in made["left"]
    assert not COPY.exists()


def test_a_judge_that_gave_no_verdict_is_told_as_the_graders():
    made = done("writeback", PROMPTFOO / "judge_error" / "data", "--json").row

    assert {one["owner"] for one in made["changes"]} == {"grader"}
    assert made["command"] == ["promptfoo", "import", str(COPY), "--new-id"]
