"""`python -m bench.reports_read FOLDER`: how exactly hand-written reports are read, against a truth that people wrote.

FOLDER holds reports and `truth.json` (or `--truth FILE`):

    {"<report>": {"runs": [{"id", "model", "passed", "total"}],
                  "failures": [{"eval", "run"?, "label", "step"}],
                  "unclassified": [{"eval", "run"?, "step"}],
                  "actions": [{"what", "evals", "date"}]}}

`unclassified` failures have no label in the report; they may be read, but not with a label.

An `eval` may be a bare name, an id a prefix, `what` a phrase of the action. What a truth leaves out is not compared.
"""

import argparse
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from errata.memory.reading.report import read_report
from errata.memory.spelling import ends_alike, folded, same_model, segments
from errata.memory.words import LabelWords
from errata.model import Action
from errata.model.prior_report import PriorFailure, PriorReport, PriorRun
from errata.triage import taxonomy

MOST_OF_IT = 0.6
"""The share of a phrase's words that an action needs to be the one that is meant."""
_WORD = re.compile(r"[\w./-]*\w")

Truth = dict[str, Any]


class Figure(msgspec.Struct):
    right: int = 0
    of: int = 0

    def count(self, is_right: bool) -> bool:
        self.right, self.of = self.right + is_right, self.of + 1
        return is_right

    def __str__(self) -> str:
        return f"{self.right}/{self.of} ({self.right / self.of:.1%})" if self.of else "nothing to compare"


class Figures(msgspec.Struct):
    runs: Figure = msgspec.field(default_factory=Figure)
    models: Figure = msgspec.field(default_factory=Figure)
    rates: Figure = msgspec.field(default_factory=Figure)
    runs_given: Figure = msgspec.field(default_factory=Figure)
    labels: Figure = msgspec.field(default_factory=Figure)
    steps: Figure = msgspec.field(default_factory=Figure)
    failures_given: Figure = msgspec.field(default_factory=Figure)
    actions_found: Figure = msgspec.field(default_factory=Figure)
    actions_given: Figure = msgspec.field(default_factory=Figure)
    action_evals: Figure = msgspec.field(default_factory=Figure)
    action_dates: Figure = msgspec.field(default_factory=Figure)

    def __str__(self) -> str:
        names = {
            "run ids": self.runs,
            "models": self.models,
            "pass rates": self.rates,
            "runs, precision": self.runs_given,
            "labels": self.labels,
            "steps": self.steps,
            "failures, precision": self.failures_given,
            "actions, recall": self.actions_found,
            "actions, precision": self.actions_given,
            "evals of actions": self.action_evals,
            "dates of actions": self.action_dates,
        }
        return "\n".join(f"{name:<20} {figure}" for name, figure in names.items())


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--truth", type=Path, help="default: FOLDER/truth.json")
    options = parser.parse_args(arguments)
    figures, mistakes = measure(options.folder, options.truth or options.folder / "truth.json")
    for mistake in mistakes:
        print(mistake)
    print(f"\n{figures}" if mistakes else figures)


def measure(folder: Path, truth: Path) -> tuple[Figures, list[str]]:
    """The figures over all reports of a truth, and each mistake as a line."""
    figures, mistakes = Figures(), list[str]()
    for name, expected in json.loads(truth.read_text(encoding="utf-8")).items():
        path = _find(folder, name)
        report = read(path, _below(path.relative_to(folder)))
        mistakes += [f"{name}: {text}" for text in _compare(report, expected, figures)]
    return figures, mistakes


def read(path: Path, below: str) -> PriorReport:
    labels = LabelWords(label.name for one in taxonomy.built_in() for label in one.label)
    return read_report(path.read_text(encoding="utf-8-sig"), path=below, below=below, labels=labels)


def _below(path: Path) -> str:
    """From the folder of reports on."""
    parts = path.parts
    return "/".join(parts[parts.index("reports") + 1 :] if "reports" in parts[:-1] else parts)


def _find(folder: Path, name: str) -> Path:
    wanted = Path(name).parts
    direct = folder.joinpath(*wanted)
    if direct.is_file():
        return direct
    fitting = [path for path in folder.rglob("*.md") if _end_alike(path.parts, wanted)]
    if len(fitting) != 1:
        raise SystemExit(f"{name}: {len(fitting)} files of this name below {folder}")
    return fitting[0]


def _end_alike(path: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    size = next((size for size in range(len(wanted), 0, -1) if path[-size:] == wanted[-size:]), 0)
    return size == len(wanted) or (size > 0 and wanted[0] == "reports" and size >= len(wanted) - 1)


def _compare(report: PriorReport, expected: Truth, figures: Figures) -> Iterator[str]:
    yield from _compare_runs(report.runs, expected.get("runs", []), figures)
    yield from _compare_failures(report.failures, expected, figures)
    yield from _compare_actions(report.actions, expected.get("actions", []), figures)


def _compare_runs(runs: Sequence[PriorRun], expected: Sequence[Truth], figures: Figures) -> Iterator[str]:
    for wanted in expected:
        run = next((one for one in runs if _same_id(one.id, wanted["id"])), None)
        if not figures.runs.count(run is not None):
            yield f"run {wanted['id']} not found in {[one.id for one in runs]}"
        if wanted.get("model"):
            model = run.model if run else ""
            if not figures.models.count(same_model(model, wanted["model"])):
                yield f"run {wanted['id']}: model {model!r}, not {wanted['model']!r}"
        rate = (wanted.get("passed"), wanted.get("total"))
        if rate != (None, None):
            rate_read = (run.passed, run.total) if run else (None, None)
            if not figures.rates.count(rate_read == rate):
                yield f"run {wanted['id']}: pass rate {rate_read}, not {rate}"
    for run in runs:
        if not figures.runs_given.count(any(_same_id(run.id, wanted["id"]) for wanted in expected)):
            yield f"run {run.id!r} is none"


def _same_id(left: str, right: str) -> bool:
    here, there = left.casefold().strip(".…"), right.casefold().strip(".…")
    return bool(here and there) and (here.startswith(there) or there.startswith(here))


def _compare_failures(failures: Sequence[PriorFailure], expected: Truth, figures: Figures) -> Iterator[str]:
    used: set[int] = set()
    for wanted in expected.get("failures", []):
        name = " ".join(filter(None, (wanted["eval"], wanted.get("run"))))
        at = _failure_of(failures, wanted, used)
        failure_read = failures[at] if at is not None else None
        used |= {at} if at is not None else set()
        if failure_read is None:
            yield f"failure {name} not found"
        if wanted.get("label") is not None:
            label = failure_read.label if failure_read else None
            is_right = label is not None and folded(label) == folded(wanted["label"])
            if not figures.labels.count(is_right) and failure_read:
                yield f"failure {name}: label {label!r}, not {wanted['label']!r}"
        if wanted.get("step") is not None:
            step = failure_read.failed_check if failure_read else None
            is_right = step is not None and folded(step) == folded(wanted["step"])
            if not figures.steps.count(is_right) and failure_read:
                yield f"failure {name}: step {step!r}, not {wanted['step']!r}"
    for wanted in expected.get("unclassified", []):
        at = _failure_of(failures, wanted, used)
        used |= {at} if at is not None and not failures[at].label else set()
    for at, failure in enumerate(failures):
        if not figures.failures_given.count(at in used):
            yield f"failure {failure.case!r} {failure.run!r} ({failure.label}) is none"


def _failure_of(failures: Sequence[PriorFailure], wanted: Truth, used: set[int]) -> int | None:
    run = wanted.get("run") or ""
    fitting = [
        at
        for at, failure in enumerate(failures)
        if at not in used
        and ends_alike(segments(failure.case), segments(wanted["eval"]))
        and (not run or not failure.run or _same_id(failure.run, run))
    ]
    return next((at for at in fitting if run and failures[at].run), next(iter(fitting), None))


def _compare_actions(actions: Sequence[Action], expected: Sequence[Truth], figures: Figures) -> Iterator[str]:
    open_ones = list(range(len(actions)))
    for wanted in expected:
        best = max(open_ones, key=lambda at: _shared(actions[at], wanted["what"]), default=None)
        if best is None or _shared(actions[best], wanted["what"]) < MOST_OF_IT:
            figures.actions_found.count(False)
            yield f"action not found: {wanted['what']}"
            continue
        open_ones.remove(best)
        figures.actions_found.count(True)
        yield from _compare_action(actions[best], wanted, figures)
    for at, action in enumerate(actions):
        if not figures.actions_given.count(at not in open_ones):
            yield f"action is none: {action.path} {action.what}"


def _compare_action(action: Action, wanted: Truth, figures: Figures) -> Iterator[str]:
    if wanted.get("date") and not figures.action_dates.count(action.date[:10] == wanted["date"]):
        yield f"action {wanted['what']!r}: date {action.date}, not {wanted['date']}"
    if wanted.get("evals") is not None and not figures.action_evals.count(_same_evals(action.addresses, wanted)):
        yield f"action {wanted['what']!r}: evals {list(action.addresses)}, not {wanted['evals']}"


def _same_evals(addresses: Sequence[str], wanted: Truth) -> bool:
    names = [segments(name) for name in wanted["evals"]]
    addressed = [segments(name) for name in addresses]
    return len(names) == len(addressed) and all(any(ends_alike(name, one) for one in addressed) for name in names)


def _shared(action: Action, phrase: str) -> float:
    here, there = _words(f"{action.path} {action.what}"), _words(phrase)
    short, long = sorted((here, there), key=len)
    return len(short & long) / len(short) if short else 0.0


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


if __name__ == "__main__":
    main()
