"""The verb `action rm`: forgetting what was done, in the store and, where that is asked for, in the report."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from errata.errors import ReportError
from errata.memory.actions_section import Edited, without_entry
from errata.memory.edit_report import edit_report
from errata.memory.entries import entry_for
from errata.model import Action, Run
from errata.store.database import Store
from errata.store.memory import action_by_id, forget_action


class Removed(msgspec.Struct, frozen=True, kw_only=True):
    action: Action
    edited: Edited | None = None
    """The report without its line, where that was asked for."""

    @property
    def undo(self) -> list[str]:
        """The command that brings it back."""
        action = self.action
        words = ["errata", "action", "add", "--what", action.what, "--path", action.path, "--date", action.date]
        words += [word for address in action.addresses for word in ("--for", address)]
        words += ["--author", action.author] if action.author else []
        words += ["--expected", action.expected_effect] if action.expected_effect else []
        return [*words, *(["--report", action.report] if self.edited else [])]


def remove_action(beginning: str, store: Store, *, from_report: bool = False, dry_run: bool = False) -> Removed:
    """Out of the store and, where that is asked for, out of the report."""
    action = action_by_id(store, beginning)
    edited = _out_of_report(action, dry_run=dry_run) if from_report else None
    if not dry_run:
        forget_action(store, action.id)
    return Removed(action=action, edited=edited)


def subject_of(run: Run) -> str:
    """What has to be the same for two runs to be compared: the model, its agent, the variant."""
    parts = (run.subject.model, run.subject.agent, *(f"{key}={value}" for key, value in sorted(run.variant.items())))
    return " ".join(part for part in parts if part)


def _out_of_report(action: Action, *, dry_run: bool) -> Edited:
    if not action.report:
        raise ReportError(
            f"Action `{action.id}` was written into no report", hint="leave out `--report` to forget it in the store"
        )

    def edit(data: bytes) -> Edited:
        entries = (entry_for(action, suite) for suite in _possible_suites(action))
        found = next((edited for entry in entries if (edited := without_entry(data, entry))), None)
        if found is None:
            raise ReportError(
                f"`{action.report}` does not have its line any more as errata wrote it",
                hint="take it out by hand; without `--report` the store alone forgets it",
            )
        return found

    return edit_report(Path(action.report), edit, dry_run=dry_run)


def _possible_suites(action: Action) -> Iterator[str]:
    """The run that told the suite may be forgotten since."""
    yield ""
    for address in action.addresses:
        parts = address.split("/")
        yield from ("/".join(parts[:size]) for size in range(1, len(parts)))
