"""The runs that a report is about, with model, day and pass rate: in fields, tables, headings and sentences."""

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from errata.memory.reading.dates import date_in
from errata.memory.reading.fields import RUN, columns_of, fields_in, role_of
from errata.memory.reading.markdown import MarkdownPiece, Words
from errata.memory.reading.rates import PassRate, bare_rate_in, rate_in, rate_in_field, rates_in_field
from errata.memory.reading.run_words import compares, id_in, ids_in, is_id, model_in, model_like_in
from errata.memory.reading.sections import RESULT
from errata.memory.reading.vocabulary import Vocabulary
from errata.memory.spelling import folded
from errata.model.prior_report import PriorRun
from errata.text.lazy_regex import lazy_regex

NEAR_ID = 30
"""Characters before an id that may say that it is another run."""
_IN_THE_PAST = lazy_regex(r"(?i)\W*(?:[\w-]+\s+){0,3}?(?:days?|weeks?|months?)\s+(?:ago|before|earlier)\b")
_NAMED_WITH_RATE = lazy_regex(
    r"(?m)(?:^|[.;,]\s)[*\s]*[A-Z][\w ]{0,24}[:=][*`\s]*(\w{6,80})`?[\s,:(–—-]{1,4}(\d+\s*/\s*\d+)"
)
"""`Before: jn7aa01, 40/62. After: jn7bb02, 45/62.`"""
_OF_A_MAIL = lazy_regex(r"(?i)(?:re|fwd?|aw|wg)\s*:")
"""A field `Subject` is the model under test, or the subject of a mail."""
_IS_BEFORE = lazy_regex(r"(?i)\W*(?:the\s+)?(?:previous|prior|earlier|before|last|old|baseline)\b")
NEAR = 8
"""Pieces below the heading of a run that may describe it."""


class RunDraft(msgspec.Struct, kw_only=True):
    id: str = ""
    model: str = ""
    date: str = ""
    experiment: str = ""
    rate: PassRate | None = None
    counts: dict[str, int] = {}
    is_other: bool = False
    """Not what the report is about, but it has its figures: the run before, or one after a change."""

    def take(self, role: str, value: Words) -> None:
        text = value.text.strip()
        match role:
            case "run":
                self.id = self.id or id_in(value)
            case "model":
                self.model = self.model or ("" if _OF_A_MAIL.match(text) else model_in(text))
            case "experiment":
                self.experiment = self.experiment or text.strip("`*")
            case "run_date":
                self.date = self.date or date_in(text)
            case "rate":
                self.rate = self.rate or rate_in_field(text)
            case "passed" | "failed" | "total":
                self._count(role, text)

    def _count(self, role: str, text: str) -> None:
        rate, number = rate_in_field(text), re.match(r"\**(\d{1,6})\b(?!\s*%|\.\d|[-/]\w)", text)
        if rate and role in ("passed", "failed") and re.match(r"\**\d+\s*(?:/|of|out)", text):
            is_failed = role == "failed"
            self.rate = self.rate or (PassRate(rate.total - rate.passed, rate.total) if is_failed else rate)
        elif number:
            self.counts.setdefault(role, int(number[1]))

    def finish(self) -> None:
        """Where no field has the rate, from the counts."""
        passed, failed, total = (self.counts.get(name) for name in ("passed", "failed", "total"))
        total = None if total is not None and total < (passed or 0) else total
        if self.rate is not None:
            return
        if passed is not None and (total is not None or failed is not None):
            self.rate = PassRate(passed, total if total is not None else passed + (failed or 0))
        elif failed is not None and total is not None and total >= failed:
            self.rate = PassRate(total - failed, total)

    def record(self) -> PriorRun:
        passed, total = self.rate or (None, None)
        return PriorRun(id=self.id, model=self.model, date=self.date, passed=passed, total=total)


def runs_in(pieces: Sequence[MarkdownPiece], opening: Sequence[MarkdownPiece], cases: Vocabulary) -> list[RunDraft]:
    """Those that it is about, then others whose results it has. Ids may still be missing."""
    tables, fields = list(_in_tables(pieces)), _in_fields(opening)
    headings = list(_in_headings(pieces, [*tables, *fields], cases))
    own = _own_runs(opening, cases, tables, fields, [one for one in headings if not one.is_other])
    _complete_from_text(own, opening, cases)
    others = [one for one in headings if one.is_other] or (_compared(own[0], pieces) if len(own) == 1 else [])
    return [*own, *(one for one in others if not any(_same(one.id, known.id) for known in own if known.id))]


def _own_runs(
    opening: Sequence[MarkdownPiece],
    cases: Vocabulary,
    tables: list[RunDraft],
    fields: list[RunDraft],
    headings: list[RunDraft],
) -> list[RunDraft]:
    """Those that tables, fields or headings name; if none, those of the sentences."""
    named = [one for one in fields if one.id]
    listed = [one for piece in opening if piece.kind == "item" for one in _in_text(piece.words, cases)]
    listed = [one for one in listed if one.rate is not None]
    listed = listed if len(listed) > 1 else []
    several = max((tables, listed, headings, named), key=len)
    if len(several) > 1 or (tables and not named):
        return _merged([*tables, *listed, *headings, *(named if several is named else ())], fields)
    if headings and not named:
        return _merged(headings, fields)
    if named:
        return fields
    in_text = [one for piece in opening if piece.kind not in ("row", "code") for one in _in_text(piece.words, cases)]
    return _merged(in_text, fields) if in_text else fields


def _complete_from_text(runs: Sequence[RunDraft], opening: Sequence[MarkdownPiece], cases: Vocabulary) -> None:
    """What only a sentence has of runs that tables or headings list."""
    if len(runs) < 2 or all(run.rate and run.model for run in runs):
        return
    in_text = [one for piece in opening if piece.kind in ("text", "item") for one in _in_text(piece.words, cases)]
    for run in runs:
        same = [one for one in in_text if run.id and _same(one.id, run.id)]
        run.rate = run.rate or next((one.rate for one in same if one.rate), None)
        run.model = run.model or next((one.model for one in same if one.model), "")


def _compared(own: RunDraft, pieces: Sequence[MarkdownPiece]) -> list[RunDraft]:
    """The run before it, where a table sets the figures of both side by side and a sentence has its id."""
    before = [draft for table in _tables(pieces) for draft in _columns_before(table)]
    named = {
        run
        for piece in pieces
        if piece.kind in ("text", "item") and before
        for run in ids_in(piece.text)
        if not _same(run, own.id) and _is_another(piece.text[: piece.text.index(run)])
    }
    is_clear = len(before) == len(named) == 1
    return [msgspec.structs.replace(before[0], id=named.pop(), is_other=True)] if is_clear else []


def _columns_before(table: Sequence[MarkdownPiece]) -> Iterator[RunDraft]:
    """`| | Previous | This run |` with their pass rates below."""
    header = table[0].header
    if len(header) == 3 and (_IS_BEFORE.match(header[1]) is None) != (_IS_BEFORE.match(header[2]) is None):
        at = 1 if _IS_BEFORE.match(header[1]) else 2
        draft = _column(table, at)
        if draft.rate is not None and _column(table, 3 - at).rate is not None:
            yield draft


def _merged(drafts: Iterable[RunDraft], fields: Sequence[RunDraft]) -> list[RunDraft]:
    """Each run once, with what fields above add to all or to one."""
    by_id: dict[str, RunDraft] = {}
    for draft in drafts:
        same = next((one for key, one in by_id.items() if key.startswith(draft.id) or draft.id.startswith(key)), None)
        if same is None:
            by_id[draft.id] = draft
        else:
            same.model, same.date, same.rate = (
                same.model or draft.model,
                same.date or draft.date,
                same.rate or draft.rate,
            )
    kept = [draft for key, draft in by_id.items() if key]
    common = fields[0] if fields else RunDraft()
    for draft in kept:
        own = next((one for one in fields if one.id and one.id == draft.id), common if len(kept) == 1 else None)
        if own is None:
            draft.model = draft.model or common.model
        else:  # its own fields are more exact than a heading or a sentence
            draft.model, draft.rate = own.model or draft.model, own.rate or draft.rate
            draft.date = own.date or draft.date
    return kept


def _in_fields(pieces: Sequence[MarkdownPiece]) -> list[RunDraft]:
    """A second id or another model begins a second run; fields with a list are about several."""
    drafts, rates = [RunDraft()], list[PassRate]()
    for role, value in fields_of(pieces):
        current = drafts[-1]
        ids = ids_in(value.text) if role == "run" else []
        if len(ids) > 1:
            drafts = [one for one in drafts if one.id]
            drafts += [RunDraft(id=one, model=current.model, rate=_rate_behind(one, ids, value.text)) for one in ids]
            continue
        if role == "run" and current.id and (new := id_in(value)) and not _same(new, current.id):
            current = RunDraft(model=current.model if len(drafts) == 1 and _is_list(pieces) else "")
            drafts.append(current)
        elif role == "model" and current.model and current.id and folded(model_in(value.text)) != folded(current.model):
            if not model_in(value.text):
                continue
            current = RunDraft()
            drafts.append(current)
        if role == "rate" and len(several := rates_in_field(value.text)) > 1:
            rates = several
        current.take(role, value)
    for draft in drafts:
        draft.finish()
    if len(rates) == len(drafts) > 1:
        for draft, rate in zip(drafts, rates, strict=True):
            draft.rate = rate
    models = [one.model for one in drafts if one.model]
    for draft in drafts:
        draft.model = draft.model or (models[0] if len(set(models)) == 1 else drafts[0].model)
    return [one for one in drafts if one.id] or drafts[:1]


def _rate_behind(run: str, ids: Sequence[str], text: str) -> PassRate | None:
    """`jn7aa01 (55/59), jn7bb02 (51/59)`: the rate between an id and the next one."""
    start = text.find(run) + len(run)
    end = min((at for other in ids if (at := text.find(other, start)) >= 0), default=len(text))
    return bare_rate_in(text[start:end]) if start >= len(run) else None


def _is_list(pieces: Sequence[MarkdownPiece]) -> bool:
    """Whether ids are listed below a field for runs, so that the fields around it are about all."""
    return any(
        piece.kind in ("item", "text")
        and [one.role for one in fields_in(piece.words, RUN) if not one.value.text.strip()] == ["run"]
        for piece in pieces
    )


def _same(left: str, right: str) -> bool:
    return left.startswith(right) or right.startswith(left)


def fields_of(pieces: Iterable[MarkdownPiece]) -> Iterator[tuple[str, Words]]:
    listed = 0
    """The indentation of the list of runs, below a field for runs that has no value of its own."""
    for piece in pieces:
        is_row, fields = piece.kind == "row", fields_in(piece.words, RUN)
        if piece.kind in ("item", "text", "code"):
            yield from ((field.role, field.value) for field in fields)
            if listed and piece.level > listed and not fields:
                yield "run", piece.words
            else:
                listed = piece.level if [one.role for one in fields if not one.value.text.strip()] == ["run"] else 0
        elif is_row and len(piece.cells) == 2 and not {"run", "model"} <= set(columns_of(piece.header, RUN)):
            yield role_of(piece.cells[0].text, RUN), piece.cells[1]
        elif is_row and len(piece.cells) == 4 and all(role_of(piece.cells[at].text, RUN) for at in (0, 2)):
            yield from ((role_of(piece.cells[at].text, RUN), piece.cells[at + 1]) for at in (0, 2))


def _in_tables(pieces: Sequence[MarkdownPiece]) -> Iterator[RunDraft]:
    for table in _tables(pieces):
        columns = columns_of(table[0].header, RUN)
        if "run" in columns and len(columns) > 1:
            yield from _by_row(table, columns)
        elif len(table[0].header) > 2 and sum(bool(role_of(row.cells[0].text, RUN)) for row in table if row.cells) > 1:
            yield from _by_column(table)


def _tables(pieces: Sequence[MarkdownPiece]) -> Iterator[list[MarkdownPiece]]:
    table: list[MarkdownPiece] = []
    for piece in pieces:
        if table and (piece.kind != "row" or piece.header != table[0].header):
            yield table
            table = []
        if piece.kind == "row":
            table.append(piece)
    if table:
        yield table


def _by_row(table: Sequence[MarkdownPiece], columns: dict[str, int]) -> Iterator[RunDraft]:
    for row in table[1:]:
        if any(role_of(title, {"eval": "case", "case": "case", "task": "case"}) for title in row.header):
            return
        draft = RunDraft(counts={})
        for role, at in columns.items():
            if at < len(row.cells):
                draft.take("run_date" if role == "date" else role, row.cells[at])
        draft.finish()
        if draft.id and (ids_in(draft.id) or draft.rate or draft.model):
            yield draft


def _by_column(table: Sequence[MarkdownPiece]) -> Iterator[RunDraft]:
    """The titles are models or ids, the first column names what the others hold."""
    drafts = (_column(table, at) for at in range(1, len(table[0].header)))
    yield from (draft for draft in drafts if draft.id)


def _column(table: Sequence[MarkdownPiece], at: int) -> RunDraft:
    title = table[0].header[at]
    draft = RunDraft(id=next(iter(ids_in(title)), ""), model=model_like_in(title), counts={})
    for row in table[1:]:
        role = role_of(row.cells[0].text, RUN) if row.cells else ""
        if role and at < len(row.cells):
            draft.take("run_date" if role == "date" else role, row.cells[at])
    draft.finish()
    return draft


def _in_headings(pieces: Sequence[MarkdownPiece], known: Sequence[RunDraft], cases: Vocabulary) -> Iterator[RunDraft]:
    ids = {one.id for one in known if one.id}
    for at, piece in enumerate(pieces):
        if piece.kind != "heading" or compares(piece.text):
            continue
        named = ids_in(piece.text) or [one for one in ids if one in piece.text]
        named = named or [id_in(value) for role, value in fields_of(_below(pieces, at)) if role == "run"]
        if len(named) != 1 or not named[0] or cases.has(named[0]) or cases.is_category(named[0]):
            continue
        below = _below(pieces, at)
        draft = RunDraft(
            id=named[0],
            model=model_like_in(piece.text, without=named[0]),
            date=date_in(piece.text),
            counts={},
            is_other=piece.header == RESULT,
        )
        draft.rate = rate_in(piece.text) or bare_rate_in(piece.text)
        for role, value in fields_of(below):
            draft.take("run_date" if role == "date" else role, value)
        draft.finish()
        texts = [one.text for one in below if one.kind in ("text", "item")]
        draft.rate = (
            draft.rate
            or next(filter(None, map(rate_in, texts)), None)
            or next(filter(None, map(bare_rate_in, texts[:2])), None)
        )
        yield draft


def _is_another(text: str) -> bool:
    """`A week ago … (run jn72b8d1`: by the words in front of an id."""
    return compares(text[-NEAR_ID:]) or _IN_THE_PAST.match(text) is not None


def _below(pieces: Sequence[MarkdownPiece], at: int) -> list[MarkdownPiece]:
    below: list[MarkdownPiece] = []
    for piece in pieces[at + 1 : at + 1 + NEAR]:
        if piece.kind == "heading":
            break
        below.append(piece)
    return below


def _in_text(words: Words, cases: Vocabulary) -> Iterator[RunDraft]:
    """Each id of a sentence with the model and the rate that stand behind it, or before it where there is only one."""
    listed = [match for match in _NAMED_WITH_RATE.finditer(words.text) if is_id(match[1])]
    if len(listed) > 1:
        yield from (RunDraft(id=one[1], rate=bare_rate_in(one[2])) for one in listed)
        return
    for part in re.split(r"(?<=[.!?])\s+(?=[A-Z])", words.text):
        is_of_run = bool(bare_rate_in(part) and model_like_in(part, needs_vendor=True))
        ids = [one for one in ids_in(part, needs_run=not is_of_run) if not cases.has(one)]
        others = [one for one in ids if _is_another(part[: part.index(one)])]
        ids = [one for one in ids if one not in others]
        places = sorted((part.index(one), one) for one in ids)
        ends = [*(start for start, _ in places[1:]), len(part)]
        for (start, run), end in zip(places, ends if places else (), strict=True):
            near = part[start:end] if len(ids) > 1 else part
            rate = rate_in(near) or bare_rate_in(near.replace(run, ""))
            yield RunDraft(id=run, model=model_like_in(near, without=run), rate=rate)
