"""One instance → its case and its attempt, from what the report, the logs and the agent's trajectory say of it."""

from typing import NamedTuple

from errata.model import Attempt, Case, Check, ErrorInfo, Output, Run, SourceRef, UsageByRole, case_key
from errata.model.words import Execution, Measurement, Outcome
from errata.sources.shared.facts import MISSING, Facts
from errata.sources.shared.values import known
from errata.sources.swe_bench.tests_status import SCORER
from errata.sources.swe_bench.trajectory import Trajectory
from errata.sources.swe_bench.verdict import Verdict, broken


class Instance(NamedTuple):
    """All that is known of one instance in a run."""

    name: str
    ref: SourceRef
    lists: tuple[str, ...] = ()
    """Those of the report that name it: `resolved`, `error`."""
    reason: str = ""
    verdict: Verdict = Verdict()
    patch: str | None = None
    trajectory: Trajectory | None = None
    others: tuple[str, ...] = ()
    """Further trajectories of it, which were not read."""
    counted: bool | None = None


def case_of(run: Run, one: Instance) -> Case:
    made = one.trajectory
    return Case(
        run=run.id,
        suite=run.suite,
        native_id=one.name,
        category=repository_of(one.name),
        input=made.task if made else None,
        artefacts=made.reference if made else (),
        ref=one.ref,
    )


def attempt_of(run: Run, one: Instance) -> Attempt:
    made, verdict = one.trajectory, one.verdict
    errors = (*(made.errors if made else ()), *_broken(one))
    execution, measurement, outcome = _facts(one)
    patch = one.patch if one.patch is not None else made.submission if made else None
    return Attempt(
        run=run.id,
        case=case_key(run.suite, one.name),
        execution=execution,
        measurement=measurement,
        outcome=outcome,
        native_status=_status(one),
        native_reason=one.reason or verdict.reason,
        reported=_reported(one),
        reported_counted=one.counted,
        output=Output(text=patch),
        limit=made.limit if made else None,
        errors=errors,
        checks=_checks(one),
        steps=made.steps if made else (),
        artefacts=verdict.artefacts,
        usage=UsageByRole(subject=made.usage) if made else UsageByRole(),
        ref=one.ref,
        extra=verdict.extra | _extra(one, patch),
    )


def repository_of(name: str) -> str:
    """`django__django-1` is of `django/django`; SWE-bench Pro writes `instance_` before it."""
    owner, found, rest = name.removeprefix("instance_").partition("__")
    return f"{owner}/{rest.partition('-')[0]}" if found and "-" in rest else ""


def _facts(one: Instance) -> Facts:
    execution: Execution = one.trajectory.execution if one.trajectory else "completed"
    if one.lists and set(one.lists) <= {"incomplete"} and one.trajectory is None:
        return MISSING
    resolved = _resolved(one)
    if resolved is None:
        measured: Measurement = "error" if _broken(one) else "not_run"
        return Facts(execution, measured, "none")
    outcome: Outcome = "pass" if resolved else "fail"
    handed_in = bool(one.patch or (one.trajectory and one.trajectory.submission))
    if execution == "error" and outcome == "fail" and not handed_in:
        outcome = "none"  # it crashed, and there was nothing to measure
    return Facts(execution, "scored", outcome)


def _resolved(one: Instance) -> bool | None:
    """What the instance's own report says goes before the lists; none where the measurement broke."""
    if _is_infra(one):
        return None
    if one.verdict.resolved is not None:
        return one.verdict.resolved
    if "resolved" in one.lists:
        return True
    # an empty patch is not tried: SWE-bench knows that it resolves nothing
    return False if {"unresolved", "empty_patch"} & set(one.lists) else None


def _is_infra(one: Instance) -> bool:
    return "infra_failure" in one.lists or one.verdict.is_infra


def _broken(one: Instance) -> tuple[ErrorInfo, ...]:
    """What kept the patch from being measured; a patch that does not apply was measured."""
    if one.verdict.resolved is not None and not _is_infra(one):
        return ()
    if not _is_infra(one) and "error" not in one.lists and not one.verdict.errors:
        return ()
    phase = "environment" if _is_infra(one) else "scoring"
    if not one.verdict.errors:
        return (broken(one.reason, "", phase, one.ref),)  # type: ignore[arg-type]  # one of the phases
    first = one.verdict.errors[0]
    kind = one.reason or first.type
    return (broken(kind, first.message, "environment" if _is_infra(one) else first.phase, first.ref),)


def _status(one: Instance) -> str:
    ended = one.trajectory.status if one.trajectory else ""
    return ", ".join(filter(None, ["+".join(name for name in one.lists if name not in _IMPLIED), ended]))


_IMPLIED = ("completed", "submitted", "infra_failure", "ambiguous_failure")


def _reported(one: Instance) -> float | None:
    """What is in the denominator and not resolved counts nothing, whatever kept it from being measured."""
    if not one.counted:
        return None
    return 1.0 if "resolved" in one.lists else 0.0


def _checks(one: Instance) -> tuple[Check, ...]:
    if "empty_patch" in one.lists and not one.verdict.checks:
        return (Check(name="patch_exists", status="fail", kind="step", scorer=SCORER, ref=one.ref),)
    return (*one.verdict.checks, *_advisory(one))


def _advisory(one: Instance) -> tuple[Check, ...]:
    """It may have been the environment, SWE-bench says, and leaves the verdict as it is."""
    reason = one.reason or one.verdict.reason
    if not reason or _resolved(one) is not False:
        return ()
    return (
        Check(
            name="environment",
            status="unscored",
            kind="step",
            scorer=SCORER,
            counts=False,
            explanation=reason,
            ref=one.ref,
        ),
    )


def _extra(one: Instance, patch: str | None) -> dict[str, object]:
    made = one.trajectory
    told = known(lists=[*one.lists], other_trajectories=[*one.others])
    if made is None:
        return told
    agent = known(name=made.agent, version=made.version, model=made.model, exit_status=made.status, place=str(made.ref))
    agent |= known(instance=made.instance if made.instance != one.name else None)
    differs = made.submission if made.submission is not None and made.submission != patch else None
    return told | {"agent": agent | made.extra} | known(submission=differs)
