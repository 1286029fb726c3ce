"""A markdown file → what it states about a run."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

import msgspec

from errata.memory.entries import columns_of as columns_of_actions
from errata.memory.entries import is_none
from errata.memory.reading.action_entries import is_log_of_changes
from errata.memory.reading.actions import ActionReader
from errata.memory.reading.cases import names_in, sibling_names
from errata.memory.reading.dates import date_in
from errata.memory.reading.drafts import CaseNaming, is_gap
from errata.memory.reading.failures import FailureReader
from errata.memory.reading.fields import FAILURE, columns_of
from errata.memory.reading.labels import LabelWords
from errata.memory.reading.markdown import INNER, MarkdownPiece, Words, pieces_of, words_of
from errata.memory.reading.memory_comment import from_memory, memory_in
from errata.memory.reading.rates import PassRate, bare_rate_in, rate_in
from errata.memory.reading.results import with_results
from errata.memory.reading.run_names import ReportRuns
from errata.memory.reading.run_words import model_like_in
from errata.memory.reading.runs import RunDraft, fields_of, runs_in
from errata.memory.reading.sections import MESSAGE, in_sections, is_title, topic_of, with_titles, with_topics
from errata.memory.reading.vocabulary import Vocabulary
from errata.memory.report_files import FileName, parse_file_name
from errata.memory.spelling import folded, model_name, without_host
from errata.model import SourceRef
from errata.model.prior_report import PriorRecommendation, PriorReport
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex


def read_report(
    text: str, *, path: str, below: str = "", digest: str = "", labels: LabelWords, cases: Vocabulary | None = None
) -> PriorReport:
    """`below` is its path from the folder of reports on; `labels` and `cases` are names that it may use."""
    titled = list(with_titles(with_records(pieces_of(text))))
    explained = labels.explained_in(text)
    topics = with_topics(titled, lambda piece: bool(explained.find(_text_of(piece))), is_log_of_changes)
    pieces = list(with_results(topics))
    known = Vocabulary(within=cases)
    known.learn_categories(pieces)
    head, runs = head_of(pieces, parse_file_name(below or path), known)
    models = [head.model, *(one.model for one in runs.drafts), *(one.id for one in runs.drafts)]
    labels = labels.explained_in(text, other=runs.aliases)
    for name in sibling_names(pieces, labels):
        known.add(name)
    reader = FailureReader(CaseNaming(labels, known, models), runs)
    failures = tuple(reader.read(pieces).failures(path))
    actions = ActionReader(known, path, date=head.date, subjects=reader.subjects, failures=failures)
    visible = PriorReport(
        path=path,
        digest=digest,
        **msgspec.structs.asdict(head),
        runs=tuple(one.record() for one in runs.drafts),
        failures=failures,
        actions=tuple(actions.read(pieces)),
        recommendations=tuple(recommendations_in(pieces, known, path)),
        patterns=tuple(patterns_in(pieces)),
        gaps=tuple(one.case for one in failures if is_gap(one.label)),
    )
    memory = memory_in(pieces)
    return visible if memory is None else from_memory(memory, visible)


def _text_of(piece: MarkdownPiece) -> str:
    return " ".join(cell.text for cell in piece.cells) or piece.text


def is_report(report: PriorReport) -> bool:
    """Whether it is about a run at all: a folder of reports holds other files, too."""
    return bool(report.failures or report.actions or (report.run and (report.model or report.total is not None)))


# --- the recommendations and patterns in a report


TEXT = 600
_GROUPS = (
    ("none", lazy_regex(r"^(?:no-action|nothing|none|leave)")),
    ("config", lazy_regex(r"^(?:lint|config|configuration|harness|tooling|runner|ci)\b")),
    ("model", lazy_regex(r"^(?:model|models)\b")),
    ("eval", lazy_regex(r"^(?:evals?|tasks?|graders?|tests?|benchmark|suite|guidelines?|prompts?)\b")),
)
_PREFIX = lazy_regex(r"^\s*([A-Za-z][\w /&-]{0,40}?)\s*:\s+")


def recommendations_in(pieces: Sequence[MarkdownPiece], known: Vocabulary, path: str) -> Iterator[PriorRecommendation]:
    group = ""
    for piece in in_sections(pieces, "recommendations"):
        if piece.kind == "heading" or is_title(piece):
            group = group_of(piece.text)
            continue
        text, own = _without_group(piece)
        if is_none(text) or not re.search(r"\w", text):
            continue
        cells = piece.cells or (piece.words,)
        cases = tuple(dict.fromkeys(name for words in cells for _, name in sorted(names_in(words, known))))
        ref = SourceRef(file=path, line=piece.line)
        yield PriorRecommendation(text=one_line(text, TEXT), group=own or group, cases=cases, ref=ref)


def patterns_in(pieces: Sequence[MarkdownPiece]) -> Iterator[str]:
    for piece in in_sections(pieces, "patterns"):
        text = _row_text(piece) if piece.kind == "row" else "" if piece.kind == "heading" else piece.text
        if text and not is_none(text):
            yield one_line(text, TEXT)


def group_of(title: str) -> str:
    """The group of recommendations that a title means; unchanged if it is none of the four."""
    name = folded(title)
    return next((group for group, form in _GROUPS if form.search(name)), one_line(title, 40).rstrip(":"))


def _without_group(piece: MarkdownPiece) -> tuple[str, str]:
    if piece.kind == "row":
        group = group_of(piece.cells[0].text) if piece.cells else ""
        is_group = group in ("eval", "config", "model", "none")
        return (_row_text(piece).partition(" · ")[2], group) if is_group else (_row_text(piece), "")
    text = piece.text
    match = _PREFIX.match(text)
    group = group_of(match[1]) if match else ""
    if match is None or group not in ("eval", "config", "model", "none"):
        return text, ""
    return text[match.end() :], group


def _row_text(piece: MarkdownPiece) -> str:
    texts = tuple(cell.text for cell in piece.cells)
    return "" if texts == piece.header else " · ".join(filter(None, texts))


# --- what a report is about: its runs, model, date and pass rate, from fields, title, sentences and the file's name


LOOKED_AT = 80
"""How many pieces at the start of a report may describe its run."""
FIRST = 12
"""How many pieces may hold the report's own date."""
NAME = 120
_PROVIDER = lazy_regex(r"\(\s*(?:via\s+)?([\w.-]{2,40})\s*\)\s*$")


_SUMMARY = lazy_regex(r"bottom-line|takeaway|tl-?dr|at-a-glance|headline|summary$|overview")


_ABOUT_RUN = lazy_regex(r"(?:\d+-)?(?:the-)?(?:runs?|(?:run-)?(?:metadata|details|info|facts|overview|summary))")


class Head(msgspec.Struct, kw_only=True):
    run: str = ""
    model: str = ""
    provider: str = ""
    experiment: str = ""
    date: str = ""
    passed: int | None = None
    total: int | None = None


def head_of(pieces: Sequence[MarkdownPiece], named: FileName, cases: Vocabulary) -> tuple[Head, ReportRuns]:
    """The fields of the head, and the runs: if they are of several models, none is *the* model."""
    opening = _opening(pieces)
    runs = runs_in(pieces, opening, cases) or [RunDraft()]
    if len([one for one in runs if not one.is_other]) == 1:
        _complete(runs[0], opening, named, cases)
        for other in runs[1:]:
            other.model = other.model or runs[0].model
    elif not any(one.model for one in runs):
        common = RunDraft(id=runs[0].id)
        _complete(common, opening, named, cases)
        for run in runs:
            run.model = common.model
    head = Head()
    for role, value in fields_of(opening):
        _take(head, role, value.text.strip())
    head.date = head.date or named.date or _first_date(opening) or next((one.date for one in runs if one.date), "")
    known = ReportRuns([one for one in runs if one.id], pieces)
    if len({folded(model_name(one.model).base) for one in runs if one.model}) < 2:
        head.model = runs[0].model
        head.run = ", ".join(one.id for one in runs if one.id)
        head.passed, head.total = runs[0].rate or (None, None)
    return head, known


def _complete(run: RunDraft, opening: Sequence[MarkdownPiece], named: FileName, cases: Vocabulary) -> None:
    """What the fields leave out: from sentences, the file's name and the title."""
    texts = [piece.text for piece in opening if piece.kind not in ("row", "code")]
    title = next((piece.text for piece in opening if piece.kind == "heading" and piece.level == 1), "")
    from_title = model_like_in(title, without=run.id)
    run.id = run.id or named.run
    run.model = (
        run.model
        or next(filter(None, (model_like_in(text, needs_vendor=True) for text in texts)), "")
        or "/".join(filter(None, (named.provider, named.model)))
        or ("" if cases.has(from_title) else from_title)
    )
    cells = (cell.text for piece in opening for cell in piece.cells)
    run.rate = run.rate or _rate(texts) or next(filter(None, map(rate_in, cells)), None)


def _rate(texts: Sequence[str]) -> PassRate | None:
    return next(filter(None, map(rate_in, texts)), None) or next(filter(None, map(bare_rate_in, texts)), None)


def _opening(pieces: Sequence[MarkdownPiece]) -> Sequence[MarkdownPiece]:
    """Up to where it comes to the failures, or to anything else; and sections about the run, wherever they stand."""
    levels = [piece.level for piece in pieces if piece.kind == "heading" and piece.level < INNER]
    deepest = max([2, *(1 + level for level in levels[:1]), *(level for level in levels[1:2])])
    for at, piece in enumerate(pieces[:LOOKED_AT]):
        is_summary = _SUMMARY.search(folded(piece.text)) is not None
        is_deep = piece.level > deepest and piece.header != MESSAGE
        if piece.kind == "heading" and at and (topic_of(piece) is not None or is_deep) and not is_summary:
            return [*pieces[:at], *_about_the_run(pieces[at:])]
    return pieces[:LOOKED_AT]


def _about_the_run(pieces: Sequence[MarkdownPiece]) -> Iterator[MarkdownPiece]:
    inside = 0
    for at, piece in enumerate(pieces):
        if piece.kind == "heading" and (not inside or piece.level <= inside):
            below = takewhile(lambda one: one.kind != "heading", pieces[at + 1 :])
            roles = {role for role, _ in fields_of(below)} if topic_of(piece) is None else set()
            is_about = _ABOUT_RUN.fullmatch(folded(piece.text)) or {"run", "model"} <= roles
            inside = piece.level if is_about else 0
        if inside:
            yield piece


def _first_date(opening: Sequence[MarkdownPiece]) -> str:
    dates = (date_in(piece.text) for piece in opening[:FIRST] if piece.kind != "row")
    return next(filter(None, dates), "")


def _take(head: Head, role: str, text: str) -> None:
    match role:
        case "model":
            provider = _PROVIDER.search(text)
            if provider and not head.provider and not without_host(text)[1]:
                head.provider = provider[1]
        case "provider" | "experiment":
            setattr(head, role, getattr(head, role) or one_line(text.strip("`"), NAME))
        case "date":
            head.date = head.date or date_in(text)


# --- records in code blocks, as rows of a table: a list in YAML, an array or lines in JSON, columns of text or CSV


_FIRST = lazy_regex(r"(\s*)-\s+([A-Za-z][\w -]{0,40}):(?:\s+(.*))?")
_FIELD = lazy_regex(r"(\s*)([A-Za-z][\w -]{0,40}):(?:\s+(.*))?")
_BLOCK = lazy_regex(r"[|>][+-]?\d?")
"""The value is the text below."""
_COLUMNS = (lazy_regex(r"\s{2,}|\t|\s*\|\s*"), lazy_regex(r"\s*[,;]\s*"))
"""What parts the cells of a line."""
Record = dict[str, str]


def with_records(pieces: Iterable[MarkdownPiece]) -> Iterator[MarkdownPiece]:
    """Only records of failures or actions become rows: a report quotes other data, too."""
    for piece in pieces:
        records = [one for one in _records_in(piece.text) if one[1]] if piece.kind == "code" else []
        header = tuple(dict.fromkeys(name for _, record in records for name in record))
        yield piece  # it may also hold the fields of the run
        if not _is_known(header):
            continue
        yield MarkdownPiece(kind="row", line=piece.line, header=header, cells=tuple(map(Words, header)))
        for line, record in records:
            cells = tuple(words_of(record.get(name, "")) for name in header)
            yield MarkdownPiece(kind="row", line=piece.line + line, header=header, cells=cells)


def _is_known(header: tuple[str, ...]) -> bool:
    roles, columns = columns_of(header, FAILURE), columns_of_actions(header)
    return ("case" in roles and ("label" in roles or "step" in roles)) or ("what" in columns and "date" in columns)


def _records_in(text: str) -> list[tuple[int, Record]]:
    """Each with the line where it begins, counted from 0."""
    if text.lstrip()[:1] in ("[", "{"):
        return [(0, record) for record in _of_json(text)]
    in_yaml = list(_of_yaml(text)) if text.lstrip().startswith("- ") or re.search(r"\n\s*- ", text) else []
    return in_yaml or list(_of_columns(text))


def _of_json(text: str) -> Iterator[Record]:
    for part in (text, *text.splitlines()):
        try:
            value = msgspec.json.decode(part)
        except (msgspec.MsgspecError, RecursionError):
            continue
        for record in value if isinstance(value, list) else [value]:
            if isinstance(record, dict):
                yield {str(name): _text(field) for name, field in record.items()}
        if part is text:
            return


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return "" if value is None else str(value)


def _of_yaml(text: str) -> Iterator[tuple[int, Record]]:
    """A hyphen begins a record; deeper lines are its fields, or go on with the last one."""
    record, start, depth, last = Record(), 0, -1, ""
    for at, line in enumerate(text.splitlines()):
        indent = len(line) - len(line.lstrip())
        first = _FIRST.match(line)
        if first and (depth < 0 or indent <= depth):
            if record:
                yield start, record
            record, start, depth, last = {}, at, indent, first[2]
            record[last] = _value(first[3])
            continue
        if depth < 0 or not line.strip():
            continue
        if indent <= depth:  # the list has ended
            yield start, record
            record, depth = {}, -1
            continue
        field = _FIELD.match(line)
        if field and field[2] not in record and indent <= depth + 4:
            last = field[2]
            record[last] = _value(field[3])
        elif last:
            record[last] = (
                f"{record[last]}, {line.strip()[2:]}".strip(", ")
                if line.strip().startswith("- ")
                else (f"{record[last]} {line.strip()}".strip())
            )
    if record:
        yield start, record


def _of_columns(text: str) -> Iterator[tuple[int, Record]]:
    """A line of titles, and lines of as many cells below it."""
    titles, cut = list[str](), _COLUMNS[0]
    for at, line in enumerate(text.splitlines()):
        if not titles:
            cut = next((one for one in _COLUMNS if len(one.split(line.strip())) > 2), cut)
            parts = cut.split(line.strip())
            titles = parts if len(parts) > 2 and _is_known(tuple(parts)) else []
            continue
        cells = cut.split(line.strip(), maxsplit=len(titles) - 1)
        if len(cells) >= len(titles) - 1 > 1:
            yield at, dict(zip(titles, map(_value, cells), strict=False))
        elif line.strip(" -=+|"):
            titles = []


def _value(text: str | None) -> str:
    value = (text or "").strip()
    if _BLOCK.fullmatch(value):
        return ""
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value.strip("[]")
