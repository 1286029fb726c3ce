"""A conversation that has grown: possible where one judge has a row for every turn, and no other file has rows."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from errata.errors import ReadAloneError
from errata.model import Attempt, Item, Run
from errata.model.attempt_rows import AttemptRows
from errata.model.codec import pack
from errata.sources.base import convert_each, of_run, relative
from errata.sources.conversation_bench import NAME
from errata.sources.conversation_bench.contract import cases
from errata.sources.conversation_bench.reader import end_of, files_of_one_judge, refuse_repeated, turns_of
from errata.sources.conversation_bench.run_record import ConversationFacts, gather, judges, run_record
from errata.sources.conversation_bench.steps import UsualRow
from errata.sources.conversation_bench.turn_set import first_turns
from errata.sources.conversation_bench.turns import ENDED
from errata.sources.line_growth import EarlierRows, GrowingLog, LineTail, signature_of, tail_json_lines

_ENDED = ENDED.encode()


def growing_conversation(path: Path) -> GrowingLog | None:
    files = files_of_one_judge(path.resolve())
    if files is None or files.transcript is not None:
        return None
    facts = gather(files, None)
    run = run_record(facts)
    described = [pack(item) for item in cases(facts.contract, run)]
    rows_from = (run.id, run.suite, run.subject.model, judges(facts), facts.log.errors, facts.log.lines)
    [judged] = files.judged.values()
    signature = signature_of(str(files.root), judged.name, rows_from, facts.problems, described)
    return GrowingLog(judged, signature, lambda tail: _added_turns(judged, tail, facts, run))


def _added_turns(judged: Path, tail: LineTail, facts: ConversationFacts, run: Run) -> Iterator[Item | AttemptRows]:
    earlier = tail.earlier
    if (earlier.first_position, earlier.last_position) != (0, earlier.attempts - 1):
        raise ReadAloneError(f"turns of `{judged.name}` are left out")
    if earlier.run.started_at is not None and earlier.run.started_at == run.started_at:
        raise ReadAloneError("the time may be that of the log or of the first turn")
    if _ENDED in tail.data:
        raise ReadAloneError("earlier turns may follow the one that ended the session")
    yield run
    turns = turns_of(facts, run, endings=[])
    root = facts.files.root
    turns.file = relative(judged, root)
    lines = tail_json_lines(tail, judged, source=NAME, root=root, usual=UsualRow, pack=turns.pack)
    items: Iterator[Item | AttemptRows] = convert_each(lines, turns.judged, source=NAME)
    added: Iterator[Item | AttemptRows] = of_run(run.id, items)
    for item in added:
        if type(item) is Attempt and item.execution == "cancelled":
            raise ReadAloneError("a turn follows the one that ended the session")
        yield item
    turns.join(_summary(earlier))
    refuse_repeated(turns, judged)
    yield from end_of(facts, turns, run)


def _summary(earlier: EarlierRows) -> bytes:
    """As another reader would send it: every turn from the first to the last, and the times of the run."""
    return msgspec.msgpack.encode((first_turns(earlier.attempts), earlier.run.started_at, earlier.run.finished_at))
