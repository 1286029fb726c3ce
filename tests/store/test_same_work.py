"""Work that was judged again, edited, continued or exported twice is one trial, wherever runs are held together."""

import json
import random
import shutil
from pathlib import Path

import pytest

from errata.compare.comparison import ComparisonOptions
from errata.errors import NotComparableError
from errata.runs.history import earlier_of_same_model
from errata.runs.importing import import_paths
from errata.runs.runset import RunSet
from errata.runs.view import RunView
from errata.store.runs import all_runs
from errata.store.same_work import each_work_once
from errata.triage.stored.peers import Peers
from errata.verbs.compare import leaderboards, score_pooled
from errata.verbs.gate import comparable_runs

FIXTURES = Path(__file__).parents[1] / "fixtures" / "same_work"
HARBOR, INSPECT = FIXTURES / "harbor", FIXTURES / "inspect_ai"
AGAIN = {
    "harbor: job regrade": (HARBOR / "source", HARBOR / "regraded", "regrade"),
    "inspect: edit_score": (INSPECT / "whole", INSPECT / "edited", "edit"),
    "inspect: score --action overwrite": (INSPECT / "whole", INSPECT / "rescored", "regrade"),
    "inspect: eval-retry": (INSPECT / "first_stopped", INSPECT / "retried", "retry"),
}


def imported(store, *paths):
    """In the order of the paths."""
    made = [run.id for path in paths for one in import_paths([path], store) for run in one.runs]
    by_id = {one.run.id: one for one in all_runs(store)}
    return [by_id[name] for name in dict.fromkeys(made)]


def reasons(runs, store, **focus):
    return {
        at: one.run.excluded.reason for at, one in enumerate(each_work_once(runs, store, **focus)) if one.run.excluded
    }


@pytest.mark.req("N-14")
@pytest.mark.parametrize("name", AGAIN)
def test_work_that_is_judged_or_logged_again_is_no_second_run(name, store):
    first, second, how = AGAIN[name]
    runs = imported(store, first, second)
    assert len(runs) == 2

    assert list(reasons(runs, store)) == [0]
    assert reasons(runs, store)[0].endswith(f"({how})")
    studies = RunSet.of(runs, store).consistency()
    assert [run.run.id for study in studies.studies for run in study.runs] == [runs[1].run.id]
    assert [(run.run.id, why.code) for run, why in studies.left_out] == [(runs[0].run.id, "same_work")]
    with pytest.raises(NotComparableError, match="Only one run is left"):
        RunSet.of(runs, store).compare(ComparisonOptions(may_lack_cases=True))
    (pool,) = score_pooled(runs, store)
    assert pool.scores["strict"].total == 6
    (board,) = leaderboards(all_runs(store), store)
    on_board = [
        run for row in (*board.ranked, *board.unranked) for run in row.history if "same work" not in run.why_not
    ]
    assert [run.stored.pk for run in on_board] == [runs[1].pk]
    # nor is it an earlier run, or a run beside the other
    for one in runs:
        assert list(Peers(one, store).subjects) == [one.pk]
        assert list(earlier_of_same_model(one, store)) == list(comparable_runs(one, store)) == []


@pytest.mark.req("N-14")
def test_the_log_says_where_an_attempt_comes_from(store):
    of_run = [
        [*RunView(one, store).attempts()]
        for one in imported(store, *(HARBOR / name for name in ("source", "regraded")))
    ]

    assert [{one.origin for one in those} for those in of_run] == [{"first", "repeat"}, {"regrade"}]
    own, taken = ({one.works[-1] for one in those} for those in of_run)
    assert own == taken
    (edited,) = imported(store, INSPECT / "edited")
    assert [one.origin for one in RunView(edited, store).attempts()].count("edit") == 1


@pytest.mark.req("N-14")
@pytest.mark.parametrize(("made_again", "left_out"), [(["beta"], [0]), (["alpha", "beta"], [])], ids=["most", "few"])
def test_a_job_that_regrades_most_trials_and_runs_the_rest_again_takes_the_place_of_its_source(
    made_again, left_out, tmp_path, store
):
    """As `harbor run --diff` does it."""
    job = shutil.copytree(HARBOR / "regraded", tmp_path / "regraded")
    for result in job.glob("*__*/result.json"):
        if result.parent.name.partition("__")[0] in made_again:
            trial = json.loads(result.read_text())
            trial["config"]["source_trial"] = None
            result.write_text(json.dumps(trial))

    assert list(reasons(imported(store, HARBOR / "source", job), store)) == left_out


def exported(folder, name, *, answers, started="2026-05-01T10:00:00Z", durations=None, **run):
    """A table of a run as somebody's own tool writes it."""
    folder.mkdir(exist_ok=True)
    run = {"native_id": name, "suite": "s", "source": {"name": "own"}, "started_at": started} | run
    lines = [{"errata": 1, "kind": "run", "record": run}]
    for at, answer in enumerate(answers):
        facts = {"execution": "completed", "measurement": "scored", "outcome": "fail" if at % 3 else "pass"}
        spent = {"duration": durations[at]} if durations else {}
        record = {"case": f"s/c{at}", "output": {"text": answer}} | facts | spent
        lines.append({"errata": 1, "kind": "attempt", "record": record})
    (folder / "run.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return folder


def long_answers(seed):
    chance = random.Random(seed)
    return [
        f"I weighed {chance.random():.12f} against {chance.random():.12f}, and so the answer must be {at}, " * 2
        for at in range(12)
    ]


TIMES = [1.25 + at * 0.731 for at in range(12)]
ONE, OTHER = long_answers(1), long_answers(2)
SHORT = ["A", "B", "C", "D", "E", "F"] * 2
COPIES = {
    "long answers, nothing else": ({"answers": ONE}, {"answers": ONE}),
    "short answers with their times": ({"answers": SHORT, "durations": TIMES},) * 2,
    "greedy, with the times": (
        {"answers": ONE, "durations": TIMES, "subject": {"model": "m", "params": {"temperature": 0}}},
    )
    * 2,
}
RUNS = {
    "other answers": ({"answers": ONE}, {"answers": OTHER}),
    "one answer differs": ({"answers": ONE}, {"answers": [*ONE[:-1], OTHER[-1]]}),
    "short answers": ({"answers": SHORT},) * 2,
    "one long answer again and again": ({"answers": ONE[:1] * 12},) * 2,
    "other times": ({"answers": ONE, "durations": TIMES}, {"answers": ONE, "durations": [at + 0.01 for at in TIMES]}),
    "begun at another time": ({"answers": ONE}, {"answers": ONE, "started": "2026-05-02T10:00:00Z"}),
    "greedy": ({"answers": ONE, "subject": {"model": "m", "params": {"temperature": 0}}},) * 2,
    "no answers": ({"answers": [""] * 12},) * 2,
    "of another model": ({"answers": ONE}, {"answers": ONE, "subject": {"model": "n"}}),
}


def two(kind, tmp_path, store):
    given = zip(("first", "second"), kind, strict=True)
    return imported(
        store, *(exported(tmp_path / name, name, **{"subject": {"model": "m"}} | one) for name, one in given)
    )


@pytest.mark.req("N-15")
@pytest.mark.parametrize("kind", COPIES)
def test_a_run_that_was_exported_twice_counts_once(kind, tmp_path, store):
    runs = two(COPIES[kind], tmp_path, store)

    assert reasons(runs, store) == {1: "first has it, too (copy)"}
    assert reasons(runs, store, focus=runs[1].pk) == {0: "second has it, too (copy)"}
    (pool,) = score_pooled(runs, store)
    assert pool.scores["strict"].total == 12
    assert [(run.native_id, why.code) for run, why in pool.left_out] == [("second", "same_work")]


@pytest.mark.req("N-15")
@pytest.mark.parametrize("kind", RUNS)
def test_what_may_come_out_alike_is_two_runs(kind, tmp_path, store):
    assert reasons(two(RUNS[kind], tmp_path, store), store) == {}


@pytest.mark.req("N-15")
def test_a_copy_is_kept_in_mind_and_a_run_that_grew_is_read_again(tmp_path, store, monkeypatch):
    runs = two(COPIES["long answers, nothing else"], tmp_path, store)
    assert reasons(runs, store)
    from errata.store import same_work

    same_work._content_of.cache_clear()
    monkeypatch.setattr(same_work, "attempts_of", None)
    assert reasons(runs, store)


@pytest.mark.req("N-14")
def test_what_two_runs_share_is_read_once(store, monkeypatch):
    runs = imported(store, HARBOR / "source", HARBOR / "regraded")
    assert reasons(runs, store)
    from errata.store import same_work

    monkeypatch.setattr(same_work, "attempts_of", None)
    assert reasons(runs, store)
