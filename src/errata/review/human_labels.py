"""Labels, decisive steps and agents that people gave: from a table, or from the annotations of a log.

Only `calibrate` reads them. They are never part of a packet.
"""

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from errata.errors import NotFoundError, SettingsError
from errata.model import Attempt, Question
from errata.model.identity import split_attempt_id
from errata.model.output.agreement import WhyRowSkipped
from errata.review.answers import labels_to_give
from errata.text.clean import one_line

NAMES = ("attempt_id", "attempt", "case")
GIVEN = ("label", "step", "agent")
STEPS = ("step", "decisive_step", "mistake_step")
AGENTS = ("agent", "decisive_agent", "mistake_agent")
ANNOTATION = "annotation"
"""Where a source puts what people noted about an attempt."""
LONGEST = 100_000
WIDTH = 100
FindAttempt = Callable[[str], tuple[str, Question] | None]
"""RUN/CASE or an attempt's id → the id and its question; none if the text names only a run."""


class HumanLabel(NamedTuple):
    label: str = ""
    step: int | None = None
    agent: str = ""


class SkippedRow(NamedTuple):
    """A row that can't be used."""

    line: int
    why: WhyRowSkipped
    value: str = ""
    """The case, label or step that `why` is about."""


class HumanLabels(NamedTuple):
    by_attempt: Mapping[str, HumanLabel]
    skipped: tuple[SkippedRow, ...]
    questions: Mapping[str, Question]
    """Run → the question about its failures."""


def read_labels(path: Path, find: FindAttempt, *, run: str = "") -> HumanLabels:
    """Cases in rows without a run belong to `run`."""
    people: dict[str, HumanLabel] = {}
    asked: dict[str, Question] = {}
    skipped: list[SkippedRow] = []
    for line, row in _rows(path):
        labelled = _labelled(line, row, run, find)
        if isinstance(labelled, SkippedRow):
            skipped.append(labelled)
            continue
        attempt, label, question = labelled
        asked.setdefault(split_attempt_id(attempt).run, question)
        if people.setdefault(attempt, label) != label:
            skipped.append(SkippedRow(line, "contradicts_earlier_row", _in_words(people[attempt])))
    return HumanLabels(people, tuple(skipped), asked)


def annotated(attempts: Iterable[Attempt]) -> dict[str, HumanLabel]:
    """What the log records about decisive steps and agents."""
    labels = {attempt.id: _annotation(attempt.extra.get(ANNOTATION)) for attempt in attempts}
    return {attempt: label for attempt, label in labels.items() if label != HumanLabel()}


def refuse_unusable(labels: HumanLabels, path: Path, taxonomies: Mapping[str, Iterable[str]]) -> None:
    if labels.by_attempt:
        return
    if not labels.skipped:
        raise SettingsError(f"`{path}` has no rows", hint="it needs a row for each failure that people labelled")
    why, count = Counter(row.why for row in labels.skipped).most_common(1)[0]
    values = list(dict.fromkeys(row.value for row in labels.skipped if row.why == why))
    shown = ", ".join(f"`{value}`" for value in values[:3] if value)
    hints = {
        "unknown_label": _taxonomy_hint(values, taxonomies),
        "no_run": "name the RUN after the file, or add a column `run`",
        "not_found": "import the run first, or name its store with `--store`",
        "not_a_failure": "name cases or attempts, not runs",
        "no_failure_named": "fill in `attempt_id`, or `case` and the RUN",
        "no_label": "fill in `label`, `step` or `agent`",
        "unknown_step": "`step` is the number of a step, from 0",
        "contradicts_earlier_row": "",
    }
    problem = f"No row of `{path}` can be used: {count:,} of {len(labels.skipped):,} {why.replace('_', ' ')}"
    raise SettingsError(f"{problem}{f' ({shown})' if shown else ''}", hint=hints[why])


def _taxonomy_hint(labels: Iterable[str], taxonomies: Mapping[str, Iterable[str]]) -> str:
    wanted = {label.casefold() for label in labels}
    fitting = {name: len(wanted & {label.casefold() for label in known}) for name, known in taxonomies.items()}
    best = max(fitting, key=lambda name: fitting[name], default="")
    if best and fitting[best]:
        return f"use `--taxonomy {best}`, which has {'this label' if fitting[best] == 1 else 'these labels'}"
    return "`errata taxonomies` lists all labels; `--taxonomy NAME` chooses a taxonomy"


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    csv.field_size_limit(LONGEST)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file)
            header = [name.strip().lower() for name in next(rows, [])]
            if not {*GIVEN, *STEPS, *AGENTS} & set(header) or not set(NAMES) & set(header):
                columns = ", ".join(header[:12]) or "none"
                hint = (
                    "it needs `label`, `step` or `agent`, and `attempt_id` or `case` (with `case`, give the RUN or add "
                    "a column `run`)"
                )
                raise SettingsError(f"`{path}` is not a table of labels: its columns are {columns}", hint=hint)
            for cells in rows:
                yield rows.line_num, {name: cell.strip() for name, cell in zip(header, cells, strict=False)}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SettingsError(f"`{path}` can't be read: {error}", hint="use a CSV file in UTF-8") from error


def _labelled(
    line: int, row: dict[str, str], run: str, find: FindAttempt
) -> tuple[str, HumanLabel, Question] | SkippedRow:
    name = next((row[column] for column in NAMES if row.get(column)), "")
    step, agent = (next((row[column] for column in columns if row.get(column)), "") for columns in (STEPS, AGENTS))
    if not name or not (row.get("label") or step or agent):
        return SkippedRow(line, "no_label" if name else "no_failure_named")
    run = row.get("run") or run
    is_id = bool(row.get("attempt_id") or ":" in name)
    if not is_id and not run:
        return SkippedRow(line, "no_run", one_line(name, WIDTH))
    try:
        attempt = find(name if is_id else f"{run}/{name}")
    except NotFoundError:
        return SkippedRow(line, "not_found", one_line(name, WIDTH))
    if attempt is None:
        return SkippedRow(line, "not_a_failure", one_line(name, WIDTH))
    known = labels_to_give(attempt[1])
    given = row.get("label", "")
    label = next((one for one in known if one.casefold() == given.casefold()), "")
    if given and not label:
        return SkippedRow(line, "unknown_label", one_line(given, WIDTH))
    if step and _number(step) is None:
        return SkippedRow(line, "unknown_step", one_line(step, WIDTH))
    return attempt[0], HumanLabel(label, _number(step), agent), attempt[1]


def _annotation(given: Any) -> HumanLabel:
    if not isinstance(given, dict):
        return HumanLabel()
    step, agent = (next((given[key] for key in keys if given.get(key) is not None), "") for keys in (STEPS, AGENTS))
    return HumanLabel("", _number(str(step)), agent.strip() if isinstance(agent, str) else "")


def _number(text: str) -> int | None:
    text = text.strip().removesuffix(".0")
    return int(text) if text.isdecimal() and len(text) < 10 else None


def _in_words(label: HumanLabel) -> str:
    step = f"step {label.step}" if label.step is not None else ""
    return " · ".join(part for part in (label.label, step, label.agent) if part)
