"""tau-bench: a list of rows, one for each trial of a task, in a file whose name says what was run."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from errata.model import Item, Reported, Run, SourceInfo, SourceRef, Subject, Unreadable
from errata.sources.base import Row, convert_each, of_run
from errata.sources.shared.json_rows import LongDocument, long_document
from errata.sources.shared.values import as_text, known, mapping, sequence, text
from errata.sources.tau_bench.layout import NAME
from errata.sources.tau_bench.numbering import Numbers
from errata.sources.tau_bench.tau1_attempts import attempt_of, case_of

_FILE = re.compile(
    r"^(?P<agent>tool-calling|act|react|few-shot)-(?P<model>.+)-(?P<temperature>\d+(?:\.\d+)?)"
    r"_range_(?P<start>-?\d+)-(?P<end>-?\d+)_user-(?P<user>.+)-(?P<strategy>[a-z_]+)_(?P<time>\d+)$"
)
_POLICY = re.compile(r"^#\s*(?P<domain>\w+) agent policy", re.IGNORECASE)


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


def _look(document: LongDocument) -> _Looked:
    seen = _Looked()
    for row in document.rows():
        if isinstance(row, Unreadable):
            continue
        data = mapping(row.data)
        first = mapping(next(iter(sequence(data.get("traj"))), None))
        told = _POLICY.match(text(first.get("content")))
        seen.domain = seen.domain or (told["domain"].lower() if told else "")
        seen.tells_rewards = seen.tells_rewards or "reward_info" in mapping(data.get("info"))
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
        expected_cases=_expected(told),
        # as `display_metrics` prints it: over all rows, those that ended in an error too
        reported=(Reported(name="average reward", metric="mean", headline=True, ref=ref),),
        environment=known(user_strategy=told.get("strategy"), start=told.get("start"), end=told.get("end")),
        origin=str(path.parent),
        ref=ref,
    )


def _expected(told: dict[str, str]) -> int | None:
    """The range of tasks, where its end is told: -1 stands for all there are."""
    start, end = int(told.get("start", 0)), int(told.get("end", -1))
    return end - start if 0 <= start < end else None


class Rows:
    def __init__(self, run: Run, *, tells_rewards: bool) -> None:
        self._run = run
        self._numbers = Numbers()
        self._tells_rewards = tells_rewards

    def items(self, row: Row) -> Iterator[Item]:
        task = as_text(row.data["task_id"])
        number = self._numbers.next(self._run, task, row.data.get("trial"))
        attempt = attempt_of(self._run, row.data, number, row.ref, tells_rewards=self._tells_rewards)
        if self._numbers.is_first(task):
            yield case_of(self._run, row.data, task, row.ref)
        self._numbers.take(number)
        yield attempt
