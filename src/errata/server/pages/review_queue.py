"""The queue of the review page: progress, filters, and what is to do, grouped."""

from collections.abc import Sequence
from html import escape

from errata.render.blocks_html import page_text
from errata.render.charts import chip
from errata.render.palette import OWNERS
from errata.server.api.review import QueueQuery
from errata.server.pages.addresses import review_page
from errata.verbs.worklist import ReviewProgress, WorkItem, Worklist

HEADINGS = {
    "disputed": "Disagreements",
    "unsure": "Triage is unsure",
    "many": "Repeated failures",
    "other": "Others",
    "done": "Done",
}
SHOWN = 300
"""Items that are listed; the others follow when these are done."""
STATES = {"open": "to do", "done": "done", "disputed": "disagreeing", "all": "all"}


def queue_column(queue: Worklist, query: QueueQuery, current: str) -> str:
    return (
        f'<aside class="queue" aria-label="Queue">{progress_bar(queue.progress)}{_filters(query)}'
        f"{_groups(queue.items[:SHOWN], query, current)}{_more(queue, query)}</aside>"
    )


def progress_bar(progress: ReviewProgress) -> str:
    whole = max(progress.failures, 1)
    agreed = max(progress.done - progress.disputed, 0)
    words = f"{progress.done} of {progress.failures} done, {progress.disputed} disagree, {progress.open} to do"
    first, second = 100 * agreed / whole, 100 * progress.disputed / whole
    bars = (
        f'<rect class="done" width="{first:.1f}%" height="6"/>'
        f'<rect class="disputed" x="{first:.1f}%" width="{second:.1f}%" height="6"/>'
    )
    return (
        f'<div class="prog"><p><b>{progress.done} of {progress.failures}</b>'
        f'<span class="note">{progress.open} to go{_minutes(progress)}</span></p>'
        f'<svg role="img" aria-label="{words}" width="100%" height="6">{bars}</svg></div>'
    )


def _minutes(progress: ReviewProgress) -> str:
    if progress.seconds_each is None or not progress.open:
        return ""
    minutes = round(progress.open * progress.seconds_each / 60)
    return f", about {minutes} min" if minutes else ", under a minute"


def _filters(query: QueueQuery) -> str:
    def options(chosen: str, named: dict[str, str]) -> str:
        return "".join(
            f'<option value="{page_text(value)}"{" selected" * (value == chosen)}>{page_text(name)}</option>'
            for value, name in named.items()
        )

    owners = {"": "any owner"} | {owner: owner for owner in OWNERS}
    views = {"settle": "with readings", "blind": "blind"}
    is_open = " open" if any(name != "view" for name in query.chosen) else ""
    return (
        f'<details class="filters"{is_open}><summary>Filter <kbd>f</kbd></summary><form action="/review" method="get">'
        f'<label>Run <input name="run" value="{page_text(query.run)}" placeholder="all"></label>'
        f'<label>Owner <select name="owner">{options(query.owner, owners)}</select></label>'
        f'<label>Bucket <input name="bucket" value="{page_text(query.bucket)}" placeholder="any"></label>'
        f'<label>State <select name="state">{options(query.state, STATES)}</select></label>'
        f'<label>View <select name="view">{options(query.view, views)}</select></label>'
        "<button>Show</button></form></details>"
    )


def _groups(items: Sequence[WorkItem], query: QueueQuery, current: str) -> str:
    by_group: dict[str, list[WorkItem]] = {}
    for item in items:
        group = "other" if query.is_blind and item.group != "done" else item.group
        by_group.setdefault(group, []).append(item)
    return "".join(
        f'<h2 class="group">{HEADINGS[group]} <span>{len(members)}</span></h2><ul class="items">'
        + "".join(_row(item, query, current) for item in members)
        + "</ul>"
        for group, members in by_group.items()
    )


def _row(item: WorkItem, query: QueueQuery, current: str) -> str:
    here = ' aria-current="true"' if item.attempt == current else ""
    target = escape(review_page(item.attempt, **query.chosen))
    name = item.case.rpartition("/")[2] or item.case
    return (
        f'<li><a href="{target}" title="{page_text(item.case)}"'
        f' data-held="{page_text(", ".join(item.in_hand))}"{here}>'
        f'<span class="cut">{page_text(name)}</span><span class="own">{_marks(item, query)}</span></a></li>'
    )


def _marks(item: WorkItem, query: QueueQuery) -> str:
    held = f'<span class="held">{page_text(item.in_hand[0])} is reading</span>' if item.in_hand else ""
    if query.is_blind:
        return held
    many = f'<span class="note">× {item.stands_for}</span>' if item.group == "many" else ""
    weak = (
        f'<span class="note">{page_text(item.confidence)}</span>' if item.group == "unsure" and item.confidence else ""
    )
    done = '<span class="note" title="reviewed">✓</span>' if item.group == "done" else ""
    return held + many + weak + done + "".join(chip(owner, page_text) for owner in item.owners)


def _more(queue: Worklist, query: QueueQuery) -> str:
    notes = []
    if len(queue.items) > SHOWN:
        notes.append(f"{len(queue.items) - SHOWN} more follow.")
    if queue.more_runs:
        notes.append(f"{queue.more_runs} further runs are not listed; filter by run to reach them.")
    if queue.waiting:
        has = "large run follows when its" if queue.waiting == 1 else "large runs follow when their"
        notes.append(f"{queue.waiting} {has} owners are worked out.")
    if not queue.items:
        notes.append("Nothing matches. Change the filter." if query.chosen else "Nothing is waiting.")
    return "".join(f'<p class="note more">{note}</p>' for note in notes)
