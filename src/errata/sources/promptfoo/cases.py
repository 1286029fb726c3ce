"""Which case a row is a try at. promptfoo has no ids: `testIdx` moves with the file, and repeats have their own."""

import re
from typing import Any

from errata.model import Case, Run, SourceRef
from errata.model.identity import fingerprint
from errata.sources.promptfoo.values import kept, rest
from errata.sources.shared.values import mapping, plain, sequence, text
from errata.text.clean import one_line

LONGEST_NAME = 160

# what promptfoo calls a line of a CSV without a description: a place, not a name
_NUMBERED = re.compile(r"Row #\d+")
_KNOWN = ("description", "vars", "assert")


class Naming:
    """A test is known by its description, where no other has the same; else by a hash of what it asks and checks."""

    def __init__(self) -> None:
        self._described: dict[str, str] = {}
        self._ambiguous: set[str] = set()

    def note(self, row: dict[str, Any]) -> None:
        told = description(row)
        if told and told not in self._ambiguous:
            made = digest(row)
            if self._described.setdefault(told, made) != made:
                self._ambiguous.add(told)

    def name(self, row: dict[str, Any]) -> str:
        told = description(row)
        if not told or _NUMBERED.fullmatch(told):
            return f"input-{digest(row)}"
        if told in self._ambiguous or len(told) > LONGEST_NAME:
            return f"{one_line(told, LONGEST_NAME)} [{digest(row)}]"
        return told


def case_of(run: Run, name: str, row: dict[str, Any], ref: SourceRef) -> Case:
    test = mapping(row.get("testCase"))
    metadata = mapping(test.get("metadata"))
    raw = mapping(row.get("prompt")).get("raw")
    return Case(
        run=run.id,
        suite=run.suite,
        native_id=name,
        name=description(row),
        category=text(metadata.get("category")) or text(metadata.get("pluginId")),
        tags=tuple(tag for tag in sequence(metadata.get("tags")) if isinstance(tag, str)),
        input=plain(asked(row)) or plain(raw),
        expected=kept(test.get("assert")) or None,
        difficulty=text(metadata.get("difficulty")),
        extra=rest(test, _KNOWN),
        ref=ref.below("testCase") if test else ref,
    )


def asked(row: dict[str, Any]) -> Any:
    """The values of the test; those of the row may have been changed while it ran."""
    told = mapping(row.get("testCase")).get("vars")
    return told if isinstance(told, dict) else row.get("vars")


def description(row: dict[str, Any]) -> str:
    told = mapping(row.get("testCase")).get("description")
    return " ".join((text(told) or text(row.get("description"))).split())


def digest(row: dict[str, Any]) -> str:
    return fingerprint(description(row), plain(asked(row)), kept(mapping(row.get("testCase")).get("assert")), size=6)
