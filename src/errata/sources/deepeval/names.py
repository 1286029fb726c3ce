"""One spelling for the fields of all forms: snake_case."""

import re
from typing import Any

from errata.sources.shared.values import mapping, sequence

_CAPITAL = re.compile(r"(?<=[a-z0-9])([A-Z])")
# what the two forms call differently
_ALIASES = {"input_token_count": "input_tokens", "output_token_count": "output_tokens", "order": "index"}


def snake(name: str) -> str:
    told = _CAPITAL.sub(r"_\1", name).lower()
    return _ALIASES.get(told, told)


def fields(value: Any) -> dict[str, Any]:
    """An object by the names of its fields; what stands in the fields is left as it is."""
    return {snake(name): child for name, child in mapping(value).items()}


def objects(value: Any) -> list[dict[str, Any]]:
    return [fields(one) for one in sequence(value)]
