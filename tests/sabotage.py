"""Takes one function or template out of the program, so that the tests that claim to need it can prove that they do.

`ERRATA_SABOTAGE=errata.report.paths:report_path` makes the function raise; `errata.report:page.css` empties the file.
Read by tests/conftest.py; `scripts/sabotage.py` goes through tests/requirements.toml.
"""

import importlib
import sys
from importlib.resources import abc, files
from typing import Any


class SabotageTargetError(Exception):
    """What was to be taken out is not there."""


class SabotagedError(BaseException):
    """No `except Exception` of the program may take it for a bad row of a log."""


def sabotage(target: str) -> None:
    try:
        _take_out(target)
    except (ImportError, AttributeError, KeyError) as error:
        raise SabotageTargetError(target) from error


def _take_out(target: str) -> None:
    module, _, name = target.partition(":")
    if "." in name and not hasattr(importlib.import_module(module), name.partition(".")[0]):
        _empty(module, name)
        return
    owner: Any = importlib.import_module(module)
    *path, last = name.split(".")
    for part in path:
        owner = getattr(owner, part)
    original = vars(owner)[last] if isinstance(owner, type) else getattr(owner, last)
    broken = _broken(original, target)
    setattr(owner, last, broken)
    for loaded in list(sys.modules.values()):
        if getattr(loaded, "__name__", "").startswith(("errata", "tests")):
            for known, value in list(vars(loaded).items()):
                if value is original:
                    setattr(loaded, known, broken)


def _broken(original: Any, target: str) -> Any:
    def raising(*_: Any, **__: Any) -> Any:
        raise SabotagedError(target)

    if isinstance(original, property):
        return property(raising)
    if isinstance(original, dict | tuple | list | str | frozenset | set):
        return type(original)()  # a table without its rows
    return raising


def _empty(package: str, name: str) -> None:
    """The file reads as empty, wherever it is opened as a resource."""
    path = files(package).joinpath(name)
    original = type(path).read_text

    def read_text(self: abc.Traversable, *arguments: Any, **named: Any) -> str:
        return "" if str(self) == str(path) else original(self, *arguments, **named)  # type: ignore[arg-type]

    type(path).read_text = read_text  # type: ignore[method-assign]
