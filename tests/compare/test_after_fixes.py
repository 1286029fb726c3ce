"""The score after fixes: what passes if the eval is mended as reviewers propose."""

from hypothesis import given
from hypothesis import strategies as st
from tries import trials

from errata.compare.after_fixes import score_after_fixes
from errata.compare.policies import scores_of
from errata.model import Fix, Reviewer, Verdict
from errata.testing import an_attempt


def a_verdict(attempt, owner, fix):
    return Verdict(
        id=f"v {attempt.id}",
        attempt=attempt.id,
        taxonomy="convex-evals",
        label="OVERLY_STRICT",
        owner=owner,
        cause="x",
        confidence="certain",
        reviewer=Reviewer(kind="agent", name="a"),
        fix=Fix(path="grader.test.ts", before="a", after="b") if fix else None,
    )


def after(attempts, verdicts, owners=()):
    tried = trials(*attempts, owners=owners)
    return score_after_fixes(tried, scores_of(tried), {one.attempt: one for one in verdicts})


def test_grader_and_task_failures_with_a_fix_count_as_passed():
    passed, strict, unclear, wrong = (
        an_attempt(case=case, outcome="pass" if case == "a" else "fail") for case in "abcd"
    )
    verdicts = [a_verdict(strict, "grader", True), a_verdict(unclear, "task", True), a_verdict(wrong, "model", True)]

    made = after([passed, strict, unclear, wrong], verdicts)

    assert made is not None
    assert made.cases == (strict.case, unclear.case)
    assert (made.scores["strict"].passed, made.scores["strict"].total) == (3, 4)


def test_without_a_fix_there_is_nothing_to_compute():
    failed = an_attempt(case="b", outcome="fail")

    assert after([failed], [a_verdict(failed, "grader", False)]) is None


def test_what_a_policy_leaves_out_stays_out():
    passed, broken = an_attempt(case="a", outcome="pass"), an_attempt(case="b", outcome="fail")
    made = after([passed, broken], [a_verdict(broken, "grader", True)], owners=[(broken, "provider")])

    assert made is not None
    assert "clean" not in made.scores
    assert (made.scores["strict"].passed, made.scores["strict"].total) == (2, 2)


@given(
    st.lists(st.tuples(st.sampled_from(["pass", "fail"]), st.sampled_from(["grader", "task", "model"]), st.booleans()))
)
def test_no_score_falls_or_exceeds_its_total(rows):
    attempts = [an_attempt(case=f"c{at}", outcome=outcome) for at, (outcome, _, _) in enumerate(rows)]
    verdicts = [a_verdict(one, owner, fix) for one, (_, owner, fix) in zip(attempts, rows, strict=True)]
    before = scores_of(trials(*attempts))

    made = after(attempts, verdicts)

    for policy, score in made.scores.items() if made is not None else ():
        assert before[policy].passed < score.passed <= score.total == before[policy].total
