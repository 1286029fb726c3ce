"""Ids as a page may show them: without the secrets in the names of cases. An id that is shown is found again."""

from collections.abc import Iterable, Mapping

from errata.errors import NotFoundError
from errata.model.identity import attempt_id, split_attempt_id
from errata.runs.names import known_run
from errata.store.database import Store
from errata.store.named_cases import case_keys
from errata.store.runs import all_runs
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


def original_ids(shown: Iterable[str], store: Store) -> list[str]:
    return [original_id(one, store) for one in shown]


def original_id(shown: str, store: Store) -> str:
    """The attempt that is shown under this id; any other text stays."""
    if MARK not in shown:
        return shown
    try:
        parts = split_attempt_id(shown)
    except ValueError:
        return shown
    case = _original_case(parts.case, case_keys(store, pk=known_run(parts.run, store).pk))
    return attempt_id(parts.run, case, session=parts.session, index=parts.index, path=parts.path)


def original_values(values: Mapping[str, str], store: Store) -> dict[str, str]:
    """The parts of an address as the store has them: `attempt`, or `case` with its `run` or `suite`."""
    original = dict(values)
    if MARK in values.get("suite", ""):
        suites = {stored.run.suite for stored in all_runs(store)}
        original["suite"] = next(
            (suite for suite in sorted(suites) if name_without_secrets(suite) == values["suite"]), values["suite"]
        )
    if MARK in values.get("case", ""):
        pk = known_run(values["run"], store).pk if "run" in values else None
        original["case"] = _original_case(values["case"], case_keys(store, suite=original.get("suite", ""), pk=pk))
    if MARK in values.get("attempt", ""):
        original["attempt"] = original_id(values["attempt"], store)
    return original


def _original_case(shown: str, cases: Iterable[str]) -> str:
    """Keys begin with the suite; some addresses name it before the case."""
    spellings = (name for case in cases for name in (case, case.partition("/")[2]))
    alike = [name for name in spellings if name and name_without_secrets(name) == shown]
    if len(alike) > 1:
        hint = "`errata failures RUN` lists them"
        raise NotFoundError(f"{len(alike)} cases are named `{shown}`: only their secrets differ", hint=hint)
    return alike[0] if alike else shown
