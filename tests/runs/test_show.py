"""Whether other models fail in the same way."""

import pytest

from errata.model import Attempt, ErrorInfo, FailureKey, Run, SourceInfo, Subject
from errata.runs.show import failing_alike
from errata.runs.triaging import triage_if_needed
from errata.store.attributions import attributions_of
from errata.store.importing import Importing
from errata.store.packing import pack_items, seal
from errata.store.runs import run_by_id

BROKEN = {"execution": "error", "measurement": "not_run", "outcome": "none"}
FAILED = {"execution": "completed", "measurement": "scored", "outcome": "fail", "native_status": "unresolved"}


def imported(store, name, *, model, error=""):
    run = Run(native_id=name, source=SourceInfo(name="test"), suite="suite", subject=Subject(model=model))
    errors = (ErrorInfo(type="ValueError", message=error, phase="subject"),) if error else ()
    facts = BROKEN if error else FAILED
    with Importing(store) as importing:
        for batch in seal(pack_items([run, Attempt(run=run.id, case="suite/one", errors=errors, **facts)])):
            importing.add(batch)
        importing.finish()
    stored = run_by_id(store, run.id)
    triage_if_needed(stored, store)
    return stored


def key_of(stored, store) -> FailureKey:
    (result,) = attributions_of(store, stored.pk).values()
    return result.failure_key


def test_an_equal_list_of_failed_checks_is_not_the_same_error(store):
    mine, _ = (imported(store, name, model=name, error="not met: book_reservation, send_gift") for name in ("a", "b"))
    key = FailureKey(exact="DB:not met: book_reservation, send_gift", coarse="DB")

    assert failing_alike(mine, store, key) == ()


def test_another_model_with_the_same_error_is_named(store):
    mine, _ = (imported(store, name, model=name, error="no such tier") for name in ("a", "b"))

    assert [(one.model, one.count) for one in failing_alike(mine, store, key_of(mine, store))] == [("b", 1)]


def test_a_word_that_only_says_that_it_failed_is_no_likeness(store):
    mine, _ = (imported(store, name, model=name) for name in ("a", "b"))

    assert failing_alike(mine, store, key_of(mine, store)) == ()


@pytest.mark.parametrize("model", ["a", ""])
def test_a_run_that_names_no_model_is_not_another_model(store, model):
    mine = imported(store, "mine", model=model, error="no such tier")
    imported(store, "other", model="", error="no such tier")

    assert failing_alike(mine, store, key_of(mine, store)) == ()
