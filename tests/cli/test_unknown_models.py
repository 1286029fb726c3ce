"""Runs whose logs name no model: each is a subject of its own, and every list distinguishes them."""

import json

import pytest

from terminal import done

IDS = ("0b6c1a52-8f0e-4a6b-9d8e-2f1c7a9e0d11", "0b6c1a52-8f0e-4a6b-9d8e-2f1c7a9e0d12")


def a_job(folder, job, reward):
    """A Harbor job of one agent, as published ones are: neither the model nor the job has a name."""
    trial = folder / "hello__a1"
    trial.mkdir(parents=True)
    result = {
        "task_name": "hello",
        "trial_name": "hello__a1",
        "source": "bench",
        "task_checksum": "sum",
        "config": {"agent": {"name": "terminus"}},
        "agent_info": {"name": "terminus", "version": "1"},
        "verifier_result": {"rewards": {"reward": reward}},
        "exception_info": None,
    }
    (trial / "result.json").write_text(json.dumps(result))
    (folder / "result.json").write_text(json.dumps({"id": job, "n_total_trials": 1, "stats": {"evals": {}}}))


@pytest.fixture
def jobs(tmp_path):
    for name, job, reward in zip(("terminus-small", "terminus-large"), IDS, (0.0, 1.0), strict=True):
        a_job(tmp_path / "jobs" / name, job, reward)
    done("import", tmp_path / "jobs")
    return IDS


@pytest.mark.req("B-26")
def test_runs_of_unknown_models_are_no_unstable_subject(jobs):
    studies = done("consistency", *jobs, "--json").rows
    compared = done("compare", *jobs, "--json").row

    assert [len(study["columns"]) for study in studies] == [1, 1]
    assert [column["label"] for column in compared["columns"]] == [
        "terminus (terminus-small)",
        "terminus (terminus-large)",
    ]


@pytest.mark.parametrize("command", ["runs", "analyze", "compare", "score"])
def test_every_list_distinguishes_the_runs_of_one_import(jobs, command):
    named = {"runs": (), "analyze": ("jobs", "--no-report")}.get(command, jobs)
    page = done(command, *named).out

    assert "terminus-small" in page
    assert "terminus-large" in page
