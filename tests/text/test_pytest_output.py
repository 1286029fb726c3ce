"""Output of pytest's own session, without sessions that its tests started."""

from errata.text.pytest_output import counts_in, own_output


def rule(words: str) -> str:
    return f" {words} ".center(60, "=")


START, SUMMARY = rule("test session starts"), rule("short test summary info")
NESTED = [START, rule("FAILURES"), "E   NameError: name 'asd' is not defined", SUMMARY, "FAILED test_one.py::test_a"]
CAPTURED = "--- Captured stdout call ---"


def log(*, nested: list[str], start: bool = True) -> str:
    return "\n".join(
        [
            *([START] if start else []),
            rule("FAILURES"),
            "E   Failed: nomatch",
            CAPTURED,
            *nested,
            rule("PASSES"),
            CAPTURED,
            "ValueError: printed by a test that passed",
            *NESTED,
            rule("1 failed in 0.01s"),
            SUMMARY,
            "PASSED testing/test_a.py::test_b",
            "FAILED testing/test_a.py::test_c",
            rule("1 failed, 79 passed, 2 errors in 2.62s"),
            "the end",
        ]
    )


ENDED = [*NESTED, rule("1 failed in 0.01s")]


def test_sessions_that_tests_started_and_output_of_passing_tests_are_left_out():
    shown = [line for line in own_output(log(nested=ENDED)).split("\n") if line and not line.startswith("=")]

    assert shown == [
        "E   Failed: nomatch",
        CAPTURED,
        "PASSED testing/test_a.py::test_b",
        "FAILED testing/test_a.py::test_c",
        "the end",
    ]


def test_other_lines_keep_their_numbers():
    before, after = log(nested=ENDED).split("\n"), own_output(log(nested=ENDED)).split("\n")

    assert len(before) == len(after)
    assert all(new in ("", old) for old, new in zip(before, after, strict=True))


def test_the_outer_session_is_found_where_the_log_begins_within_it_and_where_a_nested_one_crashed():
    for text in (log(nested=ENDED, start=False), log(nested=NESTED[:1])):
        assert "FAILED testing/test_a.py::test_c" in own_output(text)
        assert "FAILED test_one.py" not in own_output(text)


def test_the_counts_are_those_of_the_last_own_session():
    assert counts_in(own_output(log(nested=ENDED))) == (79, 3)
    assert counts_in(rule("8 passed in 2.10 seconds")) == (8, 0)
    assert counts_in(rule("771 passed, 64 skipped in 173.07s (0:02:53)")) == (771, 0)
    assert counts_in(rule("no tests ran in 0.00s")) is None
    assert counts_in("8 passed in the morning") is None
