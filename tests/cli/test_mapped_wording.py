"""Pages about runs of a table of one's own: no word twice, and no status that explains nothing as a reason."""

from pathlib import Path

import pytest

from errata.cli.fitting import cut
from terminal import done

JUDGED = """suite = "s"
[run]
model = "m"
[case]
name = "task"
[attempt]
output = "answer"
passed = { column = "verdict", judge = true }
scoring_error = "problem"
judge_reasoning = "why"
[checks]
style = "style"
tone = "tone"
"""


@pytest.fixture
def judged(at_home: Path) -> None:
    rows = 'a,INCORRECT,"not so",,yes,yes,x\nb,CORRECT,fine,,yes,yes,y\nc,,,could not parse,yes,yes,z\n'
    (at_home / "log.csv").write_text(f"task,verdict,why,problem,style,tone,answer\n{rows}", encoding="utf-8")
    (at_home / "log.csv.map.toml").write_text(JUDGED, encoding="utf-8")
    done("import", "log.csv")


def test_a_judges_failure_is_not_called_failed_passed(judged: None):
    shown = done("show", "log/a").out

    assert "failed by the judge" in shown
    assert "failed passed" not in shown
    assert "judge judge" not in shown


def test_an_error_without_a_type_is_named_once(judged: None):
    shown = done("show", "log/c").out

    assert "error while scoring" in shown
    assert "error error" not in shown


@pytest.mark.parametrize(("failing", "status"), [("0", "ok"), ("0", "done"), ("0", "")])
def test_a_status_that_explains_nothing_is_no_reason(at_home: Path, failing: str, status: str):
    column = 'status = "state"' if status else ""
    (at_home / "log.csv").write_text(f"task,ok,state\na,{failing},{status}\nb,1,{status}\n", encoding="utf-8")
    mapping = f'[run]\nmodel = "m"\n[case]\nname = "task"\n[attempt]\npassed = "ok"\n{column}'
    (at_home / "log.csv.map.toml").write_text(mapping, encoding="utf-8")
    done("import", "log.csv")

    (failure,) = done("failures", "log", "--json").rows[:1]

    assert (failure["case"], failure["reason"] or "") == ("a", "")


@pytest.mark.parametrize("text", ["a long text…", "a longer text… here", "x" * 30])
def test_a_text_that_was_cut_before_has_one_ellipsis(text: str):
    assert all("……" not in cut(text, width) for width in range(1, len(text) + 1))
