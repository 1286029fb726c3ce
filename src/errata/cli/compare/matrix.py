"""The matrix of a comparison as text, and the short names of cases and columns."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import zip_longest

import msgspec

from errata.cli.fitting import WIDTH, columns, padded
from errata.cli.output import plural, put, wash
from errata.cli.table import put_table
from errata.compare.comparison import Comparison
from errata.compare.summaries import EMPTY
from errata.model.cells import CELL_STATES, Cell, CellState

NARROW = 5
"""Cases whose names are no wider than this are set side by side."""
GAP = 2
LINES = 6
COLUMNS, RUNS = "columns  ", "runs     "


class CaseLabels(msgspec.Struct, frozen=True):
    word: str
    """What the harness calls a case: `turn`."""
    short: dict[str, str]
    """Case → its name as the log has it, so that it can be pasted into a command."""

    @property
    def narrow(self) -> bool:
        return max(map(columns, self.short.values()), default=0) <= NARROW

    def listed(self, cases: Sequence[str], room: int, *, lines: int = LINES) -> list[str]:
        """Names that fit the lines, and the number of the rest."""
        return _within([self.short[case] for case in cases], " " if self.narrow else ", ", room, lines)

    def joined(self, cases: Sequence[str]) -> str:
        """`turn-11, turn-19 and turn-22`."""
        names = [self.short[case] for case in cases]
        return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def names_of(comparison: Comparison, word: str) -> CaseLabels:
    return CaseLabels(word, {case: wash(facts.name) for case, facts in comparison.cases.items()})


class Heads(msgspec.Struct, frozen=True):
    """Column headings: labels if there is room, else numbers with a legend."""

    texts: tuple[str, ...]
    legend: tuple[str, ...] = ()


def heads_of(labels: Sequence[str], room: int) -> Heads:
    if sum(columns(label) + GAP for label in labels) <= room:
        return Heads(tuple(labels))
    return numbered(labels)


def numbered(labels: Sequence[str]) -> Heads:
    numbers = tuple(str(number) for number in range(1, len(labels) + 1))
    return Heads(numbers, tuple(f"{number} {label}" for number, label in zip(numbers, labels, strict=True)))


def put_side_by_side(parts: Sequence[str], label: str = "") -> None:
    """As many on a line as fit, behind a label."""
    hang = columns(label)
    line = label
    for part in parts:
        longer = f"{line} · {part}" if columns(line) > hang else line + part
        if columns(line) > hang and columns(longer) > WIDTH:
            put(line)
            longer = " " * hang + part
        line = longer
    put(line, hang=hang + 2)


def _within(names: Iterable[str], joint: str, room: int, most: int) -> list[str]:
    """Broken between names; where one is wider than a line, each has a line of its own, so that it can be copied."""
    lines: list[str] = []
    current = ""
    left = list(names)
    if any(columns(name) >= room for name in left):
        rest = len(left) - most
        return left if rest <= 0 else [*left[: most - 1], f"and {rest + 1:,} more"]
    while left:
        more = len(" and 1,000 more") if len(lines) + 1 == most and len(left) > 1 else 1
        name = left[0]
        longer = f"{current}{joint}{name}" if current else name
        if columns(longer) + more <= room or not current:
            current = longer
            left.pop(0)
        elif len(lines) + 1 == most:
            return [*lines, f"{current} and {len(left):,} more"]
        else:
            lines, current = [*lines, current + joint.rstrip()], ""
    return [*lines, current] if current else lines


MOST = 100
"""With more cases than this, a page shows counts only."""
LABEL = 28
NAME_ROOM = min(40, WIDTH // 2)

GLYPHS: dict[CellState, tuple[str, str]] = {
    "failed": ("F", "fail"),
    "passed": (".", "pass"),
    "partial": ("p", "partial"),
    "number": ("n", "number"),
    "error": ("e", "error"),
    "limit": ("t", "limit reached"),
    "cancelled": ("x", "cancelled"),
    "follows": ("c", "follows from another failure"),
    "unscored": ("?", "not scored"),
    "missing": ("-", "missing or unfinished"),
    "contradictory": ("!", "rows contradict each other"),
    "mixed": ("~", "passes sometimes"),
}
NOT_KNOWN = " "
BETWEEN = "   "


def put_matrix(comparison: Comparison, names: CaseLabels, *, every: bool) -> None:
    matrix = comparison.shown
    passing = matrix.passed_everywhere
    cases = [case for case in matrix.rows if every or case not in passing]
    left = "" if every or not passing else _pass_in_all(len(passing), names.word, len(matrix.columns))
    put()
    if len(cases) > MOST and not every:
        _put_counts(comparison, names, len(cases))
    elif not cases:
        put(f"Every {names.word} passes in every run")
    elif names.narrow:
        _put_wide(comparison, names, cases, left)
    else:
        _put_tall(comparison, names, cases, left)


def _pass_in_all(count: int, word: str, runs: int) -> str:
    return f"({plural(count, word)} {'passes' if count == 1 else 'pass'} in {'both' if runs == 2 else 'all'} runs)"


def _put_wide(comparison: Comparison, names: CaseLabels, cases: Sequence[str], left: str) -> None:
    """Cases side by side, in as many blocks as it takes; the legend beside a single one where it fits."""
    rows = [(names.word, [names.short[case] for case in cases])]
    labels = [wash(column.label) for column in comparison.shown.columns]
    heads = Heads(tuple(labels)) if max(map(columns, labels)) <= LABEL else numbered(labels)
    for at, head in enumerate(heads.texts):
        rows.append(
            (f"run {head}" if heads.legend else head, [glyph_of(comparison.shown.rows[case][at]) for case in cases])
        )
    first = max(columns(label) for label, _ in rows)
    width = max(*(columns(text) + 1 for text in rows[0][1]), 3)
    size = (WIDTH - first) // width
    blocks = [
        [padded(label, first) + _cells(texts[start : start + size], width) for label, texts in rows]
        for start in range(0, len(cases), size)
    ]
    legend, others = _legend(comparison, names, cases), [left] if left else []
    if len(blocks) == 1 and not heads.legend and _fits([*legend, *others], blocks[0]):
        for line, meaning in zip_longest(blocks[0], [*legend, *others], fillvalue=""):
            put(f"{line}{BETWEEN}{meaning}".rstrip())
        return
    for lines in blocks:
        for line in lines:
            put(line)
        put()
    if heads.legend:
        put_side_by_side(heads.legend, RUNS)
    put_side_by_side(legend)
    for line in others:
        put(line)


def _cells(texts: Sequence[str], width: int) -> str:
    return "".join(padded(text, width, right=True) for text in texts)


def _fits(legend: Sequence[str], lines: Sequence[str]) -> bool:
    room = WIDTH - columns(lines[0]) - len(BETWEEN)
    return len(legend) <= len(lines) and all(columns(told) <= room for told in legend)


def _put_tall(comparison: Comparison, names: CaseLabels, cases: Sequence[str], left: str) -> None:
    """A line for each case; columns that do not fit continue below."""
    longest = max(columns(names.short[case]) for case in cases)
    labels = [wash(column.label) for column in comparison.shown.columns]
    heads = heads_of(labels, WIDTH - min(longest, NAME_ROOM))
    taken = sum(columns(text) + GAP for text in heads.texts)
    first = min(longest, max(WIDTH - taken, NAME_ROOM))
    size = (WIDTH - first) // (columns(heads.texts[-1]) + GAP) if heads.legend else len(heads.texts)
    for start in range(0, len(heads.texts), size):
        some = slice(start, start + size)
        put(padded(names.word, first) + _spread(heads.texts[some], heads.texts[some]))
        for case in cases:
            row = [glyph_of(cell) for cell in comparison.shown.rows[case][some]]
            name = names.short[case]
            if columns(name) > first:
                put(name)
                name = ""
            put((padded(name, first) + _spread(row, heads.texts[some])).rstrip())
        put()
    if heads.legend:
        put_side_by_side(heads.legend, COLUMNS)
    put_side_by_side(_legend(comparison, names, cases))
    if left:
        put(left)


def _spread(texts: Sequence[str], heads: Sequence[str]) -> str:
    return "".join(" " * GAP + padded(text, columns(head)) for text, head in zip(texts, heads, strict=True))


def glyph_of(cell: Cell | None) -> str:
    return NOT_KNOWN if cell is None else GLYPHS[cell.state][0]


def _legend(comparison: Comparison, names: CaseLabels, cases: Sequence[str]) -> list[str]:
    """The meaning of the signs that occur; fail and pass on one line."""
    by_state: dict[str, list[Cell]] = {}
    for case in cases:
        for cell in comparison.shown.rows[case]:
            if cell is not None:
                by_state.setdefault(cell.state, []).append(cell)
    plain = [f"{GLYPHS[state][0]} {GLYPHS[state][1]}" for state in ("failed", "passed") if state in by_state]
    others = [
        f"{glyph} {_meaning(state, meaning, by_state[state], comparison, names)}"
        for state, (glyph, meaning) in GLYPHS.items()
        if state in by_state and state not in ("failed", "passed")
    ]
    return [" · ".join(plain), *others]


def _meaning(state: str, meaning: str, cells: Sequence[Cell], comparison: Comparison, names: CaseLabels) -> str:
    """More specific if all cells have the same cause."""
    places = [(cell.run, cell.case) for cell in cells]
    if state == "error" and all(comparison.pattern_at.get(place) == EMPTY for place in places):
        return "empty response"
    roots = {comparison.root_of.get(place, "") for place in places}
    if state == "follows" and len(roots) == 1 and (root := roots.pop()) in names.short:
        return f"follows from {names.short[root]}"
    return meaning


def _put_counts(comparison: Comparison, names: CaseLabels, shown: int) -> None:
    matrix = comparison.shown
    counts = [
        Counter("not in the run" if row[at] is None else row[at].state for row in matrix.rows.values())  # type: ignore[union-attr]
        for at in range(len(matrix.columns))
    ]
    states = [state for state in (*CELL_STATES, "not in the run") if any(state in one for one in counts)]
    rows = [
        (column.label, *(f"{count[state]:,}" for state in states))
        for column, count in zip(matrix.columns, counts, strict=True)
    ]
    put(f"{len(matrix.rows) - shown:,} of {plural(len(matrix.rows), names.word)} pass in every run")
    if len(states) > 2:
        put_table(("", *states), rows, right=states, give_way=("",))
    put("`--all` prints the matrix; `--csv FILE` and `--json` write it")
