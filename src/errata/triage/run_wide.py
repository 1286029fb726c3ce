"""Signals that only a whole run shows: an unavailable subject, one crash that drags others along, lost tool calls."""

from collections import Counter
from collections.abc import Iterable

from errata.model import Attempt, Signal
from errata.model.obstacles import MANGLED, channel_state, only_writes_calls, runs_with_tools
from errata.model.words import Owner
from errata.text.redact import beginning
from errata.triage import working
from errata.triage.cascades import BlamedFailure, CrashSurvey, NamedCauses, full_disk_error
from errata.triage.observed import OWNER_BY_PHASE, Observed
from errata.triage.places import phase_of

FEW = 3
QUOTE = 240


class RunWide:
    """What a first pass over a run's failures has found."""

    def __init__(self) -> None:
        self.unavailable = ""
        """The one error that every attempt ended in."""
        self.roots: dict[str, str] = {}
        """Follower → id of the attempt that failed first."""
        self.leftovers: dict[str, str] = {}
        """Of those, the ones that stumbled over what a crash left behind."""
        self.named: dict[str, BlamedFailure] = {}
        """Of those, the ones whose log blames another failed attempt."""
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
        if self.unavailable and attempt.errors and attempt.errors[0].message == self.unavailable:
            yield _unavailable(attempt)
        yield from self._follows(attempt)

    def _follows(self, attempt: Attempt) -> Iterable[Observed]:
        root, error = self.roots.get(attempt.id), attempt.lasting_error
        if root is None:
            return
        if attempt.id in self.leftovers and error is not None:
            where = f"errors[{attempt.errors.index(error)}].message"
            yield _follower(attempt, "cascade", root, where, error.message, "harness")
        elif cause := self.named.get(attempt.id):
            yield _follower(attempt, "ended_by_another", root, cause.where, cause.quote)
        elif full := full_disk_error(attempt):
            yield _follower(attempt, "disk_still_full", root, *full, "environment")


class PatternSurvey:
    """Watches the failures of a run and reports patterns over all of them."""

    def __init__(self) -> None:
        self._rows = self._served = 0
        self._messages: Counter[str] = Counter()
        self.crashes = CrashSurvey()
        self._named = NamedCauses()
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
        self._named.add(attempt)
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
        wide.named, wide.leftovers = self._named.causes(), self.crashes.roots()
        named = {follower: cause.root for follower, cause in wide.named.items()}
        wide.roots = _to_the_first(self.crashes.still_full() | wide.leftovers | named)
        wide.has_tools = self._writing > 0 and runs_with_tools(self._calling, self._writing)
        wide.mangles_calls = self._mangled >= max(FEW, MANGLED * self._calling)
        return wide


def look_over(failures: Iterable[Attempt], *, made: int | None = None) -> RunWide:
    survey = PatternSurvey()
    for attempt in failures:
        survey.add(attempt)
    return survey.result(made)


def _to_the_first(roots: dict[str, str]) -> dict[str, str]:
    """Where a root follows another attempt itself, that one is the root; of those that blame each other none is."""
    first: dict[str, str] = {}
    for follower, named in roots.items():
        root, seen = named, {follower}
        while root in roots and root not in seen:
            seen.add(root)
            root = roots[root]
        if root not in seen:
            first[follower] = root
    return first


def _follower(attempt: Attempt, name: str, root: str, where: str, quote: str, *also: Owner) -> Observed:
    error = attempt.lasting_error
    signal = Signal(
        name=name,
        rule=name,
        where=where,
        quote=beginning(quote, QUOTE),
        stated=f"after {root.rpartition('/')[2]}",
        strength="likely",
        ref=error.ref if error is not None else None,
    )
    return Observed(signal=signal, owner="collateral", also=also, follows=root, is_specific=True)


def _unavailable(attempt: Attempt) -> Observed:
    """The state of the run. The rule that knows the text names the owner; where none does, the phase is a hint."""
    error = attempt.errors[0]
    signal = Signal(
        name="unavailable_run",
        rule="unavailable_run",
        where="errors[0].message",
        quote=beginning(error.quotable, QUOTE),
        stated=f"every attempt of the run ended in this error{f': {error.stated}' if error.stated else ''}",
        strength="weak",
        ref=error.ref,
    )
    return Observed(signal=signal, owner=OWNER_BY_PHASE.get(phase_of(error), "unknown"))
