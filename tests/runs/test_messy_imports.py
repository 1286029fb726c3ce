"""Folders in which several logs share the id of a run: every row ends in a run, and no run is lost."""

import json
import os
import random

import pytest

from errata.runs.importing import import_paths
from errata.store.runs import all_runs

TREES = int(os.environ.get("ERRATA_TREES", "12"))
"""`ERRATA_TREES=500` tries as many."""


def swe_bench(folder, run, results):
    """A report of the SWE-bench harness; its name is the run's id."""
    ids = {
        word: [case for case, passed in results.items() if passed is (word == "resolved")]
        for word in ("resolved", "unresolved")
    }
    report = {
        "total_instances": len(results), "submitted_instances": len(results), "completed_instances": len(results),
        "resolved_instances": len(ids["resolved"]), "unresolved_instances": len(ids["unresolved"]),
        "empty_patch_instances": 0, "error_instances": 0, "completed_ids": list(results), "incomplete_ids": [],
        "empty_patch_ids": [], "submitted_ids": list(results), "resolved_ids": ids["resolved"],
        "unresolved_ids": ids["unresolved"], "error_ids": [], "schema_version": 2,
    }  # fmt: skip
    (folder / f"model.{run}.json").write_text(json.dumps(report))


def inspect(folder, run, results, suite="t"):
    samples = [
        {
            "id": case, "epoch": 1, "input": f"do {case}", "target": "yes", "messages": [],
            "output": {"model": "m", "choices": [], "completion": "yes"},
            "scores": {"match": {"value": "C" if passed else "I", "answer": "yes"}},
        }
        for case, passed in results.items()
    ]  # fmt: skip
    task = {"eval_id": run, "run_id": run, "created": "2026-05-01T10:00:00+00:00", "task": suite, "task_id": run,
            "model": "m", "dataset": {"name": "d", "samples": len(results)}, "config": {}}  # fmt: skip
    log = {"version": 2, "status": "success", "eval": task, "plan": {"name": "plan", "steps": []}, "samples": samples}
    (folder / f"2026-05-01T10-00-00_t_{run}.json").write_text(json.dumps(log))


def results_of(chance, cases):
    return {f"org__repo-{case}": chance.random() < 0.5 for case in cases}


def copies(chance, cases):
    whole = results_of(chance, cases)
    return [whole, whole], [whole]


def grown(chance, cases):
    whole = results_of(chance, cases)
    sizes = [chance.randint(1, len(whole) - 1), len(whole)]
    return [dict(list(whole.items())[:size]) for size in sizes], [whole]


def parts(chance, cases):
    whole = results_of(chance, cases)
    rows = list(whole.items())
    cut = chance.randint(1, len(rows) - 1)
    return [dict(rows[:cut]), dict(rows[cut:]), dict(rows[:cut])], [whole]


def apart(chance, cases):
    first = results_of(chance, cases)
    rest = list(first)[: chance.randint(1, len(first))]
    second = {case: not passed if case in rest else passed for case, passed in first.items()}
    return [first, second, first], [first, second]


def renamed(chance, cases):
    """The suite of the log has another name in each copy, and the last has grown."""
    logs, runs = chance.choice([copies, grown])(chance, cases)
    return [(log, f"t{at}") for at, log in enumerate(logs)], runs


def tree(chance, folder):
    """Logs of two to four ids in folders of any depth; the results of each run that was made."""
    made = []
    for number in range(chance.randint(2, 4)):
        family = chance.choice([copies, grown, parts, apart, renamed])
        write = inspect if family is renamed else chance.choice([swe_bench, inspect])
        logs, runs = family(chance, range(chance.randint(3, 8)))
        made += [tuple(sorted(run.items())) for run in runs]
        chance.shuffle(logs)
        for at, log in enumerate(logs):
            place = folder / chance.choice(["", "old", "old/more"]) / f"exp{number}-{at}"
            place.mkdir(parents=True)
            write(place, f"run{number}", *log) if family is renamed else write(place, f"run{number}", log)
    return made


def stored_results(store):
    from errata.store.attempts import attempts_of

    return [
        tuple(
            sorted(
                (attempt.case.rpartition("/")[2], attempt.outcome == "pass") for attempt in attempts_of(store, one.pk)
            )
        )
        for one in all_runs(store)
    ]


@pytest.mark.req("N-01")
@pytest.mark.parametrize("seed", range(TREES))
def test_every_row_of_a_messy_folder_ends_in_a_run(seed, tmp_path, store):
    chance = random.Random(seed)
    made = tree(chance, tmp_path / "logs")
    paths = (
        [tmp_path / "logs"]
        if chance.random() < 0.5
        else sorted(one.parent for one in (tmp_path / "logs").rglob("*.json"))
    )
    chance.shuffle(paths)
    for path in paths:
        import_paths([path], store)

    assert sorted(stored_results(store)) == sorted(made)
    import_paths([tmp_path / "logs"], store)
    assert sorted(stored_results(store)) == sorted(made)


@pytest.mark.req("N-01")
def test_a_log_that_is_there_twice_is_one_run_that_stays_as_it_is(tmp_path, store):
    """The files differ in name, so that their runs are not equal to the last bit."""
    results = results_of(random.Random(1), range(4))
    for folder, run in (("a", "one"), ("b", "one")):
        (tmp_path / folder).mkdir()
        inspect(tmp_path / folder, run, results)
    (tmp_path / "b").joinpath("2026-05-01T10-00-00_t_one.json").rename(tmp_path / "b" / "copy_of_one.json")

    changes = [[run.change for one in import_paths([tmp_path], store) for run in one.runs] for _ in range(3)]

    assert [one.run.revision for one in all_runs(store)] == [1]
    assert changes == [["new", "kept"], ["unchanged", "kept"], ["unchanged", "kept"]]


def with_errors(folder, words):
    """A log of Inspect under one eval id; `error` for a sample that broke, as it is before `promptfoo retry`."""
    folder.mkdir()
    inspect(folder, "one", {case: word == "pass" for case, word in words.items()})
    (file,) = folder.iterdir()
    log = json.loads(file.read_text())
    for sample in log["samples"]:
        if words[sample["id"]] == "error":
            sample |= {"error": {"message": "ConnectionError('upstream 503')", "traceback": ""}, "scores": {}}
    file.write_text(json.dumps(log))
    return folder


@pytest.mark.req("N-14")
@pytest.mark.parametrize("order", [("before", "after"), ("after", "before")])
@pytest.mark.parametrize(
    ("retried", "runs"), [("pass", 1), ("fail", 1), ("error", 1)], ids=["passed", "failed", "broke again"]
)
def test_a_retry_after_an_error_takes_the_place_of_the_log_before_it(retried, runs, order, tmp_path, store):
    with_errors(tmp_path / "before", {"a": "pass", "b": "fail", "c": "error"})
    with_errors(tmp_path / "after", {"a": "pass", "b": "fail", "c": retried})
    for name in order:
        import_paths([tmp_path / name], store)

    stored = all_runs(store)
    assert len(stored) == runs
    assert stored[0].counts.measurements.get("scored") == 2 + (retried != "error")


@pytest.mark.req("N-14")
def test_logs_that_each_broke_elsewhere_stay_two_runs(tmp_path, store):
    with_errors(tmp_path / "before", {"a": "pass", "b": "error", "c": "fail"})
    with_errors(tmp_path / "after", {"a": "pass", "b": "fail", "c": "error"})
    for name in ("before", "after"):
        import_paths([tmp_path / name], store)

    assert len(all_runs(store)) == 2
