"""The packet on the review page: readings, task, steps, output and verifier, line by line."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from errata.model import Quote
from errata.model.verdict import Packet, PacketPlace
from errata.render.blocks_html import page_text
from errata.render.charts import named_chip
from errata.server.pages.addresses import attempt_page
from errata.text.outgoing import for_others
from errata.verbs.review_worklist import ReviewItem, ShownReading, is_core, kind_of

SECTIONS = ("Task", "Steps", "Output", "Verifier", "Expected", "Context")
_BY_KIND = {
    "task": "Task",
    "output": "Output",
    "error": "Verifier",
    "judge": "Verifier",
    "grader": "Verifier",
    "log": "Verifier",
    "expected": "Expected",
}
SHORT, LONG, AROUND = 20, 40, 3
"""Lines of a place that is open by itself; of one that is folded between its marks; and around a mark."""
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
Marks = Mapping[str, Sequence[tuple[str, Quote]]]
"""Place → the mark and the quote of each reading."""


def packet_column(item: ReviewItem, position: str) -> str:
    packet = item.packet
    given = in_order(item.readings)
    marks = _marks(given)
    numbers = iter(range(1, 10**9))
    return (
        f'<section class="packet" aria-labelledby="item-title">{_head(item, position)}{_readers(item)}'
        + readings(given, item)
        + "".join(_section(name, places, marks, numbers) for name, places in _by_section(packet).items())
        + f"{_left_out(packet)}</section>"
    )


def _head(item: ReviewItem, position: str) -> str:
    packet, run = item.packet, item.stored.run
    facts = packet.facts
    given = facts.get("checks")
    checks = given if isinstance(given, list) else []
    passed = sum(isinstance(one, dict) and one.get("status") == "pass" for one in checks)
    steps = facts.get("steps")
    shown = [f"{passed} of {len(checks)} checks passed"] if checks else []
    shown += [f"{steps['last'] + 1} steps"] if isinstance(steps, dict) and isinstance(steps.get("last"), int) else []
    shown += [f"{facts['duration_seconds']:g} s"] if isinstance(facts.get("duration_seconds"), int | float) else []
    shown.append(f"packet {packet.size.get('tokens_estimated', 0):,} tokens")
    who = "" if item.blind else f"{run.subject.model or item.handle}, "
    whole = attempt_page(run.id, packet.case_key, packet.attempt)
    spoken = "".join(f", {one.by}: {one.owner} {one.confidence}" for one in item.readings)
    return (
        f'<h1 id="item-title" tabindex="-1">{page_text(item.case)} <span class="hidden" id="item-spoken">'
        f"{page_text(f', {position}, {_count(item.readings)}{spoken}')}</span></h1>"
        f'<p class="facts">{page_text(who + run.suite)}'
        + "".join(f"<span>{page_text(one)}</span>" for one in shown)
        + f'<a id="whole" href="{escape(whole)}">whole attempt</a></p>'
    )


def _readers(item: ReviewItem) -> str:
    if not item.in_hand:
        return ""
    names = " and ".join(item.in_hand)
    return f'<p class="strip">{page_text(names)} {"is" if len(item.in_hand) == 1 else "are"} reading this.</p>'


def readings(given: Sequence[ShownReading], item: ReviewItem) -> str:
    if not given:
        text = "Readings of others are hidden until you have saved." if item.blind else "Nobody has reviewed it yet."
        return f'<section class="sec readings"><p class="note">{text}</p><div class="two"></div></section>'
    by_reviewers = sum(bool(one.verdict) for one in given)
    keys = {(by_reviewers if by_reviewers > 1 else len(given)) - 1: "→", 0: "←"}
    cards = "".join(reading_card(one, LETTERS[at % 26], keys.get(at, "")) for at, one in enumerate(given))
    head = f"<h2>{_count(given).capitalize()}</h2>"
    return f'<section class="sec readings">{head}<div class="two">{cards}</div></section>'


def in_order(given: Sequence[ShownReading]) -> list[ShownReading]:
    """Where reviewers disagree they come first: their readings are to be chosen from, and triage is one more hint."""
    reviewers = [one for one in given if one.verdict]
    return [*reviewers, *(one for one in given if not one.verdict)] if len(reviewers) > 1 else list(given)


def _count(given: Sequence[ShownReading]) -> str:
    return {0: "no reading yet", 1: "one reading", 2: "two readings"}.get(len(given), f"{len(given)} readings")


def reading_card(reading: ShownReading, letter: str, key: str = "") -> str:
    """`key` takes it over into the form."""
    quotes = "".join(
        f'<li data-place="{page_text(quote.place)}" data-first="{quote.lines[0] if quote.lines else ""}"'
        f' data-last="{quote.lines[1] if quote.lines else ""}"><code dir="auto">{_verbatim(quote.quote)}</code></li>'
        for quote in reading.evidence
    )
    decisive = "" if reading.decisive_step is None else str(reading.decisive_step)
    values = f'data-owner="{page_text(reading.owner)}" data-label="{page_text(reading.label)}"'
    values += f' data-confidence="{page_text(reading.confidence)}" data-decisive="{decisive}"'
    label = f" · {page_text(reading.label)}" if reading.label and reading.label != reading.owner else ""
    words = page_text(reading.note or reading.cause)
    return (
        f'<article class="reading" {values} data-key="{key}" data-verdict="{page_text(reading.verdict)}"'
        f' data-cause="{page_text(reading.cause if reading.verdict else "")}" data-note="{page_text(reading.note)}">'
        f'<h3>{named_chip(reading.owner, page_text)} <span class="note">{page_text(reading.confidence)}{label}</span>'
        f' <span class="by note">{page_text("you" if reading.is_own else reading.by)}, {letter}</span>'
        f"{f'<kbd>{key}</kbd>' if key else ''}</h3>"
        f'<p>{words}</p><ul class="quoted">{quotes}</ul></article>'
    )


def _marks(given: Sequence[ShownReading]) -> Marks:
    marks: dict[str, list[tuple[str, Quote]]] = {}
    for at, reading in enumerate(given):
        for number, quote in enumerate(reading.evidence, 1):
            marks.setdefault(quote.place, []).append((f"{LETTERS[at % 26]}{number}", quote))
    return marks


def _by_section(packet: Packet) -> dict[str, list[PacketPlace]]:
    by_name: dict[str, list[PacketPlace]] = {}
    for place in packet.places:
        is_step = place.place.startswith(("steps/", "tool_calls", "tool_results"))
        by_name.setdefault("Steps" if is_step else _BY_KIND.get(kind_of(place.place), "Context"), []).append(place)
    return {name: by_name[name] for name in SECTIONS if name in by_name}


def _section(name: str, places: Sequence[PacketPlace], marks: Marks, numbers: Iterator[int]) -> str:
    pointed = sum(place.place in marks for place in places)
    fold = name == "Steps" and pointed > 0
    blocks = "".join(_place(place, marks.get(place.place, ()), numbers, fold=fold) for place in places)
    note = f' <span class="note">{pointed} of {len(places)} pointed at</span>' if name == "Steps" else ""
    return f'<section class="sec"><h2>{name}{note}</h2>{blocks}</section>'


def _place(
    place: PacketPlace, marks: Sequence[tuple[str, Quote]], numbers: Iterator[int], *, fold: bool = False
) -> str:
    """Open where somebody points at it, where it is short, or where it is the task or an error; else folded.

    With `fold`, only what somebody points at is open.
    """
    kind = kind_of(place.place)
    lines = _lines(place)
    is_short = kind in ("task", "error", "judge") or (len(lines) <= SHORT and kind in ("output", "log"))
    is_open = bool(marks) or (is_short and not fold)
    core = " data-core" if is_core(place) else ""
    rows = [
        _line(place, f'data-kind="{kind}"{core}', at, text, marks, next(numbers)) for at, text in enumerate(lines, 1)
    ]
    count = "1 line" if len(lines) == 1 else f"{len(lines)} lines"
    return (
        f'<details class="lines" data-place="{page_text(place.place)}"{" open" * is_open}>'
        f'<summary><b>{page_text(_title(place.place))}</b> <span class="note">{count}</span></summary>'
        f"{_folded(rows, _near(len(lines), marks))}</details>"
    )


def _title(place: str) -> str:
    return place.replace("steps/", "step ", 1) if place.startswith("steps/") else place


def _lines(place: PacketPlace) -> list[str]:
    text = for_others(place.text)
    return text.split("\n")[: -1 if text.endswith("\n") else None] or [""]


def _near(count: int, marks: Sequence[tuple[str, Quote]]) -> list[bool]:
    """Which lines are shown at once; all of them in a place that is not long."""
    if count <= LONG:
        return [True] * count
    shown = [at < AROUND or at >= count - AROUND for at in range(count)]
    for _, quote in marks:
        first, last = quote.lines or (1, 1)
        for at in range(max(first - 1 - AROUND, 0), min(last + AROUND, count)):
            shown[at] = True
    return shown


def _folded(rows: Sequence[str], shown: Sequence[bool]) -> str:
    parts, at = [], 0
    while at < len(rows):
        end = at
        while end < len(rows) and shown[end] == shown[at]:
            end += 1
        block = f"<ol>{''.join(rows[at:end])}</ol>"
        parts.append(block if shown[at] else f"<details><summary>lines {at + 1}–{end}</summary>{block}</details>")
        at = end
    return "".join(parts)


def _line(place: PacketPlace, kind: str, at: int, text: str, marks: Sequence[tuple[str, Quote]], number: int) -> str:
    quoted = [(mark, quote) for mark, quote in marks if quote.lines and quote.lines[0] <= at <= quote.lines[1]]
    marked = ' data-marked=""' if quoted else ""
    pick = (
        f'<input type="checkbox" form="verdict" name="line" value="{at}:{page_text(place.place)}"'
        f' aria-label="Quote line {at} of {page_text(_title(place.place))}">'
        if text.strip()
        else ""
    )
    return (
        f'<li class="ln" id="L{number}" data-place="{page_text(place.place)}" data-line="{at}" {kind}'
        f'{marked}><span class="pick">{pick}</span><span class="no">{at}</span>'
        f'<code dir="auto">{_marked(text, quoted)}</code></li>'
    )


def _marked(text: str, quoted: Sequence[tuple[str, Quote]]) -> str:
    """The first quote that is in the line; of a longer quote the whole line."""
    for mark, quote in quoted:
        part = quote.quote if quote.quote in text else text.strip()
        start = text.find(part)
        if part and start >= 0:
            hidden = f'<span class="hidden">evidence {mark}: </span>'
            inside = f"<mark>{hidden}{_verbatim(part)}</mark>"
            return f"{_verbatim(text[:start])}{inside}{_verbatim(text[start + len(part) :])}"
    return _verbatim(text)


def _verbatim(text: str) -> str:
    """With its white space; cleaned and redacted with the packet."""
    return escape(for_others(text))


def _left_out(packet: Packet) -> str:
    if not packet.left_out:
        return ""
    items = "".join(f"<li>{page_text(one.what)}: {page_text(one.why)}</li>" for one in packet.left_out)
    return f'<section class="sec"><h2>Left out</h2><ul class="left-out">{items}</ul></section>'
