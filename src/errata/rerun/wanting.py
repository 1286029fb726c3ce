"""Which attempts are to be repeated: what failed for reasons that are not the subject's, and what was never made."""

from collections.abc import Container
from typing import NamedTuple

import msgspec

from errata.model import Attempt
from errata.rerun.plan import NEVER_MADE, Wanted

NOT_MEASURED = "not measured"
ASKED_FOR = "asked for"


class Said(NamedTuple):
    """What triage says of a failure, as far as it matters here."""

    owner: str = ""
    signal: str = ""
    broken: bool = False
    """The measurement is at fault, not the answer."""


NOTHING_SAID = Said()


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    owners: Container[str]
    """Whose failures are repeated."""
    only_owners: bool = False
    """Theirs alone: neither what was never made nor what was not measured."""
    cases: frozenset[str] | None = None
    """Keys of the only cases that are looked at, whoever owns their failures."""


def want(attempt: Attempt, name: str, said: Said, choice: Choice) -> Wanted | None:
    """The attempt as one to be repeated, with the reason; none where it stays as it is."""
    reason = _reason(attempt, said, choice)
    return None if reason is None else wanted(attempt, name, *reason)


def wanted(attempt: Attempt, name: str, why: str, signal: str = "") -> Wanted:
    return Wanted(
        case=name,
        index=attempt.index,
        why=why,
        signal=signal,
        execution=attempt.execution,
        native_status=attempt.native_status,
        broke=broke(attempt),
    )


def broke(attempt: Attempt) -> bool:
    """It was never made, or ended in what its harness itself calls an error."""
    ended = attempt.execution in NEVER_MADE or attempt.execution in ("error", "cancelled")
    return ended or attempt.measurement == "error" or attempt.invalidated is not None


def _reason(attempt: Attempt, said: Said, choice: Choice) -> tuple[str, str] | None:
    if attempt.duplicate_of is not None or (choice.cases is not None and attempt.case not in choice.cases):
        return None
    if said.owner in choice.owners:
        return said.owner, said.signal
    if choice.only_owners:
        return None
    if attempt.execution in NEVER_MADE:
        return attempt.execution, ""
    if said.broken or attempt.measurement in ("error", "unscored"):
        return NOT_MEASURED, said.signal
    if choice.cases is not None and attempt.outcome != "pass":
        return said.owner or ASKED_FOR, said.signal
    return None
