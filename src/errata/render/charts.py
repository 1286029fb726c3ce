"""Charts as inline SVG: bars whose labels are text of the page, so that they can be read at any width."""

from collections.abc import Callable

from errata.render.document import Bar, Chart


def chart(drawn: Chart, text: Callable[[str], str]) -> str:
    """`text` makes a text safe for the page."""
    whole = drawn.total or max((bar.value for bar in drawn.bars), default=0) or 1
    rows = "".join(_bar(bar, whole, text) for bar in drawn.bars)
    return f'<figure><figcaption>{text(drawn.title)}</figcaption><div class="bars">{rows}</div></figure>'


def _bar(bar: Bar, whole: float, text: Callable[[str], str]) -> str:
    share = max(0.0, min(1.0, bar.value / whole))
    value = f"{bar.value:,.0f}" if bar.value == int(bar.value) else f"{bar.value:,.2f}"
    rects = "".join(
        f'<rect class="{kind}" width="{wide:.2f}%" height="100%" rx="3"/>'
        for kind, wide in (("of", 100), ("bar", 100 * share))
    )
    note = f' <span class="note">{text(bar.note)}</span>' if bar.note else ""
    drawn = f'<svg role="img" aria-label="{text(bar.label)}: {value}">{rects}</svg>'
    return f'<div><span class="label">{text(bar.label)}</span>{drawn}<span class="value">{value}{note}</span></div>'
