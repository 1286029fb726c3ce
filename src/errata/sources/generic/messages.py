"""The messages of a row: a list of them, or a document that holds one, as JSON or as a table's text."""

from typing import Any

from errata.model import Step
from errata.sources.generic.values import structured
from errata.sources.shared.chat import steps_of_chat


def steps(value: Any) -> tuple[Step, ...] | None:
    """None where the value is no list of messages."""
    if type(value) is not list:
        value = structured(value)
        if isinstance(value, dict):
            value = value.get("messages")
    return steps_of_chat(value) if type(value) is list else None
