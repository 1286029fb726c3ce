"""Columns by name or dotted path: compiled once for a file, then called for each row."""

import re
from collections.abc import Callable, Collection, Iterable
from operator import methodcaller
from typing import Any

from errata.errors import SettingsError
from errata.sources.generic.mapping import Column, Mapping, closest

Get = Callable[[dict[str, Any]], Any]
"""The value of one column in a row; none where the row has none."""

Tree = dict[str, "Tree | None"]
"""Which keys are spoken for: none = the whole value, a tree = only what it names."""

_SEGMENT = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
LISTED = 40


def segments(path: str) -> tuple[str | int, ...]:
    """`usage.tokens[0]` → `("usage", "tokens", 0)`."""
    return tuple(int(number) if number else name for number, name in _SEGMENT.findall(path))


def getter(path: str, columns: Collection[str]) -> Get:
    """A plain column is a bare `dict.get`. A column whose own name has dots or brackets goes before a path."""
    parts = segments(path)
    if path in columns or len(parts) < 2:
        return methodcaller("get", path)

    def reach(row: dict[str, Any]) -> Any:
        return follow(row, parts)

    return reach


def follow(value: Any, parts: Iterable[str | int]) -> Any:
    for part in parts:
        if type(value) is dict:
            value = value.get(part)
        elif type(value) is list and type(part) is int and part < len(value):
            value = value[part]
        else:
            return None
    return value


def refuse_missing(mapping: Mapping, file: str, columns: Collection[str], sample: list[Any], *, fixed: bool) -> None:
    """`SettingsError` where the mapping names columns that the log lacks.

    Without a header (`fixed`) rows may leave out what they don't need, and few rows have an error.
    """
    missing = [
        (key, asked.column)
        for key, asked in mapping.columns()
        if not asked.optional and not (key == "[attempt] error" and not fixed) and _lacks(asked.column, columns, sample)
    ]
    if not missing:
        return
    shown = ", ".join(f"`{name}` (`{key}`)" for key, name in missing)
    names = sorted({*columns, *_inner_names(missing[0][1], sample)})
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    raise SettingsError(
        f"`{file}` has no column {shown}",
        hint=f"{closest(missing[0][1], names)}It has: {', '.join(names[:LISTED])}{more}\n"
        f'a column that some logs lack: `{{ column = "{missing[0][1]}", optional = true }}`',
    )


def spoken_for(asked: Iterable[Column], columns: Collection[str]) -> Tree:
    """The columns that the mapping takes; of a nested one only the parts that it names."""
    tree: Tree = {}
    for column in asked:
        parts = segments(column.column)
        if column.column in columns or len(parts) < 2:
            tree[column.column] = None
        elif all(type(part) is str for part in parts):
            _plant(tree, [str(part) for part in parts])
    return tree


def rest(value: Any, tree: "Tree | None") -> Any:
    """What is left of a nested column when the parts that the mapping takes are gone."""
    if tree is None or type(value) is not dict:
        return value
    return {key: rest(child, tree.get(key)) for key, child in value.items() if key not in tree or tree[key] is not None}


def _plant(tree: Tree, parts: list[str]) -> None:
    *stems, leaf = parts
    for stem in stems:
        branch = tree.setdefault(stem, {})
        if branch is None:
            return
        tree = branch
    tree[leaf] = None


def _lacks(path: str, columns: Collection[str], sample: list[Any]) -> bool:
    if path in columns:
        return False
    parts = segments(path)
    if len(parts) < 2 or parts[0] not in columns:
        return True
    # a nested value that is null, a list or JSON text in every row of the sample tells nothing about its keys
    parents = [parent for row in sample if type(parent := follow(row, parts[:-1])) is dict]
    return bool(parents) and not any(parts[-1] in parent for parent in parents)


def _inner_names(path: str, sample: list[Any]) -> set[str]:
    parts = segments(path)
    stem = path.rpartition(".")[0]
    parents = (follow(row, parts[:-1]) for row in sample) if stem else ()
    return {f"{stem}.{key}" for parent in parents if type(parent) is dict for key in parent}
