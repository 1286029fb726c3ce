"""A report on the cases that all runs share: every number of it is about these cases."""

import json

import pytest

from errata.model import Attempt, Run, SourceInfo, Subject
from errata.runs.view import RunView
from errata.store.importing import Importing
from errata.store.packing import pack_items, seal
from errata.store.runs import run_by_id
from errata.verbs.report import report_comparison

SHARED = {f"shared-{at}": at < 2 for at in range(6)}
OWN = {f"own-{at}": at < 3 for at in range(8)}


@pytest.fixture
def written(store, at_home):
    views = [_stored(store, "narrow", SHARED), _stored(store, "wide", SHARED | OWN)]
    return report_comparison(views, day="2026-05-01", output=at_home / "out", html=True, common=True)


def _stored(store, name, cases):
    run = Run(native_id=name, source=SourceInfo(name="test"), suite="suite", subject=Subject(model=name))
    attempts = [
        Attempt(
            run=run.id,
            case=f"suite/{case}",
            execution="completed",
            measurement="scored",
            outcome="pass" if passed else "fail",
        )
        for case, passed in cases.items()
    ]
    with Importing(store) as importing:
        for batch in seal(pack_items([run, *attempts])):
            importing.add(batch)
        importing.finish()
    return RunView(run_by_id(store, run.id), store)


def test_scores_owners_causes_and_rows_are_about_the_shared_cases(written):
    report, each = written.report, sum(not passed for passed in SHARED.values())

    assert report.cases == len(SHARED)
    assert [(run.rows, run.passed, run.failed) for run in report.runs] == [(6, 2, each)] * 2
    assert [sum(run.owners.values()) for run in report.runs] == [each, each]
    assert [score.total - score.passed for run in report.runs for score in run.scores if score.total] == [each] * 4
    assert sum(mode.rows + mode.followers for mode in report.modes) == report.failed_rows == 2 * each
    assert report.reading.failures == 2 * each


def test_no_file_names_a_case_that_one_run_alone_has(written):
    texts = [file.path.read_text() for file in written.written]
    lines = next(file.path for file in written.written if file.path.suffix == ".jsonl").read_text().splitlines()

    assert len(texts) == 4
    assert not [text for text in texts if "own-" in text]
    assert {json.loads(line)["case"] for line in lines} == {case for case, passed in SHARED.items() if not passed}
