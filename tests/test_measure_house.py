"""`make house`: the figures of a made-up checkout, and those of this one that take little time."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "scripts" / "measure_house.py"
CHEAP = "layout,recognition"


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location("measure_house", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def checkout(tmp_path):
    """Two sources, one of which keeps its reader for later; two classes of one name; one long module."""
    source = tmp_path / "checkout"
    files = {
        "__init__.py": "",
        "sources/__init__.py": "from errata.sources import a, b\n\n\ndef find(path):\n    return [a, b]\n",
        "sources/a.py": "class Row:\n    class Cell: ...\n",
        "sources/b/__init__.py": '"""Light."""\n',
        "sources/b/reader.py": "class Row: ...\n",
        "long.py": "x = 1\n" * 401,
        "examples/run/log.py": "class Row: ...\n",
    }
    for name, text in files.items():
        path = source / "src" / "errata" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return source


def test_a_made_up_checkout_is_counted(script, checkout, capsys):
    """Left out: files without code and example data. A module that nobody imported is not loaded."""
    assert script.main(["--source", str(checkout), "--only", CHEAP, "--json", "--list"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["figures"] == {
        "modules": 4,
        "lines": 5 + 2 + 1 + 401,
        "short_modules": 3,
        "long_modules": 1,
        "shared_class_names": 1,
        "classes_sharing_a_name": 2,
        "recognition_modules": 3,
    }
    assert printed["lists"]["shared_class_names"] == {"Row": ["sources/a.py", "sources/b/reader.py"]}
    assert printed["lists"]["recognition_modules"] == ["errata.sources", "errata.sources.a", "errata.sources.b"]


def test_what_cannot_be_measured_is_unknown(script, checkout, capsys):
    """There is no command line in the made-up checkout, and its `find` fails."""
    (checkout / "src" / "errata" / "sources" / "a.py").write_text("raise ImportError('broken')\n", encoding="utf-8")
    assert script.main(["--source", str(checkout), "--only", "functions,passes,recognition,cpu", "--json"]) == 0
    printed, notes = capsys.readouterr()
    assert set(json.loads(printed)["figures"].values()) == {"unknown"}
    assert "note: recognition is unknown: ImportError: broken" in notes


def test_before_and_now_stand_side_by_side(script, checkout, tmp_path, capsys):
    kept = tmp_path / "before.json"
    kept.write_text(json.dumps({"figures": {"modules": 900, "lines": 1_000}}), encoding="utf-8")
    script.main(["--source", str(checkout), "--only", "layout", "--before", str(kept)])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[:3] == [
        ["figure", "before", "now", "aim", "met"],
        ["modules", "900", "4", "≤", "560", "yes"],
        ["lines", "1,000", "409", "≤", "74,000", "yes"],
    ]
    assert lines[4][-6:] == ["lines", "unknown", "1", "≤", "0", "no"]


def test_the_cpu_aim_is_half_of_the_ratio_before(script):
    before, now = {"cpu_ratio": 14.0}, {"cpu_ratio": 7.5}
    assert list(script.table(now, before))[1].split()[-5:] == ["14.0", "7.5", "≤", "7.0", "no"]
    assert list(script.table(now, None))[1].split()[-1] == "unknown"


def test_objects_about_one_case_are_counted_and_collections_are_not(script):
    class Failure:
        __slots__ = ("attempt",)

        def __init__(self, attempt):
            self.attempt = attempt

    class Summary:
        def __init__(self, failures):
            self.failures = failures

    for kind in (Failure, Summary):
        kind.__module__, kind.__qualname__ = "errata.made_up", kind.__name__
    carriers = script.Carriers({"first": "suite/first", "second": "suite/second"})
    summary = Summary({1: [Failure("00ff:suite/first#2"), Failure("second")]})
    assert carriers.cases_in(summary) == {"suite/first", "suite/second"}
    assert carriers.classes_about("suite/first") == (["errata.made_up.Failure"], ["errata.made_up.Summary"])
    assert carriers.cases_in("a text that names the first") == frozenset()


def test_this_checkout(script, capsys):
    assert script.main(["--python", sys.executable, "--only", CHEAP, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)["figures"]
    assert "unknown" not in figures.values()
    assert 0 < figures["recognition_modules"] < figures["modules"]


def test_the_figures_before_are_kept_for_every_figure(script):
    kept = json.loads((ROOT / "docs" / "lab" / "house-before.json").read_text(encoding="utf-8"))
    assert list(kept["figures"]) == [figure.key for figure in script.FIGURES]
    assert "unknown" not in kept["figures"].values()
