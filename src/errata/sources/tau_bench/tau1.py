"""tau-bench: a list of rows, one per trial of a task, in a file whose name describes the run."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from errata.model import (
    Attempt,
    Case,
    Check,
    ErrorInfo,
    Item,
    Limit,
    Output,
    Reported,
    Run,
    ScoreScale,
    SourceInfo,
    SourceRef,
    Subject,
    Unreadable,
    Usage,
    UsageByRole,
    case_key,
)
from errata.model.words import CheckStatus, CheckWeakness, Phase
from errata.sources.base import Row, convert_each, of_run
from errata.sources.shared.chat import last_answer, steps_of_chat
from errata.sources.shared.exceptions import frames_of
from errata.sources.shared.facts import Facts
from errata.sources.shared.json_rows import LongDocument, long_document
from errata.sources.shared.row_groups import Copies, copied_row
from errata.sources.shared.runs import CaseNumbering
from errata.sources.shared.values import as_text, cost_number, mapping, non_empty, number, plain, rest, sequence, text
from errata.sources.tau_bench import NAME
from errata.sources.tau_bench.trials import TrialNumber, TrialNumbers, only_reads, outcome_of
from errata.text.lazy_regex import lazy_regex
from errata.text.redact import redact

_FILE = lazy_regex(
    r"^(?=.{1,300}\Z)(?P<agent>tool-calling|act|react|few-shot)-(?P<model>.+)-(?P<temperature>\d+(?:\.\d+)?)"
    r"_range_(?P<start>-?\d+)-(?P<end>-?\d+)_user-(?P<user>.+)-(?P<strategy>[a-z_]+)_(?P<time>\d+)$"
)
_POLICY = lazy_regex(r"^#\s*(?P<domain>\w+) agent policy", re.IGNORECASE)
TRACEBACK_CAP = 32 * 1024
_ROW = frozenset(["task_id", "reward", "info", "traj", "trial"])
_INFO = frozenset(["task", "reward_info", "user_cost", "error", "traceback"])
_TASK = frozenset(["instruction", "actions", "outputs"])


class _Tau1Glance(msgspec.Struct):
    """What has to be known about all rows before the first is converted."""

    domain: str = ""
    has_breakdowns: bool = False


class Tau1Rows:
    def __init__(self, run: Run, *, has_breakdowns: bool) -> None:
        self._run = run
        self._numbers = TrialNumbers()
        self._cases = CaseNumbering()
        self._copies = Copies()
        self._has_breakdowns = has_breakdowns

    def items(self, row: Row) -> Iterator[Item]:
        task = as_text(row.data["task_id"])
        number_ = row.data.get("trial")
        if number_ is not None and self._copies.includes((task, as_text(number_)), row.data):
            yield copied_row(NAME, row.ref, task)
            return
        trial = self._numbers.next(self._run, task, number_)
        attempt = attempt_of(self._run, row.data, trial, row.ref, has_breakdowns=self._has_breakdowns)
        case = case_of(self._run, row.data, task, row.ref)
        if self._cases.is_news(case):
            yield case
        self._numbers.take(trial)
        yield attempt


def read(path: Path) -> Iterator[Item]:
    document = long_document(path, "", source=NAME, root=path.parent)
    if isinstance(document, Unreadable):
        yield document
        return
    glance = _look(document)
    run = _run(path, glance, document.ref)
    yield run
    yield from of_run(run.id, document.problems())
    rows = Tau1Rows(run, has_breakdowns=glance.has_breakdowns)
    yield from of_run(run.id, convert_each(document.rows(), rows.items, source=NAME))


def _look(document: LongDocument) -> _Tau1Glance:
    glance = _Tau1Glance()
    for row in document.rows():
        if isinstance(row, Unreadable):
            continue
        data = mapping(row.data)
        first = mapping(next(iter(sequence(data.get("traj"))), None))
        policy = _POLICY.match(text(first.get("content")))
        glance.domain = glance.domain or (policy["domain"].lower() if policy else "")
        glance.has_breakdowns = glance.has_breakdowns or bool(mapping(data.get("info")).get("reward_info"))
    return glance


def _run(path: Path, glance: _Tau1Glance, ref: SourceRef) -> Run:
    match = _FILE.match(path.stem)
    name_parts = match.groupdict() if match else {}
    return Run(
        native_id=path.stem,
        source=SourceInfo(name=NAME, format_version="tau"),
        name=path.stem,
        subject=Subject(
            model=name_parts.get("model", ""),
            agent=name_parts.get("agent", ""),
            params=non_empty(temperature=float(name_parts["temperature"])) if name_parts else {},
        ),
        roles=non_empty(user=name_parts.get("user")),
        suite=f"tau-bench/{glance.domain}" if glance.domain else "tau-bench",
        expected_cases=_expected(name_parts),
        # as `display_metrics` prints it: over all rows, including errors
        reported=(Reported(name="average reward", metric="mean", headline=True, ref=ref),),
        scale=ScoreScale(lowest=0, highest=1),
        environment=non_empty(
            user_strategy=name_parts.get("strategy"), start=name_parts.get("start"), end=name_parts.get("end")
        ),
        origin=str(path.parent),
        ref=ref,
    )


def _expected(name_parts: dict[str, str]) -> int | None:
    """The number of tasks in the range, if its end is given: -1 means all tasks."""
    start, end = int(name_parts.get("start", 0)), int(name_parts.get("end", -1))
    return end - start if 0 <= start < end else None


def case_of(run: Run, row: dict[str, Any], name: str, ref: SourceRef) -> Case:
    """A row that ended in an error does not have its task."""
    task = mapping(mapping(row.get("info")).get("task"))
    return Case(
        run=run.id,
        suite=run.suite,
        native_id=name,
        input=plain(task.get("instruction")),
        expected=_expected_of(task),
        ref=ref,
        extra=rest(task, _TASK),
    )


def _users_spending(cost: float | None) -> Usage:
    """The user is always simulated, whether or not the log has its cost."""
    if cost is None:
        return Usage(extra={"user": "simulated"})
    return Usage(cost=cost, cost_source="reported")


def _expected_of(task: dict[str, Any]) -> dict[str, Any] | None:
    """A task without actions expects that nothing changes."""
    actions = {"actions": task["actions"]} if isinstance(task.get("actions"), list) else {}
    return actions | non_empty(outputs=task.get("outputs")) or None


def attempt_of(run: Run, row: dict[str, Any], number_: TrialNumber, ref: SourceRef, *, has_breakdowns: bool) -> Attempt:
    """`has_breakdowns`: other rows have the breakdown of their reward."""
    info, reward = mapping(row.get("info")), number(row.get("reward"))
    steps = steps_of_chat(sequence(row.get("traj")))
    cut_off = has_breakdowns and not info.get("reward_info") and "error" not in info
    facts = _facts(info, reward, cut_off=cut_off)
    cost = cost_number(info.get("user_cost"))
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
        threshold=1.0 if 0 < (reward or 0) < 1 else None,
        reported_counted=reward is not None,
        output=Output(text=last_answer(steps)),
        limit=Limit(type="turn") if cut_off else None,
        errors=_errors(info, ref.below("info")),
        checks=_checks(mapping(info.get("reward_info")), mapping(info.get("task")), ref.below("info", "reward_info")),
        steps=steps,
        usage=UsageByRole(simulator=_users_spending(cost)),
        ref=ref,
        extra=rest(row, _ROW) | non_empty(info=_more(info, row.get("reward"))),
    )


def _facts(info: dict[str, Any], reward: float | None, *, cut_off: bool) -> Facts:
    """An exception, or a conversation that was cut off, is recorded as a reward of 0, which is not a measurement."""
    if "error" in info:
        return Facts("error", "not_run", "none")
    if reward is None:
        return Facts("completed", "unscored", "none")
    return Facts("limit", "not_run", "none") if cut_off else Facts("completed", "scored", outcome_of(reward))


def _errors(info: dict[str, Any], ref: SourceRef) -> tuple[ErrorInfo, ...]:
    if "error" not in info:
        return ()
    traceback = text(info.get("traceback"))
    frames = frames_of(traceback)
    kind = traceback.strip().rpartition("\n")[2].partition(":")[0]
    is_named = kind.isidentifier() or "." in kind
    phase: Phase = "simulator" if any("/envs/user" in one.file for one in frames) else ""
    return (
        ErrorInfo(
            type=kind if is_named else "error",
            derived=() if is_named else ("type",),
            message=redact(text(info.get("error"))),
            traceback=redact(traceback[-TRACEBACK_CAP:]),
            phase=phase,
            ref=ref,
        ),
    )


def _checks(rewards: dict[str, Any], task: dict[str, Any], ref: SourceRef) -> tuple[Check, ...]:
    """The final state of the database, and the outputs that the agent had to give."""
    info = mapping(rewards.get("info"))
    weaknesses: dict[str, CheckWeakness] = {
        "r_actions": "nothing_changed" if only_reads(task.get("actions")) else "",
        "r_outputs": "no_criteria" if info.get("outputs") in ({}, []) else "",
    }
    parts = [_check(name, info[name], ref, weakness=weaknesses[name]) for name in weaknesses if name in info]
    spoken = [_check(f"output: {name}", met, ref, counts=False) for name, met in mapping(info.get("outputs")).items()]
    return (*parts, *spoken)


def _check(name: str, reward: Any, ref: SourceRef, *, counts: bool = True, weakness: CheckWeakness = "") -> Check:
    value = number(reward) if not isinstance(reward, bool) else float(reward)
    status: CheckStatus = "unscored" if value is None else "pass" if outcome_of(value) == "pass" else "fail"
    return Check(
        name=name, status=status, kind="reward", value=value, counts=counts, weakness=weakness, scorer="reward", ref=ref
    )


def _more(info: dict[str, Any], reward: Any) -> dict[str, Any]:
    rewards = mapping(info.get("reward_info"))
    reward_parts = rest(mapping(rewards.get("info")), ("r_actions", "r_outputs", "outputs"))
    actions = rewards.get("actions") if rewards.get("actions") != mapping(info.get("task")).get("actions") else None
    other = rewards.get("reward") if rewards.get("reward") != reward else None
    return rest(info, _INFO) | non_empty(measured=reward_parts, actions=actions, reward=other)
