"""`make check` fails where the project outgrows budgets.toml."""

import importlib.util
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).parent.parent / "scripts" / "budgets.py"


@pytest.fixture
def script(monkeypatch, tmp_path):
    spec = importlib.util.spec_from_file_location("budgets", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    package = tmp_path / "src" / "errata"
    (package / "text").mkdir(parents=True)
    (tmp_path / "tests").mkdir()
    (package / "text" / "words.py").write_bytes(b"x" * 100)
    for name, value in (("ROOT", tmp_path), ("PACKAGE", package), ("FILE", tmp_path / "budgets.toml")):
        monkeypatch.setattr(module, name, value)
    return module


def outcome(script, monkeypatch, *arguments, issues=((17, 100, 0, 1),), text=100):
    entries = (
        f"[[issues]]\nissue = {issue}\nsrc = {src}\ntests = {tests}\nmodules = {modules}\n"
        for issue, src, tests, modules in issues
    )
    script.FILE.write_text("".join(entries) + f"\n[packages]\ntext = {text}\n")
    monkeypatch.setattr(sys, "argv", ["budgets.py", *arguments])
    return script.main()


def test_what_stays_within_its_budget_passes(script, monkeypatch):
    assert outcome(script, monkeypatch, "--end") == 0


def test_a_total_may_stand_above_only_until_the_issue_ends(script, monkeypatch, capsys):
    assert outcome(script, monkeypatch, issues=[(17, 98, 0, 1)]) == 0
    assert "src: 100 of 98" in capsys.readouterr().out
    assert outcome(script, monkeypatch, "--end", issues=[(17, 98, 0, 1)]) == 1
    assert outcome(script, monkeypatch, issues=[(17, 96, 0, 1)]) == 1


def test_a_module_too_many_fails(script, monkeypatch):
    (script.PACKAGE / "more.py").touch()

    assert outcome(script, monkeypatch) == 1


def test_a_package_without_a_budget_fails(script, monkeypatch, capsys):
    (script.PACKAGE / "new").mkdir()
    (script.PACKAGE / "new" / "page.html").write_bytes(b"x")

    assert outcome(script, monkeypatch, issues=[(17, 200, 0, 9)]) == 1
    assert "src/errata/new: 1 of 0" in capsys.readouterr().out


def test_a_total_that_rises_from_issue_to_issue_fails(script, monkeypatch, capsys):
    assert outcome(script, monkeypatch, issues=[(17, 100, 0, 1), (18, 101, 0, 1)]) == 1
    assert "src rises after issue 17" in capsys.readouterr().out


def test_writing_lowers_a_package_and_raises_none(script, monkeypatch):
    outcome(script, monkeypatch, "--write", text=500)
    assert "text = 100\n" in script.FILE.read_text()
    outcome(script, monkeypatch, "--write", text=60)
    assert "text = 60\n" in script.FILE.read_text()
