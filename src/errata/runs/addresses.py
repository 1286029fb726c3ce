"""What a user means by CASE: a name or its end, RUN/CASE, an attempt's id, a bucket; and by the target of a review."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from errata.errors import ErrataError, NotFoundError, UnknownFormatError, did_you_mean
from errata.model import Attempt, StoredRun
from errata.model.action import CaseAddress
from errata.model.identity import attempt_id, split_attempt_id
from errata.runs.failures import case_names
from errata.runs.names import (
    LISTED,
    handle_of,
    is_name_of_runs,
    is_path,
    known_run,
    run_named,
    runs_named,
    runs_of_model,
)
from errata.store.attempts import attempt_by_id, attempts_of
from errata.store.buckets import bucket_runs
from errata.store.database import Store
from errata.store.elsewhere import bucket_cases, case_keys, cases_ending, suites_of, tries_of
from errata.store.runs import all_runs, run_by_id
from errata.text.clean import one_line
from errata.text.outgoing import name_without_secrets
from errata.text.shell import command_line


def resolve_address(text: str, store: Store, *, run: StoredRun | None = None, suite: str = "") -> CaseAddress:
    case = resolve_case(text, store, run=run, suite=suite)
    if case:
        return case
    buckets = bucket_cases(store)
    if text in buckets:
        return CaseAddress(key=text, cases=buckets[text])
    raise not_found(text, store, suite=suite, besides=tuple(buckets))


def resolve_case(text: str, store: Store, *, run: StoredRun | None = None, suite: str = "") -> CaseAddress | None:
    """By its name, or with the run in front of it."""
    return case_named(text, store, run=run, suite=suite) or _of_run(text, store)


def case_named(text: str, store: Store, *, run: StoredRun | None = None, suite: str = "") -> CaseAddress | None:
    """By its key, its name, or the end of it where no other case ends so."""
    pk = run.pk if run else None
    text = original_case(text, case_keys(store, suite=suite, pk=pk)) if MARK in text else text
    keys = cases_ending(store, text, suite=suite, pk=pk)
    if not keys and text.isdecimal():
        keys = _ending(case_keys(store, suite=suite, pk=pk), text)
    if not keys:
        return None
    suites = suites_of(store, keys)
    known = [(key, name) for key in keys for name in sorted(suites[key])]
    whole = [(key, name) for key, name in known if key in (text, f"{name}/{text}")] or known
    if len(whole) > 1:
        listed = [f"`{one_line(key)}`" for key, _ in whole[:LISTED]]
        more = [f"and {len(whole) - LISTED} more"] if len(whole) > LISTED else []
        raise NotFoundError(f"`{text}` names {len(whole)} cases", hint="\n".join(["name one of them:", *listed, *more]))
    key, name = whole[0]
    return CaseAddress(key=key, suite=name, run=run, cases=(key,))


def not_found(text: str, store: Store, *, suite: str = "", besides: Sequence[str] = ()) -> NotFoundError:
    keys = case_keys(store, suite=suite)
    if not keys:
        return NotFoundError(
            f"No case is named `{text}`: the store holds no runs{f' of `{suite}`' if suite else ' yet'}",
            hint="`errata import PATH…` reads some; `errata runs` lists those it has",
        )
    suites = sorted({one.run.suite for one in all_runs(store)} - {""}, key=len, reverse=True)
    names = [key.removeprefix(next((f"{one}/" for one in suites if key.startswith(f"{one}/")), "")) for key in keys]
    # who leaves out the beginning of a name may misspell the rest
    endings = ["/".join(name.split("/")[-text.count("/") - 1 :]) for name in names]
    meant = did_you_mean(text, [*names, *besides]) or did_you_mean(text, endings)
    hints = (meant, "`errata failures RUN` lists the cases that failed")
    of = f" of `{suite}`" if suite else ""
    return NotFoundError(f"No case{of} is named `{text}`", hint="\n".join(filter(None, hints)))


def _of_run(text: str, store: Store) -> CaseAddress | None:
    """RUN/CASE, or the id of an attempt as `errata failures --json` gives it."""
    try:
        parts = split_attempt_id(text)
        return case_named(parts.case, store, run=run_by_id(store, parts.run))
    except ValueError:
        pass
    head, slash, rest = text.partition("/")
    if not (head and slash and rest):
        return None
    try:
        run, case = _split_known(text, store)
    except NotFoundError:
        return None
    return case_named(case, store, run=run) if case else None


class Located(msgspec.Struct, frozen=True):
    stored: StoredRun
    attempt: Attempt | None = None
    """None where a run is named."""


def locate(thing: str, store: Store) -> Located:
    """An attempt by its id, a run as RUN, a case as RUN/CASE with `#2` for its second attempt, `#1.2` for that of its
    first session; a path is imported.

    CASE alone is that of the newest run that has it.
    """
    return _located(thing, store, _split)


def locate_known(thing: str, store: Store) -> Located:
    return _located(thing, store, _split_known)


def _located(thing: str, store: Store, split: Callable[[str, Store], tuple[StoredRun, str]]) -> Located:
    try:
        parts = split_attempt_id(thing)
    except ValueError:
        parts = None
    if parts is not None and "/" not in parts.run:  # RUN/CASE has one before the name, which may have a colon
        return Located(run_by_id(store, parts.run), attempt_by_id(store, original_id(thing, store)))
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
        if (run := _newest_with(thing, store)) is not None:
            return run, thing
        raise


def _newest_with(case: str, store: Store) -> StoredRun | None:
    for name, _, _ in _names_and_numbers(case):
        address = case_named(name, store)
        if address is not None:
            runs = {tried.run_id for tried in tries_of(store, address.cases)}
            return next((one for one in all_runs(store) if one.run.id in runs), None)
    return None


def _paths(thing: str) -> Iterator[tuple[str, str]]:
    parts = thing.split("/")
    for at in range(len(parts), 0, -1):
        path = "/".join(parts[:at])
        # `./no-such-run/case` does not mean all that is here
        if (at == len(parts) or parts[at - 1] not in ("", ".", "..")) and is_path(path):
            yield path, "/".join(parts[at:])


def split_run(thing: str, store: Store) -> tuple[StoredRun, str]:
    """RUN and what follows its slash, however much of the case is there already."""
    head = thing.rstrip("/")
    stored, case = _split_known(f"{head}/-" if head != thing else thing, store)
    return stored, "" if head != thing else case


def bucket_slugs(store: Store) -> list[str]:
    return sorted(bucket_cases(store))


def _split_known(thing: str, store: Store) -> tuple[StoredRun, str]:
    """RUN alone wins; else the shortest beginning, before a slash, that names a run, and the rest names a case.

    Where none is, the part before the first slash may be the beginning of a name.
    """
    parts = thing.split("/")
    beginnings = ["/".join(parts[:at]) for at in range(1, len(parts)) if parts[0]]
    heads = [thing, *(head for head in beginnings if is_name_of_runs(head, store)), *beginnings[:1]]
    problem: NotFoundError | None = None
    several: NotFoundError | None = None
    for head in filter(None, dict.fromkeys(heads)):
        try:
            return known_run(head, store), thing[len(head) + 1 :]
        except NotFoundError as error:
            if runs_of_model(head, store):
                several = several or error  # a longer beginning may name one of them
            problem = error
    raise (
        several
        or problem
        or NotFoundError(f"No run matches `{thing}`", hint="`errata runs` lists the runs in the store")
    )


def _attempt_at(stored: StoredRun, case: str, store: Store) -> Attempt:
    """By its name, or by the beginning of it where no other case begins so."""
    for shown, session, wanted in _names_and_numbers(case):
        name = original_case(shown, case_keys(store, pk=stored.pk)) if MARK in shown else shown
        for key in (name, f"{stored.run.suite}/{name}"):
            attempts = [attempt for attempt in attempts_of(store, stored.pk, case=key) if attempt.parent is None]
            if session is None:
                attempts = [attempt for attempt in attempts if attempt.counted] or attempts
            else:
                attempts = [attempt for attempt in attempts if attempt.session == session]
            chosen = [attempt for attempt in attempts if attempt.index == wanted] if wanted else attempts
            if chosen:
                return attempt_by_id(store, chosen[0].id)
    names = list(case_names(stored, store))
    for meant in ([name for name in names if name.startswith(case)], _ending(names, case)):
        if len(meant) == 1:
            return _attempt_at(stored, meant[0], store)
    listing = f"`{command_line(['errata', 'failures', handle_of(stored, store)])}` lists those that failed"
    raise NotFoundError(
        f"Run `{stored.run.native_id}` has no case `{case}`",
        hint="\n".join(filter(None, (did_you_mean(case, names), listing))),
    )


def _ending(names: Iterable[str], text: str) -> list[str]:
    """Names that end in a text, where a word begins: `q-0094` and `Q0094` for `0094`, `a/b` for `b`."""
    first = "[0-9]" if text[:1].isdecimal() else r"\w"
    pattern = re.compile(rf".*(?<!{first}){re.escape(text)}", re.DOTALL)
    return [name for name in names if pattern.fullmatch(name)] if text else []


def _names_and_numbers(case: str) -> list[tuple[str, int | None, int]]:
    """What CASE may mean: a name, or a name with the number of an attempt, perhaps after that of its session."""
    name, _, numbers = case.rpartition("#")
    session, _, index = numbers.rpartition(".")
    if not name or not index.isdecimal() or not (session.isdecimal() or numbers == index):
        return [(case, None, 0)]
    numbered = (int(session) if session else None, int(index))
    # pages print a blank before the number
    return [(case, None, 0), *((one, *numbered) for one in dict.fromkeys((name, name.rstrip(" "))) if one)]


# --- what `errata review next` is asked about: a run, one failure, a folder with a comparison, or a bucket


SUFFIXES = (".json", ".jsonl", ".csv", ".md")
LARGEST = 1024 * 1024
MOST_FILES = 50


class ReviewTarget(msgspec.Struct, frozen=True, kw_only=True):
    runs: tuple[StoredRun, ...]
    attempt: Attempt | None = None
    bucket: str = ""
    """The slug, where a bucket is named."""


def review_target(thing: str, store: Store) -> ReviewTarget:
    """A run's name wins over a bucket's."""
    if is_path(thing) and Path(thing).is_dir():
        return ReviewTarget(runs=tuple(_runs_in(Path(thing), store)))
    if (bucket := bucket_runs(store, thing)) and not _names_a_run(thing, store):
        slug, runs = bucket
        return ReviewTarget(runs=tuple(run_by_id(store, run) for run in runs), bucket=slug)
    located = locate(thing, store)
    return ReviewTarget(runs=(located.stored,), attempt=located.attempt)


def _names_a_run(thing: str, store: Store) -> bool:
    try:
        known_run(thing, store)
    except ErrataError:
        return False
    return True


def _runs_in(folder: Path, store: Store) -> list[StoredRun]:
    """The runs that lie in it; else those of the store that its files name, as the files of a comparison do."""
    try:
        return list(runs_named([str(folder)], store))
    except ErrataError:
        named = _runs_named_in(folder, store)
        if not named:
            raise
        return named


def _runs_named_in(folder: Path, store: Store) -> list[StoredRun]:
    files = [path for path in sorted(folder.iterdir()) if path.suffix in SUFFIXES and path.is_file()][:MOST_FILES]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in files if path.stat().st_size <= LARGEST]
    words = {word for text in texts for word in re.findall(r"[^\s\"',|`()\[\]]+", text)}
    return [stored for stored in all_runs(store) if words & {stored.run.id, stored.run.native_id}]


# --- ids without the secrets in the names of cases; an id that is shown is found again


MARK = "[redacted:"


def shown_id(attempt: str) -> str:
    """The id of an attempt without secrets. Its number stays, whatever is in the name before it."""
    try:
        parts = split_attempt_id(attempt)
    except ValueError:
        return name_without_secrets(attempt)
    case, path = name_without_secrets(parts.case), name_without_secrets(parts.path)
    if (case, path) == (parts.case, parts.path):
        return attempt
    return attempt_id(parts.run, case, session=parts.session, index=parts.index, path=path)


def original_id(shown: str, store: Store) -> str:
    """The attempt that is shown under this id; any other text stays."""
    if MARK not in shown:
        return shown
    try:
        parts = split_attempt_id(shown)
    except ValueError:
        return shown
    case = original_case(parts.case, case_keys(store, pk=known_run(parts.run, store).pk))
    return attempt_id(parts.run, case, session=parts.session, index=parts.index, path=parts.path)


def original_case(shown: str, cases: Iterable[str]) -> str:
    """Keys begin with the suite; some addresses name it before the case. A page may have a name on one line."""
    spellings = (name for case in cases for name in (case, case.partition("/")[2]))
    wanted = shown.split()
    alike = [name for name in spellings if name and name_without_secrets(name).split() == wanted]
    if len(alike) > 1:
        hint = "`errata failures RUN` lists them"
        raise NotFoundError(f"{len(alike)} cases are named `{shown}`: only their secrets differ", hint=hint)
    return alike[0] if alike else shown
