"""Actions: what was added, and whether each worked."""

from errata.memory.actions import ActionRecord, ActionStatus
from errata.model.output.memory import ActionAddOutput, ActionListOutput


def added_output(record: ActionRecord, *, dry_run: bool) -> ActionAddOutput:
    return ActionAddOutput(
        action=record.action,
        new=record.is_new,
        run=record.run.run.native_id if record.run else None,
        report=str(record.report.absolute()) if record.report else None,
        written=record.written,
        line=record.line,
        text=record.text or None,
        dry_run=dry_run,
    )


def action_output(status: ActionStatus) -> ActionListOutput:
    effect = status.effect
    return ActionListOutput(
        action=effect.resolved,
        kept=status.in_store,
        worked=effect.worked,
        why=effect.reason,
        case_effects=effect.cases,
        run=effect.run or None,
    )
