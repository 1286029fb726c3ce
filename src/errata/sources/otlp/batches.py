"""The spans of a file by trace, and the subject and the times of each trace.

A collector writes spans as they arrive, so the spans of a trace are spread over many lines. A first pass records where
each span is and which trace it belongs to; a second reads trace by trace. Spans stay undecoded until they are needed.
"""

from array import array
from collections.abc import Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from errata.model import SourceRef, Unreadable
from errata.sources.base import EXCERPT, LINE_CAP, READ_SIZE, decode, describe, relative, unreadable
from errata.sources.otlp import NAME, names
from errata.sources.otlp.attributes import value_of
from errata.sources.shared.json_rows import long_document
from errata.sources.shared.row_groups import Groups
from errata.sources.shared.spans import hex_id, whole
from errata.sources.shared.values import mapping, plain, text

CACHED_BATCHES = 8
"""Decoded batches that are cached: the spans of a trace are mostly close together."""
_WANTED = frozenset((*names.REQUESTED, *names.PROVIDER, *names.AGENT, *names.AGENT_VERSION, *names.KIND))


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


class OtlpBatch(msgspec.Struct):
    resourceSpans: list[Resource] | None = None  # noqa: N815
    resourceLogs: list[Resource] | None = None  # noqa: N815


class OtlpPiece(NamedTuple):
    """A span or a log record, with its resource and its scope."""

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
        """`ValueError` if it is not an object."""
        data = decode(bytes(self.raw))
        if not isinstance(data, dict):
            raise ValueError("expected an object")
        return data


_batch = msgspec.json.Decoder(OtlpBatch)
_resource = msgspec.json.Decoder(Resource)


def _decode_typed(data: bytes, decoder: "msgspec.json.Decoder[Any]") -> Any:
    try:
        return decoder.decode(data)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError):
        # bare `NaN`, a wrong byte, or not JSON
        return decoder.decode(msgspec.json.encode(plain(decode(data))))


class Batches:
    """`OSError` if the file can't be opened."""

    def __init__(self, path: Path) -> None:
        self.survey = TraceSurvey()
        self.problems: list[Unreadable] = []
        self._path, self._name = path, relative(path, path)
        self._units, self._numbers, self._groups = array("q"), array("q"), Groups()
        self._document: list[bytes | msgspec.Raw] = []
        self._places = array("q", [0])
        self._pieces = lru_cache(maxsize=CACHED_BATCHES)(self._read)
        self._open()

    def traces(self) -> Iterator[list[OtlpPiece]]:
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
        """False if the first line is only the beginning of a document."""
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
                continue  # a log line without a trace
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

    def _read(self, unit: int) -> list[OtlpPiece]:
        data, ref = self._data(unit), self._ref(unit)
        if self._document:
            return list(_pieces(_decode_typed(data, _resource), ref, is_log=False))
        batch = _decode_typed(data, _batch)
        pieces: list[OtlpPiece] = []
        for name, is_log in (("resourceSpans", False), ("resourceLogs", True)):
            for at, resource in enumerate(getattr(batch, name) or ()):
                pieces += _pieces(resource, ref.below(name, at), is_log=is_log)
        return pieces


def _pieces(resource: Resource, ref: SourceRef, *, is_log: bool) -> Iterator[OtlpPiece]:
    recorder = mapping(resource.resource)
    for name in ("scopeLogs",) if is_log else ("scopeSpans", "instrumentationLibrarySpans"):
        for at, scope in enumerate(getattr(resource, name) or ()):
            by = mapping(scope.scope) or mapping(scope.instrumentationLibrary)
            listed = "logRecords" if is_log else "spans"
            for number, raw in enumerate(getattr(scope, listed) or ()):
                yield OtlpPiece(raw, (ref, name, at, listed, number), is_log, recorder, by)


def _is_whole(line: bytes) -> bool:
    try:
        _decode_typed(line, _batch)
    except msgspec.ValidationError:
        return True
    except (ValueError, RecursionError):
        return False
    return True


class _Attribute(msgspec.Struct):
    key: Any = None
    value: Any = None


class _BatchHead(msgspec.Struct):
    traceId: Any = None  # noqa: N815
    parentSpanId: Any = None  # noqa: N815
    startTimeUnixNano: Any = None  # noqa: N815
    endTimeUnixNano: Any = None  # noqa: N815
    attributes: list[_Attribute] | None = None


class TraceSubject(NamedTuple):
    """The subject of a trace."""

    model: str = ""
    provider: str = ""
    agent: str = ""
    agent_version: str = ""


_head = msgspec.json.Decoder(_BatchHead)
_NOBODY = TraceSubject()


class TraceSurvey:
    def __init__(self) -> None:
        self.first = ""
        """The first trace in the file; it stays the same while a collector appends to the file."""
        self._tested: dict[int, TraceSubject] = {}
        self._of_traces: dict[int, tuple[int, int]] = {}

    def note(self, raw: msgspec.Raw, *, is_log: bool) -> int | None:
        """The hash of its trace; None if it has none."""
        try:
            head = _head.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        trace = hex_id(head.traceId)
        if not trace.strip("0"):
            return None
        mark = hash(trace)
        if not is_log:
            self.first = self.first or trace
            self._tested[mark] = _together(self._tested.get(mark, _NOBODY), head)
            self._stretch(mark, whole(head.startTimeUnixNano), whole(head.endTimeUnixNano))
        return mark

    def _stretch(self, mark: int, start: int | None, end: int | None) -> None:
        first, last = self._of_traces.get(mark, (0, 0))
        starts = [one for one in (first, start) if one]
        self._of_traces[mark] = (min(starts, default=0), max(last, end or start or 0))

    @property
    def subjects(self) -> list[TraceSubject]:
        """Each subject once. A trace without a model belongs to the only model in the file, if there is just one."""
        return list(dict.fromkeys(map(self._resolve, self._tested.values()))) or [_NOBODY]

    def of(self, trace: str) -> TraceSubject:
        return self._resolve(self._tested.get(hash(trace), _NOBODY))

    def times(self, tested: TraceSubject) -> tuple[int, int]:
        """When the traces of a subject began and ended, in nanoseconds; zero if unknown."""
        ranges = [times for mark, times in self._of_traces.items() if self._resolve(self._tested[mark]) == tested]
        return min((one[0] for one in ranges if one[0]), default=0), max((one[1] for one in ranges), default=0)

    def _resolve(self, tested: TraceSubject) -> TraceSubject:
        if tested.model:
            return tested
        same = {one for one in self._with_model if one.agent == tested.agent} if tested.agent else self._with_model
        return next(iter(same)) if len(same) == 1 else tested

    @cached_property
    def _with_model(self) -> set[TraceSubject]:
        """Valid once every span has been recorded."""
        return {one for one in self._tested.values() if one.model}


def _together(tested: TraceSubject, head: _BatchHead) -> TraceSubject:
    attributes = {text(one.key): value_of(one.value) for one in head.attributes or () if text(one.key) in _WANTED}
    judged = text(attributes.get("openinference.span.kind")).lower() == "evaluator"
    if not tested.model and not judged and (model := _first(attributes, names.REQUESTED)):
        tested = tested._replace(model=model, provider=_first(attributes, names.PROVIDER))
    if not head.parentSpanId and (agent := _first(attributes, names.AGENT)):
        tested = tested._replace(agent=agent, agent_version=_first(attributes, names.AGENT_VERSION))
    return tested


def _first(attributes: dict[str, Any], spelled: tuple[str, ...]) -> str:
    return next((value for name in spelled if isinstance(value := attributes.get(name), str) and value), "")
