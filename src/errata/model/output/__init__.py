"""The shapes of `--json`: for each command a record of what it prints.

Numbers, ids, enums, and texts of logs and verdicts. Each module has `SHAPES`: the command line without `errata` → the
record of one printed object. An option that changes the shape is part of the command line (`failures --suspicious`).
docs/schemas is generated from it.
"""

from importlib import import_module
from pkgutil import walk_packages
from typing import Any


def all_shapes() -> dict[str, Any]:
    """Command line → the type of each object that it prints with `--json`: a record, or a union of records."""
    shapes: dict[str, Any] = {}
    for module in walk_packages(__path__, f"{__name__}."):
        shapes |= getattr(import_module(module.name), "SHAPES", {})
    return dict(sorted(shapes.items()))
