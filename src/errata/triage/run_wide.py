"""Signals that only a whole run shows: an unavailable subject, one crash that drags others along, lost tool calls."""

from collections import Counter
from collections.abc import Iterable

from errata.model import Attempt, Signal
from errata.model.obstacles import MANGLED, channel_state, only_writes_calls, runs_with_tools
from errata.triage import working
from errata.triage.cascades import CrashSurvey
from errata.triage.observed import OWNER_BY_PHASE, Observed
from errata.triage.places import phase_of

FEW = 3


class RunWide:
    """What a first pass over a run's failures has found."""

    def __init__(self) -> None:
        self.unavailable = ""
        """The one error that every attempt ended in."""
        self.roots: dict[str, str] = {}
        """Follower → id of the attempt that crashed first."""
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
        if self.unavailable and attempt.errors[0].message == self.unavailable:
            yield _unavailable(attempt)
        root, error = self.roots.get(attempt.id), attempt.lasting_error
        if root is not None and error is not None:
            quote, where = f"after {root.rpartition('/')[2]}: {error.message}", attempt.errors.index(error)
            signal = Signal(
                name="cascade", rule="cascade", where=f"errors[{where}].message", quote=quote[:240], strength="likely",
                ref=error.ref,
            )  # fmt: skip
            yield Observed(signal=signal, owner="collateral", also=("harness",), follows=root, is_specific=True)


class PatternSurvey:
    """Watches the failures of a run and reports patterns over all of them."""

    def __init__(self) -> None:
        self._rows = self._served = 0
        self._messages: Counter[str] = Counter()
        self.crashes = CrashSurvey()
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
        self.crashes.add(attempt)
        self._served += attempt.outcome != "none" or bool(attempt.usage.subject.tokens)
        if not attempt.errors:
            return
        if len(self._messages) < FEW:
            self._messages[attempt.errors[0].message] += 1

    def result(self, made: int | None = None) -> RunWide:
        """`made` is how many attempts the run has in all; by default those that were added are all."""
        wide = RunWide()
        rows, messages = self._rows, self._messages
        all_failed = (made is None or rows == made) and rows >= FEW and not self._served
        if all_failed and len(messages) == 1 and messages.total() == rows:
            wide.unavailable = next(iter(messages))
        wide.roots = self.crashes.roots()
        wide.has_tools = self._writing > 0 and runs_with_tools(self._calling, self._writing)
        wide.mangles_calls = self._mangled >= max(FEW, MANGLED * self._calling)
        return wide


def look_over(failures: Iterable[Attempt], *, made: int | None = None) -> RunWide:
    survey = PatternSurvey()
    for attempt in failures:
        survey.add(attempt)
    return survey.result(made)


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
