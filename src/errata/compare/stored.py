"""What a comparison reads from the store and keeps there: cases, changed tasks, and a summary of each run."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path

import msgspec

from errata import compare, model
from errata.compare.categories import CaseFacts
from errata.compare.matrix import Matrix
from errata.compare.summaries import RunSummary, RunTrials, summarise_run
from errata.compare.trials import Timeouts
from errata.errors import StoreError
from errata.model import Case, Run, StoredRun
from errata.model.codec import pack
from errata.model.run import case_name
from errata.store.attempts import cases_of
from errata.store.buckets import bucket_marks
from errata.store.case_outcomes import cases_named
from errata.store.case_versions import tasks_apart
from errata.store.database import Store
from errata.store.runs import keep_summary, kept_summary
from errata.text.outgoing import line_for_user

ASKS = 48


def kept_run_summary(stored: StoredRun, store: Store, timeouts: Timeouts, *, to_pool: bool) -> RunSummary | None:
    """None where there is none, or where it was made from something else."""
    data = kept_summary(store, stored.pk, _kind(timeouts, to_pool=to_pool), _version(stored, store))
    try:
        return None if data is None else _decoder.decode(data)
    except msgspec.DecodeError:
        return None


_decoder = msgspec.msgpack.Decoder(RunSummary)


def make_run_summary(stored: StoredRun, store: Store, counted: RunTrials, *, problems: tuple[str, ...]) -> RunSummary:
    """Kept beside the run. `problems` are what makes it unfit for comparison."""
    summary = summarise_run(
        counted,
        problems=problems,
    )
    kind = _kind(counted.trials.timeouts, to_pool=counted.trials.to_pool)
    with suppress(StoreError):  # a store that is read-only still gives every answer
        keep_summary(store, stored.pk, kind, _version(stored, store), pack(summary))
    return summary


def _kind(timeouts: Timeouts, *, to_pool: bool) -> str:
    return f"comparison, timeouts {timeouts}{', to be pooled' if to_pool else ''}"


def _version(stored: StoredRun, store: Store) -> str:
    """The facts, what is thought of them, and how they are counted."""
    mark = bucket_marks(store, [stored.run.id])[stored.run.id]
    return f"{_code()}+{stored.digest}+{mark.triaged}+{mark.verdicts}:{mark.newest}"


@cache
def _code() -> str:
    """Over the code that counts and checks, so that no summary outlives a change of it."""
    digest = blake2b(digest_size=8)
    folders = [Path(path) for package in (compare, model) for path in package.__path__]
    folders += [folder.with_name("checkup") for folder in folders[:1]]
    for file in sorted(file for folder in folders for file in folder.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def changed_cases(pks: Sequence[int], store: Store) -> set[str]:
    return set(tasks_apart(store, tuple(sorted(set(pks)))))


def cases_in(matrix: Matrix, store: Store) -> dict[str, CaseFacts]:
    """Case → what is known of it, whether or not a log describes it."""
    first = matrix.columns[0].run
    facts = {case.key: _facts(run, case) for run, case in _described(matrix, matrix.rows, store)}
    return {case: facts.get(case) or CaseFacts(case_name(first, case)) for case in matrix.rows}


def what_they_ask(matrix: Matrix, keys: Sequence[str], store: Store) -> dict[str, str]:
    """Case → the beginning of its text, where it is one and not made of messages."""
    texts = {case.key: case.input for _, case in _described(matrix, keys, store) if isinstance(case.input, str)}
    # redacted whole: half a secret looks like none
    return {key: line_for_user(text, ASKS) for key, text in texts.items()}


def _described(matrix: Matrix, keys: Iterable[str], store: Store) -> Iterator[tuple[Run, Case]]:
    """Each case once, from the first run whose log describes it."""
    wanted = set(keys)
    whole = len(wanted) == len(matrix.rows)
    for at, column in enumerate(matrix.columns):
        if not wanted:
            return
        for case in cases_of(store, column.pk) if whole and at == 0 else cases_named(store, column.pk, sorted(wanted)):
            if case.key in wanted:
                wanted.discard(case.key)
                yield column.run, case


def _facts(run: Run, case: Case) -> CaseFacts:
    return CaseFacts(case_name(run, case.key), case.categories)
