"""The phase and the type of an error are in the log, else nothing is said of them."""

import json
from pathlib import Path

import pytest
from tests.terminal import done, errata
from tests.triage.test_quotes_stand import FIXTURES, holds, text_at

from errata import sources
from errata.compare.summaries import pattern_of
from errata.model import Actor, Attempt, ErrorInfo, Output, Run, Step, ToolCall
from errata.model.attempt import EMPTY_RESPONSE
from errata.model.conduct import conduct_of
from errata.testing import an_attempt
from errata.triage import built_in

STATED = {
    "allure": {"setup": "a fixture of the test broke"},
    "bfcl": {"subject": "`Error during inference:`"},
    "braintrust": {"scoring": "a scorer's error is beside its score"},
    "conversation_bench": {"subject": "the harness's marker in place of the answer, and its tag in run.log"},
    "convex_evals": {"subject": "no answer was generated", "environment": "the step's log line, tagged"},
    "deepeval": {"scoring": "the error of a metric"},
    "generic": {"subject": "the API error of a coding agent's session", "scoring": "a column for it"},
    "harbor": {"environment": "class", "subject": "class", "scoring": "class", "setup": "the phase that began last"},
    "inspect_ai": {"subject": "span", "tool": "span", "environment": "traceback", "scoring": "span"},
    "junit": {"setup": "`failed on setup with`"},
    "langfuse": {"subject": "a generation"},
    "langsmith": {"scoring": "an evaluator's feedback"},
    "mlflow": {"scoring": "the error of an assessment", "subject": "a span of a model"},
    "openai_evals": {"scoring": "a metric without a choice"},
    "otlp": {"tool": "the kind of the span"},
    "promptfoo": {"subject": "the response has the error", "scoring": "the error of an assertion"},
    "pydantic_evals": {"scoring": "the failure of an evaluator"},
    "pytest_json": {"setup": "the stage that failed"},
    "scylla": dict.fromkeys(("aggregation", "setup", "subject"), "the logger of the line"),
    "swe_bench": dict.fromkeys(("scoring", "environment", "setup"), "the report's reason, or the evaluation's log"),
    "tau_bench": {"simulator": "termination reason, or frames", "subject": "termination reason"},
}
"""Phases, and what of the log tells them."""


def errors_in(folder):
    for found in sources.find(folder):
        items = [*found.source.read(found.path)]
        runs = {item.id: item for item in items if isinstance(item, Run)}
        for attempt in (item for item in items if isinstance(item, Attempt) and item.run in runs):
            for error in (*attempt.errors, *(check.error for check in attempt.checks if check.error)):
                yield Path(runs[attempt.run].origin), error, error.ref or attempt.ref


@pytest.mark.req("N-09")
@pytest.mark.parametrize("source", sorted(path.name for path in FIXTURES.iterdir() if path.is_dir()))
def test_a_phase_and_a_type_are_in_the_log_or_are_not_said(source):
    wrong = []
    for origin, error, ref in errors_in(FIXTURES / source):
        texts = (("type", error.type), ("message", error.message[:60]))
        for name, text in texts:
            if text and name not in error.derived and not holds(text_at(origin, ref) or "", text):
                wrong.append((name, text, str(ref)))
        if error.phase and error.phase not in STATED.get(source, {}):
            wrong.append((error.phase, error.type, str(ref)))
    assert wrong == []


def rows_with(tmp_path, *rows):
    path = tmp_path / "own.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    mapping = '[case]\nname = "task"\n[attempt]\npassed = "passed"\nerror = "error"\noutput = "output"\n'
    path.with_name("own.jsonl.map.toml").write_text(mapping)
    done("import", path)
    return path


@pytest.mark.req("N-09")
def test_a_column_of_errors_does_not_tell_when_they_happened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows_with(tmp_path, *({"task": f"t{at}", "passed": False, "error": "it broke", "output": ""} for at in range(20)))

    words = errata("check", "latest", "--json").out + done("show", "latest/t1").out
    assert "20 of 20" in words
    for claim in ("while calling the model", "during setup", "empty answer", "answers are empty"):
        assert claim not in words


FAILED = ErrorInfo(type="overloaded_error", message="529 overloaded", phase="subject")


@pytest.mark.req("N-09")
@pytest.mark.parametrize("error", [None, FAILED])
def test_a_request_that_failed_is_no_empty_answer(error):
    call = ToolCall(name="Bash", arguments={"command": "ls"})
    steps = (
        Step(index=0, actor=Actor(role="assistant"), kind="tool_call", tool_calls=(call,)),
        Step(index=1, actor=Actor(role="assistant"), text="", error=error),
    )
    attempt = an_attempt(output=Output(text=""), errors=(error,) if error else (), conduct=conduct_of(steps))

    is_empty = error is None
    assert (attempt.conduct.ended_empty is not None) == is_empty
    assert attempt.answered_nothing == is_empty
    assert (pattern_of(attempt, None) == EMPTY_RESPONSE) == is_empty


@pytest.mark.req("N-09")
def test_no_rule_names_a_phase_that_its_places_do_not_state():
    named = {"setup": ("setup", "set-up"), "scoring": ("scoring",)}
    for rule in built_in().book.rules.values():
        for phase, words in named.items():
            if any(word in rule.means for word in words):
                assert phase in rule.phases, rule.name
