"""The plan of a rerun: commands, what has to be done by hand, and the cost."""

from collections import Counter

from errata.model.output.act import RerunByHand, RerunCommand, RerunCost, RerunNote, RerunOutput, RerunReason
from errata.rerun import Command
from errata.rerun.selection import Rerun


def rerun_output(rerun: Rerun) -> RerunOutput:
    run, estimate = rerun.stored.run, rerun.estimate
    return RerunOutput(
        run=run.native_id,
        run_id=run.id,
        model=run.subject.model,
        source=run.source.name,
        attempts=rerun.attempts,
        recovered=rerun.recovered,
        commands=tuple(map(_command_output, rerun.plan.commands)),
        by_hand=tuple(
            RerunByHand(
                case=item.attempt.case,
                attempt=item.attempt.index,
                why=item.attempt.why,
                signal=item.attempt.signal or None,
                why_not=item.why_not,
                about=item.about or None,
            )
            for item in rerun.plan.by_hand
        ),
        notes=tuple(RerunNote(note=note.name, values=note.values) for note in rerun.plan.notes),
        cost=RerunCost(total=estimate.total, each=estimate.each, basis=estimate.basis) if estimate else None,
    )


def _command_output(command: Command) -> RerunCommand:
    reasons = Counter((one.why, one.signal) for one in command.attempts)
    return RerunCommand(
        argv=command.argv,
        env=command.env,
        line=command.line,
        cases=tuple(command.cases),
        attempts=len(command.attempts),
        reasons=tuple(
            RerunReason(why=why, signal=signal or None, attempts=count)
            for (why, signal), count in reasons.most_common()
        ),
        also=command.also,
        also_why=command.also_why,
        fill_in=command.fill_in,
    )
