"""The first page of an analysis shows that the subject could not work, before anybody reads its score."""

from terminal import FIXTURES, done

AGENTS = FIXTURES.parent / "agents" / "terminal_bench"


def test_tool_calls_that_arrive_as_text_make_a_run_unfit_on_the_first_page():
    analysis = done("analyze", AGENTS / "claude_code_v3", "--no-report")
    page = " ".join(analysis.out.split())

    assert "NOT FIT" in analysis.err
    assert (
        "problem tool_channel_broken 3 of 5 attempts (60 %) have tool calls that look mangled or arrived as text"
        in page
    )
    assert "Owners 5 failures, by who has to act harness 3" in page
    owners = {row["case"]: row["owner"] for row in done("failures", "latest", "--json").rows}
    assert owners == {
        "git-workflow-hack": "harness",
        "nginx-request-logging": "provider",
        "raman-fitting.easy": "model",
        "run-pdp11-code": "harness",
        "sanitize-git-repo.hard": "harness",
    }


def test_crashes_of_the_agent_are_named_on_the_first_page():
    page = " ".join(done("analyze", AGENTS / "claude_code_c4", "--no-report").out.split())

    assert "warning agent_crashed 2 of 3 attempts (67 %) ended in a crash of the agent program" in page
    assert '"Error: spawn ps ENOENT"' in page
