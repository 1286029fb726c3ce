"""tau-bench: a list of rows, one for each trial of a task, in a file whose name says what was run."""

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
    SourceInfo,
    SourceRef,
    Subject,
    Unreadable,
    Usage,
    UsageByRole,
    case_key,
)
from errata.model.words import CheckStatus, Phase
from errata.sources.base import Row, convert_each, of_run
from errata.sources.chat import last_answer, steps_of_chat
from errata.sources.facts import Facts
from errata.sources.long_documents import LongDocument, long_document
from errata.sources.tau_bench.layout import NAME
from errata.sources.tau_bench.numbering import Numbers
from errata.sources.tau_bench.rewards import outcome_of
from errata.sources.tracebacks import frames_of
from errata.sources.values import as_text, known, mapping, number, plain, rest, sequence, text
from errata.text.redact import redact

TRACEBACK_CAP = 32 * 1024

_FILE = re.compile(
    r"^(?P<agent>tool-calling|act|react|few-shot)-(?P<model>.+)-(?P<temperature>\d+(?:\.\d+)?)"
    r"_range_(?P<start>-?\d+)-(?P<end>-?\d+)_user-(?P<user>.+)-(?P<strategy>[a-z_]+)_(?P<time>\d+)$"
)
_POLICY = re.compile(r"^#\s*(?P<domain>\w+) agent policy", re.IGNORECASE)
_ROW = frozenset(["task_id", "reward", "info", "traj", "trial"])
_INFO = frozenset(["task", "reward_info", "user_cost", "error", "traceback"])


def read(path: Path) -> Iterator[Item]:
    document = long_document(path, "", source=NAME, root=path.parent)
    if isinstance(document, Unreadable):
        yield document
        return
    seen = _look(document)
    run = _run(path, seen, document.ref)
    yield run
    yield from of_run(run.id, document.problems())
    rows = Rows(run, tells_rewards=seen.tells_rewards)
    yield from of_run(run.id, convert_each(document.rows(), rows.items, source=NAME))


class _Looked(msgspec.Struct):
    """What has to be known of all rows before the first is read."""

    domain: str = ""
    tells_rewards: bool = False
    tasks: int = 0


def _look(document: LongDocument) -> _Looked:
    seen, tasks = _Looked(), set()
    for row in document.rows():
        if isinstance(row, Unreadable):
            continue
        data = mapping(row.data)
        tasks.add(as_text(data.get("task_id")))
        first = mapping(next(iter(sequence(data.get("traj"))), None))
        told = _POLICY.match(text(first.get("content")))
        seen.domain = seen.domain or (told["domain"].lower() if told else "")
        seen.tells_rewards = seen.tells_rewards or "reward_info" in mapping(data.get("info"))
    seen.tasks = len(tasks)
    return seen


def _run(path: Path, seen: _Looked, ref: SourceRef) -> Run:
    named = _FILE.match(path.stem)
    told = named.groupdict() if named else {}
    return Run(
        native_id=path.stem,
        source=SourceInfo(name=NAME, format_version="tau"),
        name=path.stem,
        subject=Subject(
            model=told.get("model", ""),
            agent=told.get("agent", ""),
            params=known(temperature=float(told["temperature"])) if told else {},
        ),
        roles=known(user=told.get("user")),
        suite=f"tau-bench/{seen.domain}" if seen.domain else "tau-bench",
        # as `display_metrics` prints it: over all rows, those that ended in an error too
        reported=(Reported(name="average reward", metric="mean", headline=True, ref=ref),),
        environment=known(user_strategy=told.get("strategy"), start=told.get("start"), end=told.get("end")),
        origin=str(path.parent),
        ref=ref,
    )


class Rows:
    def __init__(self, run: Run, *, tells_rewards: bool) -> None:
        self._run = run
        self._numbers = Numbers()
        self._tells_rewards = tells_rewards

    def items(self, row: Row) -> Iterator[Item]:
        task = as_text(row.data["task_id"])
        number_ = self._numbers.next(self._run, task, row.data.get("trial"))
        attempt = self._attempt(row.data, task, row.ref)
        made = msgspec.structs.replace(attempt, id="", index=number_.index, duplicate_of=number_.duplicate_of)
        made.__post_init__()
        if self._numbers.is_first(task):
            yield self._case(mapping(mapping(row.data.get("info")).get("task")), task, row.ref)
        self._numbers.take(number_)
        yield made
