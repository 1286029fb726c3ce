"""Runs that hold the work of others: judged again, edited, continued, or exported twice. Work is one trial, once."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from itertools import combinations
from typing import NamedTuple, TypeVar

import msgspec

from errata.errors import StoreError
from errata.model import Attempt, Run, StoredRun
from errata.model.codec import pack
from errata.model.run import FOLDER, SameWork
from errata.model.words import Provenance
from errata.store.attempts import attempts_of
from errata.store.database import Store
from errata.store.runs import all_runs, keep_summary, kept_summary

LONG = 80
"""Characters of an answer. Of 191 pairs of longer answers by one model to one task (50 tasks of tau-bench, four trials
each) none were equal; of 10 pairs of shorter ones, one was."""
FEWEST = 5
"""How many different long answers, or times, must be equal: a mock or a stuck agent repeats one answer."""
VERSION = "1"
Kept = TypeVar("Kept")
Pair = tuple[StoredRun, StoredRun]
Relation = tuple[StoredRun, Provenance]


class _Content(msgspec.Struct, frozen=True):
    """The measured attempts of a run, as a sum of hashes that their order does not change."""

    total: int
    is_proof: bool
    """Whether another run can't come to the same by chance."""


def beside(stored: StoredRun, store: Store, *, most: int | None = None) -> list[StoredRun]:
    """The newest runs of the suite; of those with its own work all but this run itself are excluded."""
    runs = all_runs(store, suite=stored.run.suite)[:most]
    own = [] if any(one.pk == stored.pk for one in runs) else [stored]
    return each_work_once([*runs, *own], store, focus=stored.pk)[:most]


def each_work_once(runs: Sequence[StoredRun], store: Store, *, focus: int = 0) -> list[StoredRun]:
    """The same runs. Of those with the same work all but one are excluded: `focus` stays, else what has most of it."""
    out: dict[int, StoredRun] = {}
    included = sorted((stored for stored in runs if stored.run.excluded is None), key=lambda stored: stored.pk)
    linked = [(pair, _relation(*pair, store)) for pair in _linked(included)]
    copies: list[tuple[Pair, Relation | None]] = [(pair, (pair[1], "copy")) for pair in _copies(included, store)]
    for pair, relation in (*linked, *copies):
        if relation is None or any(stored.pk in out for stored in pair):
            continue
        goes, how = relation
        stays = pair[0] if goes is pair[1] else pair[1]
        if goes.pk == focus:
            goes, stays = stays, goes
        folder = stays.run.variant.get(FOLDER)
        name = f"{stays.run.native_id} in folder {folder}" if folder else stays.run.native_id
        excluded = SameWork(reason=f"{name} has it, too ({how})")
        out[goes.pk] = msgspec.structs.replace(goes, run=msgspec.structs.replace(goes.run, excluded=excluded))
    return [out.get(stored.pk, stored) for stored in runs]


def _linked(runs: Sequence[StoredRun]) -> Iterable[Pair]:
    """Pairs of one subject where one log names the other, or both name the same run, in the order of their import."""
    groups: dict[object, list[StoredRun]] = defaultdict(list)
    for stored in runs:
        run = stored.run
        for name in {run.native_id, run.external_id, *run.works_of} - {""}:
            groups[name, *_subject(run)].append(stored)
    for stored in runs:
        names = [(name, *_subject(stored.run)) for name in stored.run.works_of]
        # the log of a single trial names the trial that it judges again, and not the job of that trial
        if names and all(len(groups[name]) < 2 for name in names):
            groups[stored.pk] = [other for other in runs if _subject(other.run) == _subject(stored.run)]
    return _pairs(groups.values())


def _subject(run: Run) -> tuple[object, ...]:
    return run.subject.model, run.subject.agent, tuple(sorted(run.conditions.items()))


def _copies(runs: Sequence[StoredRun], store: Store) -> Iterable[Pair]:
    alike, equal = defaultdict[object, list[StoredRun]](list), defaultdict[object, list[StoredRun]](list)
    for stored in runs:
        run, counts = stored.run, stored.counts
        spent = (counts.tokens, counts.cost, run.started_at)
        alike[run.subject.model, spent, counts.counted, *sorted(counts.outcomes.items())].append(stored)
    for stored in (stored for group in alike.values() if len(group) > 1 for stored in group):
        # without sampling, a model may well give all its answers again
        is_greedy = stored.run.subject.params.get("temperature") == 0
        content = _content_of(store, stored.pk, stored.digest, stored.run.suite, is_greedy=is_greedy)
        if content.is_proof:
            equal[stored.run.subject.model, content.total].append(stored)
    return _pairs(equal.values())


def _pairs(groups: Iterable[Sequence[StoredRun]]) -> Iterable[Pair]:
    pairs = (pair for group in groups if len(group) > 1 for pair in combinations(group, 2))
    return {(first.pk, second.pk): (first, second) for first, second in pairs if first.pk != second.pk}.values()


def _relation(first: StoredRun, second: StoredRun, store: Store) -> Relation | None:
    version = f"{VERSION}+{first.digest}+{second.digest}"
    same = _keep(store, first.pk, f"work of {second.pk}", version, _Shared, lambda: _by_ids(first, second, store))
    return None if not same.goes else (first if same.goes == first.pk else second, same.how)


def _by_ids(first: StoredRun, second: StoredRun, store: Store) -> "_Shared":
    judged = [list(map(_Judged.of, _measured_attempts(store, stored.pk))) for stored in (first, second)]
    ours, theirs = ({name: attempt for attempt in those for name in attempt.works} for those in judged)
    shared = ours.keys() & theirs.keys()
    if not shared:
        return _Shared()
    within = [all(not shared.isdisjoint(attempt.works) for attempt in those) for those in judged]
    of_ours, of_theirs = (
        next((those[name].provenance for name in shared if those[name].provenance), None) for those in (ours, theirs)
    )
    if not any(within):
        # a job that regrades most trials and runs the others again takes the place of its source
        goes, mine = (first, judged[0]) if of_theirs else (second, judged[1])
        again = sum(not shared.isdisjoint(attempt.works) for attempt in mine)
        is_most = (of_theirs or of_ours) == "regrade" and 2 * again >= len(mine)
        return _Shared(goes.pk, "regrade") if is_most else _Shared()
    if not all(within):
        return _Shared((first if within[0] else second).pk, of_theirs or of_ours or "retry")
    is_equal = all(ours[name].result == theirs[name].result for name in shared)
    # a regrade or an edit is the newest judgement of the work; of copies the first stays
    goes = first if of_theirs or not (of_ours or is_equal) else second
    return _Shared(goes.pk, of_theirs or of_ours or ("copy" if is_equal else "regrade"))


class _Judged(NamedTuple):
    works: tuple[str, ...]
    result: tuple[str, float | None]
    provenance: Provenance | None

    @classmethod
    def of(cls, attempt: Attempt) -> "_Judged":
        return cls(attempt.works, (attempt.outcome, attempt.reported), attempt.provenance)


class _Shared(msgspec.Struct, frozen=True):
    """Of two runs: the number of the one that adds no work to the other, and how it is the same."""

    goes: int = 0
    how: Provenance = "copy"


def _measured_attempts(store: Store, pk: int) -> Iterator[Attempt]:
    return (attempt for attempt in attempts_of(store, pk, counted=True) if attempt.measurement == "scored")


@lru_cache(maxsize=10_000)
def _content_of(store: Store, pk: int, digest: str, suite: str, *, is_greedy: bool) -> _Content:
    def read() -> _Content:
        total, answers, times = 0, set[str](), set[float]()
        for attempt in _measured_attempts(store, pk):
            answer = attempt.output.text or attempt.output.answer or ""
            spent = (attempt.started_at, attempt.duration, attempt.usage.subject.tokens, attempt.usage.cost)
            place = (attempt.case.removeprefix(f"{suite}/"), attempt.index, attempt.session, attempt.path)
            text = repr((place, attempt.outcome, attempt.reported, answer, spent))
            total += int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=7).digest())
            if len(answer) >= LONG and len(answers) < FEWEST and not is_greedy:
                answers.add(answer)
            if attempt.duration is not None and len(times) < FEWEST:
                times.add(attempt.duration)
        return _Content(total % (1 << 63), len(answers) >= FEWEST or len(times) >= FEWEST)

    return _keep(store, pk, "work", f"{VERSION}+{digest}", _Content, read)


def _keep(store: Store, pk: int, kind: str, version: str, shape: type[Kept], make: Callable[[], Kept]) -> Kept:
    if (data := kept_summary(store, pk, kind, version)) is not None:
        with suppress(msgspec.DecodeError):
            return msgspec.msgpack.decode(data, type=shape)
    made = make()
    with suppress(StoreError):  # a store that can only be read is read again each time
        keep_summary(store, pk, kind, version, pack(made))
    return made
