"""The matrix of a comparison on a page: cases side by side where their names are short, else one below the other."""

from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest

from errata.cli.compare_names import COLUMNS, GAP, CaseNames, heads_of, put_side_by_side, shortened
from errata.cli.fitting import WIDTH, columns, cut, padded
from errata.cli.output import plural, put, wash
from errata.cli.table import put_table
from errata.compare.checks import EMPTY
from errata.compare.comparison import Comparison
from errata.model.counts import CELL_STATES, Cell, CellState

MOST = 100
"""Of more cases than this, a page shows numbers only."""
LABEL = 28
NAME = 40

GLYPHS: dict[CellState, tuple[str, str]] = {
    "failed": ("F", "fail"),
    "passed": (".", "pass"),
    "partial": ("p", "partial"),
    "error": ("e", "error"),
    "limit": ("t", "limit reached"),
    "cancelled": ("x", "cancelled"),
    "follows": ("c", "follows from another failure"),
    "unscored": ("?", "no verdict"),
    "missing": ("-", "missing or unfinished"),
    "contradictory": ("!", "rows contradict each other"),
    "mixed": ("~", "passes sometimes"),
}
NOT_KNOWN = " "
BETWEEN = "   "


def put_matrix(comparison: Comparison, names: CaseNames, *, every: bool) -> None:
    matrix = comparison.shown
    passing = matrix.passed_everywhere
    cases = [case for case in matrix.rows if every or case not in passing]
    left = "" if every or not passing else _pass_in_all(len(passing), names.word, len(matrix.columns))
    put()
    if len(cases) > MOST and not every:
        _put_counts(comparison, names, len(cases), left)
    elif not cases:
        put(f"Every {names.word} passes in every run")
    elif names.narrow:
        _put_wide(comparison, names, cases, left)
    else:
        _put_tall(comparison, names, cases, left)


def _pass_in_all(count: int, word: str, runs: int) -> str:
    return f"({plural(count, word)} {'passes' if count == 1 else 'pass'} in {'both' if runs == 2 else 'all'} runs)"


def _put_wide(comparison: Comparison, names: CaseNames, cases: Sequence[str], left: str) -> None:
    """Cases side by side, in as many blocks as it takes; the legend beside a single one where it fits."""
    rows = [(names.word, [names.short[case] for case in cases])]
    for at, column in enumerate(comparison.shown.columns):
        cells = [glyph_of(comparison.shown.rows[case][at]) for case in cases]
        rows.append((shortened(wash(column.label), LABEL), cells))
    first = max(columns(label) for label, _ in rows)
    width = max(*(columns(text) + 1 for text in rows[0][1]), 3)
    size = (WIDTH - first) // width
    blocks = [
        [padded(label, first) + _cells(texts[start : start + size], width) for label, texts in rows]
        for start in range(0, len(cases), size)
    ]
    legend = [*_legend(comparison, names, cases), *([left] if left else [])]
    if len(blocks) == 1 and _fits(legend, blocks[0]):
        for line, told in zip_longest(blocks[0], legend, fillvalue=""):
            put(f"{line}{BETWEEN}{told}".rstrip())
        return
    for lines in blocks:
        for line in lines:
            put(line)
        put()
    put_side_by_side(legend)


def _cells(texts: Sequence[str], width: int) -> str:
    return "".join(padded(text, width, right=True) for text in texts)


def _fits(legend: Sequence[str], lines: Sequence[str]) -> bool:
    room = WIDTH - columns(lines[0]) - len(BETWEEN)
    return len(legend) <= len(lines) and all(columns(told) <= room for told in legend)


def _put_tall(comparison: Comparison, names: CaseNames, cases: Sequence[str], left: str) -> None:
    """A line for each case; more columns than fit go on below."""
    heads = heads_of([wash(column.label) for column in comparison.shown.columns], WIDTH - NAME)
    taken = sum(columns(text) + GAP for text in heads.texts)
    first = min(max(columns(names.short[case]) for case in cases), max(WIDTH - taken, NAME))
    size = (WIDTH - first) // (columns(heads.texts[-1]) + GAP) if heads.legend else len(heads.texts)
    for start in range(0, len(heads.texts), size):
        some = slice(start, start + size)
        put(padded(names.word, first) + _spread(heads.texts[some], heads.texts[some]))
        for case in cases:
            row = [glyph_of(cell) for cell in comparison.shown.rows[case][some]]
            put((padded(cut(names.short[case], first), first) + _spread(row, heads.texts[some])).rstrip())
        put()
    if heads.legend:
        put_side_by_side(heads.legend, COLUMNS)
    put_side_by_side([*_legend(comparison, names, cases), *([left] if left else [])])


def _spread(texts: Sequence[str], heads: Sequence[str]) -> str:
    return "".join(" " * GAP + padded(text, columns(head)) for text, head in zip(texts, heads, strict=True))


def glyph_of(cell: Cell | None) -> str:
    return NOT_KNOWN if cell is None else GLYPHS[cell.state][0]


def _legend(comparison: Comparison, names: CaseNames, cases: Sequence[str]) -> list[str]:
    """What the signs mean that occur; fail and pass on one line."""
    found: dict[str, list[Cell]] = {}
    for case in cases:
        for cell in comparison.shown.rows[case]:
            if cell is not None:
                found.setdefault(cell.state, []).append(cell)
    plain = [f"{GLYPHS[state][0]} {GLYPHS[state][1]}" for state in ("failed", "passed") if state in found]
    others = [
        f"{glyph} {_meaning(state, meaning, found[state], comparison, names)}"
        for state, (glyph, meaning) in GLYPHS.items()
        if state in found and state not in ("failed", "passed")
    ]
    return ["  ".join(plain), *others]


def _meaning(state: str, meaning: str, cells: Sequence[Cell], comparison: Comparison, names: CaseNames) -> str:
    """In one word more where all of them are of one kind."""
    places = [(cell.run, cell.case) for cell in cells]
    if state == "error" and all(comparison.pattern_at.get(place) == EMPTY for place in places):
        return "empty response"
    roots = {comparison.root_of.get(place, "") for place in places}
    if state == "follows" and len(roots) == 1 and (root := roots.pop()) in names.short:
        return f"follows from {names.told([root])}"
    return meaning


def _put_counts(comparison: Comparison, names: CaseNames, shown: int, left: str) -> None:
    matrix = comparison.shown
    counts = [
        Counter("not in the run" if row[at] is None else row[at].state for row in matrix.rows.values())  # type: ignore[union-attr]
        for at in range(len(matrix.columns))
    ]
    states = [state for state in (*CELL_STATES, "not in the run") if any(state in one for one in counts)]
    rows = [
        (column.label, *(f"{one[state]:,}" for state in states))
        for column, one in zip(matrix.columns, counts, strict=True)
    ]
    put(f"{plural(shown, names.word)} of {len(matrix.rows):,} do not pass in every run {left}".rstrip())
    if len(states) > 2:
        put_table(("", *states), rows, right=states, give_way=("",))
    put("The matrix itself: `--csv FILE` or `--json`; `--all` prints it here")
