"""What is counted of a run while its rows pass by on their way into the store: its digest, counts and problems."""

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from operator import itemgetter
from typing import Any, Literal

import msgspec

from errata.model import Counts, Run, Unreadable
from errata.model.codec import pack
from errata.model.run import without_folder_names
from errata.model.times import now_as_text
from errata.store.blocks import DIGEST_SIZE, OLDER_SIZE
from errata.store.engine import fitting
from errata.store.packing import RunPart, Tally
from errata.store.schema import attempts

UNREADABLE_KEPT = 10_000
ATTEMPT_COLUMNS = [column.name for column in attempts.columns][1:]
_facts_of, _spent_on = (
    itemgetter(*map(ATTEMPT_COLUMNS.index, names))
    for names in (("counted", "failure", "execution", "measurement", "outcome"), ("counted", "tokens", "cost"))
)
MOST_LABELS = 20
"""More words than this are texts, not labels."""
SCORED = ("pass", "fail", "partial")
Settled = Literal["new", "grown", "unchanged", "kept"]
"""`kept`: the store holds more of the run than this log does, and nothing was changed."""
Change = Settled | Literal["part", "apart", "unsettled"]
"""The last three only while runs are imported whose id another log has, too: they are read again as a part of that run,
or as runs of their own."""
UNSETTLED: tuple[Change, ...] = ("part", "apart", "unsettled")


class ImportedRun(msgspec.Struct, frozen=True):
    id: str
    pk: int
    change: Change
    revision: int
    apart_from: str = ""
    """The run of the same harness's id whose results differ; this one is named by its folder."""
    replaced: int = 0
    carried: int = 0
    """Verdicts that followed their attempt, whose id is another now."""
    lost: tuple[str, ...] = ()
    """The attempts of verdicts that are nowhere in the log any more: one for each verdict."""


class RunTotals:
    def __init__(self, run: Run) -> None:
        self.run = run
        self.rows = 0
        self.unreadables: list[Unreadable] = []
        self._unreadable = 0
        self._content = ""
        self._checks: Tally = {}
        self._facts: Counter[tuple[Any, ...]] = Counter()
        self._labels: Counter[str] = Counter()
        self._tokens: int | None = None
        self._cost: float | None = None
        self._cost_known = 0

    def note(self, item: Unreadable) -> None:
        """Every item is counted, the first of them are kept: a file of garbage must not fill the memory."""
        self._unreadable += item.is_lost
        if len(self.unreadables) < UNREADABLE_KEPT:
            self.unreadables.append(item)

    def note_more(self, count: int) -> None:
        self._unreadable += count

    def tally(self, part: RunPart) -> None:
        """Count while the rows pass by: the reading process takes longer than this one."""
        if part.attempts:
            self.rows += len(part.attempts)
            self._facts.update(map(_facts_of, part.attempts))
            self._add_spent(map(_spent_on, part.attempts))
        self._content = part.digest or self._content
        self._labels.update(part.labels)
        for name, statuses in part.tally.items():
            known = self._checks.setdefault(name, {})
            for status, count in statuses.items():
                known[status] = known.get(status, 0) + count

    def take_in(self, counts: Counts, facts: Iterable[tuple[Any, ...]]) -> None:
        self.rows += counts.attempts
        self._unreadable += counts.unreadable
        self._labels.update(counts.labels)
        self._facts = Counter({tuple(values): often for *values, often in facts})
        for name, statuses in counts.checks.items():
            known = self._checks.setdefault(name, {})
            for status, count in statuses.items():
                known[status] = known.get(status, 0) + count
        self._tokens = _total(self._tokens, counts.tokens)
        self._cost = _total(self._cost, counts.cost)
        self._cost_known += counts.cost_known

    def _add_spent(self, rows: Iterable[tuple[bool, int | None, float | None]]) -> None:
        for is_counted, spent, cost in rows:
            if is_counted and spent is not None:
                self._tokens = (self._tokens or 0) + spent
            if is_counted and cost is not None:
                self._cost = (self._cost or 0.0) + cost
                self._cost_known += 1

    @property
    def has_numbers(self) -> bool:
        """Whether some result is a number on a scale; then those that are 1 and 0 are, too."""
        return any(facts[0] and facts[-1] == "number" for facts in self._facts)

    def settle_numbers(self) -> frozenset[str]:
        """Count what the harness scored by a number alone as numbers; the checks that have some."""
        if self.has_numbers:
            facts, self._facts = self._facts, Counter()
            for known, often in facts.items():
                self._facts[as_number(known) if is_scored(*known[-2:]) else known] += often
        names = frozenset(name for name, statuses in self._checks.items() if "number" in statuses)
        for name in names:
            statuses = self._checks[name]
            statuses["number"] += statuses.pop("pass", 0) + statuses.pop("fail", 0)
        return names

    @property
    def counted(self) -> int:
        return sum(often for facts, often in self._facts.items() if facts[0])

    def counts(self, *, cases: int, failed_checks: dict[str, int], values: int, total: float) -> Counts:
        """`values`: how many results are numbers that no rule makes a pass or a failure; `total` is their sum."""
        counted = [(facts[1:], often) for facts, often in self._facts.items() if facts[0]]
        outcomes = _summed((facts[3], often) for facts, often in counted)
        passes, fails = (outcomes.get(word, 0) if values else 0 for word in ("pass", "fail"))
        known = values + passes + fails
        return Counts(
            attempts=self.rows,
            counted=self.counted,
            cases=cases,
            failures=sum(often for facts, often in counted if facts[0]),
            unreadable=self._unreadable,
            executions=_summed((facts[1], often) for facts, often in counted),
            measurements=_summed((facts[2], often) for facts, often in counted),
            outcomes=outcomes,
            checks=self._checks,
            failed_checks=failed_checks,
            mean=(total + passes) / known if known else None,
            values=known,
            labels=dict(self._labels.most_common()) if len(self._labels) <= MOST_LABELS else {},
            cost=self._cost,
            cost_known=self._cost_known,
            tokens=self._tokens,
        )

    def digest(self, older: str = "") -> str:
        """`older` is the content as earlier versions computed it, for a digest of theirs."""
        size = OLDER_SIZE if older else DIGEST_SIZE
        whole = blake2b(pack(without_folder_names(self.bare_run())), digest_size=size)
        whole.update((older or self._content).encode())
        whole.update(str(self._unreadable).encode())
        for item in self.unreadables:
            whole.update(pack(item))
        return whole.hexdigest()

    def bare_run(self) -> Run:
        """The run's own content: where it lay and what was thought of it are kept apart."""
        return msgspec.structs.replace(self.run, origin="", revision=1, excluded=None)

    def described(self) -> dict[str, Any]:
        run = self.run
        facts = {
            "native_id": run.native_id, "name": run.name, "suite": run.suite, "model": run.subject.model,
            "started_at": run.started_at, "origin": run.origin,
        }  # fmt: skip
        return {name: fitting(value) for name, value in facts.items()}

    def begun(self, importer: str) -> dict[str, Any]:
        """The columns that do not change any more once its import has begun."""
        return {
            "run_id": fitting(self.run.id), "source": fitting(self.run.source.name), "imported_at": now_as_text(),
            "importer": importer,
        }  # fmt: skip


def is_scored(measurement: str, outcome: str) -> bool:
    return measurement == "scored" and outcome in SCORED


def as_number(facts: tuple[Any, ...]) -> tuple[Any, ...]:
    counted, _, execution, measurement, _ = facts
    return counted, False, execution, measurement, "number"


def is_less(new: Counts, old: dict[str, Any]) -> bool:
    """A part of a run, such as its failures alone or a log cut off, must not take the place of the whole."""
    return _attempts_made(msgspec.to_builtins(new)) < _attempts_made(old)


def _attempts_made(counts: dict[str, Any]) -> int:
    executions = counts.get("executions", {})
    return int(counts.get("counted", 0)) - int(executions.get("missing", 0)) - int(executions.get("unfinished", 0))


def share_unclaimed(every: Sequence[RunTotals], unclaimed: Iterable[Unreadable], more: int) -> None:
    """What no run is known for is noted in each that the path gave: it may be missing from any of them."""
    for item in unclaimed:
        why = item.why if len(every) == 1 else f"{item.why}; it may belong to any of {len(every)} runs"
        for totals in every:
            totals.note(msgspec.structs.replace(item, why=why))
    for totals in every:
        totals.note_more(more)


def _total(first: Any, second: Any) -> Any:
    return first if second is None else second if first is None else first + second


def _summed(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name, count in pairs:
        counts[name] = counts.get(name, 0) + count
    return counts
