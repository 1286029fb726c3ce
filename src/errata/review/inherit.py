"""Failures that are the same crash as a reviewed one: they inherit its verdict where that is allowed."""

from collections import Counter, deque
from collections.abc import Callable, Container, Hashable, Iterable, Iterator

import msgspec

from errata.model import Attribution, Verdict
from errata.model.identity import fingerprint
from errata.model.words import Owner

MACHINERY: frozenset[Owner] = frozenset(("provider", "environment", "harness", "simulator", "collateral"))
"""Failures of a model, a grader or a task need a review each."""
_PHASES = frozenset(("setup", "subject", "tool", "environment", "simulator", "scoring", "aggregation"))
GIVEN_UP = 3
"""Readings of one crash that gave no verdict; then nobody waits for the next."""


def may_be_inherited(verdict: Verdict, attribution: Attribution) -> bool:
    """The verdict names the machinery, triage does too, and the key holds the error itself."""
    return (
        verdict.inherited_from is None
        and not verdict.needs_second
        and verdict.owner in MACHINERY
        and passes_on(attribution)
    )


def passes_on(attribution: Attribution) -> bool:
    """Whether a verdict on this failure may go for others, before it is known."""
    return attribution.owner in MACHINERY and _has_an_error(attribution)


def inherited_verdicts(
    verdict: Verdict, source: Attribution, others: Iterable[Attribution], *, at: str
) -> Iterator[Verdict]:
    """For each other failure of the same exact key and owner, without what was quoted from the one that was read."""
    if not may_be_inherited(verdict, source):
        return
    for other in others:
        same = other.failure_key.exact == source.failure_key.exact and other.owner == source.owner
        if same and other.attempt != verdict.attempt and _has_an_error(other):
            yield msgspec.structs.replace(
                verdict,
                id=fingerprint(verdict.id, other.attempt),
                attempt=other.attempt,
                inherited_from=verdict.id,
                supersedes=None,
                usage=None,
                candidates=(),
                decisive_step=None,
                decisive_agent="",
                decisive_reason="",
                second_candidate=None,
                error_line="",
                model_snippet="",
                expected_snippet="",
                evidence=(),
                at=at,
            )


def _has_an_error(attribution: Attribution) -> bool:
    """The key of an error begins with its phase; that of a measured failure with the names of its checks."""
    return any(signal.where.startswith(("errors[", "checks[")) and signal.words for signal in attribution.signals) and (
        attribution.failure_key.exact.partition(":")[0] in _PHASES
    )


class Schedule:
    def __init__(self, attempts: Iterable[str], key_of: Callable[[str], Hashable | None]) -> None:
        """`key_of` is equal for failures that may share a verdict, and none for failures that need a review each."""
        self._coming = iter(attempts)
        self._key_of = key_of
        self._free: deque[str] = deque()
        self._waiting: dict[Hashable, deque[str]] = {}
        """By what is being read; they come when that is done."""
        self._released: set[Hashable] = set()
        """What was read, or can't be: there is nothing to wait for."""
        self._in_vain: Counter[Hashable] = Counter()

    def take(self) -> str | None:
        """The next; none where nothing is left, or all that is left waits for what is being read."""
        while (attempt := self._free.popleft() if self._free else next(self._coming, None)) is not None:
            key = self._key_of(attempt)
            if key is None or key in self._released:
                return attempt
            if key not in self._waiting:
                self._waiting[key] = deque()
                return attempt
            self._waiting[key].append(attempt)
        return None

    @property
    def is_waiting(self) -> bool:
        """Whether some will come when what is being read has ended."""
        return any(self._waiting.values())

    def ended(self, attempt: str, *, with_verdict: bool) -> None:
        """A verdict goes for all of a kind or for none; without one the next is read, alone again."""
        key = self._key_of(attempt)
        if key is None or key in self._released:
            return
        self._in_vain[key] += not with_verdict
        if with_verdict or self._in_vain[key] == GIVEN_UP:
            self._released.add(key)
        self._free.extend(self._waiting.pop(key, ()))


class IdenticalFailures:
    """Of one run: what nobody has read yet and machinery is blamed for, by its exact key."""

    def __init__(self, attributions: Iterable[Attribution], reviewed: Container[str]) -> None:
        """Of all failures of the run; `reviewed` are those with a verdict."""
        machinery = [attribution for attribution in attributions if attribution.owner in MACHINERY]
        self._attributions = {attribution.attempt: attribution for attribution in machinery}
        self._unread: dict[str, dict[str, Attribution]] = {}
        for attribution in machinery:
            if attribution.attempt not in reviewed:
                self._unread.setdefault(attribution.failure_key.exact, {})[attribution.attempt] = attribution

    def key_of(self, attempt: str) -> tuple[str, str] | None:
        """Equal for failures that may share a verdict; none for failures that need a review each."""
        known = self._attributions.get(attempt)
        return (known.failure_key.exact, known.owner) if known is not None and passes_on(known) else None

    def mark_reviewed(self, attempt: str) -> None:
        """Somebody has begun to read it: it inherits nothing."""
        if attempt in self._attributions:
            self._unread.get(self._attributions[attempt].failure_key.exact, {}).pop(attempt, None)

    def inherit(self, verdict: Verdict, at: str) -> list[Verdict]:
        """Each failure inherits once; what was read itself inherits nothing."""
        source = self._attributions.get(verdict.attempt)
        if source is None:
            return []
        self.mark_reviewed(verdict.attempt)
        same = self._unread.get(source.failure_key.exact, {})
        inherited = list(inherited_verdicts(verdict, source, same.values(), at=at))
        for copied in inherited:
            same.pop(copied.attempt)
        return inherited
