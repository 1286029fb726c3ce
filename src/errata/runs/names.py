"""What a user means by RUN: a path, which is imported first, or a name that the store knows."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from errata.errors import ErrataError, NotFoundError, did_you_mean
from errata.model import Run, StoredRun
from errata.runs.importing import import_paths
from errata.runs.orders import all_of
from errata.sources import harness_of
from errata.store.database import Store
from errata.store.runs import all_runs, find_run, run_by_id
from errata.text.clean import one_line

LISTED = 10
VALUE = 48
SHORT, LONG = 8, 16


def runs_named(selectors: Iterable[str], store: Store) -> Iterator[StoredRun]:
    """Every run that is meant, in the order given, each once.

    A wrong selector does not hide the others: its error is raised at the end.
    """
    seen: set[str] = set()
    problems: list[ErrataError] = []
    for selector in selectors:
        try:
            matches = _runs_of(selector, store)
        except ErrataError as problem:
            problems.append(problem)
            continue
        for stored in matches:
            if stored.run.id not in seen:
                seen.add(stored.run.id)
                yield stored
    if problems:
        raise all_of(problems)


def run_named(selector: str, store: Store) -> StoredRun:
    """The one run that is meant."""
    matches = list(runs_named([selector], store))
    if len(matches) > 1:
        raise NotFoundError(f"`{selector}` holds {len(matches)} runs", hint=f"name one of them:\n{candidates(matches)}")
    return matches[0]


def known_run(selector: str, store: Store) -> StoredRun:
    """The one run of the store that is meant, never a path to be imported."""
    try:
        return find_run(store, selector)
    except NotFoundError as error:
        if of_model := runs_of_model(selector, store):
            problem = f"`{selector}` is a model, not a run"
            raise NotFoundError(problem, hint=f"name one of its runs:\n{candidates(of_model)}") from None
        meant = did_you_mean(selector, _names(store))
        if not meant or "\n" in error.hint:
            raise
        raise NotFoundError(error.message, hint=f"{meant}\n{error.hint}") from None


def runs_of_model(name: str, store: Store) -> list[StoredRun]:
    return [one for one in all_runs(store) if name and one.run.subject.model == name]


def candidates(runs: list[StoredRun]) -> str:
    """A line for each run that may be meant, with what distinguishes it and the id that names it alone."""
    lines = [" · ".join([*described(one.run), f"id {one.run.id}"]) for one in runs[:LISTED]]
    more = [f"and {len(runs) - LISTED} more: `errata runs` lists them all"] if len(runs) > LISTED else []
    return "\n".join([*lines, *more])


def described(run: Run) -> list[str]:
    """What people know a run by: its name, its subject, its variant."""
    return [part for part in (run.native_id, run.subject.model, run.subject.agent, *variant_of(run)) if part]


def variant_of(run: Run) -> list[str]:
    """`prompt terse`, `experiment default`; of a value that is a whole text, its beginning."""
    return [f"{key} {one_line(value, VALUE)}" for key, value in run.variant.items()]


def _names(store: Store) -> Iterator[str]:
    stored = all_runs(store)
    yield from ["latest"] if stored else []
    for run in stored:
        yield from (run.run.native_id, run.run.name, short(run.run.native_id), run.run.subject.model)


def _runs_of(selector: str, store: Store) -> list[StoredRun]:
    if not is_path(selector):
        return [known_run(selector, store)]
    summaries = import_paths([Path(selector)], store)
    return [run_by_id(store, run.id) for summary in summaries for run in summary.runs]


def is_path(selector: str) -> bool:
    try:
        return Path(selector).exists()
    except (OSError, ValueError):  # a name that no file can have
        return False


def handle_of(stored: StoredRun, store: Store) -> str:
    """The shortest name that a person can type for a run."""
    return handles_of(all_runs(store))[stored.run.id]


def handles_of(runs: Iterable[StoredRun]) -> dict[str, str]:
    """Id → the short name, or the beginning of a long one, where that leads to this run alone; else to the id's."""
    known = [one.run for one in runs]
    named = Counter(name for run in known for name in {run.native_id, run.name, short(run.native_id)})
    beginnings = sorted(name for run in known for name in (run.native_id, run.id))

    def is_unique(head: str) -> bool:
        at = bisect_left(beginnings, head)
        return not any(one.startswith(head) for one in beginnings[at + 1 : at + 2])

    def handle(run: Run) -> str:
        name = short(run.native_id)
        if name and named[name] == 1 and named[run.native_id] == 1:
            heads = [name] if len(name) <= LONG else [name[:size] for size in range(SHORT, LONG)]
            shortest = next((head for head in heads if head == run.native_id or is_unique(head)), "")
            if shortest:
                return shortest.rstrip("-_.:T ") if is_unique(shortest.rstrip("-_.:T ")) else shortest
        return next((run.id[:size] for size in (SHORT, 12) if is_unique(run.id[:size])), run.id)

    return {run.id: handle(run) for run in known}


def short(native_id: str) -> str:
    """The 8-hex tail of a dated folder, the first 8 characters of a long id, else the name itself."""
    head, _, tail = native_id.rpartition("_")
    if head and len(tail) == SHORT and all(letter in "0123456789abcdef" for letter in tail):
        return tail
    return native_id[:SHORT] if _LONG_ID.fullmatch(native_id) else native_id


# one or two long ids without any word in them, or a UUID
_LONG_ID = re.compile(r"[A-Za-z0-9]{20,}(?:_[A-Za-z0-9]{20,})?|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def are_judged_turns(runs: Sequence[StoredRun]) -> bool:
    """Whether tables of these runs have the columns of judged turns."""
    return bool(runs) and all(harness_of(stored.run.source.name).judges_turns for stored in runs)
