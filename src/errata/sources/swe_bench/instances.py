"""One instance → its case and its attempt, from the report, the logs and the agent's trajectory."""

from typing import NamedTuple

from msgspec.structs import replace

from errata.model import Attempt, Case, Check, ErrorInfo, Output, Run, SourceRef, UsageByRole, case_key
from errata.model.words import Execution, Measurement, Outcome
from errata.sources.shared.facts import MISSING, Facts
from errata.sources.shared.values import non_empty
from errata.sources.swe_bench.trajectory import AgentTrajectory
from errata.sources.swe_bench.verdict import SCORER, PatchVerdict, measurement_error
from errata.text.lazy_regex import lazy_regex


class Instance(NamedTuple):
    """Everything known about one instance in a run."""

    name: str
    ref: SourceRef
    listed: SourceRef | None = None
    """Where the report of the run names it."""
    lists: tuple[str, ...] = ()
    """The report's lists that name it: `resolved`, `error`."""
    reason: str = ""
    verdict: PatchVerdict = PatchVerdict()
    patch: Output = Output()
    trajectory: AgentTrajectory | None = None
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
    output = instance.patch
    if output.text is None and trajectory is not None:
        output = Output(text=trajectory.submission, ref=trajectory.ref)
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
        output=output,
        limit=replace(trajectory.limit, ref=trajectory.ref) if trajectory and trajectory.limit else None,
        errors=errors,
        checks=_checks(instance),
        steps=trajectory.steps if trajectory else (),
        artefacts=verdict.artefacts,
        usage=UsageByRole(subject=trajectory.usage) if trajectory else UsageByRole(),
        ref=instance.ref,
        extra=verdict.extra | _extra(instance, output.text),
    )


def repository_of(name: str) -> str:
    """`django__django-1` → `django/django`; SWE-bench Pro puts `instance_` before it and a commit behind it."""
    owner, separator, rest = name.removeprefix("instance_").partition("__")
    numbered = _NUMBERED.match(rest) if separator else None
    return f"{owner}/{numbered['name']}" if numbered else ""


_NUMBERED = lazy_regex(r"(?P<name>.+?)-(?:\d+$|[0-9a-f]{7,40}(?:-|$)|[^-]*$)")


def _facts(instance: Instance) -> Facts:
    execution: Execution = instance.trajectory.execution if instance.trajectory else "completed"
    if instance.lists and set(instance.lists) <= {"incomplete"} and instance.trajectory is None:
        return MISSING
    resolved = _is_resolved(instance)
    if resolved is None:
        measurement: Measurement = "error" if _broken(instance) else "not_run"
        return Facts(execution, measurement, "none")
    outcome: Outcome = "pass" if resolved else "fail"
    has_patch = bool(instance.patch.text or (instance.trajectory and instance.trajectory.submission))
    if execution == "error" and outcome == "fail" and not has_patch:
        outcome = "none"  # it crashed without a patch to measure
    return Facts(execution, "scored", outcome)


def _is_resolved(instance: Instance) -> bool | None:
    """The instance's own report takes precedence over the lists; None if the measurement broke."""
    if _is_infra(instance):
        return None
    if instance.verdict.resolved is not None:
        return instance.verdict.resolved
    if "resolved" in instance.lists:
        return True
    # an empty patch is not tested: SWE-bench counts it as unresolved
    return False if {"unresolved", "empty_patch"} & set(instance.lists) else None


def _is_infra(instance: Instance) -> bool:
    return "infra_failure" in instance.lists or instance.verdict.is_infra


def _broken(instance: Instance) -> tuple[ErrorInfo, ...]:
    """The error that prevented the measurement; a patch that does not apply counts as measured."""
    if instance.verdict.resolved is not None and not _is_infra(instance):
        return ()
    if not _is_infra(instance) and "error" not in instance.lists and not instance.verdict.errors:
        return ()
    phase = "environment" if _is_infra(instance) else "scoring"
    if not instance.verdict.errors:
        return (measurement_error(instance.reason, "", phase, instance.ref),)  # type: ignore[arg-type]  # one of the phases
    first = instance.verdict.errors[0]
    kind = instance.reason or first.type
    return (replace(first, type=kind, phase="environment" if _is_infra(instance) else first.phase),)


def _status(instance: Instance) -> str:
    ended = instance.trajectory.status if instance.trajectory else ""
    return ", ".join(filter(None, ["+".join(name for name in instance.lists if name not in _IMPLIED), ended]))


_IMPLIED = ("completed", "submitted", "infra_failure", "ambiguous_failure")


def _reported(instance: Instance) -> float | None:
    """Instances in the denominator that are not resolved count 0, whatever prevented their measurement."""
    if not instance.counted:
        return None
    return 1.0 if "resolved" in instance.lists else 0.0


def _checks(instance: Instance) -> tuple[Check, ...]:
    if "empty_patch" in instance.lists and not instance.verdict.checks:
        return (Check(name="patch_exists", status="fail", kind="step", scorer=SCORER, ref=instance.ref),)
    return (*instance.verdict.checks, *_advisory(instance))


def _advisory(instance: Instance) -> tuple[Check, ...]:
    """SWE-bench's note that the environment may be the cause, although the verdict stays."""
    reason = instance.reason or instance.verdict.reason
    if not reason or _is_resolved(instance) is not False:
        return ()
    return (
        Check(
            name="environment",
            status="unscored",
            kind="step",
            scorer=SCORER,
            counts=False,
            explanation=reason,
            ref=instance.listed if instance.reason else instance.ref,
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
