"""A gate as `--json` prints it."""

from collections.abc import Iterable

from errata.compare.changes import CaseChange
from errata.compare.gate import Gate
from errata.json_output.scores import json_score
from errata.model.output.gate import CaseChangeOutput, GateChangesOutput, GateOutput, StaleEntryOutput


def json_gate(gate: Gate, *, recorded: bool) -> GateOutput:
    given, baseline = gate.given, gate.given.baseline
    return GateOutput(
        run=given.run.run.native_id,
        run_id=given.run.run.id,
        verdict=gate.verdict,
        codes=gate.codes,
        notes=gate.notes,
        baseline=baseline.run.native_id if baseline else None,
        baseline_id=baseline.run.id if baseline else None,
        owners=tuple(sorted(gate.rules.owners)),
        policy=gate.rules.policy,
        min_score=gate.rules.min_score,
        fit=given.fit,
        problems=given.problems,
        refusal=given.refusal or None,
        differences=given.differences,
        scores={policy: json_score(score) for policy, score in given.scores.items()},
        baseline_scores={policy: json_score(score) for policy, score in given.baseline_scores.items()},
        changes=_changes(gate),
        stale_allowances=tuple(
            StaleEntryOutput(case=entry.name, line=entry.line, reason=entry.reason or None) for entry in gate.stale
        ),
        recorded=recorded,
    )


def _changes(gate: Gate) -> GateChangesOutput | None:
    changes = gate.given.changes
    if changes is None:
        return None
    return GateChangesOutput(
        new=_cases(gate.new),
        allowed=_cases(gate.allowed),
        others=_cases(gate.others),
        infrastructure=_cases(gate.infrastructure),
        flaky=_cases(changes.of("flaky")),
        fixed=_cases(changes.of("fixed")),
        missing=_cases(changes.of("missing")),
        added=_cases(changes.of("added")),
        edited=_cases(changes.of("edited")),
        not_measured=_cases(changes.of("not_measured")),
        no_baseline_result=_cases(changes.of("no_baseline_result")),
        still_failing=len(changes.of("still_failing")),
        still_passing=len(changes.of("still_passing")),
        shared=changes.shared,
        p=changes.test.p,
        significant=changes.test.differs,
    )


def _cases(cases: Iterable[CaseChange]) -> tuple[CaseChangeOutput, ...]:
    return tuple(
        CaseChangeOutput(
            case=change.name,
            case_key=change.case,
            fails=change.fails,
            owner=change.failure.owner or None,
            presumed=change.failure.is_presumed,
            reason=change.failure.reason or None,
            attempt_id=change.failure.attempt or None,
            passed_before=change.before,
            passed_now=change.after,
        )
        for change in cases
    )
