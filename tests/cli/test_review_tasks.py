"""Suspect tasks reviewed as tasks: a packet with the answers of all subjects, one verdict for all of their failures."""

import json
import shutil

import pytest
from tests.suite_of_runs import write_logs

from reading import as_model
from terminal import done, errata

SUBJECTS = {"alpha": "=--++++-++", "beta": "=-++-+++++", "gamma": "=-+++-+++-", "delta": "=--+++++-+"}
"""Nobody passes the first two cases; on the first one all agree, so that triage blames the task already."""


@pytest.fixture(scope="module")
def store_of_subjects(tmp_path_factory):
    """A store with a run of each subject; to be copied."""
    folder = tmp_path_factory.mktemp("subjects")
    done("import", write_logs(folder / "logs", SUBJECTS, task="Add 400 and 21."), "--store", folder / "errata.db")
    return folder / "errata.db"


@pytest.fixture(autouse=True)
def imported(at_home, store_of_subjects):
    (at_home / ".errata").mkdir(mode=0o700)
    shutil.copy(store_of_subjects, at_home / ".errata" / "errata.db")


def leased(*options):
    return done("review", "next", "alpha", "--tasks", *as_model("ana"), *options).row


def submit(answer, tmp_path, reviewer="ana", **fields):
    quote = {"place": "task", "quote": "Add 400 and 21."}
    full = answer | {
        "label": "broken_task",
        "cause": "The sum is 421, and the reference is another number.",
        "reasoning": "Every subject adds it up to 421.",
        "evidence": [quote],
        "confidence": "certain",
    }
    file = tmp_path / "answer.json"
    file.write_text(json.dumps(full | fields), encoding="utf-8")
    return errata("review", "submit", file, *as_model(reviewer), "--json")


def verdicts(case="case-00", names=tuple(SUBJECTS)):
    """The owners that reviewers name; none where there is no verdict."""
    rows = [row for name in names for row in done("failures", name, "--json").rows]
    return [row["verdict"] and row["verdict"]["owner"] for row in rows if row["case"] == case]


def test_a_packet_holds_the_task_its_reference_and_the_answers_of_all_subjects():
    packet = leased()["packet"]

    texts = {place["place"]: place["text"] for place in packet["places"]}
    assert texts["task"] == "Add 400 and 21."
    assert texts["expected"] == "412"
    assert [name for name in texts if name.startswith("subjects/")] == ["subjects/2", "subjects/3", "subjects/4"]
    assert "It is 421" in texts["subjects/2"]
    assert packet["facts"] == {
        "subjects": 4, "subjects_passed": 0, "attempts": 4, "attempts_passed": 0, "p": 0.0218, "category": ""
    }  # fmt: skip
    assert [one["name"] for one in packet["signals"]] == ["agree_on_another"]
    assert [one["label"] for one in packet["question"]["labels"]] == ["broken_task", "broken_test", "hard", "unknown"]


@pytest.mark.req("B-10")
def test_a_verdict_on_a_task_goes_for_the_failures_of_all_subjects(tmp_path):
    answer = leased()["answer"]

    taken = submit(answer, tmp_path)

    assert (taken.code, taken.row["label"], taken.row["owner"], taken.row["inherited"]) == (0, "broken_task", "task", 4)
    assert verdicts() == ["task"] * 4
    assert verdicts("case-01") == [None] * 4
    shown = done("show", "beta/case-00").out
    assert "inherited from the verdict on its task" in shown
    assert "The sum is 421, and the reference is another number." in shown


@pytest.mark.parametrize("label", ["hard", "unknown"])
def test_a_fair_task_changes_no_owner(tmp_path, label):
    taken = submit(leased()["answer"], tmp_path, label=label)

    assert (taken.code, taken.row["inherited"]) == (0, 0)
    assert verdicts() == [None] * 4


def test_a_verdict_that_is_taken_back_takes_its_copies_back(tmp_path):
    answer = leased()["answer"]
    submit(answer, tmp_path)

    submit(answer, tmp_path, label="hard", cause="It is only difficult.")

    assert verdicts() == [None] * 4
    assert "reviewed as hard (model)" in done("review", "tasks", "alpha").out


def test_a_quote_that_is_not_in_the_packet_is_refused(tmp_path):
    answer = leased()["answer"]

    refused = submit(answer, tmp_path, evidence=[{"place": "task", "quote": "Subtract 400 from 21, please."}])

    assert refused.code == 2
    assert "is not in `task`" in refused.row["reasons"][0]
    assert verdicts() == [None] * 4


def test_a_failure_that_somebody_has_reviewed_keeps_its_verdict(tmp_path):
    own = done("review", "next", "alpha/case-00", *as_model("ben")).row["answer"]
    verdict = own | {
        "label": "model",
        "cause": "It can't add.",
        "reasoning": "The answer is another one.",
        "evidence": [{"place": "output", "quote": "It is 421"}],
        "confidence": "weak",
    }
    file = tmp_path / "own.json"
    file.write_text(json.dumps(verdict), encoding="utf-8")
    done("review", "submit", file, *as_model("ben"))

    taken = submit(leased()["answer"], tmp_path)

    assert taken.row["inherited"] == 3
    assert verdicts() == ["model", "task", "task", "task"]


def test_the_next_task_follows_and_nothing_waits_at_the_end(tmp_path):
    first = leased()
    assert leased()["again"]
    submit(first["answer"], tmp_path)

    second = leased()
    assert second["packet"]["case_key"] == "suite/case-01"
    submit(second["answer"], tmp_path, label="hard")

    nothing = leased()
    assert (nothing["packet"], nothing["failures"], nothing["read"]) == (None, 2, 2)


def test_a_task_can_be_named(tmp_path):
    named = done("review", "next", "alpha/case-02", "--tasks", *as_model("ana")).row

    assert named["packet"]["case_key"] == "suite/case-02"
    assert named["packet"]["attempt_id"].endswith("#0/task")


def test_a_blind_packet_names_no_subject():
    packet = leased("--blind")["packet"]

    assert not [name for name in SUBJECTS if name in json.dumps([packet["places"], packet["run"]])]


def test_an_edited_task_inherits_nothing(tmp_path):
    submit(leased()["answer"], tmp_path)
    later = write_logs(tmp_path / "later", {"omega": "--++++++++"}, task="Add 400 and 12.")

    done("analyze", later, "--no-report")

    assert verdicts(names=("omega",)) == [None]
