"""Reviews by batches against a stand-in of OpenAI's Batch API: resumed after every kill, and nothing paid twice."""

import itertools
from contextlib import contextmanager
from datetime import timedelta

import msgspec
import pytest
from soak.batch_provider import running
from sqlalchemy import delete
from tests.length import LONG

from errata.errors import ErrataError
from errata.llm.batches import BatchService
from errata.model import Reviewer
from errata.model.filters import Filters
from errata.review.batch import BatchAccount
from errata.review.choose_reviewer import ReviewerFlags, choose
from errata.review.plan import ReviewRequest
from errata.review.run import ReviewTally
from errata.review.spending import Limits
from errata.review.stored import batch as stored_batch
from errata.review.stored import batch_plan
from errata.review.stored import run as stored_run
from errata.runs.importing import import_paths
from errata.store.ledger import calls_of
from errata.store.reviews import keep_verdicts, leases_of, verdicts_of
from errata.store.runs import find_run
from errata.store.schema import calls, refusals, review_batches, verdicts
from errata.verbs.review import collect_batches, open_review_batches, plan_review, run_review

NOW = "2026-11-17T12:00:00Z"


@pytest.fixture
def provider():
    with running() as provider:
        yield provider


@pytest.fixture
def convex(store, fixtures):
    """Nine failures."""
    import_paths([fixtures / "sources/convex_evals/run_b/data"], store)
    return find_run(store, "jn7mqywb")


def request_for(provider, **more):
    flags = ReviewerFlags(model="m", base_url=provider.url, batch=True)
    return ReviewRequest(chosen=choose(flags, {}), batch=True, **more)


def one_command(stored, store, provider, *, may_submit=True, **more):
    """What `errata review run --batch` does."""
    request = request_for(provider, **more)
    account, tally = BatchAccount(request.limits), ReviewTally(0)
    collect_batches([stored], store, request, account)
    plan = plan_review([stored], store, request, now=NOW)
    tally.planned = plan.packets
    if plan.packets:
        run_review(plan, store, tally, lambda _: None, account=account, may_submit=may_submit)
    return account, tally


def notes(account):
    return " | ".join(note for news in account.news for note in news.notes)


def states(store, run):
    return sorted(call.state for call in calls_of(store, run.run.id))


def test_a_batch_is_submitted_and_a_second_command_collects_it(convex, store, provider):
    sent, before = one_command(convex, store, provider)
    waiting, _ = one_command(convex, store, provider)
    provider.finish()
    collected, after = one_command(convex, store, provider)

    assert [batch.requests for batch in sent.submitted] == [9] and before.waiting == 9
    assert [news.batch.status for news in waiting.news] == ["validating"] and not waiting.submitted
    assert [news.answered for news in collected.news] == [9]
    assert after.reviewed == 9 and after.calls == 9 and after.cached == 0
    assert len(provider.batches) == 1 and not provider.files


def test_packets_in_a_batch_are_leased_until_it_is_collected(convex, store, provider):
    one_command(convex, store, provider)
    during = leases_of(store, convex.run.id, now=NOW)
    provider.finish()
    one_command(convex, store, provider)

    assert len(during) == 9
    assert leases_of(store, convex.run.id, now=NOW) == {}


def test_a_live_review_by_the_same_model_leaves_out_what_is_in_a_batch(convex, store, provider):
    one_command(convex, store, provider)
    live = msgspec.structs.replace(request_for(provider), batch=False)

    plan = plan_review([convex], store, live, now=NOW)

    assert plan.packets == 0 and plan.parts[0].in_batch == 9


def test_of_the_same_crash_one_goes_into_a_batch_and_the_others_inherit(store, fixtures, provider):
    import_paths([fixtures / "sources/convex_evals/run_c/data"], store)
    run = find_run(store, "jn7h2dcx")
    for _ in range(2):  # the second command sends nothing: the others wait for the first
        one_command(run, store, provider)
    provider.finish(kind=lambda _: "environment")

    assert sum(provider.paid.values()) == 1


@pytest.mark.parametrize(("again", "ends"), [("good", {"reviewed": 9}), ("altered", {"reviewed": 6, "refused": 3})])
def test_an_answer_that_cannot_be_taken_is_repaired_in_one_more_batch_at_most(convex, store, provider, again, ends):
    one_command(convex, store, provider)
    numbers = {row["custom_id"]: at for file in provider.files for at, row in enumerate(provider.rows_of(file))}
    provider.finish(kind=lambda row: "good" if numbers[row["custom_id"]] % 3 else "altered")
    repair, first = one_command(convex, store, provider)
    provider.finish(kind=lambda _: again)
    last, second = one_command(convex, store, provider)

    assert [batch.requests for batch in repair.submitted] == [3] and not last.submitted
    assert {name: getattr(first, name) + getattr(second, name) for name in ends} == ends


def test_a_rejected_request_is_reported_and_not_sent_again_by_the_same_command(convex, store, provider):
    one_command(convex, store, provider)
    provider.finish(kind=lambda _: "rejected")
    account, tally = one_command(convex, store, provider)

    assert (tally.failed, tally.reviewed, account.submitted) == (9, 0, [])
    assert "maximum context length" in next(iter(tally.reasons))
    assert tally.cost == 0 and tally.unpriced == 0


def test_an_expired_batch_gives_what_it_has_and_the_rest_is_asked_again_later(convex, store, provider):
    one_command(convex, store, provider)
    provider.finish("expired", only=4)
    account, tally = one_command(convex, store, provider)
    later, _ = one_command(convex, store, provider)

    assert (tally.reviewed, tally.failed) == (4, 5)
    assert "expired by the provider; requests without an answer are not billed" in notes(account)
    assert [batch.requests for batch in later.submitted] == [5]


def test_a_batch_that_the_provider_refuses_says_why(convex, store, provider):
    one_command(convex, store, provider)
    provider.finish("failed")
    account, tally = one_command(convex, store, provider)

    assert "Enqueued token limit reached" in notes(account)
    assert tally.failed == 9 and not account.submitted


def test_requests_of_a_batch_that_vanished_are_lost_and_perhaps_billed(convex, store, provider):
    one_command(convex, store, provider)
    provider.batches.clear()
    account, _ = one_command(convex, store, provider)

    assert "does not know the batch any more" in notes(account) and "may have been billed" in notes(account)
    assert states(store, convex).count("lost") == 9


def test_doubled_strange_unreadable_and_missing_rows_are_named(convex, store, provider):
    one_command(convex, store, provider)
    provider.finish()
    (batch,) = provider.batches.values()
    lines = provider.files[batch["output_file_id"]].splitlines()
    strange = lines[0].replace(b'"custom_id": "', b'"custom_id": "0')
    provider.files[batch["output_file_id"]] = b"\n".join([*lines[:8], lines[0], strange, b"{not json", b"[]"])
    account, tally = one_command(convex, store, provider)

    assert tally.reviewed == 8
    result = notes(account)
    assert "4 rows are ignored" in result
    assert "1 without a row: perhaps billed" in result


def test_an_answer_about_what_another_decided_meanwhile_is_kept_beside_it(convex, store, provider):
    one_command(convex, store, provider, at_most=1)
    provider.finish()
    (leased,) = leases_of(store, convex.run.id, now=NOW)
    one_command(convex, store, provider, at_most=1, may_submit=False)
    (verdict,) = verdicts_of(store, convex.run.id)
    again = Reviewer(kind="llm", name="other")
    one_command(convex, store, provider, at_most=1)  # the next one
    (waiting,) = set(leases_of(store, convex.run.id, now=NOW))
    other = msgspec.structs.replace(verdict, id="x", attempt=waiting, reviewer=again, at="2026-11-17T12:00:00Z")
    keep_verdicts(store, [other])
    provider.finish()

    _, tally = one_command(convex, store, provider, may_submit=False)

    assert leased == verdict.attempt != waiting
    assert tally.reviewed == 1
    assert [one.reviewer.name for one in verdicts_of(store, convex.run.id, attempt=waiting)] == ["other", "m"]


def test_a_cap_is_kept_before_anything_is_submitted(convex, store, provider):
    account, tally = one_command(convex, store, provider, limits=Limits(max_tokens=40_000))

    assert account.capped == "the next call could go over `--max-tokens`"
    assert 0 < sum(batch.requests for batch in account.submitted) < 9
    assert tally.remaining == 9


def test_answers_of_another_taxonomy_wait_for_a_command_with_the_same(convex, store, provider):
    one_command(convex, store, provider, taxonomy="owners", at_most=2)
    provider.finish()
    other, before = one_command(convex, store, provider, may_submit=False)
    _, after = one_command(convex, store, provider, taxonomy="owners", may_submit=False)

    assert "another `--taxonomy` or `--blind`" in notes(other)
    assert (before.reviewed, after.reviewed) == (0, 2)


def test_without_consent_nothing_is_submitted_but_what_is_there_is_judged(convex, store, provider):
    one_command(convex, store, provider, at_most=2)
    provider.finish()
    account, tally = one_command(convex, store, provider, may_submit=False)

    assert tally.reviewed == 2 and not account.submitted


def test_a_cancelled_batch_gives_what_was_answered_by_then(convex, store, provider):
    one_command(convex, store, provider)
    request = request_for(provider)
    account = BatchAccount(request.limits)
    collect_batches([convex], store, request, account, cancel=True)
    status = [batch["status"] for batch in provider.batches.values()]
    provider.finish("cancelled", only=2)
    _, tally = one_command(convex, store, provider)

    assert status == ["cancelling"] and "collects the answers that arrived before" in notes(account)
    assert (tally.reviewed, tally.failed) == (2, 7)
    assert not open_review_batches([convex], store)


@pytest.mark.parametrize(
    ("where", "status", "told"),
    [
        (("POST", "/files"), 404, "this server has no batch endpoint"),
        (("POST", "/files"), 401, "HTTP 401"),
        (("POST", "/batches"), 400, "the batch was not submitted: HTTP 400: no"),
    ],
)
def test_a_batch_that_cannot_be_submitted_leaves_nothing_behind(convex, store, provider, where, status, told):
    provider.refuse[where] = (status, "no")
    account, _ = one_command(convex, store, provider)

    assert told in account.stopped
    assert states(store, convex) == ["failed"] * 9 and not provider.files
    assert leases_of(store, convex.run.id, now=NOW) == {}


def test_a_batch_whose_creation_is_in_doubt_is_looked_for_by_the_next_command(convex, store, provider, monkeypatch):
    provider.refuse["POST", "/batches"] = (500, "oops")
    first, _ = one_command(convex, store, provider)
    provider.refuse.clear()
    soon, _ = one_command(convex, store, provider)
    monkeypatch.setattr(stored_batch, "SETTLED", timedelta(0))
    later, _ = one_command(convex, store, provider)

    assert "finds out whether the batch was created" in first.stopped
    assert "the provider does not list it; it is given up after" in notes(soon) and not soon.submitted
    assert "nothing was billed" in notes(later) and [one.requests for one in later.submitted] == [9]
    assert max(provider.paid.values()) == 1


def test_a_batch_that_another_process_submits_is_left_to_it_for_a_while(convex, store, provider, monkeypatch):
    provider.refuse["POST", "/batches"] = (500, "oops")
    one_command(convex, store, provider)
    provider.refuse.clear()
    monkeypatch.setattr(stored_batch, "is_being_submitted", lambda *_: True)
    monkeypatch.setattr(stored_batch, "SETTLED", timedelta(0))
    soon, _ = one_command(convex, store, provider)
    monkeypatch.setattr(stored_batch, "SUBMITTING", timedelta(0))
    later, _ = one_command(convex, store, provider)

    assert notes(soon) == "another process is submitting it now" and not soon.submitted
    assert [batch.requests for batch in later.submitted] == [9]


def test_a_batch_that_was_given_up_during_its_upload_is_not_created(convex, store, provider, monkeypatch):
    monkeypatch.setattr(stored_batch, "is_intended", lambda *_: False)
    account, _ = one_command(convex, store, provider)

    assert "another command abandoned it" in account.stopped
    assert not provider.batches and not provider.files


def test_an_outage_while_collecting_loses_nothing(convex, store, provider):
    one_command(convex, store, provider)
    provider.finish()
    (remote,) = provider.batches
    provider.refuse["GET", f"/batches/{remote}"] = (503, "later")
    with pytest.raises(ErrataError, match="HTTP 503: later"):
        one_command(convex, store, provider)
    provider.refuse.clear()

    _, tally = one_command(convex, store, provider)

    assert tally.reviewed == 9


class Killed(BaseException):
    pass


@contextmanager
def killed_before(step, monkeypatch):
    """The process ends before this step: a request to the provider or a write to the store, counted from one."""
    count = itertools.count(1)

    def counted(function):
        def call(*args, **kwargs):
            if next(count) == step:
                raise Killed
            return function(*args, **kwargs)

        return call

    with monkeypatch.context() as patched:
        patched.setattr(BatchService, "_json", counted(BatchService._json))
        patched.setattr(BatchService, "_lines", counted(BatchService._lines))
        for module, name in [
            (stored_batch, "intend_batch"),
            (stored_batch, "keep_batch"),
            (stored_batch, "close_calls"),
            (stored_run, "keep_verdicts"),
            (stored_run, "close_judged"),
            (batch_plan, "keep_batch"),
        ]:
            patched.setattr(module, name, counted(getattr(module, name)))
        yield


TWO = Filters(case="001-data_modeling")
"""Two of the nine failures."""


def kills_until_done(stored, store, provider, monkeypatch, step, *, collecting):
    """Kills one command before the step, then goes on; whether there was such a step."""
    kind = {}

    def altered_first(row):
        return kind.setdefault(row["custom_id"], "altered" if not kind else "good")

    if collecting:
        one_command(stored, store, provider, filters=TWO)
        provider.finish(kind=altered_first)
    was_killed = False
    try:
        with killed_before(step, monkeypatch):
            one_command(stored, store, provider, filters=TWO)
    except Killed:
        was_killed = True
    for _ in range(3):
        one_command(stored, store, provider, filters=TWO)
        provider.finish(kind=altered_first)
    return was_killed


@pytest.mark.parametrize("collecting", [False, True])
def test_after_a_kill_between_any_two_steps_nothing_is_paid_twice_and_nothing_is_missing(
    convex, store, provider, monkeypatch, collecting
):
    monkeypatch.setattr(stored_batch, "SETTLED", timedelta(0))
    for step in itertools.count(1, 1 if LONG else 3):  # a short pass kills at every third step
        was_killed = kills_until_done(convex, store, provider, monkeypatch, step, collecting=collecting)

        assert set(provider.paid.values()) == {1} and len(provider.paid) == 3, step  # one of the two is repaired
        assert len(verdicts_of(store, convex.run.id)) == 2, step
        assert not open_review_batches([convex], store) and not provider.files, step
        assert set(states(store, convex)) <= {"answered", "failed"}, step
        assert leases_of(store, convex.run.id, now=NOW) == {}, step
        if not was_killed:
            break
        _forget_reviews(store)
        provider.batches.clear()
        provider.paid.clear()
    assert step > (12 if collecting else 4)


def _forget_reviews(store):
    with store.writing() as connection:
        for table in (verdicts, refusals, calls, review_batches):
            connection.execute(delete(table))
