"""Where an attempt comes from, on the terminal, on its page and in `--json`; and which runs hold the same work."""

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from errata import sources
from errata.model import Attempt
from errata.server.pages.attempt import _facts
from errata.sources import harbor
from terminal import done, errata

SAME_WORK = Path(__file__).parents[1] / "fixtures" / "same_work"


@pytest.mark.req("N-14")
def test_a_regrade_says_so_wherever_it_is_shown():
    done("import", SAME_WORK / "harbor" / "source", SAME_WORK / "harbor" / "regraded")

    shown = json.loads(errata("show", "8d15499c/demo/gamma", "--json").out)
    assert (shown["origin"], shown["attempt"]["provenance"]) == ("regrade", "regrade")
    assert "regrade: work of another attempt, judged again" in errata("show", "8d15499c/demo/gamma").out
    assert "regrade" not in errata("show", "58b9f3e9/demo/gamma").out
    listed = " ".join(errata("runs").out.split())
    assert re.search(r"the same work counts once: 8d15499c\S+ has it, too \(regrade\)", listed)
    pages = [_facts(item) for item in harbor.read(SAME_WORK / "harbor" / "regraded") if isinstance(item, Attempt)]
    assert ["<dt>origin</dt><dd>regrade: " in page for page in pages] == [True] * 6


@pytest.mark.req("N-14")
def test_a_gate_between_a_regrade_and_its_source_is_not_comparable():
    done("import", SAME_WORK / "harbor" / "source", SAME_WORK / "harbor" / "regraded")

    gate = errata("gate", "8d15499c", "--baseline", "58b9f3e9")

    assert gate.code == 4
    assert "(regrade)" in " ".join(gate.out.split())


def test_the_origin_of_what_a_log_says_nothing_about():
    facts = {"run": "r", "case": "c", "execution": "completed", "measurement": "scored", "outcome": "pass"}
    assert [Attempt(**facts, index=at).origin for at in (1, 2)] == ["first", "repeat"]


def origins(path):
    read = (item for match in sources.find(path) for item in sources.read(match))
    return Counter(item.origin for item in read if isinstance(item, Attempt))


@pytest.mark.req("N-14")
def test_what_the_harness_retried_or_edited_is_named(tmp_path):
    inspect = SAME_WORK.with_name("sources") / "inspect_ai"
    assert origins(inspect / "demo_eval") == {"first": 6, "repeat": 6, "retry": 2}
    assert origins(inspect / "mixed_json") == {"first": 4, "retry": 2, "edit": 1}

    case = (
        '<testcase classname="c" name="flaky"><flakyFailure message="no"/></testcase><testcase classname="c" name="b"/>'
    )
    (tmp_path / "junit.xml").write_text(f'<testsuites><testsuite name="s" tests="2">{case}</testsuite></testsuites>')
    assert origins(tmp_path / "junit.xml") == {"first": 2, "retry": 1}

    job = shutil.copytree(SAME_WORK / "harbor" / "source", tmp_path / "job")
    rows = [{"trial_name": trial.name, "retry_count": at} for at, trial in enumerate(sorted(job.glob("*__*"))[:2])]
    (job / "download_manifest.json").write_text(json.dumps({"downloaded": rows}))
    assert origins(job) == {"first": 3, "repeat": 2, "requeue": 1}
