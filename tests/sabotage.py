"""Takes one function, table or file out of the project, so that the tests that claim to need it can prove that they do.

`ERRATA_SABOTAGE=errata.report.run_files:report_path` makes the function raise, and empties a table; a file of a
package (`errata.render:page.css`) or of the project (`:Makefile`) reads as empty.
A guard that raises refuses all the more, so it is made to let everything pass: with
`errata.review.evidence:is_core => True` it answers that to everybody. A table that is a guard gets a row more.
Read by tests/conftest.py; `scripts/sabotage.py` goes through tests/requirements.toml.
"""

import ast
import importlib
import sys
from functools import cached_property
from importlib.resources import abc, files
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
INSTEAD = " => "
TABLES = (dict, tuple, list, str, frozenset, set)


class SabotageTargetError(Exception):
    """What was to be taken out is not there."""


class SabotagedError(BaseException):
    """No `except Exception` of the program may take it for a bad row of a log."""


def sabotage(target: str) -> None:
    try:
        _take_out(target)
    except (ImportError, AttributeError, KeyError, SyntaxError, ValueError, OSError) as error:
        raise SabotageTargetError(target) from error


def _take_out(target: str) -> None:
    place, _, instead = target.partition(INSTEAD)
    module, _, name = place.partition(":")
    if not module or ("." in name and not hasattr(importlib.import_module(module), name.partition(".")[0])):
        _empty(files(module).joinpath(name) if module else ROOT / name)
        return
    owner: Any = importlib.import_module(module)
    *path, last = name.split(".")
    for part in path:
        owner = getattr(owner, part)
    original = vars(owner)[last] if isinstance(owner, type) else getattr(owner, last)
    broken = _instead(original, ast.literal_eval(instead)) if instead else _broken(original, target)
    setattr(owner, last, broken)
    _put_in_place(original, broken, last, near=module.rpartition(".")[0] or module)


def _put_in_place(original: Any, broken: Any, name: str, *, near: str) -> None:
    """Also where it was imported before; what is loaded from now on finds it changed."""
    for loaded in list(sys.modules.values()):
        called = getattr(loaded, "__name__", "")
        if called.startswith(("errata", "tests")):
            for known, value in list(vars(loaded).items()):
                # a number or a word is the same object wherever it stands: only its own name nearby means it
                if value is original and (callable(original) or (known == name and called.startswith(near))):
                    setattr(loaded, known, broken)


def _broken(original: Any, target: str) -> Any:
    def raising(*_: Any, **__: Any) -> Any:
        raise SabotagedError(target)

    if isinstance(original, property | cached_property):
        return property(raising)
    if isinstance(original, TABLES):
        return type(original)()  # a table without its rows
    return raising


def _instead(original: Any, value: Any) -> Any:
    """What answers `value` to everything, or is it."""
    if isinstance(original, property | cached_property):
        return property(lambda _: value)
    if isinstance(original, dict):
        return original | value
    if callable(original):
        return lambda *_, **__: value
    return original._make(value) if hasattr(original, "_make") else value  # what has named fields keeps them


def _empty(path: abc.Traversable) -> None:
    """The file reads as empty, wherever it is read as text."""
    if not path.is_file():
        raise FileNotFoundError(str(path))
    original = type(path).read_text

    def read_text(self: abc.Traversable, *arguments: Any, **named: Any) -> str:
        return "" if str(self) == str(path) else original(self, *arguments, **named)

    type(path).read_text = read_text  # type: ignore[method-assign]
