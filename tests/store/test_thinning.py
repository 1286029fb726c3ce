"""Transcripts thinned: what is cited stays, what is not goes, and the attempt is marked."""

from hypothesis import given
from hypothesis import strategies as st
from store_fixtures import put, put_owners, put_run, rows, sql

from errata.model import Actor, Attribution, FailureKey, Quote, Reviewer, Signal, Step, Verdict
from errata.store.attempts import attempt_by_id
from errata.store.attributions import attributions_of_thinned
from errata.store.doctor import problems_of
from errata.store.reviews import keep_verdicts
from errata.store.runs import all_runs
from errata.store.thinning import SHORT, Citations, steps_to_keep, thin_run, thinned_attempts
from errata.testing import a_run, an_attempt
from errata.verbs.store_maintenance import restore_transcripts

AT = "2026-11-17T10:00:00Z"


def a_step(index: int, text: str = "", role: str = "assistant") -> Step:
    return Step(index=index, actor=Actor(role=role), text=text or f"step number {index}")


LONG = (a_step(0, "please book a flight", "user"), *(a_step(index) for index in range(1, 30)))


def a_verdict(attempt: str, place: str, quote: str) -> Verdict:
    return Verdict(
        id=f"v-{place}",
        attempt=attempt,
        taxonomy="owners",
        label="model",
        owner="model",
        cause="c",
        confidence="likely",
        evidence=(Quote(place=place, quote=quote),),
        reviewer=Reviewer(kind="person", name="ada"),
        at="2026-11-01T00:00:00Z",
    )


def indices(steps: tuple[Step, ...]) -> list[int]:
    return [step.index for step in steps]


def put_long(store, case="suite/a"):
    run = a_run(native_id="run-1")
    attempt = an_attempt(run=run.id, case=case, steps=LONG)
    (done,) = put(store, run, attempt)
    return done, attempt


def test_cited_steps_stay_with_one_step_of_context(store):
    done, attempt = put_long(store)
    keep_verdicts(store, [a_verdict(attempt.id, "steps/12", "step number 12")])

    thin_run(store, done.pk, done.id, at=AT, dry_run=False)

    loaded = attempt_by_id(store, attempt.id)
    assert indices(loaded.steps) == [0, 11, 12, 13, 29]
    assert loaded.thinned == AT


def test_steps_that_evidence_of_rules_cites_stay(store):
    done, attempt = put_long(store)
    signal = Signal(name="n", where="steps[20].text", quote="step number 20")
    owner = Attribution(
        attempt=attempt.id,
        owner="model",
        confidence="likely",
        failure_key=FailureKey(exact="e", coarse="c"),
        signals=(signal,),
    )
    put_owners(store, done.pk, [(0, owner, False)])

    thin_run(store, done.pk, done.id, at=AT, dry_run=False)

    assert indices(attempt_by_id(store, attempt.id).steps) == [0, 19, 20, 21, 29]
    assert attributions_of_thinned(store, done.pk)[0][1] == owner


def test_a_dry_run_changes_nothing(store):
    done, attempt = put_long(store)

    result = thin_run(store, done.pk, done.id, at=AT, dry_run=True)

    assert (result.thinned, result.steps, result.steps_kept, result.size_after) == (1, 30, 2, None)
    assert attempt_by_id(store, attempt.id).steps == LONG
    assert attempt_by_id(store, attempt.id).thinned is None


def test_thinning_twice_changes_nothing_more(store):
    done, attempt = put_long(store)
    thin_run(store, done.pk, done.id, at=AT, dry_run=False)

    again = thin_run(store, done.pk, done.id, at="2027-01-01T00:00:00Z", dry_run=False)

    assert again.thinned == 0
    assert attempt_by_id(store, attempt.id).thinned == AT


def test_a_thinned_store_is_sound(store):
    done, attempt = put_long(store)
    thin_run(store, done.pk, done.id, at=AT, dry_run=False)

    assert problems_of(store) == []
    assert thinned_attempts(store, done.pk, done.id) == {attempt.id}


def test_the_same_log_imported_again_does_not_undo_it(store):
    done, attempt = put_long(store)
    thin_run(store, done.pk, done.id, at=AT, dry_run=False)

    assert put_long(store)[0].change == "unchanged"
    assert attempt_by_id(store, attempt.id).thinned == AT


def test_an_undo_that_is_repeated_removes_the_rows_that_a_killed_one_had_replaced(store):
    done, _ = put_long(store)
    replaced = put_run(store, "replaced")
    sql(store.path, f"UPDATE runs SET state = 'stale' WHERE pk = {replaced.pk}")
    (stored,) = all_runs(store)

    assert restore_transcripts(store, stored).change == "nothing_to_thin"
    assert rows(store.path, "runs") == rows(store.path, "attempts") == 1
    assert stored.pk == done.pk


def test_a_short_transcript_stays_whole():
    assert steps_to_keep(LONG[:SHORT], Citations()) == LONG[:SHORT]


@given(st.sets(st.integers(0, 29)))
def test_every_cited_step_is_kept(cited):
    kept = indices(steps_to_keep(LONG, Citations(steps=set(cited))))

    assert set(cited) <= set(kept)
    assert kept == sorted(kept)


@given(st.integers(0, 29))
def test_a_step_with_a_quoted_text_is_kept_wherever_the_quote_was_placed(index):
    cited = Citations()
    cited.add_place("output", f"step  number\n{index}" if index else "book a flight")

    assert index in indices(steps_to_keep(LONG, cited))
