"""A first look at every span: which trace it belongs to, which model the trace is a try of, and when it was."""

from functools import cached_property
from typing import Any, NamedTuple

import msgspec

from errata.sources.otlp import names
from errata.sources.otlp.values import value_of
from errata.sources.shared.spans import hex_id, whole
from errata.sources.shared.values import text


class _Attribute(msgspec.Struct):
    key: Any = None
    value: Any = None


class _Head(msgspec.Struct):
    traceId: Any = None  # noqa: N815
    parentSpanId: Any = None  # noqa: N815
    startTimeUnixNano: Any = None  # noqa: N815
    endTimeUnixNano: Any = None  # noqa: N815
    attributes: list[_Attribute] | None = None


class Tested(NamedTuple):
    """Whom a trace is a try of."""

    model: str = ""
    provider: str = ""
    agent: str = ""
    agent_version: str = ""


_head = msgspec.json.Decoder(_Head)
_WANTED = frozenset((*names.REQUESTED, *names.PROVIDER, *names.AGENT, *names.AGENT_VERSION, *names.KIND))
_NOBODY = Tested()


class Survey:
    def __init__(self) -> None:
        self.first = ""
        """The trace that the file begins with; it stays the same while a collector appends to the file."""
        self._tested: dict[int, Tested] = {}
        self._of_traces: dict[int, tuple[int, int]] = {}

    def note(self, raw: msgspec.Raw, *, is_log: bool) -> int | None:
        """The hash of the trace that it belongs to; none where it belongs to none."""
        try:
            head = _head.decode(raw)
        except msgspec.DecodeError:
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
        told = [one for one in (first, start) if one]
        self._of_traces[mark] = (min(told, default=0), max(last, end or start or 0))

    @property
    def tested(self) -> list[Tested]:
        """Each once. A trace in which no model is named is of the one that all others are of."""
        return list(dict.fromkeys(map(self._resolved, self._tested.values()))) or [_NOBODY]

    def of(self, trace: str) -> Tested:
        return self._resolved(self._tested.get(hash(trace), _NOBODY))

    def times(self, tested: Tested) -> tuple[int, int]:
        """When the traces of a subject began and ended, in nanoseconds; zero where that is not told."""
        told = [times for mark, times in self._of_traces.items() if self._resolved(self._tested[mark]) == tested]
        return min((one[0] for one in told if one[0]), default=0), max((one[1] for one in told), default=0)

    def _resolved(self, tested: Tested) -> Tested:
        if tested.model:
            return tested
        same = {one for one in self._named if one.agent == tested.agent} if tested.agent else self._named
        return next(iter(same)) if len(same) == 1 else tested

    @cached_property
    def _named(self) -> set[Tested]:
        """To be asked for when every span was noted."""
        return {one for one in self._tested.values() if one.model}


def _together(tested: Tested, head: _Head) -> Tested:
    told = {text(one.key): value_of(one.value) for one in head.attributes or () if text(one.key) in _WANTED}
    judged = text(told.get("openinference.span.kind")).lower() == "evaluator"
    if not tested.model and not judged and (model := _first(told, names.REQUESTED)):
        tested = tested._replace(model=model, provider=_first(told, names.PROVIDER))
    if not head.parentSpanId and (agent := _first(told, names.AGENT)):
        tested = tested._replace(agent=agent, agent_version=_first(told, names.AGENT_VERSION))
    return tested


def _first(told: dict[str, Any], spelled: tuple[str, ...]) -> str:
    return next((value for name in spelled if isinstance(value := told.get(name), str) and value), "")
