"""The first screen about a batch: whose failures these are, how its score is counted, and what sessions show."""

import pytest
from msgspec.structs import replace

from errata.model.output.report.batch import (
    BatchCategory,
    BatchFailure,
    BatchReport,
    BatchTest,
    EarlierResult,
    JudgeWords,
    Moment,
    Share,
)
from errata.model.output.report.shared import ReviewCoverage, ScoreLine, SuspiciousPasses
from errata.report.batch_prose import (
    batch_sentences,
    batch_warning,
    counted_words,
    judge_words,
)


def a_test(name, *, passed=False, was=None):
    earlier = EarlierResult(was=was, session=1) if was else None
    return BatchTest(key=name, id=name, name="", status="X", passed=passed, earlier=earlier)


def moments(*outcomes):
    rest = {"started_at": None, "finished_at": None, "execution": "completed", "score": None, "cost": None}
    rest |= {"exit_code": 0, "error": "", "place": ""}
    return tuple(Moment(session=number, outcome=outcome, **rest) for number, outcome in enumerate(outcomes, 1))


def the_models(name, *outcomes):
    proof = {"proof": "presumed", "proof_reason": "no_other_result", "timeline": moments(*outcomes)}
    return BatchFailure(test=a_test(name), category="B", owner="model", confidence="weak", **proof)


def the_harness(name, was):
    return BatchFailure(test=a_test(name, was=was), category="A", owner="harness", confidence="likely")


FAILURES = (the_harness("a", "pass"), the_harness("b", "fail"), the_harness("c", None), the_models("d", "fail", "fail"))


@pytest.fixture
def report():
    strict, clean = (
        ScoreLine(
            policy=policy, passed=passed, total=total, rate=passed / total, low=0.3, high=0.9, recovered=recovered
        )
        for policy, passed, total, recovered in (("strict", 6, 10, 0), ("clean", 7, 9, 2))
    )
    tests = (*(one.test for one in FAILURES), *(a_test(name, passed=True) for name in "efghij"))
    categories = tuple(
        BatchCategory(
            letter=letter, owner=owner, rule=rule, rule_means=rule, confidence="likely", tests=names, cost=None
        )
        for letter, owner, rule, names in (("A", "harness", "a null", ("a", "b", "c")), ("B", "model", "", ("d",)))
    )
    none = dict.fromkeys(
        ("cost", "cost_of_passes", "cost_of_failures", "mean_cost_of_pass", "median_cost_of_pass"), None
    )
    return BatchReport(
        name="batch", run_id="r", handle="r", date="", model="m", made="", config=(), unknown_costs=0, priced_passes=0,
        reading=ReviewCoverage(failures=4, read=0, final=0), scores=(strict, clean), tests=tests, sessions=(),
        hidden_passes=("a",), hidden_fails=("b",), never_measured=("c",), categories=categories,
        failures=FAILURES, **none,
    )  # fmt: skip


def test_the_answer_states_whose_the_failures_are_and_what_earlier_sessions_measured(report):
    assert batch_sentences(report) == [
        "6 of 10 pass. 3 of 4 failures are the harness's, 1 is presumed the model's.",
        "Of the tests that the latest session did not measure, 1 passed and 1 failed in an earlier one.",
    ]


def test_the_tests_of_clean_add_up(report):
    assert counted_words(report) == (
        "The 9 tests of clean: 7 measured in the latest session (6 passed, 1 failed), 2 from earlier sessions "
        "(1 passed, 1 failed); 1 never measured"
    )
    other = replace(report, hidden_fails=())
    assert "passed" not in counted_words(other), "which of the recovered results passed is not known here"
    plain = tuple(replace(one, recovered=0) for one in report.scores)
    assert counted_words(replace(report, scores=plain)) == ""


@pytest.mark.parametrize("why", ["not_fit", "suspicious", "results", "left_out"])
def test_no_figure_is_recommended_while_the_score_is_in_doubt(report, why):
    odd = SuspiciousPasses(name="empty", means="the answer is empty", cases=("e", "f"))

    assert batch_warning(replace(report, suspicious=(odd,), no_estimate=why)) == (
        "Do not publish 60.0 %: it counts 3 failures that are not the model's. Do not publish clean yet, "
        "either: 7 of 9 (77.8 %)."
    )


def test_a_cause_quotes_what_the_judges_object_to():
    objection = JudgeWords(text="F1 is not met.", runs=Share(count=2, of=3))

    assert judge_words([FAILURES[0], replace(FAILURES[3], judge=objection)]) == 'the judges of d: "F1 is not met."'
    assert judge_words(FAILURES) == ""
