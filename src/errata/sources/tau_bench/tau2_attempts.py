"""A simulation of tau2-bench as an attempt."""

from typing import Any

from errata.model import Attempt, ErrorInfo, Limit, Output, Run, SourceRef, UsageByRole, case_key
from errata.model.words import Measurement, Outcome
from errata.sources.shared.facts import Facts
from errata.sources.shared.values import known, mapping, moment, number, rest, sequence, text
from errata.sources.tau_bench.conversation import last_words, spent, steps_of
from errata.sources.tau_bench.endings import Ending, ending_of
from errata.sources.tau_bench.numbering import Number
from errata.sources.tau_bench.rewards import checks_of, more_of, outcome_of
from errata.text.redact import redact

_HOMES = frozenset(
    [
        "id",
        "task_id",
        "timestamp",
        "start_time",
        "end_time",
        "duration",
        "termination_reason",
        "agent_cost",
        "user_cost",
        "reward_info",
        "messages",
        "ticks",
        "trial",
        "seed",
        "info",
    ]
)


def attempt_of(run: Run, simulation: dict[str, Any], number_: Number, most: float | None, ref: SourceRef) -> Attempt:
    """`most` is how many steps were allowed."""
    reason = text(simulation.get("termination_reason"))
    ending, told = ending_of(reason), mapping(simulation.get("reward_info"))
    reward = number(told.get("reward"))
    steps = steps_of(sequence(simulation.get("messages")), ref)
    last = last_words(steps)
    facts = _facts(ending, reward)
    return Attempt(
        run=run.id,
        case=case_key(run.suite, number_.case),
        native_id=text(simulation.get("id")),
        index=number_.trial,
        duplicate_of=number_.duplicate_of,
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        native_status=reason,
        reported=reward,
        reported_counted=ending.counted and reward is not None,
        output=Output(text=last.text if last else None),
        stop_reason=text(last.extra.get("stop_reason")) if last else "",
        limit=_limit(ending, reason, most),
        errors=_errors(simulation, ending, reason, ref),
        checks=checks_of(told, ref.below("reward_info")),
        steps=steps,
        usage=UsageByRole(
            subject=spent(steps, "assistant", number(simulation.get("agent_cost"))),
            simulator=spent(steps, "user", number(simulation.get("user_cost"))),
        ),
        started_at=moment(simulation.get("start_time")),
        finished_at=moment(simulation.get("end_time")),
        duration=number(simulation.get("duration")),
        seed=_seed(simulation.get("seed")),
        ref=ref,
        extra=rest(simulation, _HOMES) | _more(simulation, told),
    )


def _limit(ending: Ending, reason: str, most: float | None) -> Limit | None:
    if not ending.limit:
        return None
    return Limit(type=ending.limit, value=most if ending.limit == "turn" else None, reason=reason)


def _facts(ending: Ending, reward: float | None) -> Facts:
    if reward is None:
        measured: Measurement = "unscored" if ending.execution == "completed" else "not_run"
        return Facts(ending.execution, measured, "none")
    outcome: Outcome = outcome_of(reward) if ending.answered else "none"
    return Facts(ending.execution, "scored" if ending.answered else "not_run", outcome)


def _errors(simulation: dict[str, Any], ending: Ending, reason: str, ref: SourceRef) -> tuple[ErrorInfo, ...]:
    if ending.execution != "error":
        return ()
    told = mapping(simulation.get("info"))
    message = next((text(told.get(key)) for key in ("error", "message") if text(told.get(key))), reason)
    return (ErrorInfo(type=reason, message=redact(message), phase=ending.phase, ref=ref.below("termination_reason")),)


def _seed(value: Any) -> int | None:
    return value if type(value) is int and abs(value) < 2**62 else None


def _more(simulation: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    ticks = simulation.get("ticks")
    return known(
        info=simulation.get("info"),
        reward=more_of(told),
        timestamp=simulation.get("timestamp"),
        ticks=len(ticks) if isinstance(ticks, list) else None,
        trial=simulation.get("trial") if type(simulation.get("trial")) is not int else None,
    )
