"""One conversation, streamed: its run, the cases of its benchmark, then an attempt for every turn."""

from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from itertools import chain
from pathlib import Path

import msgspec

from errata.model import Attempt, Item, Run
from errata.sources.base import LINE_CAP, READ_SIZE, Row, convert_each, decode, json_lines, of_run
from errata.sources.conversation_bench.comparison import Listed
from errata.sources.conversation_bench.contract import cases
from errata.sources.conversation_bench.layout import NAME, Files
from errata.sources.conversation_bench.run_record import Facts, failed_turns, gather, judges, planned, run_record
from errata.sources.conversation_bench.second_judge import rows_by_turn
from errata.sources.conversation_bench.turns import ENDED, SecondOpinion, Turns, marker_of, turn_of
from errata.sources.conversation_bench.usual import UsualRow


def read_conversation(files: Files, listed: Listed | None = None) -> Iterator[Item]:
    facts = gather(files, listed)
    run = run_record(facts)
    yield run
    yield from of_run(run.id, facts.problems)
    yield from of_run(run.id, cases(facts.contract, run))
    turns = _turns(facts, run)
    yield from of_run(run.id, _rows(facts, turns))
    yield from _missing(facts, turns)
    if turns.started_at:
        # the rows' times are UTC, the log's are local
        yield msgspec.structs.replace(run, started_at=turns.started_at, finished_at=turns.finished_at)


def _turns(facts: Facts, run: Run) -> Turns:
    files = facts.files
    order = list(judges(facts).values())
    second = None
    if len(order) > 1:
        second = SecondOpinion(order[1], rows_by_turn(files.judged[order[1].name], root=files.root))
    return Turns(
        run,
        judge=order[0] if order else None,
        second=second,
        endings=_endings(_paths(files)),
        log_errors=facts.log.errors,
    )


def _paths(files: Files) -> list[Path]:
    return [*files.judged.values(), *((files.transcript,) if files.transcript else ())]


def _rows(facts: Facts, turns: Turns) -> Iterator[Item]:
    """The judge's rows first; then the turns that only the transcript, or only the second judge, knows."""
    files = facts.files
    if not files.judged:
        yield from _converted(files, files.transcript, turns.held)
        return
    first, *others = files.judged.values()
    usual = UsualRow if len(files.judged) == 1 else None
    yield from convert_each(json_lines(first, source=NAME, root=files.root, usual=usual), turns.judged, source=NAME)
    for path in (files.transcript, *others):
        yield from _converted(files, path, _unless_seen(turns))


def _converted(files: Files, path: Path | None, convert: Callable[[Row], Item | Iterable[Item]]) -> Iterator[Item]:
    if path is not None:
        yield from convert_each(json_lines(path, source=NAME, root=files.root), convert, source=NAME)


def _unless_seen(turns: Turns) -> Callable[[Row], Item | Iterable[Item]]:
    before = deepcopy(turns.seen)

    def convert(row: Row) -> Item | Iterable[Item]:
        return () if turn_of(row.data) in before else turns.passed_over(row)

    return convert


def _missing(facts: Facts, turns: Turns) -> Iterator[Attempt]:
    plan = planned(facts)
    failed = failed_turns(facts)
    planned_turns = plan.turns if plan else 0
    beyond = sorted(turn for turn in failed if turn >= planned_turns)
    for turn in turns.seen.absent(chain(range(planned_turns), beyond)):
        errors = failed.get(turn) or facts.log.errors.get(turn, ())
        yield turns.missing(turn, errors, plan.ref if plan else None)


_ENDED = ENDED.encode()


def _endings(paths: list[Path]) -> list[int]:
    """The turns on which the model ended the session; only lines with the marker are parsed."""
    endings = set()
    for path in paths:
        for line in _lines(path):
            if _ENDED in line:
                try:
                    row = decode(line)
                    if marker_of(row["assistant_text"]) == ENDED:
                        endings.add(turn_of(row))
                except (ValueError, LookupError, TypeError):
                    continue  # told as unreadable when the rows are converted
    return sorted(endings)


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb", buffering=READ_SIZE) as file:
            while line := file.readline(LINE_CAP):
                yield line
    except OSError:
        return
