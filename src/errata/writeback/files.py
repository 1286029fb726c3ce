"""The files that write settled failures back: a script with data for Inspect, a commented copy for promptfoo."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from errata.errors import SourceError
from errata.model.output.act import WhyLeft
from errata.render.files import WrittenFile, slug, write_files
from errata.writeback import inspect_edits, promptfoo_comments
from errata.writeback.settlement import Settled, SettledRun

LARGEST = 512 * 1024 * 1024
INDENTED = b'{\n  "'

LEFT_TEXT: dict[WhyLeft, str] = {
    "duplicate_row": "listed twice in the log",
    "export_changed": "the export has changed since it was imported",
    "invalidated_already": "already invalidated",
    "needs_second_reviewer": "the verdict needs a second reviewer",
    "no_uuid": "no uuid in this old log, so Inspect can't invalidate the sample",
    "not_certain": "the rule is not certain; not reviewed",
    "not_graded": "not graded",
    "not_importable": "`promptfoo import` only reads the JSON of `--output` or `promptfoo export`",
    "not_reviewed": "neither infrastructure nor reviewed",
    "old_export": "exports before version 3 store comments in a separate table",
    "other_export": "the export is not the one that was imported",
    "owner_budget": "owner budget",
    "owner_model": "owner model",
    "owner_unknown": "owner unknown",
    "reviewers_disagree": "reviewers disagree",
    "unscored_already": "already unscored",
    "verdict_inherited": "the verdict was copied from a similar failure",
    "verdict_stale": "the verdict is out of date",
}


class LogChange(msgspec.Struct, frozen=True):
    do: Literal["invalidate", "unscore", "comment"]
    settled: Settled


class WrittenBack(msgspec.Struct, frozen=True, kw_only=True):
    runs: tuple[SettledRun, ...]
    log: Path
    """The imported log; it is not changed."""
    changes: tuple[LogChange, ...]
    left: dict[WhyLeft, int]
    """How many failures are not written back, by reason."""
    files: tuple[WrittenFile, ...] = ()
    command: tuple[str, ...] = ()
    """Applies the changes."""


def write_back(settled: Sequence[SettledRun], folder: Path) -> list[WrittenBack]:
    """All runs of a log go into one folder; with several logs, each gets a folder of its own below it."""
    logs: dict[Path, list[SettledRun]] = {}
    for settled_run in settled:
        logs.setdefault(_log_of(settled_run), []).append(settled_run)
    made = []
    for log, runs in logs.items():
        own = folder / slug(f"{log.stem}-{runs[0].stored.run.id[:8]}") if len(logs) > 1 else folder
        write = _for_inspect if runs[0].stored.run.source.name == "inspect-ai" else _for_promptfoo
        made.append(write(log, runs, own))
    return made


def _log_of(settled: SettledRun) -> Path:
    run = settled.stored.run
    return Path(run.origin) / (run.ref.file if run.ref else "")


def _for_inspect(log: Path, runs: Sequence[SettledRun], folder: Path) -> WrittenBack:
    (only,) = runs
    plan = inspect_edits.plan(only.settled)
    edits = {one["attempt"]: one["do"] for one in plan.edits}
    made = WrittenBack(
        runs=tuple(runs),
        log=log,
        changes=tuple(LogChange(edits[one.attempt.id], one) for one in only.settled if one.attempt.id in edits),
        left=_count_left(runs, [one.why for one in plan.left]),
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
        return WrittenBack(runs=tuple(runs), log=log, changes=(), left=_count_left(runs, []))
    document, indent = _read(log)
    if why := promptfoo_comments.why_no_import(document):
        return WrittenBack(runs=tuple(runs), log=log, changes=(), left=_count_left(runs, [why] * len(settled)))
    copy = promptfoo_comments.commented(document, runs[0].stored.run.native_id, settled, indent=indent)
    changes = tuple(LogChange("comment", one) for one in copy.done)
    made = WrittenBack(
        runs=tuple(runs), log=log, changes=changes, left=_count_left(runs, [one.why for one in copy.refused])
    )
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
            f"`{log}` can't be read: {error.strerror}",
            hint="comments are written to a copy of the export: import it again",
        ) from error
    except (ValueError, RecursionError):
        return None, None  # JSON lines, or no longer JSON


def _count_left(runs: Sequence[SettledRun], more: Sequence[WhyLeft]) -> dict[WhyLeft, int]:
    counts: Counter[WhyLeft] = Counter(more)
    for run in runs:
        counts.update(run.left)
    return dict(counts.most_common())
