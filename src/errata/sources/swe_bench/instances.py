"""One instance → its case and its attempt, from what the report, the logs and the agent's trajectory say of it."""

from typing import NamedTuple

from errata.model import Attempt, Case, Check, ErrorInfo, Output, Run, SourceRef, UsageByRole, case_key
from errata.model.words import Execution, Measurement, Outcome
from errata.sources.shared.facts import MISSING, Facts
from errata.sources.shared.values import non_empty
from errata.sources.swe_bench.trajectory import Trajectory
from errata.sources.swe_bench.verdict import SCORER, Verdict, broken


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


def case_of(run: Run, instance: Instance) -> Case:
    trajectory = instance.trajectory
    return Case(
        run=run.id,
        suite=run.suite,
        native_id=instance.name,
        category=repository_of(instance.name),
        input=trajectory.task if trajectory else None,
        artefacts=trajectory.reference if trajectory else (),
        ref=instance.ref,
    )


def attempt_of(run: Run, instance: Instance) -> Attempt:
    trajectory, verdict = instance.trajectory, instance.verdict
    errors = (*(trajectory.errors if trajectory else ()), *_broken(instance))
    execution, measurement, outcome = _facts(instance)
    patch = instance.patch if instance.patch is not None else trajectory.submission if trajectory else None
    return Attempt(
        run=run.id,
        case=case_key(run.suite, instance.name),
        execution=execution,
        measurement=measurement,
        outcome=outcome,
        native_status=_status(instance),
        native_reason=instance.reason or verdict.reason,
        reported=_reported(instance),
        reported_counted=instance.counted,
        output=Output(text=patch),
        limit=trajectory.limit if trajectory else None,
        errors=errors,
        checks=_checks(instance),
        steps=trajectory.steps if trajectory else (),
        artefacts=verdict.artefacts,
        usage=UsageByRole(subject=trajectory.usage) if trajectory else UsageByRole(),
        ref=instance.ref,
        extra=verdict.extra | _extra(instance, patch),
    )


def repository_of(name: str) -> str:
    """`django__django-1` is of `django/django`; SWE-bench Pro writes `instance_` before it."""
    owner, found, rest = name.removeprefix("instance_").partition("__")
    return f"{owner}/{rest.partition('-')[0]}" if found and "-" in rest else ""


def _facts(instance: Instance) -> Facts:
    execution: Execution = instance.trajectory.execution if instance.trajectory else "completed"
    if instance.lists and set(instance.lists) <= {"incomplete"} and instance.trajectory is None:
        return MISSING
    resolved = _resolved(instance)
    if resolved is None:
        measured: Measurement = "error" if _broken(instance) else "not_run"
        return Facts(execution, measured, "none")
    outcome: Outcome = "pass" if resolved else "fail"
    handed_in = bool(instance.patch or (instance.trajectory and instance.trajectory.submission))
    if execution == "error" and outcome == "fail" and not handed_in:
        outcome = "none"  # it crashed, and there was nothing to measure
    return Facts(execution, "scored", outcome)


def _resolved(instance: Instance) -> bool | None:
    """What the instance's own report says goes before the lists; none where the measurement broke."""
    if _is_infra(instance):
        return None
    if instance.verdict.resolved is not None:
        return instance.verdict.resolved
    if "resolved" in instance.lists:
        return True
    # an empty patch is not tried: SWE-bench knows that it resolves nothing
    return False if {"unresolved", "empty_patch"} & set(instance.lists) else None


def _is_infra(instance: Instance) -> bool:
    return "infra_failure" in instance.lists or instance.verdict.is_infra


def _broken(instance: Instance) -> tuple[ErrorInfo, ...]:
    """What kept the patch from being measured; a patch that does not apply was measured."""
    if instance.verdict.resolved is not None and not _is_infra(instance):
        return ()
    if not _is_infra(instance) and "error" not in instance.lists and not instance.verdict.errors:
        return ()
    phase = "environment" if _is_infra(instance) else "scoring"
    if not instance.verdict.errors:
        return (broken(instance.reason, "", phase, instance.ref),)  # type: ignore[arg-type]  # one of the phases
    first = instance.verdict.errors[0]
    kind = instance.reason or first.type
    return (broken(kind, first.message, "environment" if _is_infra(instance) else first.phase, first.ref),)


def _status(instance: Instance) -> str:
    ended = instance.trajectory.status if instance.trajectory else ""
    return ", ".join(filter(None, ["+".join(name for name in instance.lists if name not in _IMPLIED), ended]))


_IMPLIED = ("completed", "submitted", "infra_failure", "ambiguous_failure")


def _reported(instance: Instance) -> float | None:
    """What is in the denominator and not resolved counts nothing, whatever kept it from being measured."""
    if not instance.counted:
        return None
    return 1.0 if "resolved" in instance.lists else 0.0


def _checks(instance: Instance) -> tuple[Check, ...]:
    if "empty_patch" in instance.lists and not instance.verdict.checks:
        return (Check(name="patch_exists", status="fail", kind="step", scorer=SCORER, ref=instance.ref),)
    return (*instance.verdict.checks, *_advisory(instance))


def _advisory(instance: Instance) -> tuple[Check, ...]:
    """It may have been the environment, SWE-bench says, and leaves the verdict as it is."""
    reason = instance.reason or instance.verdict.reason
    if not reason or _resolved(instance) is not False:
        return ()
    return (
        Check(
            name="environment",
            status="unscored",
            kind="step",
            scorer=SCORER,
            counts=False,
            explanation=reason,
            ref=instance.ref,
        ),
    )


def _extra(instance: Instance, patch: str | None) -> dict[str, object]:
    trajectory = instance.trajectory
    lists = non_empty(lists=[*instance.lists], other_trajectories=[*instance.others])
    if trajectory is None:
        return lists
    agent = non_empty(
        name=trajectory.agent,
        version=trajectory.version,
        model=trajectory.model,
        exit_status=trajectory.status,
        place=str(trajectory.ref),
    )
    agent |= non_empty(instance=trajectory.instance if trajectory.instance != instance.name else None)
    differs = trajectory.submission if trajectory.submission is not None and trajectory.submission != patch else None
    return lists | {"agent": agent | trajectory.extra} | non_empty(submission=differs)
