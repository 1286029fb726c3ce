"""A simulation of tau2-bench as an attempt: how it ended, and what was measured.

The parts of the reward decide; the single checks behind them are listed, too.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from errata.model import Attempt, Check, ErrorInfo, Limit, Output, Run, SourceRef, UsageByRole, case_key
from errata.model.words import CheckKind, CheckStatus, CheckWeakness, Execution, Measurement, Outcome, Phase
from errata.sources.shared.facts import Facts
from errata.sources.shared.fields import JsonFields
from errata.sources.shared.values import (
    cost_number,
    has_value,
    mapping,
    moment,
    non_empty,
    number,
    rest,
    sequence,
    text,
)
from errata.sources.tau_bench.trials import (
    TrialNumber,
    last_agent_message,
    only_reads,
    outcome_of,
    steps_of,
    usage_of_role,
)
from errata.text.redact import redact

_LISTS: tuple[tuple[str, str, str, str], ...] = (
    # key in the log, part of the reward, key of the requirement, key of the result
    ("action_checks", "ACTION", "action", "action_match"),
    ("env_assertions", "ENV_ASSERTION", "env_assertion", "met"),
    ("communicate_checks", "COMMUNICATE", "info", "met"),
    ("nl_assertions", "NL_ASSERTION", "nl_assertion", "met"),
)
_REWARD = frozenset([name for name, *_ in _LISTS] + ["reward", "db_check", "reward_basis", "reward_breakdown"])


class SimulationEnding(NamedTuple):
    """`answered` is false if the failure is not the agent's: then a reward of 0 is not a measurement of it."""

    execution: Execution
    phase: Phase = "subject"
    limit: str = ""
    answered: bool = True
    counted: bool = True
    """False for simulations that tau2-bench considers not evaluable and leaves out of its metrics."""


def attempt_of(
    run: Run,
    simulation: JsonFields,
    number_: TrialNumber,
    max_steps: float | None,
    ref: SourceRef,
    expected_actions: Any = None,
) -> Attempt:
    """`max_steps`: the maximum number of steps; `expected_actions`: those of the task, if the log has it."""
    reason = text(simulation.take("termination_reason"))
    ending, rewards = ending_of(reason), mapping(simulation.take("reward_info"))
    reward = number(rewards.get("reward"))
    steps = steps_of(sequence(simulation.take("messages")), ref)
    last, other_fields = last_agent_message(steps), _more(simulation, rewards)
    facts = _facts(ending, reward)
    return Attempt(
        run=run.id,
        case=case_key(run.suite, number_.case),
        native_id=text(simulation.take("id")),
        index=number_.trial,
        duplicate_of=number_.duplicate_of,
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        native_status=reason,
        reported=reward,
        threshold=1.0 if 0 < (reward or 0) < 1 else None,
        reported_counted=ending.counted and reward is not None,
        output=Output(text=last.text if last else None),
        stop_reason=text(last.extra.get("stop_reason")) if last else "",
        limit=_limit(ending, reason, max_steps),
        errors=_errors(simulation, ending, reason, ref),
        checks=checks_of(rewards, ref.below("reward_info"), expected_actions),
        steps=steps,
        usage=UsageByRole(
            subject=usage_of_role(steps, "assistant", cost_number(simulation.take("agent_cost"))),
            simulator=usage_of_role(steps, "user", cost_number(simulation.take("user_cost"))),
        ),
        started_at=moment(simulation.take("start_time")),
        finished_at=moment(simulation.take("end_time")),
        duration=number(simulation.take("duration")),
        seed=_seed(simulation.take("seed")),
        ref=ref,
        extra=rest(simulation.rest()) | other_fields,
    )


def _limit(ending: SimulationEnding, reason: str, max_steps: float | None) -> Limit | None:
    if not ending.limit:
        return None
    return Limit(type=ending.limit, value=max_steps if ending.limit == "turn" else None, reason=reason)


def _facts(ending: SimulationEnding, reward: float | None) -> Facts:
    if reward is None:
        measurement: Measurement = "unscored" if ending.execution == "completed" else "not_run"
        return Facts(ending.execution, measurement, "none")
    outcome: Outcome = outcome_of(reward) if ending.answered else "none"
    return Facts(ending.execution, "scored" if ending.answered else "not_run", outcome)


def _errors(simulation: JsonFields, ending: SimulationEnding, reason: str, ref: SourceRef) -> tuple[ErrorInfo, ...]:
    if ending.execution != "error":
        return ()
    info = mapping(simulation.take("info"))
    message = next((text(info.get(key)) for key in ("error", "message") if text(info.get(key))), reason)
    return (ErrorInfo(type=reason, message=redact(message), phase=ending.phase, ref=ref),)


def _seed(value: Any) -> int | None:
    return value if type(value) is int and abs(value) < 2**62 else None


def _more(simulation: JsonFields, rewards: dict[str, Any]) -> dict[str, Any]:
    ticks, trial = simulation.take("ticks"), simulation.take("trial")
    return non_empty(
        info=simulation.take("info"),
        reward=more_of(rewards),
        timestamp=simulation.take("timestamp"),
        ticks=len(ticks) if isinstance(ticks, list) else None,
        trial=trial if type(trial) is not int else None,
    )


_ENDINGS: dict[str, SimulationEnding] = {
    "user_stop": SimulationEnding("completed"),
    "agent_stop": SimulationEnding("completed"),
    "max_steps": SimulationEnding("limit", limit="turn"),
    "timeout": SimulationEnding("limit", limit="time"),
    "context_window_exceeded": SimulationEnding("limit", limit="context", counted=False),
    # the agent broke the protocol of the conversation, or too many of its tool calls failed
    "agent_error": SimulationEnding("error", "subject"),
    "too_many_errors": SimulationEnding("error", "subject"),
    "user_error": SimulationEnding("error", "simulator", answered=False),
    # mostly an unreachable provider; the message has the details
    "infrastructure_error": SimulationEnding("error", answered=False, counted=False),
    "unexpected_error": SimulationEnding("error", answered=False),
}


def ending_of(reason: str) -> SimulationEnding:
    if not reason:
        return SimulationEnding("unfinished", answered=False)
    return _ENDINGS.get(reason.rpartition(".")[2].lower(), SimulationEnding("error", answered=False))


def checks_of(rewards: dict[str, Any], ref: SourceRef, expected_actions: Any = None) -> tuple[Check, ...]:
    return (*_parts(rewards, ref, expected_actions), *_single(rewards, ref))


def more_of(rewards: dict[str, Any]) -> dict[str, Any]:
    basis = rewards.get("reward_basis")
    return rest(rewards, _REWARD) | non_empty(
        reward_basis=basis if basis != [*mapping(rewards.get("reward_breakdown"))] else None
    )


def _parts(rewards: dict[str, Any], ref: SourceRef, expected_actions: Any) -> Iterator[Check]:
    """Parts of the reward, which is their product."""
    for order, (name, value) in enumerate(mapping(rewards.get("reward_breakdown")).items()):
        part = number(value)
        missed = "" if part is None or outcome_of(part) == "pass" else _missed_requirements(name, rewards)
        yield Check(
            name=name,
            status="unscored" if part is None else "pass" if outcome_of(part) == "pass" else "fail",
            scorer="reward",
            kind="reward",
            order=order,
            value=part,
            weakness=_weakness(name, rewards, expected_actions),
            explanation=missed,
            derived=bool(missed),
            ref=ref.below("reward_breakdown", name),
        )


def _weakness(part: str, rewards: dict[str, Any], expected_actions: Any) -> CheckWeakness:
    """An empty list of requirements is met by itself; a database stays as it is where no write is expected.

    A task without actions has no list of checked actions: then the task itself shows that.
    """
    if part == "DB":
        required = rewards.get("action_checks")
        actions = [mapping(check).get("action") for check in required] if isinstance(required, list) else None
        return "nothing_changed" if only_reads(expected_actions if actions is None else actions) else ""
    listed = next((listed for listed, name, *_ in _LISTS if name == part), "")
    return "no_criteria" if listed in rewards and not rewards[listed] else ""


_MISSED = {"ACTION": "expected call missing or different", "COMMUNICATE": "the agent never stated"}
"""What tau2 proves: no call of the agent matched the expected one, in name and arguments."""


def _missed_requirements(part: str, rewards: dict[str, Any]) -> str:
    """Requirements that were not met; the state of the database depends on the actions."""
    for listed, name, requirement, met in _LISTS:
        if name == ("ACTION" if part == "DB" else part):
            missed = [check for check in map(mapping, sequence(rewards.get(listed))) if check.get(met) is False]
            if part == "DB":  # a lookup that was left out changes nothing
                missed = [check for check in missed if not only_reads([check.get(requirement)])]
            words = dict.fromkeys(
                text(mapping(check.get(requirement)).get("name")) or _title(check.get(requirement)) for check in missed
            )
            return f"{_MISSED.get(name, 'not met')}: {', '.join(filter(None, words))}" if any(words) else ""
    return ""


def _single(rewards: dict[str, Any], ref: SourceRef) -> Iterator[Check]:
    if isinstance(rewards.get("db_check"), dict):
        yield _check("DB: state", rewards["db_check"], "db_match", ref.below("db_check"))
    for listed, part, requirement, met in _LISTS:
        for at, raw_check in enumerate(sequence(rewards.get(listed))):
            data = mapping(raw_check)
            name = f"{part}: {_title(data.get(requirement)) or at + 1}"
            yield _check(name, data, met, ref.below(listed, at), at, judge="nl" if part == "NL_ASSERTION" else "")


def _check(name: str, data: dict[str, Any], met: str, ref: SourceRef, order: int = 0, judge: str = "") -> Check:
    status: CheckStatus = {True: "pass", False: "fail"}.get(data.get(met), "unscored")  # type: ignore[arg-type,assignment]
    kind: CheckKind = "criterion" if judge else "assertion"
    return Check(
        name=name,
        status=status,
        judge=judge,
        kind=kind,
        order=order,
        counts=False,
        explanation=text(data.get("justification")),
        ref=ref,
        extra=rest(data, ("justification", met)) if has_value(data) else {},
    )


def _title(requirement: Any) -> str:
    if isinstance(requirement, str):
        return requirement
    action = mapping(requirement)
    words = [text(action.get(key)) for key in ("action_id", "name", "func_name")]
    return " ".join(filter(None, words))
