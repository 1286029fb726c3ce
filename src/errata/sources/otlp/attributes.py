"""Attributes in OTLP JSON: each value with its type, 64-bit numbers as text."""

from typing import Any

from errata.sources.shared.spans import whole
from errata.sources.shared.values import mapping, sequence, text

ENVIRONMENT = "process.environment_variable."
NOT_KEPT = "[not kept]"
LEVELS = 20


class Attributes:
    """The attributes of one object. Attributes that are taken go into a record; the others go to `extra`."""

    def __init__(self, listed: Any) -> None:
        rows = [mapping(one) for one in sequence(listed)]
        self.all = {(key := text(row.get("key"))): _safe_value(key, row.get("value")) for row in rows}
        self._taken: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self.all

    def get(self, *names: str) -> Any:
        return next((self.all[name] for name in names if self.all.get(name) is not None), None)

    def take(self, *names: str) -> Any:
        """The first of these names that is set; conventions have renamed attributes over time."""
        for name in names:
            if self.all.get(name) is not None:
                self._taken.add(name)
                return self.all[name]
        return None

    def take_text(self, *names: str) -> str:
        return text(self.take(*names))

    def below(self, prefix: str) -> Any:
        """A list or object that is spread over many names, `prefix.0.role` and so on."""
        tree: dict[str, Any] = {}
        for name, value in self.all.items():
            if name.startswith(prefix):
                self._taken.add(name)
                _insert(tree, name.removeprefix(prefix).split(".", LEVELS), value)
        return _as_lists(tree) if tree else None

    def rest(self) -> dict[str, Any]:
        return {name: value for name, value in self.all.items() if name not in self._taken and value is not None}


def _safe_value(key: str, value: Any) -> Any:
    """Only the names of environment variables are kept."""
    return NOT_KEPT if key.startswith(ENVIRONMENT) else value_of(value)


def value_of(value: Any) -> Any:
    """A value of the wrong type is kept as it is."""
    for kind, typed in mapping(value).items():
        if kind == "intValue":
            return whole(typed) if whole(typed) is not None else typed
        if kind == "arrayValue":
            return [value_of(one) for one in sequence(mapping(typed).get("values"))]
        if kind == "kvlistValue":
            rows = [mapping(one) for one in sequence(mapping(typed).get("values"))]
            return {text(row.get("key")): value_of(row.get("value")) for row in rows}
        if kind.endswith("Value"):
            return typed
    return None


def _insert(tree: dict[str, Any], path: list[str], value: Any) -> None:
    for part in path[:-1]:
        below = tree.get(part)
        if not isinstance(below, dict):
            tree[part] = below = {}
        tree = below
    tree[path[-1]] = value


def _as_lists(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    children = {name: _as_lists(below) for name, below in tree.items()}
    if children and all(name.isdecimal() for name in children):
        return [children[name] for name in sorted(children, key=lambda name: (len(name.lstrip("0")), name))]
    return children
