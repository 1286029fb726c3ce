"""What is special about HELM: requests and statistics in two files, splits, trials, perturbations, several requests."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from changed_logs import FIXTURES, attempts, by_case, cases, change, copy_of, facts

from errata import sources
from errata.errors import UnknownFormatError
from errata.sources.helm.stats import main_measure

DEMO = FIXTURES / "helm" / "demo" / "data"
MMLU = FIXTURES / "helm" / "mmlu" / "data"


@pytest.fixture
def demo(tmp_path) -> Path:
    return next(copy_of("helm/demo", tmp_path).iterdir())


def change_states(folder: Path, how: Any) -> None:
    change(
        folder / "scenario_state.json",
        lambda document: document["request_states"].__setitem__(slice(None), how(document["request_states"])),
    )


def change_stats(folder: Path, how: Any) -> None:
    change(folder / "per_instance_stats.json", how)


def test_an_instance_is_measured_by_the_main_metric_of_its_group():
    first = by_case(MMLU)["id147"]

    assert [check.name for check in first.checks if check.counts] == ["exact_match"]
    assert facts(first) == ("completed", "scored", "fail")


def test_the_letter_that_was_answered_is_the_choice_behind_it():
    first, case = by_case(MMLU)["id147"], cases(MMLU)["id147"]

    assert (first.output.text, first.output.answer) == (" D", "meaning in an afterlife")
    assert (case.expected, len(case.choices)) == ("internalmeaning", 4)


@pytest.mark.parametrize(
    ("groups", "names", "main"),
    [
        (["boolq"], ["exact_match", "quasi_exact_match"], "quasi_exact_match"),
        (["gsm"], ["exact_match_indicator", "final_number_exact_match"], "final_number_exact_match"),
        (["my_own"], ["bleu_1", "exact_match"], "exact_match"),
        (["my_own"], ["bleu_1", "bleu_4"], "bleu_1"),
        ([], [], ""),
    ],
)
def test_which_measure_is_the_main_one(groups, names, main):
    assert main_measure(groups, names) == main


def test_a_failed_request_is_an_error_although_it_is_scored_as_an_empty_answer(demo):
    def fail(states):
        states[0]["result"] |= {
            "success": False,
            "error": "Content blocked",
            "error_flags": {"is_retriable": False, "is_fatal": False},
            "completions": [{"text": "", "logprob": 0, "tokens": []}],
        }
        return states

    change_states(demo, fail)
    first, _ = attempts(demo)
    (error,) = first.errors

    assert facts(first) == ("error", "scored", "none")
    assert (error.message, error.phase, error.retryable) == ("Content blocked", "subject", False)
    assert (first.output.text, first.reported) == (None, 0.0)
    assert {check.status for check in first.checks} == {"not_run"}


def test_an_answer_that_was_cut_off_says_so(demo):
    def cut(states):
        states[0]["result"]["completions"][0]["finish_reason"] = {"reason": "length"}
        return states

    change_states(demo, cut)

    assert [one.stop_reason for one in attempts(demo)] == ["length", ""]


def test_a_prompt_that_helm_shortened_says_so(demo):
    def shorten(states):
        states[0]["prompt_truncated"] = True
        return states

    change_states(demo, shorten)

    assert attempts(demo)[0].native_reason == "prompt_truncated"


def test_an_instance_without_statistics_was_not_measured(demo):
    change_stats(demo, lambda rows: rows[:1])

    assert [facts(one)[1:] for one in attempts(demo)] == [("scored", "fail"), ("not_run", "none")]


def test_a_main_metric_without_a_value_is_no_verdict(demo):
    def empty(rows):
        for stat in rows[0]["stats"]:
            if stat["name"]["name"] == "exact_match":
                del stat["mean"]
        return rows

    change_stats(demo, empty)

    assert facts(attempts(demo)[0]) == ("completed", "unscored", "none")


def test_train_trials_are_attempts_at_one_case(demo):
    again = lambda rows: [*rows, *(row | {"train_trial_index": 1} for row in deepcopy(rows))]  # noqa: E731
    change_states(demo, again)
    change_stats(demo, again)

    assert [(one.case, one.index) for one in attempts(demo)] == [
        ("demo_errata/a", 1),
        ("demo_errata/b", 1),
        ("demo_errata/a", 2),
        ("demo_errata/b", 2),
    ]


def test_a_perturbed_copy_is_a_case_of_its_own_and_not_in_the_number(demo):
    typos = {"name": "typos", "robustness": True, "fairness": False, "computed_on": "perturbed"}

    def perturb(states):
        copy = deepcopy(states[0])
        copy["instance"]["perturbation"] = typos
        return [*states, copy]

    change_states(demo, perturb)
    change_stats(demo, lambda rows: [*rows, deepcopy(rows[0]) | {"perturbation": typos}])
    perturbed = by_case(demo)["a~typos"]

    assert (facts(perturbed), perturbed.reported_counted) == (("completed", "scored", "fail"), False)


def test_requests_for_each_reference_are_one_attempt(demo):
    def separately(states):
        return [deepcopy(states[0]) | {"reference_index": at, "request_mode": "original"} for at in range(3)]

    change_states(demo, separately)
    (attempt,) = attempts(demo)

    assert [one["reference_index"] for one in attempt.output.structured] == [0, 1, 2]
    assert len(attempt.steps) == 6


def test_what_an_annotator_said_is_kept_as_a_judgement(demo):
    def judge(states):
        states[0]["annotations"] = {"omni_math": {"score": 1, "reasoning": "Right."}}
        return states

    change_states(demo, judge)

    assert [one.raw for one in attempts(demo)[0].judgements] == [{"score": 1, "reasoning": "Right."}]


def test_a_file_of_a_run_is_named_as_that():
    with pytest.raises(UnknownFormatError) as result:
        sources.find(next(DEMO.iterdir()) / "per_instance_stats.json")

    assert "one file of a HELM run: import its folder" in result.value.hint


def test_a_run_that_was_never_made_is_called_so(demo):
    for name in ("scenario_state", "per_instance_stats", "stats"):
        (demo / f"{name}.json").unlink()

    with pytest.raises(UnknownFormatError) as result:
        sources.find(demo)

    assert "this HELM run never started" in result.value.hint
