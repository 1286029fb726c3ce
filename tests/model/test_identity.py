"""Ids: the same for the same content, and taken apart again."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from errata.model import Subject, attempt_id, case_key, split_attempt_id
from errata.model.identity import case_key_of_input, fingerprint
from errata.testing import a_run, an_attempt

RUN = "0123456789abcdef"
NUMBERS = st.integers(0, 10**9)


@given(st.text(), st.none() | NUMBERS, NUMBERS, st.text())
@example("a/b#2.3", None, 1, "")
@example("50%23 off", 2, 1, "T0/00#run%25")
@example("a:b:c", 0, 0, "/")
@example("", None, 1, "#1")
def test_an_attempt_id_is_taken_apart_into_what_it_was_made_of(case, session, index, path):
    made = attempt_id(RUN, case, session=session, index=index, path=path)

    parts = split_attempt_id(made)

    assert (parts.run, parts.case, parts.session, parts.index, parts.path) == (RUN, case, session, index, path)


@given(st.tuples(st.text("#%:/.12ab"), NUMBERS, st.text("#%:/.12ab")), st.data())
def test_different_attempts_have_different_ids(one, data):
    other = data.draw(st.tuples(st.text("#%:/.12ab"), NUMBERS, st.text("#%:/.12ab")))

    made = [attempt_id(RUN, case, index=index, path=path) for case, index, path in (one, other)]

    assert (made[0] == made[1]) == (one == other)


@given(st.text())
def test_any_text_is_an_attempt_id_or_a_value_error(text):
    try:
        parts = split_attempt_id(text)
    except ValueError:
        return
    assert parts.index >= 0


@pytest.mark.parametrize(
    "text",
    ["", "latest", "run-1", RUN, f"{RUN}:case", f"{RUN}:case#", f"{RUN}:case#x", f"{RUN}:case#.1", f"{RUN}:case#1.x"],
)
def test_what_is_no_attempt_id_is_refused(text):
    with pytest.raises(ValueError, match="not an attempt id"):
        split_attempt_id(text)


def test_an_attempt_names_its_run_case_session_and_number():
    attempt = an_attempt(run=RUN, case="suite/case-1", session=2, index=3, path="T0/00/run_01")

    assert attempt.id == f"{RUN}:suite/case-1#2.3/T0/00/run_01"


def test_an_id_that_is_given_stays():
    assert an_attempt(id="given").id == "given"


def test_equal_runs_have_equal_ids():
    one, other = (a_run(subject=Subject(model="m"), variant={"a": "1", "b": "2"}) for _ in range(2))

    assert one.id == other.id


def test_the_order_of_a_variant_does_not_matter():
    assert a_run(variant={"a": "1", "b": "2"}).id == a_run(variant={"b": "2", "a": "1"}).id


@pytest.mark.parametrize(
    "change",
    [
        {"native_id": "run-2"},
        {"subject": Subject(model="m")},
        {"subject": Subject(provider="p")},
        {"subject": Subject(agent="a")},
        {"subject": Subject(agent="a", agent_version="2")},
        {"variant": {"tier": "T0"}},
    ],
    ids=str,
)
def test_a_run_id_depends_on_the_native_id_the_subject_and_the_variant(change):
    assert a_run(**change).id != a_run().id


@pytest.mark.parametrize(
    "change",
    [
        {"origin": "/elsewhere"},
        {"name": "n"},
        {"finished_at": "2026-01-01T00:00:00Z"},
        {"revision": 7},
        {"native_status": "completed"},
        {"expected_cases": 3},
    ],
    ids=str,
)
def test_a_run_keeps_its_id_while_it_grows(change):
    assert a_run(**change).id == a_run().id


def test_a_folder_name_in_another_encoding_still_gives_an_id():
    assert a_run(native_id="run-\udcff").id == a_run(native_id="run-\udcff").id != a_run(native_id="run-").id


def test_a_case_key_is_suite_and_name():
    assert (case_key("suite", "001/a"), case_key("", "001/a")) == ("suite/001/a", "001/a")


def test_a_case_without_a_name_is_known_by_what_was_asked():
    asked = [{"role": "user", "content": "2 + 2?"}]

    assert case_key_of_input("s", asked) == case_key_of_input("s", [{"content": "2 + 2?", "role": "user"}])


@given(st.lists(st.text() | st.integers(-(2**80), 2**80) | st.booleans() | st.none(), max_size=4))
def test_a_fingerprint_is_made_of_anything_that_json_holds(parts):
    assert fingerprint(*parts) == fingerprint(*parts)
