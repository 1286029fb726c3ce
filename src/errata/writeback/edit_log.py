#!/usr/bin/env python3
"""Apply the edits of edits.json, in the folder of this script, to an Inspect log.

    python edit_log.py LOG --dry-run     show the changes without writing
    python edit_log.py LOG               write an edited copy next to this script
    python edit_log.py LOG --in-place    edit LOG itself

Needs inspect-ai, whose own functions invalidate samples and edit scores: the log records the author, reason and
evidence of each edit, and keeps the old value. Safe to run again: edits that were already applied are skipped, and an
existing copy is edited further.
"""

import argparse
import json
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

HERE = Path(__file__).resolve().parent
EDITS = HERE / "edits.json"
MARK = "errata"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("log", type=Path, help="the .eval or .json file that errata imported")
    parser.add_argument("--dry-run", action="store_true", help="show the changes without writing")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--output", type=Path, help="the edited copy; default: next to this script")
    where.add_argument("--in-place", action="store_true", help="edit the log itself")
    chosen = parser.parse_args()
    if not chosen.log.is_file():
        fail(f"no such file: {chosen.log}")
    copy = chosen.log if chosen.in_place else chosen.output or HERE / f"{chosen.log.stem}.edited{chosen.log.suffix}"
    return edit(copy if copy.is_file() else chosen.log, copy, dry_run=chosen.dry_run)


def edit(source: Path, target: Path, *, dry_run: bool) -> int:
    api, given = inspect_api(), json.loads(EDITS.read_text(encoding="utf-8"))
    log = api.read_eval_log(str(source))
    if given["run"] not in (log.eval.eval_id, f"{log.eval.run_id}_{log.eval.task_id}"):
        fail(f"{source.name} is a different run, {log.eval.eval_id}; the edits are for {given['run']}")
    editor = LogEditor(api, log, given["made_by"])
    for change in given["edits"]:
        editor.take(change, dry_run=dry_run)
    counts = editor.counts
    print(f"\n{counts['done']} edits, {counts['there']} there already, {counts['refused']} refused")
    if dry_run:
        print("dry run: nothing was written")
    elif counts["done"]:
        editor.recompute()
        write(api, editor.log, target)
    return 1 if counts["refused"] else 0


class LogEditor:
    """A log and the results of its edits."""

    def __init__(self, api: Any, log: Any, made_by: str) -> None:
        self.api, self.log, self.made_by = api, log, made_by
        self.counts = {"done": 0, "there": 0, "refused": 0}
        self.scores_changed = False
        self.samples = {(str(sample.id), sample.epoch): at for at, sample in enumerate(log.samples or [])}

    def take(self, change: dict[str, Any], *, dry_run: bool) -> None:
        at = self.samples.get((change["sample"], change["epoch"]))
        sample = self.log.samples[at] if at is not None else None
        state = "the log has no such sample" if sample is None else self.refusal(sample, change)
        if state == "there":
            word = "there"
        elif state:
            word = "refused"
        else:
            word = "done"
            if not dry_run:
                self.apply(sample, change)
        self.counts[word] += 1
        what = f"{change['do']:<10} {printable(change['sample'])} epoch {change['epoch']}"
        why = printable(state if word == "refused" else change["reason"])
        print(f"{'would' if dry_run and word == 'done' else word:<8} {what}\n         {why}")

    def refusal(self, sample: Any, change: dict[str, Any]) -> str:
        """Empty if the change can be applied; `there` if it was applied before."""
        if change["uuid"] and sample.uuid and sample.uuid != change["uuid"]:
            return f"a different sample: {sample.uuid}"
        if change["do"] == "invalidate":
            if sample.invalidation is None:
                return ""
            return "there" if is_own(sample.invalidation, change) else "somebody else invalidated the sample"
        score = (sample.scores or {}).get(change["scorer"])
        if score is None:
            return f"the sample has no score by {change['scorer']}"
        edits = [entry.provenance for entry in score.history or [] if entry.provenance is not None]
        if any(is_own(provenance, change) for provenance in edits):
            return "there"
        return "somebody has edited the score since" if edits and not same_value(score.value, change) else ""

    def apply(self, sample: Any, change: dict[str, Any]) -> None:
        provenance = self.api.ProvenanceData(
            author=self.made_by, reason=change["reason"], metadata={MARK: {**change, "edit": change["id"]}}
        )
        if change["do"] == "invalidate":
            self.log = self.api.invalidate_samples(self.log, [sample.uuid], provenance)
            return
        value = unscored(sample.scores[change["scorer"]].value, change["keys"])
        score = self.api.ScoreEdit(value=value, reason=change["owner"], provenance=provenance)
        self.api.edit_score(self.log, sample.id, change["scorer"], score, recompute_metrics=False, epoch=sample.epoch)
        self.scores_changed = True

    def recompute(self) -> None:
        if not self.scores_changed:
            return
        try:
            self.api.recompute_metrics(self.log)
        except Exception as error:  # noqa: BLE001 the task's own metrics may not be installed here
            print(f"warning: could not recompute the metrics, so the old ones remain: {error}", file=sys.stderr)


def unscored(value: Any, keys: list[str]) -> Any:
    """Replace scores with `NaN`, Inspect's missing score; of several values, only those in `keys`."""
    nothing = float("nan")
    if isinstance(value, dict):
        return {**value, **dict.fromkeys(keys or value, nothing)}
    return [nothing for _ in value] if isinstance(value, list) else nothing


def is_own(provenance: Any, change: dict[str, Any]) -> bool:
    made = (getattr(provenance, "metadata", None) or {}).get(MARK)
    return isinstance(made, dict) and all(made.get(name) == change[name] for name in ("attempt", "do"))


def same_value(value: Any, change: dict[str, Any]) -> bool:
    values = [value[key] for key in change["keys"] if key in value] if isinstance(value, dict) else [value]
    return str(change["was"]) == ", ".join(map(str, values))


def write(api: Any, log: Any, target: Path) -> None:
    """Completely or not at all."""
    part = target.with_name(f"{target.stem}.part{target.suffix}")
    try:
        api.write_eval_log(log, str(part))
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    print(f"wrote {target}")


def inspect_api() -> Any:
    """The functions of Inspect that this script uses, all of them public."""
    names = (
        "read_eval_log",
        "write_eval_log",
        "edit_score",
        "recompute_metrics",
        "invalidate_samples",
        "ProvenanceData",
    )
    try:
        log, scorer = import_module("inspect_ai.log"), import_module("inspect_ai.scorer")
        return SimpleNamespace(ScoreEdit=scorer.ScoreEdit, **{name: getattr(log, name) for name in names})
    except (ImportError, AttributeError) as error:
        fail(f"inspect-ai is needed, in a version that edits scores: pip install -U inspect-ai ({error})")


def printable(text: str) -> str:
    """Text of a log without terminal control characters."""
    return "".join(character if character.isprintable() else "?" for character in text)


def fail(message: str) -> NoReturn:
    print(f"error: {printable(message)}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    sys.exit(main())
