"""A run whose id holds a secret: its reports are found again, and their names tell nothing."""

import random
from pathlib import Path

import pytest
from soak.secret_strings import leaks, make

from errata.model import Attempt, Case, case_key
from errata.render.files import key_slug, slug
from errata.report.run_files import report_path
from errata.sources.errata_jsonl.lines import write_lines
from errata.testing import a_run
from terminal import done

SECRET = make("github-token", "ghp_{36}", random.Random(4))
PEOPLE = "anna.lind@post.dk"


def test_what_is_redacted_inside_is_redacted_in_the_name_of_the_file():
    path = report_path(f"acme/{SECRET.text}", "", SECRET.text, "2026-01-02")

    assert path == "acme/redacted-github-token/redacted_2026-01-02.md"


def test_no_name_of_a_file_holds_a_secret():
    assert not leaks(SECRET, slug(f"nightly {SECRET.text}") + key_slug(f"case {SECRET.text}"))


@pytest.mark.req("B-93")
@pytest.mark.parametrize("native_id", [SECRET.text, f"{PEOPLE} 7"])
def test_notes_of_people_stay_in_the_report_of_a_run_whose_id_is_redacted(tmp_path, monkeypatch, native_id):
    monkeypatch.chdir(tmp_path)
    record = a_run(native_id=native_id)
    facts = {"execution": "completed", "measurement": "scored", "outcome": "fail"}
    case = Case(run=record.id, suite="suite", native_id="case-1", input="?")
    attempt = Attempt(run=record.id, case=case_key("suite", "case-1"), **facts)
    Path("run.jsonl").write_bytes(b"".join(write_lines([record, case, attempt])))
    done("import", "run.jsonl")
    done("report", "latest", "--date", "2026-01-02")
    (first,) = Path("reports").rglob("*.md")
    head, actions, _ = first.read_text().rpartition("## Actions taken")
    assert actions, first.read_text()[-500:]
    first.write_text(f"{head}{actions}\n\n2026-01-02: we changed the prompt\n")

    done("report", "latest", "--date", "2026-01-02")
    done("report", "latest", "--date", "2026-01-05")

    reports = sorted(Path("reports").rglob("*.md"))
    assert [one.name[-13:] for one in reports] == ["2026-01-02.md", "2026-01-05.md"]
    assert all("we changed the prompt" in one.read_text() for one in reports)
    assert not any(leaks(SECRET, str(one)) or "anna" in str(one) for one in reports)
