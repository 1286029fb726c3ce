"""When an answer is the reference: by the code that was asked for, whatever lies beside it."""

import json

import pytest

from errata.model import Artefact, Case, Check
from errata.testing import an_attempt
from errata.triage.reference_files import equal_files, is_about_another_file

CODE = "export const twice = 2;\n"


def expected(**files):
    return [
        Artefact(role="expected", path=f"answer/{path.replace('__', '.')}", text=text) for path, text in files.items()
    ]


def written(**files):
    return [Artefact(role="output", path=path.replace("__", "."), text=text) for path, text in files.items()]


@pytest.mark.parametrize("beside", ["notes__json", "README__md", "tsconfig__json", "data__yaml"])
def test_files_beside_the_code_of_the_reference_are_not_asked_for(beside):
    assert equal_files(expected(a__ts=CODE, **{beside: "{}"}), written(a__ts=CODE)) == ("a.ts", CODE.strip())


def test_every_file_of_code_is(beside="b__ts"):
    assert equal_files(expected(a__ts=CODE, **{beside: CODE}), written(a__ts=CODE)) is None
    assert equal_files(expected(a__ts=CODE), written(a__ts="export const twice = 3;\n")) is None


def test_a_reference_without_code_is_compared_as_it_is():
    assert equal_files(expected(choices__json="{}"), written(choices__json="{}")) == ("choices.json", "{}")
    assert equal_files(expected(choices__json="{}"), written(choices__json="[]")) is None


@pytest.mark.parametrize(
    ("manifest", "is_equal"),
    [
        ({"name": "other", "dependencies": {"convex": "^1.30.0"}}, True),
        ({"dependencies": {"convex": "^1.27.0", "left-pad": "*"}}, False),
        (None, True),
    ],
    ids=["another version", "another dependency", "none"],
)
def test_a_manifest_has_to_name_the_same_dependencies(manifest, is_equal):
    own = expected(a__ts=CODE, package__json=json.dumps({"name": "eval", "dependencies": {"convex": "^1.27.0"}}))
    given = written(a__ts=CODE, **({} if manifest is None else {"package__json": json.dumps(manifest)}))

    assert (equal_files(own, given) is not None) is is_equal


@pytest.mark.parametrize(("complaint", "is_about_it"), [("tsconfig.json(6,25)", True), ("a.ts(1,1)", False)])
def test_an_error_in_a_file_that_the_reference_does_not_have_is_no_error_of_the_reference(complaint, is_about_it):
    text = f"Error: Failed to typecheck code:\n{complaint}: error TS5095: Option 'bundler' can only be used."
    check = Check(name="tsc", status="fail", kind="step", explanation=text)
    attempt = an_attempt(checks=(check,), artefacts=tuple(written(a__ts=CODE, tsconfig__json="{}")))

    case = Case(run="r", suite="s", key="s/c", native_id="c", artefacts=tuple(expected(a__ts=CODE)))

    assert is_about_another_file(attempt, case) is is_about_it
