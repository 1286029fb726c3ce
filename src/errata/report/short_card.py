"""The first screen of a phone: the answers of all cards in a few lines."""

from collections.abc import Iterator, Sequence

from errata.render.document import (
    Block,
    Card,
    Inline,
    Items,
    Line,
    OwnerChip,
    OwnerCount,
    OwnerStrip,
    Paragraph,
    Ranking,
    ScoreBar,
    ScoreChart,
    Text,
    Unbroken,
    fields,
    line,
)
from errata.render.figures import hundredths, percent

NAMED_RUNS, NAMED = 4, 3
"""Runs; causes, and things to do."""


def with_short_card(blocks: Sequence[Block], below_scores: str = "") -> Iterator[Block]:
    """Before the cards: behind what speaks against the score, and the first sentence.

    `below_scores` is what a reader of several scores has to know.
    """
    inner = [block for card in blocks if isinstance(card, Card) and not card.is_warning for block in card.blocks]
    rows = [row for block in inner for row in _in_short(block, below_scores)]
    at = next((at for at, block in enumerate(blocks) if isinstance(block, Paragraph)), -1) + 1
    yield from blocks[:at]
    if rows:
        yield Card("In short", (fields(rows),), is_short=True, in_markdown=False)
    yield from blocks[at:]


def _in_short(block: Block, below_scores: str) -> Iterator[tuple[str, Line]]:
    """Lines of one answer have its name once."""
    match block:
        case ScoreChart() if block.bars:
            yield from _under("Score", [*_scores(block), *([line(below_scores)] if below_scores else [])])
        case OwnerStrip(counts, "") if counts:
            yield "Owners", line(*(part for at, owner in enumerate(counts) for part in _owner(owner, is_first=at == 0)))
        case Ranking(causes) if causes:
            shown = [line(f"{one.count:,} ", OwnerChip(one.owner), " ", one.title) for one in causes[:NAMED]]
            yield from _under("Causes", shown)
        case Items(lines) if lines and block.kind == "numbers":
            room = NAMED if len(lines) > NAMED + 1 else NAMED + 1  # instead of a line `1 more below`
            more = [line(f"{len(lines) - room:,} more below")] if len(lines) > room else []
            shown = [line(f"{at}. ", _shortened(one)) for at, one in enumerate(lines[:room], 1)]
            yield from _under("To do", [*shown, *more])
        case _:
            return


def _owner(count: OwnerCount, *, is_first: bool) -> Iterator[str | Unbroken]:
    """With how sure it is; of the model, with the reason."""
    yield "" if is_first else ", "
    yield Unbroken(f"{count.count:,} {count.owner}")
    note = count.note if count.owner == "model" else count.note.partition(":")[0]
    yield f" ({note})" if note else ""


def _shortened(to_do: Line) -> Line:
    """The first sentence, without the cases at its end."""
    parts: list[Inline] = []
    for part in to_do:
        before, stop, _ = part.text.partition(". ") if isinstance(part, Text) else (part.text, "", "")
        parts.append(Text(before) if stop else part)
        if stop:
            break
    if len(parts) > 1 and isinstance(parts[-1], Text) and parts[-1].text.startswith(" ("):
        parts.pop()
    return tuple(parts)


def _under(name: str, lines: Sequence[Line]) -> Iterator[tuple[str, Line]]:
    yield from ((name if at == 0 else "", one) for at, one in enumerate(lines))


def _scores(chart: ScoreChart) -> list[Line]:
    """The best figure of each run; all of them where none is the best."""
    best = list(chart.bars) if chart.doubt else [bar for bar in chart.bars if bar.is_best] or list(chart.bars)
    policies = "/".join(dict.fromkeys(bar.policy for bar in best if bar.policy))
    head = [f"{policies}, 95 % interval" if policies else "", f"no best estimate: {chart.doubt}" if chart.doubt else ""]
    more = [line(f"and {len(best) - NAMED_RUNS} more")] if len(best) > NAMED_RUNS else []
    shown = [line(*_bar(bar, "" if policies else "95 %: ")) for bar in best[:NAMED_RUNS]]
    return [*filter(None, [line("; ".join(filter(None, head)))]), *shown, *more]


def _bar(bar: ScoreBar, name: str) -> Iterator[str | Unbroken]:
    """`name` is that of the interval, where no line above has it."""
    yield Unbroken(percent(bar.rate))
    yield f" {bar.label} " if bar.count else f" {bar.label}"
    yield Unbroken(bar.count)
    if bar.low is not None and bar.high is not None:
        yield " "
        yield Unbroken(f"({name}{hundredths(bar.low)}–{hundredths(bar.high)})")
