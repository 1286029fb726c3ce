"""The spans of a file by trace. A collector writes what it has got, so those of one trace stand in many lines.

A first reading keeps where each span stands and which trace it belongs to, and the second takes one trace after the
other; spans that are not in use stay undecoded.
"""

from array import array
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from errata.model import SourceRef, Unreadable
from errata.sources.base import EXCERPT, LINE_CAP, READ_SIZE, decode, describe, relative, unreadable
from errata.sources.otlp.layout import NAME
from errata.sources.otlp.survey import Survey
from errata.sources.shared.json_rows import long_document
from errata.sources.shared.row_groups import Groups
from errata.sources.shared.values import mapping, plain

KEPT = 8
"""Batches that are held: the spans of a trace mostly stand close together."""


class Scope(msgspec.Struct):
    scope: Any = None
    instrumentationLibrary: Any = None  # noqa: N815 as OTLP spelled it until 0.15
    spans: list[msgspec.Raw] | None = None
    logRecords: list[msgspec.Raw] | None = None  # noqa: N815


class Resource(msgspec.Struct):
    resource: Any = None
    scopeSpans: list[Scope] | None = None  # noqa: N815
    instrumentationLibrarySpans: list[Scope] | None = None  # noqa: N815
    scopeLogs: list[Scope] | None = None  # noqa: N815


class Batch(msgspec.Struct):
    resourceSpans: list[Resource] | None = None  # noqa: N815
    resourceLogs: list[Resource] | None = None  # noqa: N815


class Piece(NamedTuple):
    """A span or a log record, and what it was recorded by."""

    raw: msgspec.Raw
    place: tuple[SourceRef, str, int, str, int]
    is_log: bool
    resource: dict[str, Any]
    scope: dict[str, Any]

    @property
    def ref(self) -> SourceRef:
        batch, scopes, at, listed, number = self.place
        return batch.below(scopes, at, listed, number)

    @property
    def data(self) -> dict[str, Any]:
        """`ValueError` for what is no object."""
        found = decode(bytes(self.raw))
        if not isinstance(found, dict):
            raise ValueError("an object expected")
        return found


_batch = msgspec.json.Decoder(Batch)
_resource = msgspec.json.Decoder(Resource)


def _typed(data: bytes, decoder: "msgspec.json.Decoder[Any]") -> Any:
    try:
        return decoder.decode(data)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        # bare `NaN`, or not JSON at all
        return decoder.decode(msgspec.json.encode(plain(decode(data))))


class Batches:
    """`OSError` where the file can't be opened."""

    def __init__(self, path: Path) -> None:
        self.survey = Survey()
        self.problems: list[Unreadable] = []
        self._path, self._name = path, relative(path, path)
        self._units, self._numbers, self._groups = array("q"), array("q"), Groups()
        self._document: list[bytes | msgspec.Raw] = []
        self._places = array("q", [0])
        self._pieces = lru_cache(maxsize=KEPT)(self._read)
        self._open()

    def traces(self) -> Iterator[list[Piece]]:
        for numbers in self._groups:
            yield [self._pieces(self._units[at])[self._numbers[at]] for at in numbers]

    def _open(self) -> None:
        if not self._survey_lines():
            document = long_document(self._path, "resourceSpans", source=NAME, root=self._path)
            if isinstance(document, Unreadable):
                self.problems.append(document)
                return
            self._document = document.items
            self.problems += document.problems()
            for unit in range(len(self._document)):
                self._note(unit)

    def _survey_lines(self) -> bool:
        """False where the first line is only the beginning of a document."""
        with self._path.open("rb", buffering=READ_SIZE) as file:
            while line := file.readline(LINE_CAP + 1):
                self._places.append(self._places[-1] + len(line))
                while len(line) > LINE_CAP and not line.endswith(b"\n"):
                    line = file.readline(LINE_CAP)
                    self._places[-1] += len(line)
                unit = len(self._places) - 2
                if unit == 0 and not _is_whole(line):
                    return False
                self._note(unit)
        return True

    def _note(self, unit: int) -> None:
        try:
            pieces = self._pieces(unit)
        except (ValueError, RecursionError, msgspec.ValidationError) as error:
            data = self._data(unit)
            if data.strip():
                ref = self._ref(unit)
                self.problems.append(unreadable(NAME, ref, describe(error), excerpt=data[:EXCERPT]))
            return
        for number, piece in enumerate(pieces):
            mark = self.survey.note(piece.raw, is_log=piece.is_log)
            if mark is None and piece.is_log:
                continue  # a line of a log that belongs to no trace
            self._units.append(unit)
            self._numbers.append(number)
            self._groups.add(mark)

    def _ref(self, unit: int) -> SourceRef:
        ref = SourceRef(file=self._name)
        return ref.below("resourceSpans", unit) if self._document else SourceRef(file=self._name, line=unit + 1)

    def _data(self, unit: int) -> bytes:
        if self._document:
            return bytes(self._document[unit])
        start, end = self._places[unit], self._places[unit + 1]
        if end - start > LINE_CAP:
            raise ValueError(f"line longer than {LINE_CAP // 2**20} MB")
        with self._path.open("rb") as file:
            file.seek(start)
            return file.read(end - start)

    def _read(self, unit: int) -> list[Piece]:
        data, ref = self._data(unit), self._ref(unit)
        if self._document:
            return list(_pieces(_typed(data, _resource), ref, is_log=False))
        batch = _typed(data, _batch)
        found: list[Piece] = []
        for name, is_log in (("resourceSpans", False), ("resourceLogs", True)):
            for at, resource in enumerate(getattr(batch, name) or ()):
                found += _pieces(resource, ref.below(name, at), is_log=is_log)
        return found


def _pieces(resource: Resource, ref: SourceRef, *, is_log: bool) -> Iterator[Piece]:
    recorder = mapping(resource.resource)
    for name in ("scopeLogs",) if is_log else ("scopeSpans", "instrumentationLibrarySpans"):
        for at, scope in enumerate(getattr(resource, name) or ()):
            by = mapping(scope.scope) or mapping(scope.instrumentationLibrary)
            listed = "logRecords" if is_log else "spans"
            for number, raw in enumerate(getattr(scope, listed) or ()):
                yield Piece(raw, (ref, name, at, listed, number), is_log, recorder, by)


def _is_whole(line: bytes) -> bool:
    try:
        _typed(line, _batch)
    except msgspec.ValidationError:
        return True
    except (ValueError, RecursionError):
        return False
    return True
