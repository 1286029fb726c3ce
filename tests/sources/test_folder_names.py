"""What the folders of a log tell about a run that its files do not name."""

import pytest
from harbor_fixtures import a_job, a_result

from errata import sources
from errata.model import Run
from errata.runs.importing import import_paths
from errata.sources.folder_names import folder_model, folder_name

JOB_ID = "0b6c1a52-8f0e-4a6b-9d8e-2f1c7a9e0d11"


def run_at(path):
    (readable,) = sources.find(path)
    return next(item for item in sources.read(readable) if isinstance(item, Run))


def an_unnamed_job(folder):
    """A job whose files name neither the model nor the job, as published ones often do not."""
    result = a_result(config={"agent": {"name": "terminus"}, "task": {"path": "hello-world"}})
    result["agent_info"] = {"name": "terminus", "version": "1"}
    return a_job(folder, result, id=JOB_ID)


def test_a_job_without_a_name_is_called_by_its_folder(tmp_path):
    run = run_at(an_unnamed_job(tmp_path / "nightly-terminus"))

    assert (run.name, run.subject.model) == ("nightly-terminus", "")


@pytest.mark.parametrize("level", ["results", "jobs", "2025-11-02", "run_12", "2025-11-02__10-22-31"])
def test_a_folder_that_every_job_has_is_named_with_the_one_above(tmp_path, level):
    (tmp_path / "ablation" / level).mkdir(parents=True)

    assert folder_name(tmp_path / "ablation" / level) == f"ablation/{level}"


def test_a_folder_beside_one_of_another_model_is_the_model(tmp_path):
    one = an_unnamed_job(tmp_path / "gpt-5-mini" / "job")
    (tmp_path / "claude-sonnet-4").mkdir()

    assert run_at(one).subject.model == "gpt-5-mini"


def test_a_folder_alone_is_no_model(tmp_path):
    assert run_at(an_unnamed_job(tmp_path / "gpt-5-mini" / "job")).subject.model == ""


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("2025-11-02__claude-sonnet-4__terminus", "claude-sonnet-4"),
        ("terminus__qwen3-coder", "qwen3-coder"),
        ("2025-11-02__gemini-2.5-pro", "gemini-2.5-pro"),
        ("gpt-5-task__aB3xY", ""),
        ("2025-11-02__terminus__hello", ""),
        ("gpt-5__judged-by-claude-4__terminus", ""),
    ],
)
def test_one_part_of_a_folder_name_may_be_the_model(tmp_path, name, model):
    (tmp_path / name).mkdir()

    assert folder_model(tmp_path / name, "terminus") == model


def test_a_model_that_the_log_names_is_not_replaced(tmp_path):
    job = a_job(tmp_path / "2025-11-02__claude-sonnet-4__terminus", a_result())

    assert run_at(job).subject.model not in ("", "claude-sonnet-4")


def test_the_id_of_a_run_does_not_depend_on_its_folder(tmp_path):
    (tmp_path / "claude-sonnet-4").mkdir()
    one = run_at(an_unnamed_job(tmp_path / "gpt-5-mini"))
    other = run_at(an_unnamed_job(tmp_path / "elsewhere"))

    assert one.id == other.id


def test_a_run_that_was_moved_is_unchanged_although_its_name_was_its_folders(tmp_path, store):
    import_paths([an_unnamed_job(tmp_path / "nightly")], store)
    (tmp_path / "nightly").rename(tmp_path / "2025-11-02__gpt-5__terminus")

    (summary,) = import_paths([tmp_path / "2025-11-02__gpt-5__terminus"], store)

    assert [run.change for run in summary.runs] == ["unchanged"]
