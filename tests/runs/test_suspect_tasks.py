"""The list of suspect tasks, from runs in a store."""

from contextlib import ExitStack

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.length import LONG
from tests.suite_of_runs import import_run, import_suite, items_of

from errata.compare.comparison import ComparisonOptions
from errata.model import Case
from errata.runs.runset import RunSet
from errata.runs.suspect_tasks import runs_beside, suspect_tasks
from errata.runs.triaging import triage_if_needed
from errata.store.case_outcomes import passes_of_tasks
from errata.store.case_versions import tasks_apart
from errata.store.database import open_store
from errata.store.importing import Importing
from errata.store.packing import pack_items, seal
from errata.store.runs import exclude, run_by_id
from errata.triage.stored.peers import look_across

FAIR = "++-+++-+++++"
"""Three quarters of these pass."""


def listed(runs, store):
    return {task.case: task for task in suspect_tasks(runs, store).tasks}


def suite_of(store, count, first, **more):
    """`first`: how each subject does on the first case; the others are passed by most."""
    letters = {f"m{at:02}": first[at] + FAIR[at % 3 :] + FAIR[: at % 3] for at in range(count)}
    return import_suite(store, letters, **more)


def test_a_task_that_nobody_passes_is_listed_with_its_counts(store):
    runs = suite_of(store, 4, "----")

    (task,) = listed(runs, store).values()

    assert (task.case, task.subjects, task.passed, task.attempts, task.passes) == ("case-00", 4, 0, 4, 0)
    assert (task.strength, task.evidence) == ("counts", ())
    assert task.p < 0.05
    assert len(task.attempt_ids) == 4


@pytest.mark.parametrize(
    ("subjects", "first", "is_listed"),
    [
        (3, "---", True),
        (3, "--+", False),
        (2, "--", False),
        (9, "--------+", False),
        (10, "---------+", True),
        (12, "+----------+", False),
        (20, "-" * 18 + "++", True),
        (20, "-" * 17 + "+++", False),
    ],
)
def test_one_pass_among_ten_subjects_or_two_among_twenty_are_tolerated(store, subjects, first, is_listed):
    runs = suite_of(store, subjects, first)

    assert ("case-00" in listed(runs, store)) is is_listed


def test_where_it_is_no_surprise_that_nobody_passes_tasks_are_counted_and_not_listed(store):
    """Each of five subjects passes a fourth: nobody passes a task with a probability of a quarter."""
    letters = {f"m{at}": "-" * 6 + "-" * at + "+++" + "-" * (7 - at) for at in range(5)}
    suspects = suspect_tasks(import_suite(store, letters), store)

    assert not suspects.tasks
    assert (suspects.total, suspects.failed_by_all, suspects.cases) == (0, 9, 16)
    assert 0 < suspects.expected < suspects.failed_by_all


def test_one_pass_of_ten_weak_subjects_is_what_one_expects(store):
    """Each passes one case of ten, so that most cases have at most one pass."""
    letters = {f"m{at}": "-" * at + "+" + "-" * (9 - at) for at in range(10)}

    assert listed(import_suite(store, letters), store) == {}


def test_repeats_are_no_subjects(store):
    letters = "-" + FAIR
    runs = [import_run(store, f"again-{at}", letters, model="same") for at in range(4)]
    runs.append(import_run(store, "other", letters))
    for stored in runs:
        triage_if_needed(stored, store)

    assert listed(runs, store) == {}


def test_crashes_are_no_failures_of_a_task(store):
    runs = suite_of(store, 4, "--xx")

    assert "case-00" not in listed(runs, store)


def test_an_edited_task_is_another_task(store):
    runs = import_suite(store, {"a": "-" + FAIR, "b": "-" + FAIR})
    runs += import_suite(store, {"c": "-" + FAIR, "d": "-" + FAIR}, task="How many more?")

    assert "case-00" not in listed(runs, store)


def test_what_speaks_against_a_task_comes_first(store):
    """The last case has the smaller chance, the first one has evidence."""
    letters = dict.fromkeys("abc", "=" + "+-+-+-+-+-" + "-") | dict.fromkeys("defg", " " + "+-+-+-+-+-" + "-")
    runs = import_suite(store, letters)
    tasks = [task for task in suspect_tasks(runs, store).tasks if task.case in ("case-00", "case-11")]

    assert [(task.case, task.strength) for task in tasks] == [("case-00", "likely"), ("case-11", "counts")]
    assert [one.kind for one in tasks[0].evidence] == ["agree_on_another"]
    assert tasks[0].p > tasks[1].p


def test_a_reference_that_fails_is_evidence_whoever_tried(store):
    runs = import_suite(store, {"a": "--++++", "gold": "-+++++"})

    (task,) = listed(runs, store).values()

    assert (task.case, task.subjects) == ("case-00", 1)
    assert [(one.kind, one.strength) for one in task.evidence] == [("reference_fails", "likely")]


def test_a_task_that_somebody_passes_is_not_listed_for_its_reference(store):
    runs = import_suite(store, {"a": "-+++++", "b": "++++++", "gold": "-+++++"})

    assert listed(runs, store) == {}


def test_with_two_subjects_only_evidence_is_listed_as_a_doubt(store):
    broken = "curl: (6) Could not resolve host: astral.sh\n/tests/test.sh: line 7: uvx: command not found\n"
    runs = import_suite(store, {"a": "-++++", "b": "-++++"}, log=broken)

    (task,) = listed(runs, store).values()

    assert [(one.kind, one.strength, one.subjects) for one in task.evidence] == [("tests_cannot_run", "weak", 2)]


def test_tests_that_lack_a_tool_for_everybody_are_listed_although_the_environment_owns_them(store):
    broken = "curl: (6) Could not resolve host: astral.sh\n/tests/test.sh: line 7: uvx: command not found\n"
    runs = import_suite(store, dict.fromkeys("abcd", "-++++"), log=broken)

    (task,) = listed(runs, store).values()

    assert task.subjects == 4
    assert [(one.kind, one.strength, one.subjects) for one in task.evidence] == [("tests_cannot_run", "likely", 4)]
    assert "uvx: command not found" in task.evidence[0].quote


def test_one_subject_alone_has_no_list(store):
    runs = import_suite(store, {"a": "----++"})

    assert not suspect_tasks(runs, store)


def test_excluded_runs_take_no_part(store):
    runs = suite_of(store, 3, "---")
    exclude(store, runs[0].run.id, reason="wrong key", author="me")

    assert listed(runs_beside(runs[1], store), store) == {}


def test_the_runs_beside_a_run_are_those_of_its_suite(store):
    (first,) = import_suite(store, {"a": "-"})
    import_suite(store, {"b": "-"}, suite="other")
    (alone,) = import_suite(store, {"c": "-"}, suite="")

    assert [one.run.native_id for one in runs_beside(first, store)] == ["a"]
    assert [one.run.native_id for one in runs_beside(alone, store)] == ["c"]


def test_a_category_with_too_many_unpassed_tasks_is_named(store):
    letters = ["++-+" * 5, "+-++" * 5, "-+++" * 5, "+++-" * 5]
    runs = []
    for at, name in enumerate("abcd"):
        items = import_run(store, name, letters[at] + "-" * 12 + "+" * 4, category="legacy")
        runs.append(items)
        runs.append(import_run(store, f"{name}-2", letters[at] * 3, model=name, category="ports", task="Where?"))
    for stored in runs:
        triage_if_needed(stored, store)

    (named,) = suspect_tasks(runs, store).categories

    assert (named.name, named.failed_by_all) == ("legacy", 12)
    assert named.adjusted < 0.05


RUNS = {"m1": "--+++-++", "m2": "--++-+++", "m3": "-++++++-", "m4": "--++++++"}


def conclusions(path, shape):
    """What is said of these runs where the input of a row is `shape(run, row, text)`; empty drops the text."""
    with ExitStack() as kept:
        store = open_store(path, keep_open=kept.enter_context)
        runs = []
        for name, letters in RUNS.items():
            items = items_of(name, letters, task="Name the capital of Palau.")
            for at, item in enumerate(items):
                if isinstance(item, Case):
                    asked = shape(name, int(item.native_id[-2:]), item.input)
                    facts = {"input": asked, "expected": item.expected if asked else None, "digest": ""}
                    items[at] = msgspec.structs.replace(item, **facts)
            with Importing(store) as importing:
                for batch in seal(pack_items(items)):
                    importing.add(batch)
                importing.finish()
            runs.append(run_by_id(store, items[0].id))
        for stored in runs:
            triage_if_needed(stored, store)
        across = [look_across(one, store) for one in runs]
        tasks = [(one.case, one.subjects, one.passed, one.strength) for one in suspect_tasks(runs, store).tasks]
        comparison = RunSet.of(runs, store).compare(ComparisonOptions())
        shared = [(pair.all.shared, pair.all.only_first_fails) for pair in comparison.pairings]
        pks = tuple(sorted(one.pk for one in runs))
        passes = passes_of_tasks(store, pks, tasks_apart(store, pks))
        return [(one.passed_by, one.differing, sorted(one.cases)) for one in across], tasks, shared, passes


@pytest.mark.req("N-02")
@settings(max_examples=40 if LONG else 6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lost=st.sets(st.tuples(st.sampled_from(sorted(RUNS)), st.integers(0, 7)), max_size=6),
    wrapped=st.sampled_from("1234"),
)
def test_a_text_that_is_dropped_or_wrapped_and_the_id_of_a_message_change_nothing(tmp_path_factory, lost, wrapped):
    def shaped(run, row, text):
        if (run, row) in lost:
            return None
        if run == "m" + wrapped:
            text = f"You are an agent.\n\n{text}\nAnswer in one word."
        return text if run == "m1" else [{"role": "user", "content": text, "id": f"{run}-{row}"}]

    whole = conclusions(tmp_path_factory.mktemp("whole") / "s.db", lambda _run, _row, text: text)

    assert conclusions(tmp_path_factory.mktemp("shaped") / "s.db", shaped) == whole
    assert [task[:3] for task in whole[1]] == [("case-00", 4, 0)]
    assert whole[0][0][0]["suite/case-01"] == "m3"


@pytest.mark.req("N-02")
def test_a_task_that_two_runs_state_differently_is_two(tmp_path):
    found = conclusions(tmp_path / "s.db", lambda run, row, text: f"{run} asks otherwise" if row == 1 else text)

    assert found[0][0][:2] == ({"suite/case-00": "", "suite/case-05": "m2"}, {"suite/case-01"})
