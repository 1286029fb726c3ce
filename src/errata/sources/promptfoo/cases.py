"""Which case a row is an attempt at. promptfoo has no ids: `testIdx` depends on the file, and repeats get their own."""

from typing import Any

from errata.model import Case, Run, SourceRef
from errata.model.identity import fingerprint
from errata.sources.promptfoo.values import rest, without_secrets
from errata.sources.shared.values import mapping, plain, sequence, text
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex

LONGEST_NAME = 160

# promptfoo's name for a CSV line without a description: a position, not a name
_NUMBERED = lazy_regex(r"Row #\d+")
_KNOWN = ("description", "vars", "assert")


class PromptfooNaming:
    """A test is named by its description if that is unique, otherwise by a hash of its input and its assertions."""

    def __init__(self) -> None:
        self._described: dict[str, str] = {}
        self._ambiguous: set[str] = set()

    def note(self, row: dict[str, Any]) -> None:
        described_as = description(row)
        if described_as and described_as not in self._ambiguous:
            content = digest(row)
            if self._described.setdefault(described_as, content) != content:
                self._ambiguous.add(described_as)

    def name(self, row: dict[str, Any]) -> str:
        described_as = description(row)
        if not described_as or _NUMBERED.fullmatch(described_as):
            return f"input-{digest(row)}"
        if described_as in self._ambiguous or len(described_as) > LONGEST_NAME:
            return f"{one_line(described_as, LONGEST_NAME)} [{digest(row)}]"
        return described_as


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
        input=plain(test_vars(row)) or plain(raw),
        expected=without_secrets(test.get("assert")) or None,
        difficulty=text(metadata.get("difficulty")),
        extra=rest(test, _KNOWN),
        ref=ref.below("testCase") if test else ref,
    )


def test_vars(row: dict[str, Any]) -> Any:
    """The variables of the test; those of the row may have changed while it ran."""
    variables = mapping(row.get("testCase")).get("vars")
    return variables if isinstance(variables, dict) else row.get("vars")


def description(row: dict[str, Any]) -> str:
    test_description = mapping(row.get("testCase")).get("description")
    return " ".join((text(test_description) or text(row.get("description"))).split())


def digest(row: dict[str, Any]) -> str:
    return fingerprint(
        description(row), plain(test_vars(row)), without_secrets(mapping(row.get("testCase")).get("assert")), size=6
    )
