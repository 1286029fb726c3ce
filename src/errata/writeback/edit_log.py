#!/usr/bin/env python3
"""Applies the edits of edits.json, which lies beside this script, to an Inspect log.

    python edit_log.py LOG --dry-run     show what would be changed; writes nothing
    python edit_log.py LOG               write an edited copy beside this script; LOG stays as it is
    python edit_log.py LOG --in-place    edit LOG itself

Needs inspect-ai. Samples are invalidated and scores edited with its own functions, so that each edit stands in the log
with its author, its reason and its evidence, and the value before it is kept. Safe to run again at any time: an edit
that is there already is passed over, and a copy that is there already is what is edited further.
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
    parser.add_argument("log", type=Path, help="the .eval or .json file that errata read")
    parser.add_argument("--dry-run", action="store_true", help="show what would be changed; writes nothing")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--output", type=Path, help="the edited copy; beside this script by default")
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
        fail(f"{source.name} is another run: {log.eval.eval_id}; the edits are for {given['run']}")
    editing = Editing(api, log, given["made_by"])
    for one in given["edits"]:
        editing.take(one, dry_run=dry_run)
    counts = editing.counts
    print(f"\n{counts['done']} edits, {counts['there']} there already, {counts['refused']} refused")
    if dry_run:
        print("dry run: nothing was written")
    elif counts["done"]:
        editing.recompute()
        write(api, editing.log, target)
    return 1 if counts["refused"] else 0


class Editing:
    """One log and what has become of its edits."""

    def __init__(self, api: Any, log: Any, made_by: str) -> None:
        self.api, self.log, self.made_by = api, log, made_by
        self.counts = {"done": 0, "there": 0, "refused": 0}
        self.scores_changed = False
        self.samples = {(str(one.id), one.epoch): at for at, one in enumerate(log.samples or [])}

    def take(self, one: dict[str, Any], *, dry_run: bool) -> None:
        at = self.samples.get((one["sample"], one["epoch"]))
        sample = self.log.samples[at] if at is not None else None
        state = "the log has no such sample" if sample is None else self.refusal(sample, one)
        if state == "there":
            word = "there"
        elif state:
            word = "refused"
        else:
            word = "done"
            if not dry_run:
                self.apply(sample, one)
        self.counts[word] += 1
        what = f"{one['do']:<10} {shown(one['sample'])} epoch {one['epoch']}"
        told = shown(state if word == "refused" else one["reason"])
        print(f"{'would' if dry_run and word == 'done' else word:<8} {what}\n         {told}")

    def refusal(self, sample: Any, one: dict[str, Any]) -> str:
        """Empty where it can be applied; `there` where it was."""
        if one["uuid"] and sample.uuid and sample.uuid != one["uuid"]:
            return f"the sample is another one: {sample.uuid}"
        if one["do"] == "invalidate":
            if sample.invalidation is None:
                return ""
            return "there" if mine(sample.invalidation, one) else "the sample is invalidated by somebody else"
        score = (sample.scores or {}).get(one["scorer"])
        if score is None:
            return f"the sample has no score by {one['scorer']}"
        edits = [entry.provenance for entry in score.history or [] if entry.provenance is not None]
        if any(mine(provenance, one) for provenance in edits):
            return "there"
        return "somebody has edited the score since" if edits and not same_value(score.value, one) else ""

    def apply(self, sample: Any, one: dict[str, Any]) -> None:
        provenance = self.api.ProvenanceData(
            author=self.made_by, reason=one["reason"], metadata={MARK: {**one, "edit": one["id"]}}
        )
        if one["do"] == "invalidate":
            self.log = self.api.invalidate_samples(self.log, [sample.uuid], provenance)
            return
        value = unscored(sample.scores[one["scorer"]].value, one["keys"])
        change = self.api.ScoreEdit(value=value, reason=one["owner"], provenance=provenance)
        self.api.edit_score(self.log, sample.id, one["scorer"], change, recompute_metrics=False, epoch=sample.epoch)
        self.scores_changed = True

    def recompute(self) -> None:
        if not self.scores_changed:
            return
        try:
            self.api.recompute_metrics(self.log)
        except Exception as error:  # noqa: BLE001 metrics of the task's own may not be installed here
            print(
                f"warning: the metrics could not be computed anew, they are those of before: {error}", file=sys.stderr
            )


def unscored(value: Any, keys: list[str]) -> Any:
    """`NaN` is how Inspect says that a sample has no score; of several values only those that are meant."""
    nothing = float("nan")
    if isinstance(value, dict):
        return {**value, **dict.fromkeys(keys or value, nothing)}
    return [nothing for _ in value] if isinstance(value, list) else nothing


def mine(provenance: Any, one: dict[str, Any]) -> bool:
    made = (getattr(provenance, "metadata", None) or {}).get(MARK)
    return isinstance(made, dict) and all(made.get(name) == one[name] for name in ("attempt", "do"))


def same_value(value: Any, one: dict[str, Any]) -> bool:
    found = [value[key] for key in one["keys"] if key in value] if isinstance(value, dict) else [value]
    return str(one["was"]) == ", ".join(map(str, found))


def write(api: Any, log: Any, target: Path) -> None:
    """Whole or not at all."""
    part = target.with_name(f"{target.stem}.part{target.suffix}")
    try:
        api.write_eval_log(log, str(part))
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    print(f"wrote {target}")


def inspect_api() -> Any:
    """The functions of Inspect that are used here, all of them public."""
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


def shown(text: str) -> str:
    """What a log says, without anything that a terminal would act on."""
    return "".join(one if one.isprintable() else "?" for one in text)


def fail(told: str) -> NoReturn:
    print(f"error: {shown(told)}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    sys.exit(main())
