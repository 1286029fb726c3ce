"""A JSON object read field by field: what nobody took is left over, and goes to `extra`."""

from collections.abc import Iterator, Mapping
from typing import Any


class Fields(Mapping[str, Any]):
    """`take` marks a field as used; looking at it as in any mapping does not."""

    __slots__ = ("_data", "_taken")

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self._taken: set[str] = set()

    def take(self, key: str, default: Any = None) -> Any:
        self._taken.add(key)
        return self._data.get(key, default)

    def require(self, key: str) -> Any:
        """A field without which the row can't be read: raises KeyError."""
        self._taken.add(key)
        return self._data[key]

    def drop(self, *keys: str) -> None:
        """Fields that another part of the source reads."""
        self._taken.update(keys)

    def rest(self) -> dict[str, Any]:
        """What was not taken, in the order of the log."""
        return {key: value for key, value in self._data.items() if key not in self._taken}

    def __getitem__(self, key: str) -> Any:
        return self._data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)
