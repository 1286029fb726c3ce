"""Names that Inspect may also write as numbers: ids of samples, versions, models."""

from typing import Any

from errata.sources.shared.values import plain


def words(value: Any) -> str:
    """Text as it is, numbers as text; nothing for anything else."""
    if type(value) is str:
        return value
    return str(plain(value)) if type(value) is int or type(value) is float else ""
