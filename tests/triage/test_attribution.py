"""The burden of proof, on attempts that show only what matters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from errata.model import Artefact, Case, Check, ErrorInfo, Judgement, Limit, Output, SourceInfo, Usage, UsageByRole
from errata.testing import a_run, an_attempt
from errata.triage import RunWide, attribute, built_in, look_over, observe


def attributed(attempt, *, case=None, wide=None, source="test"):
    run = a_run()
    observed = observe(run, attempt, case, wide or RunWide(), built_in())
    return attribute(attempt, observed, source=source)


def crashed(message, phase="subject", kind="", **changes):
    error = ErrorInfo(type=kind, message=message, phase=phase)
    facts = {"execution": "error", "measurement": "not_run", "outcome": "none"}
    return an_attempt(errors=(error,), **facts | changes)


@pytest.mark.req("supported")
def test_a_measured_failure_is_the_models_unless_a_signal_shows_otherwise():
    found = attributed(an_attempt(checks=(Check(name="tests", status="fail", explanation="expected 3, got 4"),)))

    assert (found.owner, found.confidence, found.decided_by) == ("model", "weak", "check_failed")
    assert (found.proof, found.proof_reason) == ("presumed", "no_other_result")


@pytest.mark.parametrize(
    ("message", "phase", "owner"),
    [
        ("429 Too Many Requests", "subject", "provider"),
        ("Overloaded", "subject", "provider"),
        ("503 Service Unavailable", "subject", "provider"),
        ("You exceeded your current quota", "subject", "provider"),
        ("invalid x-api-key", "subject", "provider"),
        ("No endpoints found for acme/x", "subject", "provider"),
        ("blocked by content filter", "subject", "provider"),
        ("no space left on device", "tool", "environment"),
        ("getaddrinfo ENOTFOUND registry", "setup", "environment"),
        ("Error: convex dev timed out after 90s", "environment", "environment"),
        ("SandboxBuildFailedError: image", "setup", "environment"),
        ("pixi: command not found", "setup", "environment"),
        ("1 validation error for RunResult", "aggregation", "harness"),
        ("'TierConfig' object has no attribute 'language'", "setup", "harness"),
        ("judge answered 500", "scoring", "grader"),
        ("VerifierTimeoutError: 600 s", "scoring", "unknown"),
        ("Agent execution timed out after 900.0 seconds", "subject", "budget"),
        ("the simulated user crashed", "simulator", "simulator"),
        ("Cancelled via cancel scope 7f", "subject", "collateral"),
    ],
)
def test_an_error_of_the_machinery_names_its_owner(message, phase, owner):
    assert attributed(crashed(message, phase)).owner == owner


def test_an_error_that_nobody_knows_is_unknown():
    found = attributed(crashed("something odd happened", "subject", usage=UsageByRole(subject=Usage(total=9))))

    assert (found.owner, found.confidence) == ("unknown", "weak")


@pytest.mark.trap(3)
@pytest.mark.parametrize("words", ["rate limit exceeded, 429", "connection refused", "permission denied", "timed out"])
def test_words_in_what_the_model_wrote_are_no_evidence(words):
    attempt = an_attempt(
        case=f"suite/{words.replace(' ', '_')}",
        output=Output(text=words),
        artefacts=(Artefact(role="output", path="guard.ts", text=words),),
        checks=(Check(name="tests", status="fail", explanation="tests failed (40%)"),),
    )

    assert attributed(attempt).owner == "model"


def test_an_error_that_was_recovered_is_no_evidence():
    recovered = ErrorInfo(type="RateLimit", message="429", phase="subject", recovered=True)

    assert attributed(an_attempt(errors=(recovered,))).owner == "model"


@pytest.mark.trap(2)
def test_a_failure_of_lint_alone_is_the_graders():
    checks = (Check(name="eslint", status="fail", kind="step"), Check(name="tests", status="pass", kind="step"))

    assert attributed(an_attempt(checks=checks)).decided_by == "lint_only"


@pytest.mark.parametrize(
    ("task", "owner"),
    [("Leave no unused names: no-unused-vars is on.", "model"), ("Write a query.", "grader"), ("no-unused", "grader")],
)
def test_a_lint_rule_that_the_task_names_is_part_of_the_task(task, owner):
    complaint = "/o/a.ts\n  9:23  error  'ctx' is defined but never used  @typescript-eslint/no-unused-vars\n"
    lint = Check(name="eslint", status="fail", kind="step", explanation=complaint)
    tests = Check(name="tests", status="pass", kind="step")
    case = Case(run="r", suite="suite", native_id="case-1", input=task)

    assert attributed(an_attempt(checks=(lint, tests)), case=case).owner == owner


def test_code_that_a_linter_cannot_parse_is_not_a_matter_of_style():
    refused = Check(name="eslint", status="fail", explanation="/o/a.ts\n  9:5  error  Parsing error: ';' expected\n")
    tests = Check(name="tests", status="pass", kind="step")

    assert attributed(an_attempt(checks=(refused, tests))).decided_by == "check_failed"


@pytest.mark.trap(2)
def test_lint_and_tests_failing_together_is_the_models():
    checks = (Check(name="eslint", status="fail", kind="step"), Check(name="tests", status="fail", kind="step"))

    assert attributed(an_attempt(checks=checks)).owner == "model"


def test_a_weak_signal_never_takes_a_measured_failure_from_the_model():
    result = tuple(
        Judgement(judge=name, raw={"passed": verdict}) for name, verdict in (("a", True), ("b", False), ("c", False))
    )

    found = attributed(an_attempt(judgements=result))

    assert (found.owner, found.also) == ("model", ("grader",))


@pytest.mark.trap(7)
def test_what_follows_an_ended_session_is_collateral():
    attempt = an_attempt(execution="cancelled", outcome="none", follows="0" * 16 + ":suite/turn-24#1")

    assert attributed(attempt).owner == "collateral"


def test_a_verifier_that_never_ran_for_want_of_a_tool_is_the_environments_and_the_graders():
    log = Artefact(role="log", path="verifier/test-stdout.txt", text="set up\nuvx: command not found\n")

    found = attributed(an_attempt(artefacts=(log,)))

    assert (found.owner, found.also) == ("environment", ("grader",))
    assert found.signals[0].where == "verifier/test-stdout.txt:2"


def test_tests_that_are_all_listed_as_failed_may_never_have_run():
    log = Artefact(role="log", path="test_output.txt", text="bash: line 14: mvn: command not found\n")
    listed = Check(name="FAIL_TO_PASS", status="fail", kind="tests", achieved=0, max=3)

    assert attributed(an_attempt(artefacts=(log,), checks=(listed,))).owner == "environment"
    assert attributed(an_attempt(artefacts=(log,), checks=(replace(listed, achieved=1),))).owner == "model"


def test_a_measurement_that_broke_with_its_environment_is_the_environments():
    error = ErrorInfo(type="EvaluationError", message="gone", phase="environment")

    found = attributed(an_attempt(measurement="error", outcome="none", errors=(error,)))

    assert (found.owner, found.also, found.decided_by) == ("environment", ("grader",), "measurement_failed")


def test_infrastructure_is_a_wider_word_than_environment():
    """A provider out of reach is called so, too: what the error says goes before."""
    error = ErrorInfo(
        type="BadRequestError", message="prompt is too long: 213462 tokens > 200000 maximum", phase="subject"
    )
    ended = {"execution": "error", "measurement": "not_run", "outcome": "none", "errors": (error,)}

    assert attributed(an_attempt(native_status="infrastructure_error", **ended)).owner == "budget"


def test_a_limit_is_the_budgets():
    attempt = an_attempt(
        execution="limit", limit=Limit(type="token", value=4096), measurement="not_run", outcome="none"
    )

    assert attributed(attempt).owner == "budget"


def test_an_answer_that_is_the_reference_is_not_the_models_fault():
    text = "export const a = 1;\n"
    case = Case(
        run="r", suite="s", native_id="c", artefacts=(Artefact(role="expected", path="answer/a.ts", text=text),)
    )
    attempt = an_attempt(artefacts=(Artefact(role="output", path="a.ts", text=text),))

    assert attributed(attempt, case=case).decided_by == "answer_equals_reference"


@pytest.mark.req("B-30")
def test_files_that_are_no_part_of_an_answer_need_not_equal_the_reference():
    beside = ("tsconfig.json", "README.md", "package.json", "package-lock.json", "bun.lockb", "convex/tsconfig.json")
    expected = [("convex/a.ts", "a"), ("convex/b.ts", "b"), *((path, "reference") for path in beside)]
    case = Case(
        run="r",
        suite="s",
        native_id="c",
        artefacts=tuple([Artefact(role="expected", path=f"answer/{path}", text=text) for path, text in expected]),
    )

    def given(**files):
        return an_attempt(
            artefacts=tuple([Artefact(role="output", path=f"convex/{n}.ts", text=text) for n, text in files.items()])
        )

    assert attributed(given(a="a", b="b"), case=case).decided_by == "answer_equals_reference"
    assert attributed(given(a="a", b="c"), case=case).owner == "model"
    assert attributed(given(a="a"), case=case).owner == "model"


@pytest.mark.trap(17)
@pytest.mark.req("S-05")
def test_one_root_crash_and_those_that_stumble_over_what_it_left_are_told_apart():
    def failed(number, message):
        error = ErrorInfo(type="RuntimeError", message=message, phase="setup", at=f"2026-02-20T08:00:{number:02}Z")
        facts = {"execution": "error", "measurement": "not_run", "outcome": "none"}
        return an_attempt(case=f"suite/test-{number}", errors=(error,), **facts)

    root = failed(1, "'TierConfig' object has no attribute 'language'")
    followers = [failed(number, f"a branch named 'T0_{number}' already exists") for number in range(2, 6)]
    wide = look_over([root, *followers])

    assert attributed(root, wide=wide).owner == "harness"
    assert {attributed(one, wide=wide).owner for one in followers} == {"collateral"}


def unavailable(message, phase="subject"):
    attempts = [crashed(message, phase, case=f"suite/{number}") for number in range(4)]
    return attributed(attempts[0], wide=look_over(attempts))


@pytest.mark.parametrize(
    ("message", "owner"),
    [
        ("No endpoints found", "provider"),
        ("getaddrinfo ENOTFOUND api.acme.example", "environment"),
        ("Temporary failure in name resolution", "environment"),
    ],
)
def test_in_an_unavailable_run_the_rule_that_knows_the_text_names_the_owner(message, owner):
    alone, found = attributed(crashed(message)), unavailable(message)

    assert "unavailable_run" in [signal.name for signal in found.signals]
    assert (found.owner, found.decided_by, found.confidence) == (owner, alone.decided_by, alone.confidence)
    assert alone.owner == owner


@pytest.mark.req("B-15")
@pytest.mark.parametrize(("phase", "owner"), [("subject", "unknown"), ("setup", "environment")])
def test_in_an_unavailable_run_a_text_that_no_rule_knows_has_a_weak_owner_or_none(phase, owner):
    found = unavailable("zork: it went odd", phase)

    assert (found.owner, found.confidence, found.decided_by) == (owner, "weak", "unavailable_run")


@pytest.mark.req("C-13")
def test_each_owner_gets_a_label_of_the_four_or_none():
    model = attributed(an_attempt(), source="convex-evals")
    provider = attributed(crashed("429"), source="convex-evals")

    assert model.suggested_labels["convex-evals"] == "MODEL_FAULT"
    assert "convex-evals" not in provider.suggested_labels


@given(st.text(max_size=200), st.sampled_from(["setup", "subject", "tool", "environment", "scoring", "aggregation"]))
def test_any_error_text_has_an_owner_and_a_key(message, phase):
    found = attributed(crashed(message, phase))

    assert found.owner
    assert found.failure_key.coarse


@pytest.mark.parametrize(("mode", "rule"), [("test_timeout", "verifier_timeout"), ("parse_error", "tests_unreadable")])
def test_whose_fault_it_is_that_tests_ran_out_of_time_or_left_nothing_to_read_is_open(mode, rule):
    """A solution that hangs or breaks off does that to the tests, too."""
    error = ErrorInfo(type=mode, message=mode, phase="scoring")

    attempt = an_attempt(measurement="error", outcome="none", errors=(error,), native_status=mode)
    run = replace(a_run(), source=SourceInfo(name="harbor"))
    found = attribute(attempt, observe(run, attempt, None, RunWide(), built_in()))

    assert (found.owner, found.also, found.decided_by) == ("unknown", ("grader", "model"), rule)


def test_what_somebody_stopped_is_nobodys_fault():
    error = ErrorInfo(type="KeyboardInterrupt", message="KeyboardInterrupt", phase="setup")

    found = attributed(an_attempt(execution="cancelled", measurement="not_run", outcome="none", errors=(error,)))

    assert (found.owner, found.decided_by) == ("collateral", "stopped_by_hand")


def test_an_answer_equal_to_the_reference_that_was_never_checked_is_nobodys():
    case = Case(run="r", suite="s", native_id="c", artefacts=(Artefact(role="expected", path="answer/a.ts", text="x"),))
    failed = an_attempt(
        artefacts=(Artefact(role="output", path="a.ts", text="x"),),
        checks=(Check(name="deploy", status="fail", kind="step", explanation="Error: Failed to deploy:\n(no output)"),),
    )

    found = attributed(failed, case=case)

    assert (found.owner, found.decided_by) == ("unknown", "answer_equals_reference")


def test_a_stack_that_begins_in_the_runner_shows_whose_mistake_it_is():
    message = "error: TypeError: no x\n    at parse (/ci/{0}/parse.ts:412:27)\n    at run (/ci/{0}/run.ts:3:1)"
    tokens = UsageByRole(subject=Usage(input=10, output=20, total=30))

    of_runner = attributed(crashed(message.format("convex-evals/runner"), kind="generation_error", usage=tokens))
    of_other = attributed(crashed(message.format("app"), kind="generation_error", usage=tokens))

    assert (of_runner.owner, of_runner.decided_by) == ("harness", "harness_frame")
    assert of_other.decided_by != "harness_frame"
