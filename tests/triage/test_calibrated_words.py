"""`certain` is a promise: only for what repeats a field of the harness, or has enough labelled examples."""

import ast
from pathlib import Path

import pytest
from bench.real.examples import labelled_examples

from errata.model import ErrorInfo
from errata.testing import a_run, an_attempt
from errata.triage import built_in, observe

TRIAGE = Path(__file__).parents[2] / "src" / "errata" / "triage"
FEWEST_EXAMPLES, FEWEST_SOURCES = 10, 2
FIELDS = ("errors[].type", "errors[].code", "native_status", "stop_reason")
RESTATES = {
    "follower": "attempt.follows",
    "ended_session": "attempt.native_status",
    "limit_exceeded": "checks[].kind",
    "nop_passes": "run.subject",
}
"""Rules that are functions and may be certain: the field of the harness that each of them only repeats."""
CERTAIN = sorted(rule.name for rule in built_in().book.rules.values() if rule.strength == "certain")


def is_proven(rule):
    """At least ten labelled examples from two sources, none wrong."""
    found = labelled_examples().get(rule)
    return bool(found and found.right == found.decided >= FEWEST_EXAMPLES and len(found.sources) >= FEWEST_SOURCES)


@pytest.mark.req("certain")
@pytest.mark.parametrize("name", CERTAIN)
def test_a_certain_rule_names_the_field_it_repeats_or_has_labelled_examples(name):
    rule = built_in().book.rules[name]

    assert set(rule.restates) <= set(FIELDS)
    assert rule.restates or is_proven(name)


def certain_in_code():
    """The names of signals that functions call certain."""
    for path in sorted(TRIAGE.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                words = [one.value for one in (*node.args, *(word.value for word in node.keywords))
                         if isinstance(one, ast.Constant) and isinstance(one.value, str)]  # fmt: skip
                if "certain" in words:
                    yield next(word for word in words if word != "certain")


def test_a_certain_function_names_the_field_it_repeats_or_has_labelled_examples():
    names = set(certain_in_code())

    assert names
    assert {name for name in names if name not in RESTATES and not is_proven(name)} == set()


@pytest.mark.req("certain")
@pytest.mark.parametrize(
    ("error", "strength"),
    [
        ({"type": "RateLimitError", "message": "slow"}, "certain"),
        ({"type": "Error", "code": "429", "message": "slow"}, "certain"),
        # words in a message may be quoted, translated or about something else
        ({"type": "Error", "message": "429 Too Many Requests"}, "likely"),
    ],
)
def test_a_rule_is_certain_only_in_the_field_it_repeats(error, strength):
    attempt = an_attempt(
        execution="error", measurement="not_run", outcome="none", errors=(ErrorInfo(phase="subject", **error),)
    )
    found = [one.signal for one in observe(a_run(), attempt, None, None, built_in())]

    assert [one.strength for one in found if one.name == "provider_rate_limit"] == [strength]
