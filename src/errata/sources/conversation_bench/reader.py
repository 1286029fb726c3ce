"""Conversations, streamed: the run, the cases of its benchmark, then an attempt per turn.

For a second judge only the position of each row is kept in memory.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from errata.model import Attempt, Item, Run, SourceRef
from errata.sources.base import (
    LINE_CAP,
    READ_SIZE,
    LogBasis,
    Row,
    convert_each,
    decode,
    json_lines,
    of_run,
    relative,
    unreadable,
)
from errata.sources.conversation_bench import NAME, comparison, is_comparison, is_run_folder
from errata.sources.conversation_bench.comparison import ComparisonRow, RunFolder
from errata.sources.conversation_bench.contract import cases
from errata.sources.conversation_bench.layout import ConversationFiles, files_of_folder, files_of_judged_file
from errata.sources.conversation_bench.run_record import (
    ConversationFacts,
    failed_turns,
    gather,
    judges,
    planned,
    run_record,
)
from errata.sources.conversation_bench.turns import ENDED, SecondOpinion, Turns, marker_of, turn_of

_ENDED = ENDED.encode()


class _Peek(msgspec.Struct):
    turn: Any = None


def read(path: Path) -> Iterator[Item]:
    path = path.resolve()
    if path.is_dir() and is_run_folder(path):
        yield from read_conversation(files_of_folder(path))
    elif path.is_dir():
        yield from _read_comparison(path)
    elif is_comparison(path):
        yield from _read_comparison(path.parent)
    elif is_run_folder(path.parent) and path in files_of_folder(path.parent).judged.values():
        yield from read_conversation(files_of_folder(path.parent))
    else:
        yield from read_conversation(files_of_judged_file(path))


def _read_comparison(folder: Path) -> Iterator[Item]:
    """Problems without a run first, then the same items that the run folders yield."""
    runs = []
    for run in comparison.listed_runs(folder):
        if isinstance(run, RunFolder):
            runs.append(run)
        else:
            yield run
    yield from comparison.problems(folder)
    for run in runs:
        yield from read_conversation(files_of_folder(run.path), run.listed)


def basis_of_conversation(path: Path) -> LogBasis | None:
    """The rows, and the records that everything else gives."""
    path = path.resolve()
    if not path.is_dir() or not is_run_folder(path):
        return None
    facts = gather(files_of_folder(path), None)
    run, rows = run_record(facts), [*facts.files.judged.values(), facts.files.transcript]
    others = (run, facts.log.errors, facts.log.lines, facts.problems, list(cases(facts.contract, run)), planned(facts))
    return LogBasis(tuple(file for file in rows if file is not None), others)


def read_conversation(files: ConversationFiles, listed: ComparisonRow | None = None) -> Iterator[Item]:
    facts = gather(files, listed)
    run = run_record(facts)
    yield run
    yield from of_run(run.id, facts.problems)
    yield from of_run(run.id, cases(facts.contract, run))
    turns = _turns_of(facts, run)
    yield from of_run(run.id, _rows(facts, turns))
    yield from _missing(facts, turns)
    if turns.started_at:
        # times in rows are UTC, times in the log are local
        yield msgspec.structs.replace(run, started_at=turns.started_at, finished_at=turns.finished_at)


def _turns_of(facts: ConversationFacts, run: Run) -> Turns:
    files = facts.files
    order = list(judges(facts).values())
    second = None
    if len(order) > 1:
        second = SecondOpinion(order[1], rows_by_turn(files.judged[order[1].name], root=files.root))
    return Turns(
        run,
        judge=order[0] if order else None,
        second=second,
        endings=_endings([*files.judged.values(), *((files.transcript,) if files.transcript else ())]),
        log_errors=facts.log.errors,
        log_lines=facts.log.lines,
    )


def _rows(facts: ConversationFacts, turns: Turns) -> Iterator[Item]:
    """The judge's rows first; then turns that only the transcript or only the second judge has."""
    files = facts.files
    if not files.judged:
        yield from _converted(files, files.transcript, turns.without_judge)
        return
    first, *others = files.judged.values()
    yield from _converted(files, first, turns.judged)
    for path in (files.transcript, *others):
        yield from _converted(files, path, _unless_seen(turns, files, path))


def _converted(
    files: ConversationFiles, path: Path | None, convert: Callable[[Row], Item | Iterable[Item]]
) -> Iterator[Item]:
    if path is not None:
        yield from convert_each(json_lines(path, source=NAME, root=files.root), convert, source=NAME)


def _unless_seen(turns: Turns, files: ConversationFiles, path: Path | None) -> Callable[[Row], Item | Iterable[Item]]:
    before = deepcopy(turns.seen)
    rows_of_turn: Counter[int] = Counter()
    unscored = _UnscoredRows(files, path)

    def convert(row: Row) -> Item | Iterable[Item]:
        turn = turn_of(row.data)
        if turn not in before:
            return turns.skipped_by_judge(row)
        rows_of_turn[turn] += 1
        beyond = rows_of_turn[turn] - turns.times_read(turn)
        if beyond > 0:
            return unscored.describe(turn, beyond, row)
        return ()

    return convert


class _UnscoredRows:
    """Rows of a turn beyond those that the judge has; the files are searched only where there are any."""

    def __init__(self, files: ConversationFiles, path: Path | None) -> None:
        self._files, self._path = files, path
        self._of_turn: dict[int, list[Row]] = {}

    def describe(self, turn: int, number: int, row: Row) -> Item:
        """The row that the judge did not score is not always the last one: a conversation may have begun again."""
        if turn not in self._of_turn:
            self._of_turn[turn] = self._search(turn)
        rows = self._of_turn[turn]
        unscored = rows[number - 1] if number <= len(rows) else row
        if (unscored.ref.line or 0) < (row.ref.line or 0):
            reason = f"turn {turn} of an earlier session, which the judge did not score; not counted"
        else:
            reason = f"repeats turn {turn}; the judge has fewer rows of it, so it is not counted"
        return unreadable(NAME, unscored.ref, reason)

    def _search(self, turn: int) -> list[Row]:
        scored = {_same_turn(one.data) for one in _all_rows(self._judged, turn)}
        return [one for one in _all_rows(self._written, turn) if _same_turn(one.data) not in scored]

    @cached_property
    def _judged(self) -> Callable[[int, int], Row | None]:
        return rows_by_turn(next(iter(self._files.judged.values())), root=self._files.root)

    @cached_property
    def _written(self) -> Callable[[int, int], Row | None]:
        assert self._path is not None
        return rows_by_turn(self._path, root=self._files.root)


def _all_rows(row_of: Callable[[int, int], Row | None], turn: int) -> Iterator[Row]:
    index = 1
    while (row := row_of(turn, index)) is not None:
        yield row
        index += 1


def _same_turn(data: Any) -> tuple[str, str]:
    """The judge copies the row that it scores."""
    return str(data.get("ts")), str(data.get("assistant_text"))


def _missing(facts: ConversationFacts, turns: Turns) -> Iterator[Attempt]:
    plan = planned(facts)
    failed = failed_turns(facts)
    planned_turns = plan.turns if plan else 0
    beyond = sorted(turn for turn in failed if turn >= planned_turns)
    for turn in chain(turns.seen.absent_below(planned_turns), (turn for turn in beyond if turn not in turns.seen)):
        errors = failed.get(turn) or facts.log.of_turn(turn)
        yield turns.missing(turn, errors, plan.ref if plan else None)


def _endings(paths: list[Path]) -> list[int]:
    """The turns where the model ended the session; only lines with the marker are parsed."""
    endings = set()
    for path in filter(_has_endings, paths):
        for line in _lines(path):
            if _ENDED in line:
                try:
                    row = decode(line)
                    if marker_of(row["assistant_text"]) == ENDED:
                        endings.add(turn_of(row))
                except (ValueError, LookupError, TypeError):
                    continue  # reported as unreadable when the rows are converted
    return sorted(endings)


def _has_endings(path: Path) -> bool:
    """Whether the marker is anywhere in the file. To look for it in large pieces takes far less than line by line."""
    end = b""
    try:
        with path.open("rb", buffering=0) as file:
            while piece := file.read(READ_SIZE):
                if _ENDED in end + piece:
                    return True
                end = piece[-len(_ENDED) :]
    except OSError:
        return False
    return False


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb", buffering=READ_SIZE) as file:
            while line := file.readline(LINE_CAP):
                yield line
    except OSError:
        return


_peek = msgspec.json.Decoder(_Peek)


def rows_by_turn(path: Path, *, root: Path) -> Callable[[int, int], Row | None]:
    """A function from turn and index to the row, or None if there is no such row."""
    places = _places(path)
    name = relative(path, root)

    def row(turn: int, index: int) -> Row | None:
        known = places.get(turn, ())
        if not 0 < index <= len(known):
            return None
        line, start = known[index - 1]
        try:
            with path.open("rb") as file:
                file.seek(start)
                data = decode(file.readline(LINE_CAP))
        except (OSError, ValueError):
            return None
        return Row(data, SourceRef(file=name, line=line)) if type(data) is dict else None

    return row


def _places(path: Path) -> dict[int, list[tuple[int, int]]]:
    """Turn → line and byte of each of its rows. Damaged lines are reported when the file is converted."""
    places: dict[int, list[tuple[int, int]]] = defaultdict(list)
    number = start = 0
    try:
        with path.open("rb") as file:
            while line := file.readline(LINE_CAP):
                number += 1
                turn = _turn(line)
                if turn is not None:
                    places[turn].append((number, start))
                start += len(line)
    except OSError:
        pass
    return places


def _turn(line: bytes) -> int | None:
    try:
        return turn_of({"turn": _peek.decode(line).turn})
    except msgspec.DecodeError:
        pass
    except ValueError:
        return None
    try:
        return turn_of(decode(line))
    except (ValueError, LookupError, TypeError):
        return None
