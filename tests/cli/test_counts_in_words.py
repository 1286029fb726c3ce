"""One count is told by every command with the same number, and what is cut off is said to be."""

from terminal import FIXTURES, done

DAMAGED = FIXTURES / "conversation_bench" / "damaged" / "data"


def test_attempts_are_what_is_in_the_log_and_what_is_missing_is_named_apart():
    analysis = done("analyze", DAMAGED, "--no-report")
    (run,) = (row["run"] for row in done("runs", "--json").rows)

    assert "29 attempts, 2 missing, 4 failures" in " ".join(done("import", DAMAGED).out.split())
    assert "4 failures in 29 attempts, 2 missing" in done("failures", run).out
    assert "attempts   29 attempts, 2 missing" in done("show", run).out
    assert "29 attempts of 28 turns, 2 missing" in analysis.err
    assert "28 of 30 planned turns measured" in analysis.err
    assert "25/29" in done("runs").out
    assert "2 missing" in done("runs").out
    assert "3 of 30 planned turns · missing 2 · contradictory 1" in done("rerun", run).out
