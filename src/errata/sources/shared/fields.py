"""A JSON object read field by field; fields that were not taken go to `extra`."""

from collections.abc import Iterator, Mapping
from typing import Any


class JsonFields(Mapping[str, Any]):
    """`take` marks a field as used; reading it as from any mapping does not."""

    __slots__ = ("_data", "_taken")

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self._taken: set[str] = set()

    def take(self, key: str, default: Any = None) -> Any:
        self._taken.add(key)
        return self._data.get(key, default)

    def require(self, key: str) -> Any:
        """A field that the row can't do without: raises KeyError if it is missing."""
        self._taken.add(key)
        return self._data[key]

    def drop(self, *keys: str) -> None:
        """Mark fields as used that another part of the source reads."""
        self._taken.update(keys)

    def rest(self) -> dict[str, Any]:
        """The fields that were not taken, in the order of the log."""
        return {key: value for key, value in self._data.items() if key not in self._taken}

    def __getitem__(self, key: str) -> Any:
        return self._data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)
