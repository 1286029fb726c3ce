"""Fields that are one column each: where the value comes from, and what makes of it what the record holds."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from errata.sources.generic.columns import Get
from errata.sources.generic.values import NOT_UNDERSTOOD
from errata.sources.shared.values import plain


class Field(NamedTuple):
    name: str
    get: Get
    convert: Callable[[Any], Any]


def take(fields: Iterable[Field], row: dict[str, Any], into: dict[str, Any], odd: dict[str, Any]) -> None:
    """Fill `into`; a value that can't be understood goes to `odd` as it stands, and the row goes on."""
    for name, get, convert in fields:
        value = get(row)
        if value is None or value == "" or value != value:
            continue
        try:
            into[name] = convert(value)
        except NOT_UNDERSTOOD:
            odd[name] = plain(value)
