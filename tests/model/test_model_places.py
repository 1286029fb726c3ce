"""Places of evidence as addresses."""

from hypothesis import given
from hypothesis import strategies as st

from errata.model.places import anchor_of, log_names


def test_a_log_is_named_by_its_folder_where_that_is_unique():
    paths = ["verifier/test-stdout.txt", "trial.log", "agent/claude-code.txt"]

    assert log_names(paths) == dict(zip(paths, ("verifier", "trial", "agent"), strict=True))
    assert log_names(["verifier/test-stdout.txt"]) == {"verifier/test-stdout.txt": "verifier"}


def test_logs_of_one_folder_are_named_by_themselves():
    assert list(log_names(["a/b/panes/post-agent.txt", "a/b/panes/post-test.txt"]).values()) == [
        "post-agent",
        "post-test",
    ]


def test_places_of_triage_and_of_packets_lead_to_the_same_anchor():
    logs = {"verifier/out.txt": "verifier"}
    for where, anchor in (
        ("verifier/out.txt:17", "verifier-17"),
        ("log/verifier/out.txt", "verifier"),
        ("steps[20]", "step-20"),
        ("steps[20].tool_calls[0]", "step-20"),
        ("steps/20", "step-20"),
        ("checks[tests].explanation", "check-tests"),
        ("checks/tests", "check-tests"),
        ("errors[0].message", "error-1"),
        ("judgements[rubric].reasoning", "judge-rubric"),
        ("output", "output"),
        ("native_status", "facts"),
        ("somewhere else", "facts"),
    ):
        assert anchor_of(where, logs) == anchor, where


@given(st.lists(st.text(st.characters(codec="ascii"), min_size=1, max_size=12), unique=True, max_size=8), st.text())
def test_every_place_has_an_anchor_that_an_address_can_hold(paths, where):
    names = log_names(paths)

    assert all(name and not set(name) & set(' "<>#') for name in names.values())
    assert anchor_of(where, names)
