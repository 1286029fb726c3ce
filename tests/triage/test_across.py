"""What other runs show about a case, and how little that proves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.model import Check, Run, SourceInfo, Subject
from errata.model.attempt import stand_in_of
from errata.testing import a_run, an_attempt
from errata.triage import RunWide, attribute, built_in, observe
from errata.triage.across import Across, CaseElsewhere, failing_everywhere

THREE = ("a", "b", "c")


def attributed(attempt, elsewhere, case=None, **more):
    seen = [*observe(a_run(), attempt, case, RunWide(), built_in())]
    return attribute(attempt, [*seen, *Across({attempt.case: elsewhere}).observe(attempt, case)], **more)


def test_that_every_subject_fails_is_noted_and_points_to_nobody_else():
    """A hard task and a broken task look the same in the counts."""
    found = attributed(an_attempt(), CaseElsewhere(failed=THREE), passed_by="")

    assert (found.owner, found.also, found.decided_by) == ("model", (), "check_failed")
    assert found.proof_reason == "nobody_passed"
    assert "all_fail" in [one.name for one in found.signals]


@pytest.mark.parametrize("elsewhere", [CaseElsewhere(failed=("a", "b")), CaseElsewhere(failed=THREE, passed=1)])
def test_few_subjects_or_one_that_passed_show_nothing(elsewhere):
    assert attributed(an_attempt(), elsewhere).also == ()


def gold(**changes):
    return an_attempt(
        run="f" * 16, checks=(Check(name="tests", status="fail", explanation="2 of 5 failed"),), **changes
    )


def test_a_reference_that_fails_is_evidence_against_the_task():
    found = attributed(an_attempt(), CaseElsewhere(failed=("a",), reference=gold()))

    assert (found.owner, found.confidence, found.also) == ("task", "likely", ("grader",))
    assert found.signals[0].quote == "2 of 5 failed"


def test_a_reference_that_fails_where_others_pass_is_only_a_doubt():
    assert attributed(an_attempt(), CaseElsewhere(failed=("a",), passed=1, reference=gold())).owner == "model"


def test_a_failing_reference_says_nothing_of_an_attempt_that_was_not_measured():
    crashed = an_attempt(execution="error", measurement="not_run", outcome="none")

    assert not list(Across({crashed.case: CaseElsewhere(reference=gold())}).observe(crashed, None))


def test_without_a_digest_of_the_task_nothing_is_certain():
    found = attributed(an_attempt(), CaseElsewhere(failed=("a",), reference=gold(), same_task=False))

    assert found.confidence == "likely"


rows = st.lists(st.tuples(st.sampled_from("abcd"), st.booleans(), st.booleans()), max_size=12)


@given(rows)
def test_a_subject_has_failed_where_it_was_measured_and_never_passed(tried):
    failed, passed = failing_everywhere(tried)
    names = {name for name, *outcomes in tried if any(outcomes)}

    assert set(failed) == {name for name in names if not any(one[1] for one in tried if one[0] == name)}
    assert passed == len(names) - len(failed)


def a_run_of(agent="", model="", **variant):
    return Run(native_id="r", source=SourceInfo(name="t"), subject=Subject(agent=agent, model=model), variant=variant)


@pytest.mark.parametrize(
    "run",
    [
        a_run_of("oracle"),
        a_run_of("Oracle"),
        a_run_of(model="gold"),
        a_run_of(model="x/golden-patch"),
        a_run_of(mode="gold"),
    ],
)
def test_a_reference_solution_is_known_by_its_name(run):
    assert stand_in_of(run) == "reference"


@pytest.mark.parametrize(
    "run", [a_run_of("nop"), a_run_of("no-op"), a_run_of("NOP agent"), a_run_of(model="empty-patch")]
)
def test_an_agent_that_does_nothing_is_known_by_its_name(run):
    assert stand_in_of(run) == "nothing"


@pytest.mark.parametrize(
    "run",
    [
        a_run_of(model="golden-gate-7b"),
        a_run_of("oracle-agent-v2", "gpt"),
        a_run_of("nopal"),
        a_run_of(),
        a_run_of(tier="gold"),
    ],
)
def test_a_model_whose_name_only_sounds_so_is_a_model(run):
    assert stand_in_of(run) == ""
