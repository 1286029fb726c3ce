"""Every finding of the blind trial is held by a test that exists, or is listed as open."""

import ast
import tomllib
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
FINDINGS = tomllib.loads((TESTS / "findings.toml").read_text(encoding="utf-8"))
NAMED = [(finding, test) for finding, entry in FINDINGS.items() for test in entry.get("tests", ())]


def test_every_finding_is_listed():
    assert list(FINDINGS) == [f"B-{number:02d}" for number in range(1, 98)]


@pytest.mark.parametrize("finding", FINDINGS)
def test_a_finding_has_tests_or_a_reason_why_not(finding):
    entry = FINDINGS[finding]

    assert set(entry) in ({"tests"}, {"open"}, {"tests", "open"})
    assert all(entry.values())


@pytest.mark.parametrize(("finding", "test"), NAMED)
def test_the_named_test_exists(finding, test):
    file, _, name = test.partition("::")

    assert name.partition("[")[0] in functions_in(file), finding


@cache
def functions_in(file):
    nodes = ast.walk(ast.parse((TESTS.parent / file).read_text(encoding="utf-8")))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
