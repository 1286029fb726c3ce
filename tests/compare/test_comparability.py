"""Whether runs measured the same thing."""

import msgspec
from matrices import a_matrix

from errata.compare.comparability import differences
from errata.compare.matrix import Matrix
from errata.model import Artefact, Case, Scorer
from errata.model.case_versions import is_changed


def found(matrix, edited=()):
    return {one.what: one for one in differences(matrix, edited)}


def with_runs(matrix, *changes):
    """The same cells, the runs of which differ."""
    columns = [
        msgspec.structs.replace(column, run=msgspec.structs.replace(column.run, **change))
        for column, change in zip(matrix.columns, changes, strict=True)
    ]
    return Matrix(tuple(columns), matrix.rows)


def judged_by(*judges):
    return with_runs(a_matrix(*["."] * len(judges)), *({"scorers": judge} for judge in judges))


def a_judge(**changes):
    return (Scorer(**{"name": "judge", "kind": "judge", "model": "large", "version": "7"} | changes),)


def test_another_suite_is_named_with_the_runs_that_have_it():
    one = found(with_runs(a_matrix(".", ".", "."), {"suite": "x"}, {"suite": "y"}, {"suite": "x"}))["suite"]

    assert one.values == {"x": ("a", "c"), "y": ("b",)}
    assert one.refuses


def test_another_version_of_the_suite_differs():
    assert "suite version" in found(with_runs(a_matrix(".", "."), {"suite_version": "1"}, {"suite_version": "2"}))


def test_a_value_that_a_log_does_not_tell_differs_from_none():
    assert found(with_runs(a_matrix(".", "."), {"suite_version": "1"}, {"suite_version": ""})) == {}


def test_another_experiment_differs_and_another_prompt_does_not():
    experiments = with_runs(
        a_matrix(".", "."), {"variant": {"experiment": "default"}}, {"variant": {"experiment": "web_search"}}
    )
    prompts = with_runs(a_matrix(".", "."), {"variant": {"prompt": "terse"}}, {"variant": {"prompt": "long"}})

    assert found(experiments)["experiment"].refuses
    assert found(prompts) == {}


def test_another_model_or_version_of_a_judge_differs():
    assert found(judged_by(a_judge(), a_judge(model="small")))["judge judge"].values == {
        "large v7": ("a",),
        "small v7": ("b",),
    }
    assert found(judged_by(a_judge(), a_judge(version="8")))["judge judge"].refuses


def test_a_second_judge_beside_the_same_one_is_told_and_keeps_nobody_from_comparing():
    one = found(judged_by(a_judge(), (*a_judge(), Scorer(name="other"))))["scorers"]

    assert one.values == {"judge": ("a",), "judge, other": ("b",)}
    assert not one.refuses


def test_scorers_of_which_none_is_shared_measure_something_else():
    assert found(judged_by(a_judge(), (Scorer(name="match"),)))["scorers"].refuses


def test_runs_with_other_cases_differ_in_them():
    one = found(a_matrix("..F", ".. ", ". F"))["cases"]

    assert one.values == {"3 of 3": ("a",), "2 of 3": ("b", "c")}
    assert one.cases == ("suite/1", "suite/2")
    assert one.refuses


def test_a_case_that_was_planned_and_is_missing_is_known_to_the_run():
    assert found(a_matrix(".-", "..")) == {}


def test_an_edited_task_is_told_and_keeps_nobody_from_comparing():
    one = found(a_matrix("...", "..."), ("suite/1",))["tasks"]

    assert one.cases == ("suite/1",)
    assert not one.refuses


def test_where_most_tasks_differ_it_is_another_suite():
    assert found(a_matrix("...", "..."), ("suite/0", "suite/1"))["tasks"].refuses


def test_what_keeps_runs_from_being_compared_comes_first():
    matrix = with_runs(a_matrix("..", ".."), {"suite_version": "1"}, {"suite_version": "2"})

    assert [one.refuses for one in differences(matrix, ("suite/0",))] == [True, False]


def a_case(**changes):
    return Case(**{"run": "0" * 16, "suite": "suite", "native_id": "case-1", "input": "Say hello."} | changes)


def a_file(role="grader", path="grader.test.ts", blob="b1"):
    return Artefact(role=role, path=path, blob=blob)


def test_another_grader_is_another_task():
    assert is_changed([a_case(artefacts=(a_file(),)), a_case(artefacts=(a_file(blob="b2"),))])


def test_a_log_that_tells_less_contradicts_nothing():
    assert not is_changed([a_case(artefacts=(a_file(),)), a_case(), a_case(input="", expected="hello")])


def test_a_model_output_among_the_files_is_no_part_of_the_task():
    one = a_case(artefacts=(a_file(), a_file("output", "convex/http.ts", "b3")))
    other = a_case(artefacts=(a_file(), a_file("output", "convex/http.ts", "b4")), expected="hello")

    assert not is_changed([one, other])


def test_a_chat_of_one_message_asks_what_its_text_asks():
    chat = [{"role": "user", "content": "What is it?"}]

    assert not is_changed([a_case(input="What is it?"), a_case(input=chat)])
    assert is_changed([a_case(input="What is it?"), a_case(input=[{"role": "user", "content": "Who is it?"}])])
    assert is_changed([a_case(input="What is it?"), a_case(input=[{"role": "system", "content": "Hm."}, *chat])])
