"""One thing that was asked: an eval, a task, a turn, a test, a sample; and the files that belong to it."""

from typing import Any

import msgspec

from errata.model import identity
from errata.model.record import Record
from errata.model.words import ArtefactRole


class Artefact(Record):
    role: ArtefactRole
    path: str
    size: int | None = None
    """In bytes, of the whole file, even if `text` was cut."""
    text: str | None = None
    """None for a binary file, or where the store holds the text apart, under `blob`."""
    blob: str = ""
    truncated: bool = False
    binary: bool = False

    @property
    def lines_before(self) -> int:
        """How many lines of the file come before `text`, where only its end was kept."""
        before = self.extra.get("lines_before")
        return before if isinstance(before, int) else 0

    def line_at(self, text: str, offset: int) -> int:
        """The number that a line has in the whole file, by its place in `text` or in its cleaned form."""
        return self.lines_before + text.count("\n", 0, offset) + 1


def categories_from(category: str, tags: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in (category, *tags) if name))


class Case(Record):
    key: str = ""
    """Suite and native name; stable across runs."""
    digest: str = ""
    """Over task, expected answer and grader: an edited task keeps its key and is seen to have changed.
    Empty where the log has none of them."""
    run: str
    suite: str
    native_id: str
    name: str = ""
    category: str = ""
    tags: tuple[str, ...] = ()
    input: Any = None
    """Text, or messages as the log holds them."""
    choices: tuple[str, ...] = ()
    expected: Any = None
    """Text, or what is required: calls, assertions."""
    difficulty: str = ""
    artefacts: tuple[Artefact, ...] = ()

    @property
    def categories(self) -> tuple[str, ...]:
        """Every category and tag; the case counts in each of them. The first is its main category."""
        return categories_from(self.category, self.tags)

    def __post_init__(self) -> None:
        if not self.key:
            msgspec.structs.force_setattr(self, "key", identity.case_key(self.suite, self.native_id))
        if not self.digest:
            msgspec.structs.force_setattr(self, "digest", self._digest())

    def _digest(self) -> str:
        files = [
            (artefact.role, artefact.path, artefact.text or artefact.blob)
            for artefact in self.artefacts
            if artefact.role in ("task", "expected", "grader")
        ]
        if self.input in (None, "") and self.expected is None and not self.choices and not files:
            return ""
        return identity.fingerprint(self.input, self.choices, self.expected, files, size=12)
