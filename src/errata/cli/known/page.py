"""What the pages about known gaps share."""

from typing import Any

from errata.cli.output import put_command
from errata.memory.known_gaps import Known
from errata.runs.names import handle_of
from errata.store.database import Store

NAMED = 4


def put_next(known: Known, store: Store, note: str) -> None:
    """What has to be triaged anew for this to show; all runs where they are many."""
    if known.runs:
        handles = [handle_of(one, store) for one in known.runs[: NAMED + 1]]
        put_command("Next", ["errata", "triage", *(handles if len(handles) <= NAMED else [])], note)


def json_of(known: Known) -> dict[str, Any]:
    failing = [one.run.native_id for one in known.runs]
    return {"gap": known.gap, "cases": known.cases, "was": known.was.text if known.was else None, "runs": failing}
