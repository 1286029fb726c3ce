"""What a report is about: its runs, model, date and pass rate, from fields, title, sentences and the file's name."""

from collections.abc import Iterator, Sequence
from itertools import takewhile

import msgspec

from errata.memory.reading.dates import date_in
from errata.memory.reading.markdown import INNER, MarkdownPiece
from errata.memory.reading.rates import PassRate, bare_rate_in, rate_in
from errata.memory.reading.run_names import ReportRuns
from errata.memory.reading.run_words import model_like_in
from errata.memory.reading.runs import RunDraft, fields_of, runs_in
from errata.memory.reading.sections import MESSAGE, topic_of
from errata.memory.reading.vocabulary import Vocabulary
from errata.memory.report_names import FileName
from errata.memory.spelling import folded, model_name, without_host
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex

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
    deepest = max(2, 1 + next((piece.level for piece in pieces if piece.kind == "heading" and piece.level < INNER), 1))
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
