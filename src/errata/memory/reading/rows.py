"""Failures in tables: one in a row, several in a cell, one column for each run."""

import re
from collections.abc import Iterator

from errata.memory.reading.cases import likeness, names_in, names_in_cell
from errata.memory.reading.drafts import FIELD, GUESS, LINE, CaseNaming, Draft, fill, has_passed
from errata.memory.reading.fields import FAILURE, columns_of, is_former, role_of
from errata.memory.reading.markdown import MarkdownPiece, Words
from errata.memory.reading.run_names import ReportRuns
from errata.memory.reading.steps import STEPS, canonical_step
from errata.memory.reading.vocabulary import is_numbered
from errata.memory.spelling import folded
from errata.text.lazy_regex import lazy_regex

_VAGUE = frozenset(("category", "type", "kind", "class", "failure-type", "area", "group"))
"""Columns that may hold something else than labels."""
_CATEGORY = lazy_regex(r"(?i)^\W*(?:categor(?:y|ies)|area|group|folder|section)\W*$")
_RUN_COLUMN = lazy_regex(
    r"(?i)^\W*(?:(?:failed |fails |seen |occurs )?(?:in )?(?:the )?(?:runs?|run[ _-]?ids?|models?)"
    r"|(?:failed|fails|seen) in)\W*$"
)
_MARK = lazy_regex(r"\s*(?:[xX✓✔✅●•■☑1]|yes|true)\ufe0f?\s*")
_FAILED_MARK = lazy_regex(r"(?i)\s*(?:[✗✘❌×x]\ufe0f?|fail(?:ed|s)?|no|red|0)\s*")
_NOTHING = lazy_regex(r"[\s–—.·/-]*|(?i:n/?a|not run|pending|skipped)")


def read_row(piece: MarkdownPiece, naming: CaseNaming, subject: Draft | None, group: str, runs: ReportRuns) -> None:
    """`subject` is the failure of the heading above, `group` the label that it gives to all below."""
    columns = columns_of(piece.header, FAILURE)
    is_header = tuple(cell.text for cell in piece.cells) == piece.header
    if not is_header and "case" not in columns and _read_grid(piece, naming):
        return
    names = [] if is_header else _names(piece, columns, naming)
    if not names and len(piece.cells) == 2 and "case" not in columns:
        role = role_of(piece.cells[0].text, FAILURE)
        if subject is not None and role:  # a table of names and values
            fill(subject, role, piece.cells[1], piece.line, naming.labels)
    if has_passed(_cell(piece, columns, "status").text):
        return
    if names and (parts := _columns_of_runs(piece, runs)):
        for name in names:
            _read_parts(name, piece, parts, naming)
        return
    by_run = dict(_runs_of_columns(piece, runs)) if names else {}
    outer = naming.run
    for run in _runs_of_row(piece, runs) or [outer]:
        naming.run = run
        for name in names:
            if by_run:
                _read_runs(name, piece, by_run, naming, runs)
            else:
                _fill_row(naming.draft_of(name, piece.line), piece, columns, naming, group)
    naming.run = outer


def _read_grid(piece: MarkdownPiece, naming: CaseNaming) -> bool:
    """Cases in a grid of labels and steps: the title of the column and the first cell give both."""
    titles = [(naming.labels.in_title(title), canonical_step(title)) for title in piece.header]
    if sum(bool(label or step) for label, step in titles) < 2 or not piece.cells:
        return False
    front = piece.cells[0].text
    for (label, step), cell in zip(titles[1:], piece.cells[1:], strict=False):
        for name in names_in_cell(cell, "") if label or step else ():
            if likeness(name) and naming.is_case(name):
                draft = naming.draft_of(name, piece.line)
                draft.call(label or naming.labels.in_title(front), piece.line, FIELD)
                draft.failed_at(step or canonical_step(front), FIELD)
    return True


def _fill_row(draft: Draft, piece: MarkdownPiece, columns: dict[str, int], naming: CaseNaming, group: str) -> None:
    lead = naming.lead(_cell(piece, columns, "step"))
    if lead and lead.sure:  # a column `Where` may also hold the cases
        columns = {role: at for role, at in columns.items() if role != "step"}
    label, is_explicit = _label(piece, columns, naming)
    draft.call(label, piece.line, FIELD if is_explicit else LINE)
    draft.call(group, piece.line)
    for role in ("step", "reasoning"):
        fill(draft, role, _cell(piece, columns, role), piece.line, naming.labels)
    if "step" not in columns:
        lead = naming.lead(_cell(piece, columns, "case"))
        others = [cell.text for at, cell in enumerate(piece.cells) if at != columns.get("case")]
        others = [*([lead.rest.text.lstrip(" @")] if lead else []), *others]
        draft.failed_at(_failed_column(piece), FIELD)
        draft.failed_at(next(filter(None, map(canonical_step, others)), ""), LINE)
        draft.failed_at(naming.step_in(_cell(piece, columns, "label").text), LINE)
        draft.failed_at(next(filter(None, map(naming.step_in, others)), ""), GUESS)


def _columns_of_runs(piece: MarkdownPiece, runs: ReportRuns) -> dict[str, dict[str, int]]:
    """`A step | A label | B step | B label`: run → role → column, where several runs have columns of their own."""
    parts: dict[str, dict[str, int]] = {}
    for at, title in enumerate(piece.header):
        words = re.findall(r"[\w#.-]+", title)
        for cut in (1, -1) if len(words) > 1 else ():
            front, behind = " ".join(words[:cut]), " ".join(words[cut:])
            for name, rest in ((front, behind), (behind, front)):
                run, role = runs.named_in(name), role_of(rest, FAILURE)
                if run and role in ("step", "label"):
                    parts.setdefault(run, {}).setdefault(role, at)
    return parts if len(parts) > 1 else {}


def _read_parts(name: str, piece: MarkdownPiece, parts: dict[str, dict[str, int]], naming: CaseNaming) -> None:
    for run, columns in parts.items():
        texts = {role: piece.cells[at].text for role, at in columns.items() if at < len(piece.cells)}
        label, step = naming.labels.find(texts.get("label", "")), canonical_step(texts.get("step", ""))
        if label or step:
            draft = naming.draft_of(name, piece.line, run=run)
            draft.call(label, piece.line, FIELD)
            draft.failed_at(step, FIELD)


def _runs_of_columns(piece: MarkdownPiece, runs: ReportRuns) -> Iterator[tuple[int, str]]:
    """Columns whose title names a run or its model; one alone may be anything."""
    named = [(at, runs.named_in(title)) for at, title in enumerate(piece.header)]
    columns = [(at, run) for at, run in named if run]
    return iter(columns if len(columns) > 1 else ())


def _read_runs(name: str, piece: MarkdownPiece, by_run: dict[int, str], naming: CaseNaming, runs: ReportRuns) -> None:
    for at, run in by_run.items():
        text = piece.cells[at].text if at < len(piece.cells) else ""
        label = naming.labels.find(text)
        if (has_passed(text) and not label) or _NOTHING.fullmatch(text):
            continue
        draft = naming.draft_of(name, piece.line, run=run)
        draft.call(label, piece.line, FIELD)
        draft.failed_at(naming.step_in(text), FIELD)
    rest = [at for at in range(len(piece.cells)) if at not in by_run]
    columns = columns_of(tuple(piece.header[at] if at in rest else "" for at in range(len(piece.header))), FAILURE)
    single = runs.labels_in(_cell(piece, columns, "label").text)
    for run in by_run.values():
        known = naming.drafts.find(name, run)
        if known is not None:
            if own := naming.labels.find(single.get(run, "")):
                known.call(own, piece.line, FIELD)
            elif "label" in columns:
                known.call(_label(piece, columns, naming)[0], piece.line, FIELD)
            for role in ("step", "reasoning"):
                fill(known, role, _cell(piece, columns, role), piece.line, naming.labels)


def _runs_of_row(piece: MarkdownPiece, runs: ReportRuns) -> list[str]:
    cells = (cell.text for title, cell in zip(piece.header, piece.cells, strict=False) if _RUN_COLUMN.match(title))
    return next(filter(None, map(runs.all_named_in, cells)), [])


def _names(piece: MarkdownPiece, columns: dict[str, int], naming: CaseNaming) -> list[str]:
    if "case" in columns:
        at = columns["case"]
        names = _names_of_cell(piece, at, naming)
        category = _category(piece) or naming.category
        names = [name for name in names if not (likeness(name) == 0 and _only_counts(piece, at))]
        known = [naming.vocabulary.trimmed(name) for name in names if naming.is_case(name)]
        return [f"{category}/{name}" if category and "/" not in name else name for name in known]
    leads = [lead for lead in map(naming.lead, piece.cells) if lead]
    cases = [lead for lead in leads if lead.sure] or [lead for lead in leads if naming.step_in(lead.rest.text)]
    return [cases[0].name] if cases and (_label(piece, columns, naming)[0] or _has_step(piece)) else []


def _only_counts(piece: MarkdownPiece, at: int) -> bool:
    """The row of sums below a table."""
    others = [cell.text.strip(" *") for number, cell in enumerate(piece.cells) if number != at]
    return any(others) and all(re.fullmatch(r"[\d.,%/ ]*", text) for text in others)


def _names_of_cell(piece: MarkdownPiece, at: int, naming: CaseNaming) -> list[str]:
    """`003-mutations/005-idempotent @ eslint` names one case, and more."""
    cell = piece.cells[at] if at < len(piece.cells) else Words("")
    lead = naming.lead(cell)
    if lead and lead.sure and re.match(r"[\s`*]*[@(\[·|–—:-]", lead.rest.text):
        others = [name for _, name in names_in(lead.rest, naming.vocabulary) if naming.is_case(name)]
        if not others:
            return [lead.name]
    return names_in_cell(cell, piece.header[at]) if at < len(piece.header) else []


def _has_step(piece: MarkdownPiece) -> bool:
    return any(canonical_step(cell.text) for cell in piece.cells)


def _category(piece: MarkdownPiece) -> str:
    """In a column of its own, beside the name of the case."""
    for title, cell in zip(piece.header, piece.cells, strict=False):
        name = cell.text.strip(" `*")
        if _CATEGORY.match(title) and is_numbered(name):
            return name
    return ""


def _label(piece: MarkdownPiece, columns: dict[str, int], naming: CaseNaming) -> tuple[str, bool]:
    """In its own column, whatever it is; in any other, only what is a label. And whether it was a cell of its own."""
    named, labels = _cell(piece, columns, "label").text, naming.labels
    marked = _marked_column(piece, naming)
    if marked:
        return marked, True
    label = labels.find(named) or labels.in_cell(named)
    if label:
        return label, True
    current = [cell.text for title, cell in zip(piece.header, piece.cells, strict=False) if not is_former(title)]
    alone = next(filter(None, map(labels.alone, current)), "")
    if alone:
        return alone, True
    is_vague = "label" not in columns or folded(piece.header[columns["label"]]) in _VAGUE
    if not is_vague and named.strip():
        return labels.in_field(named), True
    return next(filter(None, map(labels.find, current)), ""), False


def _marked_column(piece: MarkdownPiece, naming: CaseNaming) -> str:
    """A column for each label, with a mark in one of them."""
    titles = [(at, label) for at, title in enumerate(piece.header) if (label := naming.labels.alone(title))]
    marked = [label for at, label in titles if at < len(piece.cells) and _MARK.fullmatch(piece.cells[at].text)]
    return marked[0] if len(titles) > 1 and len(marked) == 1 else ""


def _failed_column(piece: MarkdownPiece) -> str:
    """A column for each step, with a mark where it failed; the first of several, as the harness runs them."""
    titles = [(at, step) for at, title in enumerate(piece.header) if (step := canonical_step(title))]
    failed = [step for at, step in titles if at < len(piece.cells) and _FAILED_MARK.fullmatch(piece.cells[at].text)]
    return min(failed, key=STEPS.index, default="") if len(titles) > 1 else ""


def _cell(piece: MarkdownPiece, columns: dict[str, int], role: str) -> Words:
    at = columns.get(role)
    return piece.cells[at] if at is not None and at < len(piece.cells) else Words("")
