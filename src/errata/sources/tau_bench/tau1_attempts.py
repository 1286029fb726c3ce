"""A row of tau-bench as an attempt."""

from typing import Any

from errata.model import (
    Attempt,
    Case,
    Check,
    ErrorInfo,
    Limit,
    Output,
    Run,
    SourceRef,
    Usage,
    UsageByRole,
    case_key,
)
from errata.model.words import CheckStatus, Phase
from errata.sources.shared.chat import last_answer, steps_of_chat
from errata.sources.shared.exceptions import frames_of
from errata.sources.shared.facts import Facts
from errata.sources.shared.values import known, mapping, number, plain, rest, sequence, text
from errata.sources.tau_bench.numbering import Number
from errata.sources.tau_bench.rewards import outcome_of
from errata.text.redact import redact

TRACEBACK_CAP = 32 * 1024

_ROW = frozenset(["task_id", "reward", "info", "traj", "trial"])
_INFO = frozenset(["task", "reward_info", "user_cost", "error", "traceback"])
_TASK = frozenset(["instruction", "actions", "outputs"])


def case_of(run: Run, row: dict[str, Any], name: str, ref: SourceRef) -> Case:
    """A row that ended in an error does not tell its task."""
    task = mapping(mapping(row.get("info")).get("task"))
    return Case(
        run=run.id,
        suite=run.suite,
        native_id=name,
        input=plain(task.get("instruction")),
        expected=known(actions=task.get("actions"), outputs=task.get("outputs")) or None,
        ref=ref,
        extra=rest(task, _TASK),
    )


def attempt_of(run: Run, row: dict[str, Any], number_: Number, ref: SourceRef, *, tells_rewards: bool) -> Attempt:
    """`tells_rewards` is whether other rows say how their reward came about."""
    info, reward = mapping(row.get("info")), number(row.get("reward"))
    steps = steps_of_chat(sequence(row.get("traj")))
    cut_off = tells_rewards and "reward_info" not in info and "error" not in info
    facts = _facts(info, reward, cut_off=cut_off)
    cost = number(info.get("user_cost"))
    return Attempt(
        run=run.id,
        case=case_key(run.suite, number_.case),
        index=number_.trial,
        duplicate_of=number_.duplicate_of,
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        native_status="error" if "error" in info else "",
        reported=reward,
        reported_counted=reward is not None,
        output=Output(text=last_answer(steps)),
        limit=Limit(type="turn", reason="the conversation was not ended by anybody") if cut_off else None,
        errors=_errors(info, ref.below("info")),
        checks=_checks(mapping(info.get("reward_info")), ref.below("info", "reward_info")),
        steps=steps,
        usage=UsageByRole(simulator=Usage(cost=cost, cost_source="unknown" if cost is None else "reported")),
        ref=ref,
        extra=rest(row, _ROW) | known(info=_more(info, row.get("reward"))),
    )


def _facts(info: dict[str, Any], reward: float | None, *, cut_off: bool) -> Facts:
    """An exception is written down as a reward of 0, which nobody has measured."""
    if "error" in info:
        return Facts("error", "not_run", "none")
    if reward is None:
        return Facts("completed", "unscored", "none")
    return Facts("limit" if cut_off else "completed", "scored", outcome_of(reward))


def _errors(info: dict[str, Any], ref: SourceRef) -> tuple[ErrorInfo, ...]:
    if "error" not in info:
        return ()
    traceback = text(info.get("traceback"))
    frames = frames_of(traceback)
    kind = traceback.strip().rpartition("\n")[2].partition(":")[0]
    phase: Phase = "simulator" if any("/envs/user" in one.file for one in frames) else "subject"
    return (
        ErrorInfo(
            type=kind if kind.isidentifier() or "." in kind else "error",
            message=redact(text(info.get("error"))),
            traceback=redact(traceback[-TRACEBACK_CAP:]),
            phase=phase,
            ref=ref,
        ),
    )


def _checks(told: dict[str, Any], ref: SourceRef) -> tuple[Check, ...]:
    """The state of the world after all actions, and what had to be said."""
    info = mapping(told.get("info"))
    made = [_check(name, info[name], ref) for name in ("r_actions", "r_outputs") if name in info]
    spoken = [_check(f"output: {name}", met, ref, counts=False) for name, met in mapping(info.get("outputs")).items()]
    return (*made, *spoken)


def _check(name: str, told: Any, ref: SourceRef, *, counts: bool = True) -> Check:
    value = number(told) if not isinstance(told, bool) else float(told)
    status: CheckStatus = "unscored" if value is None else "pass" if outcome_of(value) == "pass" else "fail"
    return Check(name=name, status=status, kind="reward", value=value, counts=counts, scorer="reward", ref=ref)


def _more(info: dict[str, Any], reward: Any) -> dict[str, Any]:
    told = mapping(info.get("reward_info"))
    measured = rest(mapping(told.get("info")), ("r_actions", "r_outputs", "outputs"))
    actions = told.get("actions") if told.get("actions") != mapping(info.get("task")).get("actions") else None
    other = told.get("reward") if told.get("reward") != reward else None
    return rest(info, _INFO) | known(measured=measured, actions=actions, reward=other)
