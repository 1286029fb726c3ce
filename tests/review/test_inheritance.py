"""Which verdicts identical failures may take over."""

import pytest

from errata.model import Attribution, FailureKey, Fix, Quote, Reviewer, Signal, Verdict
from errata.review.inherit import inherited_verdicts

NOW = "2026-03-01T10:00:00Z"


def an_attribution(attempt, owner="provider", exact="subject:RateLimitError:429 <n>", where="errors[0].message"):
    signal = Signal(name="provider_rate_limit", where=where, quote="429 too many requests")
    key = FailureKey(exact=exact, coarse="subject:RateLimitError")
    return Attribution(attempt=attempt, owner=owner, confidence="certain", signals=(signal,), failure_key=key)


def a_verdict(owner="provider", **changes):
    reviewer = Reviewer(kind="llm", name="m")
    whole = {"id": "v1", "attempt": "r:a", "taxonomy": "t", "label": "L", "owner": owner, "cause": "c"}
    return Verdict(**(whole | {"confidence": "certain", "reviewer": reviewer} | changes))


def heirs(verdict, others, source=None):
    return [one.attempt for one in inherited_verdicts(verdict, source or an_attribution("r:a"), others, at=NOW)]


def test_an_identical_crash_of_the_machinery_takes_the_verdict_over():
    (heir,) = inherited_verdicts(
        a_verdict(), an_attribution("r:a"), [an_attribution("r:a"), an_attribution("r:b")], at=NOW
    )

    assert (heir.attempt, heir.inherited_from, heir.evidence) == ("r:b", "v1", ())


@pytest.mark.parametrize("owner", ["model", "grader", "task", "budget", "unknown"])
def test_what_a_model_a_grader_or_a_task_did_is_read_in_each_case(owner):
    assert heirs(a_verdict(owner), [an_attribution("r:b", owner)], an_attribution("r:a", owner)) == []


def test_the_exact_key_must_be_the_same():
    assert heirs(a_verdict(), [an_attribution("r:b", exact="subject:RateLimitError:other")]) == []


def test_a_key_made_of_checks_is_no_ground():
    source = an_attribution("r:a", exact="tests:expected <n>")

    assert heirs(a_verdict(), [an_attribution("r:b", exact="tests:expected <n>")], source) == []


def test_an_inherited_verdict_is_not_handed_on():
    assert heirs(a_verdict(inherited_from="v0"), [an_attribution("r:b")]) == []


def test_a_verdict_on_a_packet_that_talked_to_the_reviewer_is_not_handed_on():
    assert heirs(a_verdict(needs_second=True), [an_attribution("r:b")]) == []


def test_the_same_heir_has_the_same_id_each_time():
    ids = {
        one.id
        for _ in range(2)
        for one in inherited_verdicts(a_verdict(), an_attribution("r:a"), [an_attribution("r:b")], at=NOW)
    }

    assert len(ids) == 1


def test_what_was_copied_from_the_one_that_was_read_is_not_said_of_another():
    read = a_verdict(
        error_line="429 for req_1",
        model_snippet="mine",
        expected_snippet="yours",
        fix=Fix(path="a", before="b", after="c"),
        decisive_step=3,
        evidence=(Quote(place="error", quote="429 for req_1"),),
    )
    (heir,) = inherited_verdicts(read, an_attribution("r:a"), [an_attribution("r:b")], at=NOW)

    assert (heir.error_line, heir.model_snippet, heir.expected_snippet, heir.fix) == ("", "", "", None)
    assert (heir.decisive_step, heir.evidence, heir.label, heir.cause) == (None, (), read.label, read.cause)
