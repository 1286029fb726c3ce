"""What a comparison needs of a run is read once, and again only when it may have changed."""

import pytest
from sqlalchemy import func, select, update

from bucket_runs import a_stored_run, a_verdict
from errata.compare import stored as kept
from errata.compare.comparison import ComparisonOptions
from errata.errors import NotComparableError
from errata.model import ErrorInfo, Subject
from errata.runs.importing import import_paths
from errata.runs.runset import RunSet, facts_of, scores_over
from errata.runs.view import RunView
from errata.store.importing import Importing
from errata.store.packing import pack_items, seal
from errata.store.reviews import keep_verdicts
from errata.store.runs import all_runs, run_by_id
from errata.store.schema import summaries
from errata.testing import a_run, an_attempt

RATE_LIMIT = ErrorInfo(type="RateLimitError", message="429 Too Many Requests", phase="subject")
NOT_SERVED = {"execution": "error", "measurement": "not_run", "outcome": "none", "errors": (RATE_LIMIT,)}


@pytest.fixture
def stored(store):
    run = a_run(native_id="run", subject=Subject(model="m"))
    went = {"a": {"outcome": "pass"}, "b": {"outcome": "fail"}, "c": NOT_SERVED}
    tries = [an_attempt(**{"run": run.id, "case": f"suite/{case}"} | facts) for case, facts in went.items()]
    with Importing(store) as importing:
        for batch in seal(pack_items([run, *tries])):
            importing.add(batch)
        importing.finish()
    return run_by_id(store, run.id)


def facts(stored, store, **given):
    return facts_of(RunView(stored, store), **given)


@pytest.fixture
def readings(monkeypatch):
    """How often the attempts of a run were read."""
    made = []
    real = RunView.attempts_to_examine
    monkeypatch.setattr(RunView, "attempts_to_examine", lambda view, *given: made.append(1) or real(view, *given))
    return made


def test_what_was_kept_is_what_was_found(stored, store, readings):
    first, again = facts(stored, store), facts(stored, store)

    assert again == first
    assert first.summary.scores["clean"].left_out == {"provider": 1}
    assert [cell.state for cell in sorted(again.cells(), key=lambda cell: cell.case)] == ["passed", "failed", "error"]
    assert len(readings) == 1


def test_a_new_verdict_is_seen(stored, store, readings):
    assert facts(stored, store).summary.scores["reviewed"].rate is None
    keep_verdicts(store, [a_verdict(stored, "b", label="x", owner="grader")])

    assert facts(stored, store).summary.scores["reviewed"].left_out == {"provider": 1, "grader": 1}
    assert len(readings) == 2


def test_other_timeouts_and_pooling_are_kept_apart(stored, store):
    plain, pooled = facts(stored, store), facts(stored, store, to_pool=True)

    assert not plain.summary.scores["strict"].by_case
    assert pooled.summary.scores["strict"].by_case == {"suite/a": (1, 1), "suite/b": (0, 1), "suite/c": (0, 1)}
    assert facts(stored, store, to_pool=True) == pooled
    facts(stored, store, timeouts="drop")
    with store.reading() as connection:
        assert connection.execute(select(func.count()).select_from(summaries)).scalar_one() == 3


def test_code_that_counts_otherwise_counts_anew(stored, store, readings, monkeypatch):
    facts(stored, store)
    monkeypatch.setattr(kept, "_code", lambda: "changed")
    facts(stored, store)

    assert len(readings) == 2


def test_one_that_cannot_be_read_is_made_anew(stored, store, readings):
    first = facts(stored, store)
    with store.writing() as connection:
        connection.execute(update(summaries).values(data=b"\0"))

    assert facts(stored, store) == first
    assert len(readings) == 2


def test_a_part_of_the_cases_is_counted_on_its_own(stored, store):
    whole = facts(stored, store).summary.scores["strict"]

    assert (whole.passed, whole.total) == (1, 3)
    assert scores_over(RunView(stored, store), ["suite/b"])["strict"].total == 1


@pytest.mark.parametrize("log", ["scylla/batch-cascade", "conversation_bench/comparison", "inspect_ai/demo_eval"])
def test_of_real_logs_what_was_kept_is_what_was_found(log, store, fixtures, readings):
    import_paths([fixtures / "sources" / log / "data"], store)
    for stored in all_runs(store):
        first = facts(stored, store, to_pool=True)
        readings.clear()

        assert facts(stored, store, to_pool=True) == first
        assert readings == []


@pytest.mark.parametrize(("suites", "cases"), [(("tides", "winds"), ("ab", "ab")), (("tides", "tides"), ("ab", "abc"))])
def test_runs_that_cannot_be_compared_are_refused_before_anything_is_summarised(store, monkeypatch, suites, cases):
    runs = [
        a_stored_run(store, f"run-{at}", suite=suite, **dict.fromkeys(some, ""))
        for at, (suite, some) in enumerate(zip(suites, cases, strict=True))
    ]
    monkeypatch.setattr("errata.runs.runset.facts_of", None)

    with pytest.raises(NotComparableError, match="These runs can't be compared"):
        RunSet.of(runs, store).compare(ComparisonOptions())


def test_the_early_refusal_has_the_words_of_the_late_one(store, monkeypatch):
    runs = [
        a_stored_run(store, "one", suite="tides", a="", b="OSError:x"),
        a_stored_run(store, "two", suite="winds", a="", b="", c=""),
    ]

    def refusal() -> tuple[str, str]:
        with pytest.raises(NotComparableError) as refused:
            RunSet.of(runs, store).compare(ComparisonOptions())
        return refused.value.message, refused.value.hint

    early = refusal()
    monkeypatch.setattr("errata.runs.runset.refuse_incomparable", lambda *_: None)

    assert refusal() == early
