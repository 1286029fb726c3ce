"""Attributes as OTLP writes them in JSON: each value with its type, 64-bit numbers as text."""

from typing import Any

from errata.sources.shared.spans import whole
from errata.sources.shared.values import mapping, sequence, text

ENVIRONMENT = "process.environment_variable."
NOT_KEPT = "[not kept]"
LEVELS = 20


class Attributes:
    """The attributes of one thing. What is taken finds a home in a record; the rest is left for `extra`."""

    def __init__(self, listed: Any) -> None:
        rows = [mapping(one) for one in sequence(listed)]
        self.all = {(key := text(row.get("key"))): _kept(key, row.get("value")) for row in rows}
        self._taken: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self.all

    def get(self, *names: str) -> Any:
        return next((self.all[name] for name in names if self.all.get(name) is not None), None)

    def take(self, *names: str) -> Any:
        """The first that is there, of the names that one thing has had."""
        for name in names:
            if self.all.get(name) is not None:
                self._taken.add(name)
                return self.all[name]
        return None

    def take_text(self, *names: str) -> str:
        return text(self.take(*names))

    def below(self, prefix: str) -> Any:
        """What is spread over many names, `prefix.0.role` and so on, as the list or object that it was."""
        found: dict[str, Any] = {}
        for name, value in self.all.items():
            if name.startswith(prefix):
                self._taken.add(name)
                _put(found, name.removeprefix(prefix).split(".", LEVELS), value)
        return _gathered(found) if found else None

    def left(self) -> dict[str, Any]:
        return {name: value for name, value in self.all.items() if name not in self._taken and value is not None}


def _kept(key: str, value: Any) -> Any:
    """Of environment variables only the names."""
    return NOT_KEPT if key.startswith(ENVIRONMENT) else value_of(value)


def value_of(value: Any) -> Any:
    """What has the wrong type is kept as it stands."""
    for kind, told in mapping(value).items():
        if kind == "intValue":
            return whole(told) if whole(told) is not None else told
        if kind == "arrayValue":
            return [value_of(one) for one in sequence(mapping(told).get("values"))]
        if kind == "kvlistValue":
            rows = [mapping(one) for one in sequence(mapping(told).get("values"))]
            return {text(row.get("key")): value_of(row.get("value")) for row in rows}
        if kind.endswith("Value"):
            return told
    return None


def _put(tree: dict[str, Any], path: list[str], value: Any) -> None:
    for part in path[:-1]:
        below = tree.get(part)
        if not isinstance(below, dict):
            tree[part] = below = {}
        tree = below
    tree[path[-1]] = value


def _gathered(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    made = {name: _gathered(below) for name, below in tree.items()}
    if made and all(name.isdecimal() for name in made):
        return [made[name] for name in sorted(made, key=lambda name: (len(name.lstrip("0")), name))]
    return made
