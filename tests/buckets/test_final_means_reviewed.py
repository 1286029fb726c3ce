"""Whatever verdicts and edits come in, a bucket is final and has reviewers' words by its own members only."""

import msgspec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete
from tests.length import LONG

from bucket_runs import ANA, a_stored_run, a_verdict, attempt, state, store_of_an_example, suggested
from errata.buckets.opinions import slug_of
from errata.errors import ErrataError
from errata.model import Bucket, Placement, StoredRun, Verdict
from errata.runs.bucketing import suggest_run
from errata.runs.standings import standing_of
from errata.runs.view import RunView
from errata.store.buckets import buckets_of
from errata.store.database import Store
from errata.store.reviews import keep_verdicts, verdicts_of
from errata.store.schema import verdicts
from errata.verbs.buckets import merge_buckets, move_failures, split_bucket, undo_change

CASES = "abcdefgh"
ERRORS = ("OSError:no space left on the volume", "LockError:the registry is locked by another worker")
NAMES = ("", "", "quota", "another-cause", "of-a-rule")
REVIEWS = ("submit", "submit", "submit", "supersede", "inherit", "reset")
EDITS = ("reassign", "merge", "split", "undo")
NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

steps = st.tuples(
    st.sampled_from((*REVIEWS, *EDITS)),
    st.sets(st.sampled_from(CASES), min_size=1, max_size=4).map(sorted),
    st.sampled_from(NAMES),
    st.sampled_from(("environment", "environment", "harness")),
    st.integers(0, 7),
)


class Desk:
    """A store with one run of eight crashes; each verdict has words of its own."""

    def __init__(self, store: Store, errors: list[str]) -> None:
        self.store = store
        self.stored: StoredRun = a_stored_run(self.store, **dict(zip(CASES, errors, strict=True)))
        suggested(self.store)
        self._number = 0

    def take(self, what: str, cases: list[str], name: str, owner: str, number: int) -> set[str]:
        """The attempts that the step is about."""
        attempts = [attempt(self.stored, case) for case in cases]
        if what in REVIEWS:
            return self._review(what, cases, name, owner)
        try:
            self._edit(what, attempts, number)
        except ErrataError:
            return set()
        return {one.attempt for one in state(self.store)[1]}  # whatever a person moves

    def _review(self, what: str, cases: list[str], name: str, owner: str) -> set[str]:
        first, *others = cases
        on_it = verdicts_of(self.store, self.stored.run.id, attempt=attempt(self.stored, first))
        if what == "reset":
            with self.store.writing() as connection:
                connection.execute(delete(verdicts).where(verdicts.c.id.in_([one.id for one in on_it])))
            suggested(self.store)
            return {attempt(self.stored, first)}
        given = self._verdict(first, name, owner)
        if what == "supersede" and on_it:
            given = msgspec.structs.replace(given, supersedes=on_it[-1].id)
        kept = [given]
        if what == "inherit":
            changes = {"inherited_from": given.id, "evidence": ()}
            kept += [
                msgspec.structs.replace(given, id=f"{given.id}-{one}", attempt=attempt(self.stored, one), **changes)
                for one in others
            ]
        keep_verdicts(self.store, kept)
        suggested(self.store)
        return {one.attempt for one in kept}

    def _verdict(self, case: str, name: str, owner: str) -> Verdict:
        at = self._now()
        words = " ".join(NUMBERS[int(digit)] for digit in f"{self._number:02d}")
        bucket = buckets_of(self.store)[0].slug if name == "of-a-rule" else name
        return a_verdict(self.stored, case, bucket, owner=owner, cause=f"Reason {words} of it", at=at)

    def _now(self) -> str:
        self._number += 1
        return f"2026-04-01T10:{self._number:02d}:00Z"

    def _edit(self, what: str, attempts: list[str], number: int) -> None:
        known = buckets_of(self.store)
        bucket, other = known[number % len(known)], known[(number + 1) % len(known)]
        by = msgspec.structs.replace(ANA, at=self._now())
        if what == "reassign":
            move_failures(attempts, bucket, self.store, by)
        elif what == "merge":
            merge_buckets([other], bucket, self.store, by)
        elif what == "split":
            split_bucket(bucket, attempts, "What a person calls it", self.store, by)
        else:
            undo_change(self.store, by)
        suggest_run(RunView(self.stored, self.store))

    @property
    def reviews(self) -> dict[str, Verdict]:
        """Attempt → its standing verdict."""
        reviews = standing_of(self.store, self.stored.run.id)
        return {each: one.standing.verdict for each, one in reviews.items()}

    @property
    def every_cause(self) -> set[str]:
        return {one.cause for one in verdicts_of(self.store, self.stored.run.id)}


@pytest.mark.req("J-02", "J-15", "J-30", "J-31")
# each example is a store: too slow to shrink, and for many of them in a short pass
@settings(phases=(Phase.explicit, Phase.reuse, Phase.generate), max_examples=1_000 if LONG else 6)
@given(st.lists(steps, min_size=1, max_size=7), st.lists(st.sampled_from(ERRORS), min_size=8, max_size=8))
def test_no_bucket_is_final_or_has_words_by_verdicts_on_failures_that_are_not_in_it(taken, errors):
    with store_of_an_example() as store:
        desk = Desk(store, errors)
        for step in taken:
            before = {one.attempt: one.bucket for one in state(desk.store)[1]}
            about = desk.take(*step)
            buckets, placements = state(desk.store)
            after = {one.attempt: one.bucket for one in placements}
            # a verdict moves the failures that it was given for, unless it agrees with their bucket
            assert {each for each in after if after[each] != before[each]} <= about
            reviews, every_cause = desk.reviews, desk.every_cause
            for bucket in buckets:
                _holds(bucket, [one for one in placements if one.bucket == bucket.id], reviews, every_cause)


def _holds(bucket: Bucket, members: list[Placement], reviews: dict[str, Verdict], every_cause: set[str]) -> None:
    own = [one for one in members if one.attempt in reviews and reviews[one.attempt].inherited_from is None]
    assert {one.attempt for one in members if one.role == "reviewed"} == {one.attempt for one in own}
    assert set(bucket.supported_by) <= {one.attempt for one in own}
    if bucket.status == "final":
        assert len(bucket.supported_by) >= max(1, min(3, len(members)))
    if bucket.status == "provisional" and bucket.named_by != "person":
        assert bucket.named_by == "rule"
    causes = {reviews[one.attempt].cause for one in own}
    names = {slug_of(reviews[one.attempt].bucket) for one in own}
    for cause in every_cause - causes:
        if bucket.named_by != "person":
            assert cause not in bucket.title
            assert cause not in bucket.description
            assert slug_of(cause) in names or slug_of(cause) not in bucket.slug
