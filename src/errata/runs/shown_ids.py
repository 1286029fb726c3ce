"""Ids as they may be shown: without the secrets in the names of cases. An id that is shown is found again."""

from collections.abc import Iterable

from errata.errors import NotFoundError
from errata.model.identity import attempt_id, split_attempt_id
from errata.runs.names import known_run
from errata.store.database import Store
from errata.store.elsewhere import case_keys
from errata.text.outgoing import name_without_secrets

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
