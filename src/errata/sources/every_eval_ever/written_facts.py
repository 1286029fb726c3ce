"""What errata knows of an attempt and the format has no field for: among the metadata, written and read back."""

from collections.abc import Iterator
from typing import Any

from errata.model import Attempt
from errata.model.words import EXECUTIONS, MEASUREMENTS, OUTCOMES
from errata.sources.shared.facts import Facts

PREFIX = "errata_"
_WORDS = {"execution": EXECUTIONS, "measurement": MEASUREMENTS, "outcome": OUTCOMES}


def facts_written(attempt: Attempt) -> Iterator[tuple[str, str]]:
    for name in _WORDS:
        yield f"{PREFIX}{name}", getattr(attempt, name)


def facts_told(metadata: dict[str, Any]) -> Facts | None:
    """None where they are not all told, each in a word that errata knows."""
    told = [metadata.get(f"{PREFIX}{name}") for name in _WORDS]
    known = all(one in words for one, words in zip(told, _WORDS.values(), strict=True))
    return Facts(*told) if known else None  # type: ignore[arg-type]
