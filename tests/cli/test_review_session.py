"""The session of docs/review-session.md, walked once more: every failure of a run, through `next` and `submit`."""

import json
from pathlib import Path

import pytest

from reading import RUN_B, submitted
from terminal import done, import_fixtures

HERE = Path(__file__).parent.parent
DOCUMENT = (HERE.parent / "docs" / "review-session.md").read_text(encoding="utf-8")
VERDICTS = json.loads((HERE / "fixtures" / "review" / "run_b_verdicts.json").read_text(encoding="utf-8"))
CALLED = ("--reviewer", "my-agent")


WRONG = {
    "002-queries/006-pagination_shape": {"label": "KNOWN_GAP"},
    "004-actions/003-rate_limit_guard": {
        "evidence": [
            {"place": "output/convex/guard.ts", "quote": 'if (used > 3) throw new Error("too many requests")'},
            *VERDICTS["004-actions/003-rate_limit_guard"]["evidence"][1:],
        ]
    },
}
"""The two first tries that were made wrong on purpose."""


@pytest.fixture
def session(tmp_path):
    import_fixtures(RUN_B)
    result = []
    while (handed := done("review", "next", "latest", *CALLED).row)["packet"]:
        case = handed["packet"]["case_key"].removeprefix("convex-evals/")
        answer = handed["answer"] | VERDICTS[case]
        if case in WRONG:
            result.append(submitted(tmp_path / "v.json", answer | WRONG[case], *CALLED))
        result.append(submitted(tmp_path / "v.json", answer, *CALLED))
    return result


@pytest.mark.req("C-08", "C-12", "C-13", "C-14")
def test_every_failure_is_read_and_every_verdict_taken(session):
    assert [result.code for result in session if not result.err] == [0] * 9
    assert [result.code for result in session if result.err] == [2] * 2


def test_the_document_shows_what_is_kept(session):
    shown = done("show", "latest/004-actions/003-rate_limit_guard").out
    verdict = shown.partition("\nVerdict")[2].partition("\n")[2].partition("\n  because")[0]

    assert verdict in DOCUMENT
    assert next(line for line in shown.splitlines() if line.startswith("Counted")) in DOCUMENT
