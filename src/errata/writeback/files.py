"""What is settled → the files that write it back: a script and its data for Inspect, a commented copy for promptfoo."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from errata.errors import SourceError
from errata.model.output.act import WritebackChange
from errata.render.files import WrittenFile, slug, write_files
from errata.writeback import inspect_edits, promptfoo_comments
from errata.writeback.settlement import Settled, SettledRun, in_words

LARGEST = 512 * 1024 * 1024
INDENTED = b'{\n  "'


class WrittenBack(msgspec.Struct, frozen=True, kw_only=True):
    runs: tuple[SettledRun, ...]
    log: Path
    """The log that they were read from; it stays as it is."""
    changes: tuple[WritebackChange, ...]
    left: dict[str, int]
    """Why → how many failures are not written back."""
    files: tuple[WrittenFile, ...] = ()
    command: tuple[str, ...] = ()
    """What applies it."""


def write_back(found: Sequence[SettledRun], folder: Path) -> list[WrittenBack]:
    """All runs of one log into one folder; of several logs, each into one of its own below it."""
    logs: dict[Path, list[SettledRun]] = {}
    for one in found:
        logs.setdefault(_log_of(one), []).append(one)
    made = []
    for log, runs in logs.items():
        own = folder / slug(f"{log.stem}-{runs[0].stored.run.id[:8]}") if len(logs) > 1 else folder
        write = _for_inspect if runs[0].stored.run.source.name == "inspect-ai" else _for_promptfoo
        made.append(write(log, runs, own))
    return made


def _log_of(found: SettledRun) -> Path:
    run = found.stored.run
    return Path(run.origin) / (run.ref.file if run.ref else "")


def _for_inspect(log: Path, runs: Sequence[SettledRun], folder: Path) -> WrittenBack:
    (only,) = runs
    plan = inspect_edits.plan(only.settled)
    edits = {one["attempt"]: one["do"] for one in plan.edits}
    made = WrittenBack(
        runs=tuple(runs),
        log=log,
        changes=tuple(_change(edits[one.attempt.id], one) for one in only.settled if one.attempt.id in edits),
        left=_left(runs, [one.why for one in plan.left]),
    )
    if not plan.edits:
        return made
    script, data = inspect_edits.SCRIPT, inspect_edits.EDITS
    texts = {data: inspect_edits.document(only.stored.run, plan.edits), script: inspect_edits.script()}
    files = tuple(write_files(folder, texts, executable=frozenset((script,))))
    command = ("python3", str(folder / script), "--dry-run", str(log))
    return msgspec.structs.replace(made, files=files, command=command)


def _for_promptfoo(log: Path, runs: Sequence[SettledRun], folder: Path) -> WrittenBack:
    settled = [one for run in runs for one in run.settled]
    if not settled:
        return WrittenBack(runs=tuple(runs), log=log, changes=(), left=_left(runs, []))
    document, indent = _read(log)
    if why := promptfoo_comments.why_no_import(document):
        return WrittenBack(runs=tuple(runs), log=log, changes=(), left=_left(runs, [why] * len(settled)))
    copy = promptfoo_comments.commented(document, runs[0].stored.run.native_id, settled, indent=indent)
    changes = tuple(_change("comment", one) for one in copy.done)
    made = WrittenBack(runs=tuple(runs), log=log, changes=changes, left=_left(runs, [one.why for one in copy.refused]))
    if not changes:
        return made
    name = f"{slug(log.stem)}.commented.json"
    files = tuple(write_files(folder, {name: copy.text}))
    return msgspec.structs.replace(made, files=files, command=("promptfoo", "import", str(folder / name), "--new-id"))


def _read(log: Path) -> tuple[Any, int | None]:
    try:
        if log.stat().st_size > LARGEST:
            raise SourceError(f"`{log.name}` is larger than {LARGEST // 2**20} MB", hint="comment on a smaller export")
        data = log.read_bytes()
        return json.loads(data), 2 if data.startswith(INDENTED) else None
    except OSError as error:
        raise SourceError(
            f"`{log}` can't be read: {error.strerror}", hint="comments go into a copy of the export: import it again"
        ) from error
    except (ValueError, RecursionError):
        return None, None  # lines, or no JSON any more


def _change(do: str, settled: Settled) -> WritebackChange:
    return WritebackChange(
        do=do,
        run_id=settled.attempt.run,
        case=settled.case,
        attempt=settled.attempt.index,
        owner=settled.opinion.owner,
        reason=in_words(settled.opinion),
    )


def _left(runs: Sequence[SettledRun], more: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for why, count in [*(pair for run in runs for pair in run.left.items()), *((why, 1) for why in more)]:
        found[why] = found.get(why, 0) + count
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))
