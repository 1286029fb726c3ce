"""The session of docs/review-session.md, walked once more: every failure of a run, through `next` and `submit`."""

import json
from pathlib import Path

import pytest

from reading import RUN_B, submitted
from terminal import done

HERE = Path(__file__).parent.parent
DOCUMENT = (HERE.parent / "docs" / "review-session.md").read_text(encoding="utf-8")
VERDICTS = json.loads((HERE / "fixtures" / "review" / "run_b_verdicts.json").read_text(encoding="utf-8"))
CALLED = ("--reviewer", "my-agent")


@pytest.fixture
def session(tmp_path):
    done("import", RUN_B)
    told = []
    while (handed := done("review", "next", "latest", *CALLED).row)["packet"]:
        case = handed["packet"]["case_key"].removeprefix("convex-evals/")
        told.append(submitted(tmp_path / "v.json", handed["answer"] | VERDICTS[case], *CALLED))
    return told


@pytest.mark.req("C-08", "C-12", "C-13", "C-14")
def test_every_failure_is_read_and_every_verdict_taken(session):
    assert [told.code for told in session] == [0] * 9


def test_the_document_shows_what_is_printed(session):
    shown = [told.out.rpartition("   ")[0] for told in session]
    recorded = [line for line in shown if line in DOCUMENT]

    assert len(recorded) == 4
    status = done("review", "status", "latest").out
    assert status.partition("open doubts")[0] in DOCUMENT


def test_the_score_is_the_one_in_the_document(session):
    lines = [line for line in done("score", "latest").out.splitlines() if line.startswith(("clean ", "reviewed "))]

    assert all(line in DOCUMENT for line in lines)
