"""What a report is about: its runs, model, date and pass rate, from fields, tables, title and the file's name."""

import re
from collections.abc import Iterator, Sequence

import msgspec

from errata.memory.reading.markdown import ReportPart
from errata.memory.reading.sections import CLOSED, FAILURES, LabelledField, cell_fields, columns_of, fields_in, topic_of
from errata.memory.report_files import FileName
from errata.memory.spelling import date_in, folded, model_name
from errata.memory.words import (
    PassRate,
    ids_in,
    ids_in_field,
    model_in,
    model_like_in,
    rate_in_sentence,
    rates_in,
)
from errata.model.prior_report import PriorRun
from errata.text.clean import one_line

LOOKED_AT = 120
FIRST = 12


class Head(msgspec.Struct, kw_only=True):
    run: str = ""
    model: str = ""
    provider: str = ""
    experiment: str = ""
    date: str = ""
    passed: int | None = None
    total: int | None = None


class _Run(msgspec.Struct):
    id: str
    model: str = ""
    date: str = ""
    rate: PassRate | None = None
    group: str = ""
    """The words in brackets behind the name of the field: `Run IDs (no_guidelines)`."""


def head_of(parts: Sequence[ReportPart], named: FileName) -> tuple[Head, tuple[PriorRun, ...]]:
    """The fields of the head, and the runs: if they are of several models, none is *the* model."""
    head, runs, rates = Head(), dict[str, _Run](), list[PassRate]()
    opening = list(_opening(parts))
    counts: dict[str, int] = {}
    for at, part in enumerate(opening):
        for field in _fields(part):
            if field.role == "run":
                ids = ids_in_field(field.value) or _ids_below(part, opening[at + 1 :])
                runs |= {id: _Run(id, group=field.remark) for id in ids if id not in runs}
            elif field.role == "rate":
                rates = rates or rates_in(field.value)
            elif field.role in ("passed", "failed", "total") and not (rates := rates or rates_in(field.value)):
                number = _number(field.value)
                counts |= {field.role: number} if number is not None and field.role not in counts else {}
            else:
                _take(head, field, named.provider)
    for part in opening if runs else parts:
        _take_row(part, runs)
    texts = [part.text for part in opening if part.kind != "row"]
    title = next((part.text for part in opening if part.kind == "heading" and part.level == 1), "")
    if not runs:
        first = next(filter(None, (ids_in(text) for text in texts)), [])[:1] or [named.run]
        runs = {id: _Run(id) for id in first if id}
    if not rates and "passed" in counts and {"failed", "total"} & set(counts):
        rates = [PassRate(counts["passed"], counts.get("total", counts["passed"] + counts.get("failed", 0)))]
    rates = rates or [rate for rate in map(rate_in_sentence, texts) if rate][:1]
    without_rate = [run for run in runs.values() if run.rate is None]
    if len(rates) == len(without_rate):
        for run, rate in zip(without_rate, rates, strict=True):
            run.rate = rate
    head.date = head.date or named.date or next(filter(None, map(date_in, texts[:FIRST])), "")
    from_texts = next(filter(None, (model_like_in(text, vendor=True) for text in texts)), "")
    from_name = "/".join(filter(None, (named.provider, named.model)))
    head.model = head.model or from_texts or from_name or model_like_in(title.replace(next(iter(runs), "\0"), ""))
    models = {folded(model_name(run.model).base) for run in runs.values() if run.model}
    for run in runs.values():
        run.model = run.model or head.model
    head.run = ", ".join(runs)
    head.passed, head.total = next((run.rate for run in runs.values() if run.rate), None) or next(
        iter(rates), (None, None)
    )
    if len(models) > 1:
        head.model = head.run = ""
        head.passed = head.total = None
    return head, tuple(_record(run) for run in runs.values())


def _record(run: _Run) -> PriorRun:
    passed, total = run.rate or (None, None)
    return PriorRun(id=one_line(run.id), model=one_line(run.model), date=run.date, passed=passed, total=total)


def _opening(parts: Sequence[ReportPart]) -> Iterator[ReportPart]:
    """Up to where it comes to the failures, or to anything else; and sections about the run, wherever they are."""
    inside = True
    for at, part in enumerate(parts):
        if part.kind == "heading" and (part.level > 1 or at > FIRST):
            topic = topic_of(part.text)
            inside = topic == "run" or (inside and at < LOOKED_AT and topic != FAILURES and topic not in CLOSED)
        if inside and part.kind != "comment":
            yield part


def _number(text: str) -> int | None:
    match = re.match(r"[`*\s]{0,4}(\d{1,6})\b", text)
    return int(match[1]) if match else None


def _fields(part: ReportPart) -> list[LabelledField]:
    return [*fields_in(part.words, run=True), *cell_fields(part, run=True)]


def _ids_below(part: ReportPart, following: Sequence[ReportPart]) -> list[str]:
    ids: list[str] = []
    for inner in following:
        if inner.kind != "item" or inner.level <= part.level:
            break
        ids += ids_in_field(inner.text)
    return ids


def _take(head: Head, field: LabelledField, vendor: str) -> None:
    if field.role == "model" and not head.model:
        model, provider = model_in(field.value, vendor)
        head.model, head.provider = one_line(model), head.provider or one_line(provider)
    elif field.role == "provider" and not head.provider:
        head.provider = one_line(field.value.strip("` "), 60)
    elif field.role == "experiment" and not head.experiment:
        head.experiment = one_line(re.split(r"[(,;]", field.value, maxsplit=1)[0].strip("`* "), 60)
    elif field.role == "date" and not head.date:
        head.date = date_in(field.value)


def _take_row(part: ReportPart, runs: dict[str, _Run]) -> None:
    if part.kind != "row":
        return
    columns, texts = columns_of(part.header, run=True), [cell.text for cell in part.cells]
    cells = {role: texts[at] for role, at in columns.items() if at < len(texts)}
    ids = ids_in(cells.get("run", ""))
    rates = [rate for text in texts for rate in rates_in(text)[:1]]
    if len(ids) == 1 and (rates or "passed" in cells):
        run = runs.setdefault(ids[0], _Run(ids[0]))
        run.model = run.model or model_in(cells.get("model", ""))[0]
        run.date = run.date or date_in(cells.get("date", ""))
        passed, failed, total = (_number(cells.get(role, "")) for role in ("passed", "failed", "total"))
        total = passed + failed if total is None and passed is not None and failed is not None else total
        counted = PassRate(passed, total) if passed is not None and total is not None else None
        run.rate = run.rate or next(iter(rates), counted)
        return
    group = [run for run in runs.values() if run.group and texts and folded(run.group) == folded(texts[0])]
    if group and len(group) == len(rates):
        for run, rate in zip(group, rates, strict=True):
            run.rate = run.rate or rate
