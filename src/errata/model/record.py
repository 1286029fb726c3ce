"""The base class of all records, the place in a log that a record came from, and findings about a run."""

from typing import Any, dataclass_transform

import msgspec

from errata.model.words import Severity, UnreadReason


class RecordMeta(msgspec.StructMeta):
    """msgspec does not inherit `kw_only`; every record is built by keyword all the same."""

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> "RecordMeta":
        options.setdefault("kw_only", True)
        return super().__new__(mcls, name, bases, namespace, **options)


class SourceRef(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Where a fact can be reopened. `file` is relative to the path that was read."""

    file: str
    member: str = ""
    """The member, where `file` is an archive."""
    line: int | None = None
    """1-based."""
    pointer: str = ""
    """A JSON pointer inside the file, the member or the line."""
    start: int | None = None
    end: int | None = None

    def below(self, *parts: str | int) -> "SourceRef":
        """A place inside of this one, one part of a JSON pointer after the other."""
        pointer = self.pointer
        for part in parts:
            name = str(part)
            pointer = f"{pointer}/{name.replace('~', '~0').replace('/', '~1') if '~' in name or '/' in name else name}"
        return SourceRef(file=self.file, member=self.member, line=self.line, pointer=pointer)

    def __str__(self) -> str:
        place = f"{self.file}!{self.member}" if self.member else self.file
        if self.line is not None:
            place = f"{place}:{self.line}"
        return f"{place}#{self.pointer}" if self.pointer else place


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(msgspec.field,))
class Struct(msgspec.Struct, metaclass=RecordMeta, frozen=True):
    """msgspec's, frozen and built by keyword; other records than facts and opinions are of this kind."""


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(msgspec.field,))
class Record(msgspec.Struct, metaclass=RecordMeta, frozen=True, omit_defaults=True, gc=False):
    """A fact or an opinion: frozen, built by keyword, without I/O."""

    extra: dict[str, Any] = {}
    """What only one harness has. No stage reads it."""
    ref: SourceRef | None = None


class Evidence(Record):
    """What the log has at a place, `ref`: in its own words, in errata's, or both."""

    quote: str
    """Words of the log; empty if it shows something without words."""
    stated: str = ""
    """What errata states from facts of the log: a count, a time, or whose words the quote is."""
    name: str = ""
    """What was looked for."""


class Unreadable(Record):
    """An item of a log that could not be read. It is data, never a crash."""

    source: str
    where: str
    why: str
    excerpt: str = ""
    run: str = ""
    """The run that it belongs to; empty where the log does not tell, and it may be any of several."""
    copy_of: str = ""
    """The case whose row this is a copy of, field by field: it was read, and is counted once."""
    in_part: bool = False
    """The item was read, except for a damaged character or number in it."""

    @property
    def is_lost(self) -> bool:
        """Whether nothing of it was read."""
        return not self.copy_of and not self.in_part


class UnreadFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file below an imported folder that looks like results and was not read."""

    path: str
    reason: UnreadReason
    detail: str
    """The reason in words, with the command that helps where there is one."""


class UnreadFiles(msgspec.Struct, frozen=True, kw_only=True):
    """What an import left out of a folder."""

    path: str
    """The folder that was imported."""
    files: tuple[UnreadFile, ...] = ()
    other_files: int = 0
    """Documents, code, images and settings: not results."""
    too_deep: tuple[str, ...] = ()
    """Folders that were not searched because they are too many levels down."""
    not_searched: tuple[str, ...] = ()
    """Folders that were not searched because there were too many files before them."""

    def __bool__(self) -> bool:
        return bool(self.files or self.too_deep or self.not_searched)


class Finding(Record):
    run: str
    name: str
    severity: Severity
    text: str
    evidence: tuple[Evidence, ...] = ()
    numbers: dict[str, float] = {}
    breaks: bool = False
    """True where the run can't be compared without a fix."""
