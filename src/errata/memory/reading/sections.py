"""What the sections, fields and columns of a report are about, by the names that people give them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

import msgspec

from errata.memory.entries import is_none
from errata.memory.reading.markdown import PlainText, ReportPart
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
from errata.text.lazy_regex import lazy_regex

Topic = Literal["", "failures", "actions", "recommendations", "patterns", "other", "run"]
FAILURES = "failures"
CLOSED = ("actions", "recommendations", "patterns", "other")
"""Sections that may name failures of other runs, or failures again in other words."""

_TOPICS: tuple[tuple[Topic, re.Pattern[str]], ...] = (
    (
        "other",
        lazy_regex(r"\b(?:passed|passing|fixed|resolved|previous|prior|earlier|reproduction|former)\b|clean-?up"),
    ),
    (
        "recommendations",
        lazy_regex(
            r"recommend|suggest|next-steps?|action-items?|to-?dos?\b|propos|follow-ups?$|no-actions?-(?:needed|required)"
            r"|(?:planned|open|pending|future|deferred|possible|outstanding)-(?:actions?|changes|fixes|work)|improvement"
        ),
    ),
    (
        "actions",
        lazy_regex(
            r"^actions?$|actions?-(?:taken|done)|(?:changes|fixes|updates|steps)-(?:taken|done|made|applied)"
            r"|what-(?:we|i)-(?:changed|did|fixed)|^(?:changes|fixes|changelog|done)$"
        ),
    ),
    ("patterns", lazy_regex(r"pattern|themes?\b|cross-cutting|root-causes?\b|observations?")),
    ("other", lazy_regex(r"^net-impact|impact-(?:analysis|assessment)")),
    ("failures", lazy_regex(r"fail|broke|what-went-wrong|classification|affected")),
    ("run", lazy_regex(r"^(?:the-)?runs?(?:-(?:metadata|details|info|facts|overview))?$|metadata")),
)
_REMARK = lazy_regex(r"\([^()]{0,200}\)")


@lru_cache(maxsize=4_096)
def topic_of(title: str) -> Topic:
    name = folded(_REMARK.sub("", title))
    return next((topic for topic, form in _TOPICS if form.search(name)), "")


def in_topics(parts: Iterable[ReportPart], topic: Topic) -> Iterator[ReportPart]:
    """The parts of the sections about a topic, and of what a line in bold introduces; their own headings on level 0."""
    inside = skipped = 0
    for part in parts:
        is_bold = part.kind == "text" and not part.level and is_title(part)
        if part.kind == "heading" or is_bold:
            level = 6 if is_bold else part.level
            about = topic_of(part.text)
            if not 0 < inside < level:
                inside, skipped = level if about == topic else 0, 0
                if inside:
                    yield msgspec.structs.replace(part, kind="heading", level=0)
                continue
            skipped = skipped if 0 < skipped < level else 0
            # advice among actions, or actions among advice, up to the next heading of its level
            skipped = skipped or (level if about in ("actions", "recommendations") and about != topic else 0)
        if inside and not skipped:
            yield part


def is_title(part: ReportPart) -> bool:
    """`**Actions taken**`: a paragraph that introduces what follows; `**Actions taken:** None` is one, too."""
    if part.kind != "text" or "\n" in part.text:
        return False
    name, colon, rest = part.text.partition(":")
    known = (
        topic_of(name) in ("actions", "recommendations")
        and len(name.split()) <= 3
        and (not rest.strip() or is_none(rest))
    )
    return part.words.bold.strip(" :") == part.text.strip(" :") != "" or (bool(colon) and known)


# --- fields and columns


_FAILURE = {
    "case": (
        "eval evals case cases test-case task tasks scenario sample question turn turns case-name task-name task-id "
        "case-id eval-id failed-eval failed-evals failed-cases remaining-failures failures test tests"
    ),
    "label": "classification final-classification label verdict class classified-as fault category kind",
    "step": (
        "failed-step step step-type failed-check check failing-step stage phase failed-at failed-steps failed-checks "
        "failed-dimension failed-dimensions dimension dimensions where failure-type"
    ),
    "reasoning": (
        "reasoning reason why note notes explanation comment details root-cause cause analysis summary finding "
        "one-line-reasoning rationale"
    ),
    "error": "error",
    "status": "status result outcome",
    "action": "action-taken actions-taken",
}
_RUN = {
    "run": "run run-id run-ids runs id",
    "model": "model model-name model-slug subject model-id",
    "provider": "provider",
    "experiment": "experiment variant",
    "date": "date day analysis-date when run-date started",
    "rate": "pass-rate pass-rates recorded-pass-rate recorded-pass-rates score recorded-score result overall",
    "passed": "passed passes",
    "failed": "failed failures",
    "total": "total total-evals evals cases",
}
FAILURE = {name: role for role, names in _FAILURE.items() for name in names.split()}
RUN = {name: role for role, names in _RUN.items() for name in names.split()}


@lru_cache(maxsize=4_096)
def role_of(name: str, *, run: bool = False) -> str:
    return (RUN if run else FAILURE).get(folded(name.partition("(")[0]), "")


def columns_of(header: Iterable[str], *, run: bool = False) -> dict[str, int]:
    """Role → column. Of two columns with the same role, the one whose name is earlier in the list of names wins."""
    order = list(RUN if run else FAILURE)
    ranked: dict[str, tuple[int, int]] = {}
    for at, name in enumerate(header):
        role = role_of(name, run=run)
        if role:
            rank = order.index(folded(name.partition("(")[0]))
            ranked[role] = min(ranked.get(role, (rank, at)), (rank, at))
    return {role: at for role, (_, at) in ranked.items()}


class LabelledField(NamedTuple):
    role: str
    value: str
    line: int
    """How many lines below the beginning of the part."""
    remark: str = ""


_FIELD = lazy_regex(
    r"(?:^|[·|;•,]|\s[-–—]\s)[\s*_-]{0,8}([A-Za-z][A-Za-z _-]{1,40}?)\s?(?:\(([^()\n]{0,60})\)\s?)?[:：](?=\s|$)"
)


def fields_in(words: PlainText, *, run: bool = False) -> list[LabelledField]:
    fields: list[LabelledField] = []
    for at, line in enumerate(words.text.split("\n")):
        names = [(match, role) for match in _FIELD.finditer(line) if (role := role_of(match[1], run=run))]
        if not names:
            bold = words.bold.strip(" :") if at == 0 else ""
            role = role_of(bold, run=run) if bold and line.lstrip().startswith(bold) else ""
            if role:
                fields.append(LabelledField(role, line.lstrip()[len(bold) :].strip(" :;"), at))
            continue
        if re.search(r"\w", line[: names[0][0].start(1)]):
            continue
        ends = [*(match.start() for match, _ in names[1:]), len(line)]
        for (match, role), end in zip(names, ends, strict=True):
            fields.append(LabelledField(role, line[match.end() : end].strip(" \t·|;,•*"), at, match[2] or ""))
    return fields


def cell_fields(part: ReportPart, *, run: bool = False) -> list[LabelledField]:
    """A row with a name and a value: `| Classification | MODEL_FAULT |`."""
    if part.kind != "row" or len(part.cells) != 2:
        return []
    role = role_of(part.cells[0].text, run=run)
    return [LabelledField(role, part.cells[1].text.strip(), 0)] if role else []


# --- what a report is about: its runs, model, date and pass rate


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
