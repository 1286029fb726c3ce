"""The trace from requirement to test is whole, and what is taken out to try it is really gone."""

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tests.sabotage import SabotagedError, SabotageTargetError, sabotage

SCRIPTS = Path(__file__).parent.parent / "scripts"
NAME = "errata_for_sabotage"


def loaded(name):
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def script():
    return loaded("requirements_table")


class Guarded:
    @property
    def due(self):
        return ("late",)


@pytest.fixture
def program(monkeypatch):
    """Two modules, of which the second took its names from the first."""
    module = ModuleType(NAME)
    module.guard = lambda: False
    module.ROWS, module.ENOUGH, module.FEW = {"read": "query"}, 3, 3
    module.Guarded = type("Guarded", (Guarded,), {"due": Guarded.due})
    user = ModuleType(f"{NAME}_user")
    user.guard, user.ENOUGH = module.guard, module.ENOUGH
    monkeypatch.setitem(sys.modules, NAME, module)
    monkeypatch.setitem(sys.modules, f"{NAME}_user", user)
    return module, user


def test_an_entry_that_no_test_names_is_reported(script):
    (result,) = script.unproven({}, {"C-05": "errata.memory:recurrence"})

    assert "no test names `C-05`" in result


def test_an_open_entry_has_to_say_why(script):
    assert list(script.unproven({}, {"C-05": "open: comes later"})) == []
    assert list(script.unproven({}, {"C-05": "open: "})) != []


def test_check_fails_where_a_test_is_missing(script, monkeypatch, capsys):
    names = [*script.targets(), *script.FINDINGS]
    monkeypatch.setattr(sys, "argv", ["requirements_table.py", "--check"])
    monkeypatch.setattr(script, "marks", lambda: (("a test", name) for name in names))

    assert script.main() == 0
    for missing in ("C-05", "fit", "B-31"):
        monkeypatch.setattr(script, "marks", lambda gone=missing: (("a test", name) for name in names if name != gone))
        assert script.main() == 1
        assert f"`{missing}`" in capsys.readouterr().out


def test_the_page_of_promises_explains_each(script):
    page = (SCRIPTS.parent / "docs" / "promises.md").read_text(encoding="utf-8")

    assert re.findall(r"^\| `([a-z ]+)` \|", page, re.MULTILINE) == list(script.register()["promises"])


@pytest.fixture
def sabotaging(script, monkeypatch):
    monkeypatch.setitem(sys.modules, "requirements_table", script)
    return loaded("sabotage")


def test_a_requirement_that_no_test_names_is_blunt(sabotaging):
    assert sabotaging.why_blunt("errata.memory:recurrence", []) == "no test names it"


def test_a_test_that_fails_anyway_proves_nothing(sabotaging):
    assert sabotaging.why_blunt("errata.memory:recurrence", ["a test"], {"a test"}) == "a test fails anyway"


def test_a_function_that_was_taken_out_raises_wherever_it_is_known(program):
    sabotage(f"{NAME}:guard")

    for module in program:
        with pytest.raises(SabotagedError):
            module.guard()


def test_a_table_that_was_taken_out_is_empty(program):
    sabotage(f"{NAME}:ROWS")

    assert program[0].ROWS == {}


def test_a_property_that_was_taken_out_raises(program):
    sabotage(f"{NAME}:Guarded.due")

    with pytest.raises(SabotagedError):
        _ = program[0].Guarded().due


def test_a_guard_lets_everything_pass(program):
    sabotage(f"{NAME}:guard => True")

    assert [module.guard("anything") for module in program] == [True, True]


def test_a_table_that_is_a_guard_gets_a_row_more(program):
    sabotage(f"{NAME}:ROWS => {{'write': 'mutation'}}")

    assert program[0].ROWS == {"read": "query", "write": "mutation"}


def test_a_number_is_changed_under_its_own_name_only(program):
    sabotage(f"{NAME}:ENOUGH => 1")

    assert [module.ENOUGH for module in program] == [1, 1]
    assert program[0].FEW == 3


def test_a_file_that_was_taken_out_reads_as_empty(monkeypatch):
    monkeypatch.setattr(type(SCRIPTS), "read_text", type(SCRIPTS).read_text)  # so that it comes back
    sabotage(":Makefile")

    assert (SCRIPTS.parent / "Makefile").read_text() == ""
    assert (SCRIPTS.parent / "README.md").read_text() != ""


@pytest.mark.parametrize("target", [f"{NAME}:gone", "errata.nowhere:x", ":no.such.file", f"{NAME}:guard => no literal"])
def test_a_target_that_is_not_there_is_told(program, target):
    with pytest.raises(SabotageTargetError):
        sabotage(target)
