"""The timeline of a run, whatever the order in which its sessions went."""

from hypothesis import given
from hypothesis import strategies as st

from errata.compare.sessions import timeline
from errata.compare.trials import Opinions
from errata.testing import a_run, an_attempt

ENDS = {
    "pass": {"execution": "completed", "measurement": "scored", "outcome": "pass"},
    "fail": {"execution": "completed", "measurement": "scored", "outcome": "fail"},
    "error": {"execution": "error", "measurement": "not_run", "outcome": "none"},
}
RUN = a_run()


def attempts_of(ends):
    last = len(ends)
    for session, end in enumerate(ends, start=1):
        yield an_attempt(run=RUN.id, session=session, superseded_by=None if session == last else "later", **ENDS[end])


@given(st.lists(st.sampled_from(sorted(ENDS)), min_size=1, max_size=6))
def test_only_what_a_later_session_hides_is_a_change(ends):
    found = timeline(RUN, attempts_of(ends), Opinions())

    now, measured = ends[-1], [end for end in ends[:-1] if end != "error"]
    hides = now != "pass" and bool(measured) and (measured[-1] == "pass" or now == "error")
    assert bool(found.changes) == hides
    if hides:
        assert found.changes[0].was == measured[-1]


@given(st.lists(st.sampled_from(sorted(ENDS)), min_size=2, max_size=6))
def test_every_attempt_is_counted_in_its_session_once(ends):
    found = timeline(RUN, attempts_of(ends), Opinions())

    assert [one.tried for one in found.sessions] == [1] * len(ends)
    assert [one.passed for one in found.sessions] == [int(end == "pass") for end in ends]
    assert bool(found.never_measured) == all(end == "error" for end in ends)
