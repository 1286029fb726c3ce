"""Charts as inline SVG: score bars, owner strips, the case map, the matrix of runs and cases; and the owner's chip.

Positions are attributes in per cent, so that a chart fits any width and the page needs no style attribute and no
script. Every text goes through `text`, the gate of the page.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape

from errata.model.output.score import SpreadOutput
from errata.render.document import PER_CENT, Bar, CategoryMap, Chart, Grid, MapRow, OwnerStrip, Scale, ScoreBar
from errata.render.figures import decimal, percent, plural
from errata.render.palette import OWNERS, letter_of, look_of
from errata.text.redact import beginning

Gate = Callable[[str], str]

NARROW = 0.06
"""Share of a strip below which a segment has no room for its letter."""
PASSED, CELL, PITCH, GAP = "✓", 22, 25, 12
_VALUE = ".5"
LETTER = 6.6
"""Width of a letter in the titles of a matrix."""
SMALL, SMALL_PITCH, PER_LINE = 13, 16, 20
NO_RESULT = "–"
DRAWN = 400
"""Cases of a map that are drawn one by one; of more, each category has a strip."""
LABEL = 22
"""Characters of a column's name in the matrix."""


def chip(owner: str, text: Gate) -> str:
    """The letter of an owner in its colour; the word is beside it or in the title."""
    return f'<b class="k {letter_of(owner)}" title="{text(owner)}">{letter_of(owner)}</b>'


def named_chip(owner: str, text: Gate) -> str:
    look = letter_of(owner)
    return f'<span class="own"><b class="k {look}" aria-hidden="true">{look}</b>{text(owner)}</span>'


def score_bars(bars: Sequence[ScoreBar], text: Gate, scale: Scale = PER_CENT) -> str:
    """The axis ends at 100 % unless stated, so that the pages of a comparison can be laid side by side."""
    rows = "".join(_score_bar(bar, text, scale) for bar in bars)
    ticks = "".join(
        f'<text x="{100 * at:g}%" class="{where}" y="11">{tick}</text>'
        for at, where, tick in zip((0, 0.5, 1), ("start", "middle", "end"), axis_ticks(scale, 2), strict=True)
    )
    names = ("rate", "passed") if scale.of_rates else ("mean", "results")
    heads = f'<b>{names[0]}</b> <span class="count">{names[1]}</span> <span class="between">95 % interval</span>'
    axis = (
        f'<div class="axis"><span></span><svg height="14" aria-hidden="true">{ticks}</svg>'
        f'<span class="value">{heads}</span></div>'
    )
    return f'<div class="scores">{rows}{axis}</div>'


def axis_ticks(scale: Scale, steps: int) -> list[str]:
    marks = [scale.low + (scale.high - scale.low) * at / steps for at in range(steps + 1)]
    return [f"{100 * mark:g}{' %' if mark else ''}" if scale.of_rates else decimal(mark) for mark in marks]


def _score_bar(bar: ScoreBar, text: Gate, scale: Scale) -> str:
    kinds = " ".join(name for name, is_so in (("best", bar.is_best), ("hollow", bar.is_hollow)) if is_so)
    rate, interval = scale.figure(bar.rate), scale.between(bar.low, bar.high)
    between = f", between {interval.replace('–', ' and ')}" if interval else ""
    words = text(f"{bar.label}: {rate}{between}")
    drawn = f'<svg height="20" role="img" aria-label="{words}">{point(bar, scale)}</svg>'
    value = (
        f'<span class="value"><b>{rate}</b> <span class="count">{text(bar.count)}</span> '
        f'<span class="between">{interval}</span></span>'
    )
    return f'<div class="{kinds}"><span class="label">{text(bar.label)}</span>{drawn}{value}</div>'


def point(bar: ScoreBar, scale: Scale = PER_CENT) -> str:
    parts = ['<rect class="axis" width="100%" y="9.5" height="1"/>']
    if bar.low is not None and bar.high is not None:
        low, high = (max(0.0, min(1.0, scale.share(one))) for one in (bar.low, bar.high))
        parts.append(f'<rect class="ci" x="{_share(low)}%" width="{_share(high - low)}%" y="7" height="6" rx="3"/>')
    if bar.measured is not None and bar.measured != bar.rate:
        parts.append(f'<circle class="was" cx="{_share(scale.share(bar.measured))}%" cy="10" r="4"/>')
    if bar.rate is not None:
        parts.append(f'<circle class="pt" cx="{_share(scale.share(bar.rate))}%" cy="10" r="5"/>')
    return "".join(parts)


def _share(value: float) -> str:
    return f"{100 * max(0.0, min(1.0, value)):.2f}"


_HATCH = "".join(f"M{at} 24l24-24" for at in range(-24, 900, 7))


Target = Callable[[str], str]
"""The address of an owner's failures."""


def owner_strip(strip: OwnerStrip, text: Gate, *, target: Target | None = None, narrow: float = NARROW) -> str:
    """Segments with their letters; those that are too narrow for one stand together at the end."""
    shares = [(one.owner, one.count / (strip.scale or strip.total or 1)) for one in strip.counts]
    words = ", ".join(f"{one.owner} {one.count}" for one in strip.counts)
    drawn = _segments(shares, rest="", target=target, narrowest=narrow)
    label = f'<span class="label">{text(strip.label)}</span>' if strip.label else ""
    total = f'<span class="value">{strip.total:,}</span>' if strip.label else ""
    role = "group" if target else "img"
    svg = f'<svg class="strip" height="22" role="{role}" aria-label="{text(words)}">{drawn}</svg>'
    return f'<div class="striped">{label}{svg}{total}</div>' if strip.label else svg


def _segments(
    shares: Iterable[tuple[str, float]], *, rest: str, target: Target | None = None, narrowest: float = NARROW
) -> str:
    """`rest` is what the width that is left means, such as cases that passed."""
    at, drawn, narrow = 0.0, [], []
    for owner, share in shares:
        if share < narrowest:
            narrow.append((owner, share))
            continue
        segment = _segment(at, share, letter_of(owner))
        drawn.append(f'<a href="{escape(target(owner))}" aria-label="{owner}">{segment}</a>' if target else segment)
        at += share
    if narrow:
        wide = sum(share for _, share in narrow)
        drawn.append(_segment(at, wide, letter_of(narrow[0][0]) if len(narrow) == 1 else "more", has_letter=False))
        at += wide
    if rest and at < 1:
        drawn.append(_segment(at, 1 - at, rest, has_letter=False))
    return "".join(drawn)


def _segment(at: float, share: float, kind: str, *, has_letter: bool = True) -> str:
    hatch = f'<path d="{_HATCH}"/>' if kind == OWNERS["collateral"].letter else ""
    letter = f'<text x="6" y="15">{kind}</text>' if has_letter else ""
    return (
        f'<svg class="seg {kind}" x="{_share(at)}%" width="{_share(share)}%" height="22">'
        f'<rect y="0.5" height="21" rx="3"/>{hatch}{letter}</svg>'
    )


def owner_list(strip: OwnerStrip, text: Gate, *, target: Target | None = None) -> str:
    def name(owner: str) -> str:
        chip = named_chip(owner, text)
        return f'<a href="{escape(target(owner))}">{chip}</a>' if target else chip

    rows = "".join(
        f'<li>{name(part.owner)}<span class="note">{text(part.note)}</span><b>{part.count:,}</b>'
        f'<span class="share">{percent(part.count / strip.total, 0)}</span></li>'
        for part in strip.counts
    )
    return f'<ul class="owners">{rows}</ul>'


def case_map(drawn: CategoryMap, text: Gate, target: Callable[[str], str]) -> str:
    """A row for each category. `target` is the address of a section, by its key."""
    whole = max(map(_size, drawn.rows), default=0)
    small = sum(map(_size, drawn.rows)) <= DRAWN
    rows = "".join(
        f'<div><span class="label">{text(row.name)}</span>'
        f"{_squares(row, text, target) if small else _category_strip(row, whole, text)}"
        f'<span class="note">{text(row.note)}</span></div>'
        for row in drawn.rows
    )
    used = _in_order(cell.owner for row in drawn.rows for cell in row.failed)
    plain = f'<span class="own"><b class="k plain"></b>{text(drawn.rest)}</span>'
    if any(row.unmeasured for row in drawn.rows):
        plain += f'<span class="own"><b class="k plain">{NO_RESULT}</b>no result</span>'
    legend = f'<figcaption class="legend">{"".join(named_chip(owner, text) for owner in used)}{plain}</figcaption>'
    return f'<figure>{legend}<div class="{"map" if small else "map strips"}">{rows}</div></figure>'


def _in_order(owners: Iterable[str]) -> list[str]:
    """Each once, in the order of legends."""
    used = set(owners)
    return [*(owner for owner in OWNERS if owner in used), *sorted(used - set(OWNERS))]


def _size(row: MapRow) -> int:
    return len(row.failed) + row.others + row.unmeasured


def _squares(row: MapRow, text: Gate, target: Callable[[str], str]) -> str:
    """Failures first, then passes; a case without a result has a dash."""
    count = _size(row)
    lines, wide = -(-count // PER_LINE), min(count, PER_LINE)
    cells = []
    for at in range(count):
        x, y = SMALL_PITCH * (at % PER_LINE), SMALL_PITCH * (at // PER_LINE)
        if at >= len(row.failed):
            cells.append(
                f'<rect class="pass" x="{x + 0.5}" y="{y + 0.5}" width="{SMALL - 1}" height="{SMALL - 1}" rx="3"/>'
            )
            if at >= len(row.failed) + row.others:
                middle = f'x="{x + SMALL / 2}" y="{y + SMALL / 2}"'
                cells.append(f'<g class="c pass"><title>no result</title><text {middle}>{NO_RESULT}</text></g>')
            continue
        cell = row.failed[at]
        square = _cell(x, y, SMALL, cell.owner, f"{cell.case}: {cell.owner}", text)
        link = target(cell.key) if cell.key else ""
        cells.append(f'<a href="{link}">{square}</a>' if link else square)
    words = f"{row.name}: {len(row.failed)} of {count} failed"
    across, down = SMALL_PITCH * wide, SMALL_PITCH * lines
    size = f'width="{across}" height="{down}" viewBox="0 0 {across} {down}"'
    return f'<svg class="squares" {size} role="group" aria-label="{text(words)}">{"".join(cells)}</svg>'


def _category_strip(row: MapRow, whole: int, text: Gate) -> str:
    counts: dict[str, int] = {}
    for cell in row.failed:
        counts[cell.owner] = counts.get(cell.owner, 0) + 1
    total = _size(row)
    shares = [(owner, often / total) for owner, often in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))]
    words = ", ".join(
        [
            *(f"{owner} {often}" for owner, often in counts.items()),
            f"passed {row.others}",
            f"no result {row.unmeasured}",
        ]
    )
    segments = _segments(shares, rest="")
    if row.others:  # what is left blank has no result
        segments += _segment(len(row.failed) / total, row.others / total, "pass", has_letter=False)
    inner = f'<svg width="{_share(total / whole)}%" height="22">{segments}</svg>'
    return f'<svg class="strip" height="22" role="img" aria-label="{text(words)}">{inner}</svg>'


def _cell(x: float, y: float, size: int, owner: str, title: str, text: Gate) -> str:
    look = look_of(owner)
    hatch = f'<path d="M{x + 2} {y + size - 2}L{x + size - 2} {y + 2}"/>' if look.texture == "hatched" else ""
    return (
        f'<g class="c {look.letter}"><title>{text(title)}</title>'
        f'<rect x="{x + 0.5}" y="{y + 0.5}" width="{size - 1}" height="{size - 1}" rx="3"/>{hatch}'
        f'<text x="{x + size / 2}" y="{y + size / 2}">{look.letter}</text></g>'
    )


def matrix(grid: Grid, text: Gate) -> str:
    """Runs at the left, cases at the foot; the cells scroll where they need more room than there is."""
    height = len(grid.rows) * PITCH
    order = [at for _, columns in grid.groups for at in columns] or list(range(len(grid.columns)))
    places = _columns(grid)
    last = grid.groups[-1] if grid.groups else ("", ())
    wide = max(places[-1] + PITCH, places[-len(last[1])] + _title_width(last[0], len(last[1]))) if places else 0
    head = 22 if grid.groups else 0
    names = "".join(
        f'<div><span class="label" title="{text(name)}">{text(name)}</span><b>{text(note)}</b></div>'
        for name, note in zip(grid.rows, _notes(grid), strict=True)
    )
    cells = "".join(_matrix_cells(grid, order, places, head, text))
    deep = head + height + 8 + 6.4 * min(LABEL, max(map(len, grid.columns), default=0))
    foot = head + height + 6
    columns = "".join(
        f'<text class="name{" on" * (at == grid.selected)}" transform="translate({x + 7} {foot}) rotate(90)">'
        f"{text(_cut(grid.columns[at]))}</text>"
        for at, x in zip(order, places, strict=True)
    )
    svg = (
        f'<svg width="{wide}" height="{deep:.0f}" role="{"group" if grid.targets else "img"}"'
        f' aria-label="{text(_in_words(grid))}">'
        f"{''.join(_group_heads(grid, places, text))}{cells}{columns}</svg>"
    )
    scrolling = f'<div class="cells" role="region" tabindex="0" aria-label="runs and cases">{svg}</div>'
    side = f'<div class="{"names headed" if head else "names"}">{names}</div>'
    return f'<figure class="matrix"><div class="frame">{side}{scrolling}</div>{_legend(grid, text)}</figure>'


def _columns(grid: Grid) -> list[int]:
    """The place of each column; groups stand apart, and each has room for its title."""
    places: list[int] = []
    x = 0
    for title, columns in grid.groups or (("", tuple(range(len(grid.columns)))),):
        places += (x + PITCH * at for at in range(len(columns)))
        x += max(PITCH * len(columns), _title_width(title, len(columns))) + GAP
    return places


def _title_width(title: str, count: int) -> int:
    return round(LETTER * len(f"{title} {count}"))


def _notes(grid: Grid) -> Sequence[str]:
    return grid.notes or ("",) * len(grid.rows)


def _group_heads(grid: Grid, places: Sequence[int], text: Gate) -> Iterator[str]:
    at = 0
    for title, columns in grid.groups:
        if count := len(columns):
            first, last = places[at], places[at + count - 1] + CELL
            wide = max(last - first, _title_width(title, count))
            yield f'<g class="group"><text x="{first}" y="12">{text(title)} <tspan>{count}</tspan></text>'
            yield f'<rect x="{first}" y="17" width="{wide}" height="1"/></g>'
        at += count


def _matrix_cells(grid: Grid, order: Sequence[int], places: Sequence[int], head: int, text: Gate) -> Iterator[str]:
    for down, (name, letters) in enumerate(zip(grid.rows, grid.cells, strict=True)):
        owners = grid.owners[down] if grid.owners else ("",) * len(letters)
        y = head + PITCH * down
        for x, at in zip(places, order, strict=True):
            owner, letter = owners[at], letters[at]
            value = grid.values[down][at] if grid.values and not owner else None
            means = owner or grid.legend.get(letter, "") if value is None else grid.scale.figure(value)
            title = f"{name}, {grid.columns[at]}: {means}"
            if owner:
                drawn = _cell(x, y, CELL, owner, title, text)
            else:
                drawn = _other_cell(x, y, letter, title, text, value, grid.scale)
            target = grid.targets[down][at] if grid.targets else ""
            yield f'<a href="{escape(target)}">{drawn}</a>' if target else drawn


def _other_cell(x: int, y: int, letter: str, title: str, text: Gate, value: float | None, scale: Scale) -> str:
    """A number has the stronger shade the higher it is."""
    kind, shown, shade = ("pass", PASSED, "") if letter == "." else ("other", letter.strip(), "")
    if value is not None:
        kind, shown, shade = "value", _short(value), f' fill-opacity="{0.04 + 0.4 * scale.share(value):.2f}"'
    return (
        f'<g class="c {kind}"><title>{text(title)}</title>'
        f'<rect x="{x + 0.5}" y="{y + 0.5}" width="{CELL - 1}" height="{CELL - 1}" rx="3"{shade}/>'
        f'<text x="{x + CELL / 2}" y="{y + CELL / 2}">{text(shown)}</text></g>'
    )


def _short(value: float) -> str:
    """In three characters: `.73`, `7.3`, `73`."""
    shown = f"{value:.2f}".replace("0.", ".", 1) if abs(value) < 0.995 else f"{value:.2g}"
    return shown if len(shown) <= 4 else ""


def _cut(name: str) -> str:
    return name if len(name) <= LABEL else f"{beginning(name, LABEL - 1)}…"


def _in_words(grid: Grid) -> str:
    words = f"{len(grid.rows)} runs, {len(grid.columns)} cases"
    failed = sum(letter not in ".n " for row in grid.cells for letter in row)
    return words if "n" in grid.legend and not failed else f"{words}, {failed} cells that did not pass"


def _legend(grid: Grid, text: Gate) -> str:
    used = _in_order(owner for row in grid.owners for owner in row if owner)
    shown = {
        letter
        for row, letters in enumerate(grid.cells)
        for at, letter in enumerate(letters)
        if not (grid.owners and grid.owners[row][at])
    }
    signs = {".": PASSED, **(dict.fromkeys("n~", _VALUE) if grid.values else {})}
    others = "".join(
        f'<span class="own"><b class="k plain">{signs.get(letter) or text(letter)}</b>{text(means)}</span>'
        for letter, means in grid.legend.items()
        if letter in shown
    )
    return f'<figcaption class="legend">{others}{"".join(named_chip(owner, text) for owner in used)}</figcaption>'


def histogram(spread: SpreadOutput, text: Gate) -> str:
    """How many results lie in each tenth of the way from the lowest to the highest."""
    most, parts = max(spread.bins), len(spread.bins)
    ends = axis_ticks(Scale(spread.low, spread.high, of_rates=False), parts)
    titles = [text(f"{ends[at]} to {ends[at + 1]}: {plural(count, 'result')}") for at, count in enumerate(spread.bins)]
    bars = "".join(
        f'<g><title>{titles[at]}</title><rect x="{100 * at / parts + 0.3:.1f}%" width="{100 / parts - 0.6:.1f}%"'
        f' y="{72 - 72 * count / most:.1f}" height="{72 * count / most:.1f}"/></g>'
        for at, count in enumerate(spread.bins)
    )
    ticks = f'<text class="start" y="88">{ends[0]}</text><text x="100%" class="end" y="88">{ends[-1]}</text>'
    return (
        f'<svg class="histogram" height="92" role="img" aria-label="{", ".join(titles)}">{bars}'
        f'<rect class="axis" y="73" width="100%" height="1"/>{ticks}</svg>'
    )


def bar_chart(drawn: Chart, text: Gate) -> str:
    whole = drawn.total or max((bar.value for bar in drawn.bars), default=0) or 1
    rows = "".join(_bar(bar, whole, text) for bar in drawn.bars)
    return f'<figure><figcaption>{text(drawn.title)}</figcaption><div class="bars">{rows}</div></figure>'


def _bar(bar: Bar, whole: float, text: Gate) -> str:
    value = f"{bar.value:,.0f}" if bar.value == int(bar.value) else f"{bar.value:,.2f}"
    rects = "".join(
        f'<rect class="{kind}" width="{_share(wide)}%" height="12" rx="3"/>'
        for kind, wide in (("of", 1), ("bar", bar.value / whole))
    )
    note = f' <span class="note">{text(bar.note)}</span>' if bar.note else ""
    drawn = f'<svg height="12" role="img" aria-label="{text(bar.label)}: {value}">{rects}</svg>'
    return f'<div><span class="label">{text(bar.label)}</span>{drawn}<span class="value">{value}{note}</span></div>'


def two_lanes(upper: ScoreBar, lower: ScoreBar, text: Gate, scale: Scale = PER_CENT) -> str:
    """Two rates or means of one subject below each other, on an axis with a line at every quarter."""
    words = "; ".join(f"{bar.label}: {scale.figure(bar.rate)}" for bar in (upper, lower))
    quarters = "".join(f'<rect class="quarter" x="{at}%" width="1" height="40"/>' for at in (0, 25, 50, 75, 100))
    lanes = "".join(
        f'<svg y="{y}" height="20" width="100%" class="{kind}">{point(bar, scale)}</svg>'
        for y, kind, bar in ((1, "hollow", upper), (19, "", lower))
    )
    return f'<svg class="lanes" height="40" role="img" aria-label="{text(words)}">{quarters}{lanes}</svg>'


def sparkline(rates: Sequence[float | None], text: Gate, scale: Scale = PER_CENT) -> str:
    """Rates or means over time, each a point; a run without one is a gap."""
    step = 56 / max(1, len(rates) - 1)
    points = [(2 + at * step, 16 - 14 * scale.share(rate)) for at, rate in enumerate(rates) if rate is not None]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2"/>' for x, y in points)
    words = ", ".join(map(scale.figure, rates))
    return (
        f'<svg class="spark" width="60" height="18" role="img" aria-label="{text(words)}">'
        f'<polyline points="{path}"/>{dots}</svg>'
    )
