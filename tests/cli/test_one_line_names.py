"""A name with line breaks can't forge a line of errata's own."""

from pathlib import Path

import pytest

from errata.model import Attempt, Case, Check, Subject, case_key
from errata.sources.errata_jsonl.lines import write_lines
from errata.testing import a_run
from terminal import errata

FORGED = "FIT for comparison"


def named(text):
    return f"{text}\n{FORGED}\r{FORGED}\u2028{FORGED}"


@pytest.fixture
def imported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    record = a_run(native_id=named("nightly"), name=named("run"), subject=Subject(model=named("m"), agent=named("a")))
    case = Case(run=record.id, suite="suite", native_id=named("case"), input="?")
    check = Check(name=named("check"), status="fail", explanation="no")
    facts = {"execution": "completed", "measurement": "scored", "outcome": "fail", "checks": (check,)}
    attempt = Attempt(run=record.id, case=case_key("suite", named("case")), **facts)
    Path("run.jsonl").write_bytes(b"".join(write_lines([record, case, attempt])))


@pytest.mark.req("B-92")
def test_a_name_with_line_breaks_makes_no_line_of_its_own(imported):
    commands = [("analyze", "run.jsonl", "--no-report"), ("runs",), ("check", "latest"), ("failures", "latest")]
    commands += [("show", "latest"), ("show", f"latest/{named('nothing')}"), ("failures", named("no run"))]
    for command in commands:
        result = errata(*command)

        assert not [line for line in (result.out + result.err).splitlines() if line.startswith(FORGED)], command
