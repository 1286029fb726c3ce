"""What a person has to review, and in which order."""

from hypothesis import given
from hypothesis import strategies as st

from errata.model import Attribution, FailureKey, Reviewer, Signal, StoredRun, Verdict
from errata.model.attempt import ListedFailure
from errata.model.counts import Counts
from errata.model.standing import without_withdrawn
from errata.review.worklist import GROUPS, RunToReview, alike, build_worklist, newest_readings
from errata.testing import a_run

ADA = Reviewer(kind="person", name="ada")
RUN = StoredRun(run=a_run(suite="s"), pk=1, imported_at="2026-03-01T10:00:00Z", counts=Counts(), digest="")


def named(number):
    return f"{RUN.run.id}:s/case-{number}#1"


def a_failure(number):
    return ListedFailure(number, f"s/case-{number}", named(number), "completed", "scored", "fail", "model")


def triaged(number, *, confidence="likely", key="", owner="model", quote="boom"):
    return Attribution(
        attempt=named(number),
        owner=owner,
        confidence=confidence,
        failure_key=FailureKey(exact=key, coarse=key),
        signals=(Signal(name="check_failed", quote=quote),),
    )


def a_verdict(number, by="beta", *, owner="model", at="2026-03-02T10:00:00Z", **more):
    reviewer = by if isinstance(by, Reviewer) else Reviewer(kind="agent", name=by)
    chosen = {"id": f"{number}-{reviewer.name}-{owner}-{at}", "label": owner, "cause": "c", "confidence": "likely"}
    return Verdict(attempt=named(number), taxonomy="owners", owner=owner, reviewer=reviewer, at=at, **chosen | more)


def worklist(attributions, verdicts=(), *, state="open", **more):
    by_attempt = {}
    for verdict in verdicts:
        by_attempt.setdefault(verdict.attempt, []).append(verdict)
    numbers = [int(one.attempt.partition("case-")[2].partition("#")[0]) for one in attributions]
    part = RunToReview(
        stored=RUN,
        failures=[a_failure(number) for number in numbers],
        attributions={one.attempt: one for one in attributions},
        verdicts=by_attempt,
        **more,
    )
    return build_worklist([part], ADA, state=state)


def order(found):
    return [(one.case, one.group) for one in found.items]


def test_disagreements_come_first_then_weak_triage_then_the_largest_group_then_the_rest():
    attributions = [
        triaged(1),
        triaged(2, key="a"),
        triaged(3, key="a"),
        triaged(4, key="b"),
        triaged(5, key="b"),
        triaged(6, key="b"),
        triaged(7, confidence="weak"),
        triaged(8),
    ]
    found = worklist(attributions, [a_verdict(8, "beta"), a_verdict(8, "gamma", owner="task")])

    assert order(found) == [
        ("case-8", "disputed"),
        ("case-7", "unsure"),
        ("case-4", "many"),
        ("case-2", "many"),
        ("case-1", "other"),
        ("case-3", "other"),
        ("case-5", "other"),
        ("case-6", "other"),
    ]
    assert [one.stands_for for one in found.items[2:4]] == [3, 2]
    assert found.items[0].owners == ("model", "task")


def test_what_somebody_has_reviewed_is_done_and_a_person_decides_a_disagreement():
    attributions = [triaged(1), triaged(2)]
    found = worklist(attributions, [a_verdict(1), a_verdict(2, "beta"), a_verdict(2, ADA, owner="task")])

    assert order(found) == []
    assert (found.progress.done, found.progress.open, found.progress.disputed) == (2, 0, 1)
    assert found.progress.changed == 1


def test_what_waits_for_a_second_reader_and_what_has_changed_since_is_open():
    attributions = [triaged(1), triaged(2)]
    verdicts = [a_verdict(1, needs_second=True), a_verdict(2)]

    assert order(worklist(attributions, verdicts, returned=frozenset({named(2)}))) == [
        ("case-1", "unsure"),
        ("case-2", "other"),
    ]


def test_a_withdrawn_verdict_leaves_with_every_version_before_it():
    first = a_verdict(1, ADA)
    second = a_verdict(1, ADA, owner="task", at="2026-03-02T11:00:00Z", supersedes=first.id)
    gone = a_verdict(1, ADA, owner="task", at="2026-03-02T12:00:00Z", id="w", withdrawn=True, supersedes=second.id)
    again = a_verdict(1, ADA, at="2026-03-02T13:00:00Z", supersedes="w")

    assert without_withdrawn([first, second, gone]) == []
    assert without_withdrawn([first, second, gone, again]) == [again]
    assert without_withdrawn([first, second]) == [first, second]


def test_minutes_left_come_from_the_median_of_what_the_reader_took_without_pauses():
    attributions = [triaged(number) for number in range(1, 6)]
    times = ["10:00:00", "10:00:10", "10:00:30", "12:00:00"]
    verdicts = [a_verdict(at, ADA, at=f"2026-03-02T{time}Z") for at, time in enumerate(times, 1)]

    assert worklist(attributions, verdicts).progress.seconds_each == 15
    assert worklist(attributions).progress.seconds_each is None


def test_others_with_the_same_key_are_alike_and_an_empty_key_is_not_a_key():
    attributions = [triaged(1, key="a"), triaged(2, key="a"), triaged(3), triaged(4)]
    found = worklist(attributions)
    by_attempt = {one.attempt: one for one in attributions}

    assert alike(named(1), found.items, by_attempt) == (named(2),)
    assert alike(named(3), found.items, by_attempt) == ()


def test_failures_with_one_key_are_not_alike_if_owner_or_evidence_differ():
    attributions = [
        triaged(1, key="reward", quote="line 13: uvx: command not found"),
        triaged(2, key="reward", quote="line 17: uvx: command not found"),
        triaged(3, key="reward", quote="AssertionError: no file"),
        triaged(4, key="reward", quote="line 13: uvx: command not found", owner="environment"),
        triaged(5, key="reward", quote=""),
        triaged(6, key="reward", quote=""),
    ]
    found = worklist(attributions)
    by_attempt = {one.attempt: one for one in attributions}

    assert alike(named(1), found.items, by_attempt) == (named(2),)
    assert alike(named(5), found.items, by_attempt) == ()


@given(
    st.lists(st.tuples(st.sampled_from(["weak", "likely"]), st.sampled_from(["", "a", "b"])), max_size=12),
    st.lists(
        st.tuples(st.integers(0, 11), st.sampled_from(["ada", "beta"]), st.sampled_from(["model", "task"])), max_size=8
    ),
)
def test_every_failure_is_listed_once_and_open_and_done_are_all_of_them(kinds, given_verdicts):
    attributions = [triaged(at, confidence=confidence, key=key) for at, (confidence, key) in enumerate(kinds)]
    verdicts = [a_verdict(at, by, owner=owner) for at, by, owner in given_verdicts if at < len(kinds)]
    found = {state: worklist(attributions, verdicts, state=state) for state in ("open", "done", "all")}

    every = [one.attempt for one in found["all"].items]
    assert sorted(every) == sorted(one.attempt for one in attributions)
    assert len(found["open"].items) == found["all"].progress.open
    assert len(found["done"].items) == found["all"].progress.done
    ranks = [GROUPS.index(one.group) for one in found["all"].items]
    assert ranks == sorted(ranks)


def test_the_newest_version_of_each_reviewer_is_a_reading_and_an_inherited_one_is_nobodys():
    old = a_verdict(1, "beta")
    new = a_verdict(1, "beta", owner="task", at="2026-03-02T11:00:00Z", supersedes=old.id)
    copied = a_verdict(1, "gamma", inherited_from="x")

    assert newest_readings([old, new, copied]) == (new,)
