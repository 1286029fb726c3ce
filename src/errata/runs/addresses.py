"""What a user means by CASE: a name or the end of it, RUN/CASE, an attempt's id, or the name of a bucket."""

from collections.abc import Sequence

from errata.errors import NotFoundError
from errata.model import StoredRun
from errata.model.action import CaseAddress
from errata.model.identity import split_attempt_id
from errata.runs.names import LISTED
from errata.store.database import Store
from errata.store.named_cases import bucket_cases, case_keys, cases_ending, suites_of
from errata.store.runs import all_runs, find_run, run_by_id
from errata.text.nearest import did_you_mean


def resolve_address(text: str, store: Store, *, run: StoredRun | None = None, suite: str = "") -> CaseAddress:
    """A case or a bucket."""
    found = resolve_case(text, store, run=run, suite=suite)
    if found:
        return found
    buckets = bucket_cases(store)
    if text in buckets:
        return CaseAddress(key=text, cases=buckets[text])
    raise not_found(text, store, suite=suite, besides=tuple(buckets))


def resolve_case(text: str, store: Store, *, run: StoredRun | None = None, suite: str = "") -> CaseAddress | None:
    """By its name, or with the run in front of it."""
    return case_named(text, store, run=run, suite=suite) or _of_run(text, store)


def case_named(text: str, store: Store, *, run: StoredRun | None = None, suite: str = "") -> CaseAddress | None:
    """By its key, its name, or the end of it where no other case ends so."""
    keys = cases_ending(store, text, suite=suite, pk=run.pk if run else None)
    if not keys:
        return None
    suites = suites_of(store, keys)
    known = [(key, name) for key in keys for name in sorted(suites[key])]
    whole = [(key, name) for key, name in known if key in (text, f"{name}/{text}")] or known
    if len(whole) > 1:
        listed = [f"`{key}`" for key, _ in whole[:LISTED]]
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
    told = f" of `{suite}`" if suite else ""
    return NotFoundError(f"No case{told} is named `{text}`", hint="\n".join(filter(None, hints)))


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
        run = find_run(store, head)
    except NotFoundError:
        return None
    return case_named(rest, store, run=run)
