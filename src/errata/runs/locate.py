"""What a user means by RUN, RUN/CASE or ATTEMPT: a run of the store, and the attempt where one is named."""

import shlex
from collections.abc import Callable, Iterator

import msgspec

from errata.errors import NotFoundError, UnknownFormatError
from errata.model import Attempt, StoredRun
from errata.model.identity import split_attempt_id
from errata.runs.failures import case_names
from errata.runs.names import handle_of, is_path, known_run, run_named, runs_of_model
from errata.store.attempts import attempt_by_id, attempts_of
from errata.store.database import Store
from errata.store.runs import find_run, run_by_id
from errata.text.nearest import did_you_mean


class Located(msgspec.Struct, frozen=True):
    stored: StoredRun
    attempt: Attempt | None = None
    """None where a run is named."""


def locate(thing: str, store: Store) -> Located:
    """An attempt by its id, a run as RUN, a case as RUN/CASE with `#2` for its second attempt; a path is imported."""
    return _located(thing, store, _split)


def locate_known(thing: str, store: Store) -> Located:
    """The same, but never a path: for names that somebody else wrote."""
    return _located(thing, store, _split_known)


def _located(thing: str, store: Store, split: Callable[[str, Store], tuple[StoredRun, str]]) -> Located:
    try:
        parts = split_attempt_id(thing)
    except ValueError:
        parts = None
    if parts is not None and ":" in thing:
        return Located(run_by_id(store, parts.run), attempt_by_id(store, thing))
    stored, case = split(thing, store)
    return Located(stored, _attempt_at(stored, case, store) if case else None)


def _split(thing: str, store: Store) -> tuple[StoredRun, str]:
    """The longest beginning that is a run's path is the RUN, and the rest names a case; else as the store knows it."""
    problem = None
    for path, case in _paths(thing):
        try:
            return run_named(path, store), case
        except UnknownFormatError as error:  # a folder inside of a run, or one that only bears a run's name
            problem = problem or error
    try:
        return _split_known(thing, store)
    except NotFoundError:
        if problem is not None:
            raise problem from None
        raise


def _paths(thing: str) -> Iterator[tuple[str, str]]:
    """Every beginning of it that is there, the longest first, with what follows."""
    parts = thing.split("/")
    for at in range(len(parts), 0, -1):
        path = "/".join(parts[:at])
        # `./no-such-run/case` does not mean all that is here
        if (at == len(parts) or parts[at - 1] not in ("", ".", "..")) and is_path(path):
            yield path, "/".join(parts[at:])


def _split_known(thing: str, store: Store) -> tuple[StoredRun, str]:
    """RUN alone wins; else what stands before the first slash is the RUN, and the rest names a case."""
    head, slash, rest = thing.partition("/")
    if not slash or not head:
        return known_run(thing, store), ""
    try:
        return find_run(store, thing), ""
    except NotFoundError:
        # a model may have a slash in its name, and is no run
        return known_run(thing if runs_of_model(thing, store) else head, store), rest


def _attempt_at(stored: StoredRun, case: str, store: Store) -> Attempt:
    """By its name, or by the beginning of it where no other case begins so."""
    for name, wanted in _named(case):
        for key in (name, f"{stored.run.suite}/{name}"):
            found = [attempt for attempt in attempts_of(store, stored.pk, case=key) if attempt.parent is None]
            counted = [attempt for attempt in found if attempt.counted] or found
            chosen = [attempt for attempt in counted if attempt.index == wanted] if wanted else counted
            if chosen:
                return attempt_by_id(store, chosen[0].id)
    names = list(case_names(stored, store))
    meant = [name for name in names if name.startswith(case)]
    if len(meant) == 1:
        return _attempt_at(stored, meant[0], store)
    listing = f"`{shlex.join(['errata', 'failures', handle_of(stored, store)])}` lists those that failed"
    raise NotFoundError(
        f"Run `{stored.run.native_id}` has no case `{case}`",
        hint="\n".join(filter(None, (did_you_mean(case, names), listing))),
    )


def _named(case: str) -> list[tuple[str, int]]:
    """What CASE may mean: a name, or a name and the number of an attempt."""
    name, _, number = case.rpartition("#")
    return [(case, 0), (name, int(number))] if name and number.isdecimal() else [(case, 0)]
