"""What a failure says of itself, as far as buckets are made of it."""

from errata.buckets.failure import failure_to_group
from errata.model import Attribution, Check, ErrorInfo, FailureKey, Judgement
from errata.testing import a_run, an_attempt


def texts_of(attempt):
    key = FailureKey(exact="exact:", coarse="exact")
    result = Attribution(
        attempt=attempt.id, owner="model", confidence="likely", decided_by="check_failed", failure_key=key
    )
    return failure_to_group(a_run(), attempt, result, rules={}, parameters={}).texts


def test_a_scorer_that_broke_beside_the_one_that_decides_names_no_bucket():
    error = ErrorInfo(type="ValueError", message="judge parse error", phase="scoring")
    checks = (Check(name="exact", status="fail"), Check(name="bad", status="error", counts=False, error=error))

    assert texts_of(an_attempt(measurement="scored", outcome="fail", checks=checks)) == ()
    assert texts_of(an_attempt(measurement="error", outcome="none", checks=checks)) == ("judge parse error",)


def test_a_judge_who_passed_it_names_no_bucket():
    mild = Judgement(judge="mild", reasoning="Well structured.", raw={"passed": True})
    harsh = Judgement(judge="harsh", reasoning="Nothing was written.", raw={"passed": False})

    assert texts_of(an_attempt(outcome="fail", judgements=(mild, harsh))) == ("Nothing was written.",)
