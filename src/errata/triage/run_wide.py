"""Signals that only a whole run shows: an unavailable subject, one crash that drags others along, lost tool calls."""

import re
from collections import Counter
from collections.abc import Iterable

from errata.model import Attempt, Signal
from errata.model.obstacles import MANGLED, channel_state, only_writes_calls, runs_with_tools
from errata.text.mask import mask
from errata.triage import working
from errata.triage.observed import OWNER_BY_PHASE, Observed
from errata.triage.places import phase_of

FEW = 3
MOST_CRASHES = 50_000
"""At most this many are kept; a cascade shows itself long before."""
# what a crash leaves behind, for the next attempts to stumble over
_LEFT_OVER = re.compile(
    r"already exists|file exists|index\.lock|already in use|already checked out|is locked|lock file|left over"
    r"|not clean",
    re.IGNORECASE,
)


class RunWide:
    """What a first pass over a run's failures has found."""

    def __init__(self) -> None:
        self.unavailable = ""
        """The one error that every attempt ended in."""
        self.roots: dict[str, str] = {}
        """Shape of the followers' error → id of the attempt that crashed first."""
        self.mangles_calls = False
        """Tool calls arrive mangled in a large share of the attempts."""
        self.has_tools = False
        """Attempts of the run call tools, and others write the calls as text."""

    def __bool__(self) -> bool:
        return bool(self.unavailable or self.roots or self.has_tools or self.mangles_calls)

    def observe(self, attempt: Attempt) -> Iterable[Observed]:
        if self.has_tools:
            yield from working.call_written_as_text(attempt)
        if self.mangles_calls:
            yield from working.call_arrived_mangled(attempt)
        if not attempt.errors:
            return
        message = attempt.errors[0].message
        if self.unavailable and message == self.unavailable:
            yield _unavailable(attempt)
        root = self.roots.get(mask(message))
        if root is not None and root != attempt.id:
            quote = f"after {root.rpartition('/')[2]}: {message}"
            signal = Signal(
                name="cascade", rule="cascade", where="errors[0].message", quote=quote[:240], strength="likely",
                ref=attempt.errors[0].ref,
            )  # fmt: skip
            yield Observed(signal=signal, owner="collateral", also=("harness",), follows=root, is_specific=True)


class PatternSurvey:
    """Watches the failures of a run and reports patterns over all of them."""

    def __init__(self) -> None:
        self._rows = self._served = 0
        self._messages: Counter[str] = Counter()
        self._crashes: list[tuple[str, str, str]] = []
        self._calling = self._writing = self._mangled = 0

    def add(self, attempt: Attempt) -> None:
        if not attempt.counted or attempt.execution == "missing":
            return
        self._rows += 1
        if attempt.conduct is not None:
            self._calling += attempt.conduct.calls > 0
            self._writing += only_writes_calls(attempt.conduct)
            broken = attempt.conduct.mangled_calls is not None and channel_state(attempt.conduct)[0] == "likely"
            self._mangled += broken
        self._served += bool(attempt.usage.subject.tokens) or attempt.outcome != "none"
        if not attempt.errors:
            return
        error = attempt.errors[0]
        if len(self._messages) < FEW:
            self._messages[error.message] += 1
        at = error.at or attempt.started_at
        if at and len(self._crashes) < MOST_CRASHES:  # without times nothing is known of what came before what
            self._crashes.append((at, attempt.id, error.message))

    def result(self, made: int | None = None) -> RunWide:
        """`made` is how many attempts the run has in all; by default those that were added are all."""
        wide = RunWide()
        rows, messages = self._rows, self._messages
        all_failed = (made is None or rows == made) and rows >= FEW and not self._served
        if all_failed and len(messages) == 1 and messages.total() == rows:
            wide.unavailable = next(iter(messages))
        wide.roots = _roots(self._crashes)
        wide.has_tools = self._writing > 0 and runs_with_tools(self._calling, self._writing)
        wide.mangles_calls = self._mangled >= max(FEW, MANGLED * self._calling)
        return wide


def look_over(failures: Iterable[Attempt], *, made: int | None = None) -> RunWide:
    survey = PatternSurvey()
    for attempt in failures:
        survey.add(attempt)
    return survey.result(made)


def _roots(crashes: list[tuple[str, str, str]]) -> dict[str, str]:
    """Many crashes of one shape that speaks of left-overs, and the last other crash before them all."""
    if not any(_LEFT_OVER.search(message) for _, _, message in crashes):
        return {}
    timed = sorted((at, attempt, mask(message)) for at, attempt, message in crashes)
    shapes = Counter(shape for _, _, shape in timed)
    roots = {}
    for shape, often in shapes.items():
        if often < FEW or not _LEFT_OVER.search(shape):
            continue
        first = next(crash for crash in timed if crash[2] == shape)
        before = [crash for crash in timed if crash[2] != shape and crash[0] <= first[0]]
        if before:
            roots[shape] = before[-1][1]
    return roots


def _unavailable(attempt: Attempt) -> Observed:
    """The state of the run. The rule that knows the text names the owner; where none does, the phase is a hint."""
    error = attempt.errors[0]
    signal = Signal(
        name="unavailable_run",
        rule="unavailable_run",
        where="errors[0].message",
        quote=f"every attempt of the run ended in this error: {error.message}"[:240],
        strength="weak",
        ref=error.ref,
    )
    return Observed(signal=signal, owner=OWNER_BY_PHASE.get(phase_of(error), "unknown"))
