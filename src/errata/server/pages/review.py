"""`/review`: whose fault is this one?"""

from collections.abc import Sequence
from html import escape
from urllib.parse import parse_qs

import msgspec

from errata.errors import SettingsError
from errata.render.blocks_html import page_text
from errata.render.charts import chip
from errata.render.palette import OWNERS
from errata.server.api.review import QueueQuery, item_for, queue_for, reviewer_of, save
from errata.server.exchange import Answer, Endpoint, Exchange, Page, Redirect
from errata.server.pages.addresses import review_page
from errata.server.pages.review_form import FormState, verdict_form
from errata.server.pages.review_keys import foot_keys, keys_dialog
from errata.server.pages.review_packet import packet_column
from errata.text.outgoing import name_without_secrets
from errata.text.shell import shell_word
from errata.verbs import review_drafts
from errata.verbs.review_drafts import (
    DraftQuote,
    DraftRequest,
    OtherVerdicts,
    UnfinishedDraft,
    VerdictDraft,
)
from errata.verbs.review_worklist import ReviewItem, ReviewProgress, WorkItem, Worklist, agreement_with_others, lines_of
from errata.verbs.shown_ids import original_ids, shown_id

PREFETCH = "x-errata-prefetch"
"""Sent by `desk.js` with what it only loads ahead: nobody reads it yet, so it is not claimed."""
NEITHER = frozenset(("saved", "verdict", "part"))
"""Parts of an address that are not about the queue: what was saved last, and `part=queue` for the queue alone."""


def first_failure(exchange: Exchange) -> Answer:
    """The first failure that nobody else is reading."""
    query = _query(exchange)
    queue = queue_for(query, exchange)
    if (first := next_item(queue.items, "")) is not None:
        return Redirect(review_page(first, **query.chosen, **_saved(exchange)))
    return Page(
        title="Review",
        section="review",
        body=f'<div class="desk empty">{queue_column(queue, query, "")}{_nothing(queue, query, exchange)}</div>'
        + _foot(exchange),
        command=f"errata review status {shell_word(query.run or 'latest')}",
        scripts=("desk.js",),
    )


def next_item(items: Sequence[WorkItem], after: str) -> str | None:
    """The one after this one that nobody else has in hand; else the first such one."""
    ids = [one.attempt for one in items]
    at = ids.index(after) + 1 if after in ids else 0
    ordered = [*items[at:], *items[: max(at - 1, 0)]]
    free = [one.attempt for one in ordered if not one.in_hand]
    return next(iter(free or [one.attempt for one in ordered]), None)


def _nothing(queue: Worklist, query: QueueQuery, exchange: Exchange) -> str:
    progress = queue.progress
    if query.chosen and not queue.items and not (progress.failures and query.state == "open"):
        head, text = "Nothing matches", "Change the filter, or remove it."
        return f'<section class="packet"><h1>{head}</h1><p>{text} <a href="/review">Show everything</a></p></section>'
    text = f"{progress.done} of {progress.failures} reviewed, {progress.changed} changed the owner."
    if not progress.failures:
        text = "No run in this store has failures."
    for pair in agreement_with_others(query.run, exchange.store, reviewer_of(exchange)):
        text += f" Kappa with {page_text(pair.reviewer)}: {pair.kappa:.2f}, over {pair.both} failures."
    return (
        f'<section class="packet"><h1>Queue empty</h1><p>{text}</p>'
        '<p><a href="/buckets">Buckets</a> · <a href="/">Runs</a> · '
        '<a href="/review?state=all">All failures</a></p></section>'
    )


def one_failure(exchange: Exchange) -> Page:
    query = _query(exchange)
    if exchange.query.get("part") == "queue":
        return Page(title="Queue", body=queue_column(queue_for(query, exchange), query, exchange.values["attempt"]))
    item = item_for(exchange, blind=query.is_blind)
    if PREFETCH not in exchange.headers:
        attempt = exchange.values["attempt"]
        review_drafts.claim(attempt, exchange.store, reviewer_of(exchange), now=exchange.now)
    return _page(exchange, query, item, FormState(draft=_first_draft(item)))


def _first_draft(item: ReviewItem) -> VerdictDraft:
    """The reader's own verdict; else only the suggested cause."""
    own = next((one for one in item.readings if one.is_own), None)
    if own is None:
        return VerdictDraft(cause=item.cause)
    quotes = tuple(DraftQuote(quote=one.quote, place=one.place, lines=one.lines) for one in own.evidence)
    return VerdictDraft(
        owner=own.owner,
        label=own.label,
        cause=own.cause,
        evidence=quotes,
        decisive_step=own.decisive_step,
        note=own.note,
        confidence=own.confidence,
    )


def _page(exchange: Exchange, query: QueueQuery, item: ReviewItem, state: FormState, *, status: int = 200) -> Page:
    queue = queue_for(query, exchange)
    attempt = item.packet.attempt_id
    ids = [one.attempt for one in queue.items]
    position = f"{ids.index(attempt) + 1} of {len(ids)}" if attempt in ids else "not in the queue"
    return Page(
        title=f"Review {item.case}",
        section="review",
        body=f'<div class="desk">{queue_column(queue, query, attempt)}{packet_column(item, position)}'
        f"{verdict_form(item, query, state, position)}</div>{_foot(exchange)}",
        command=f"errata review next {shell_word(attempt)} --person",
        scripts=("desk.js",),
        status=status,
    )


def _foot(exchange: Exchange) -> str:
    """Keys, and what was saved last; `desk.js` replaces the latter."""
    saved, verdict = exchange.query.get("saved", ""), exchange.query.get("verdict", "")
    undo = ""
    if saved and verdict:
        undo = (
            f'<form method="post" action="{page_text(review_page(saved))}">Saved.'
            f' <input type="hidden" name="verdict" value="{page_text(verdict)}">'
            '<button class="link" name="do" value="undo">Undo</button></form>'
        )
    return (
        f'<div class="foot"><div class="keys" aria-hidden="true">{foot_keys()}</div>'
        f'<div class="saved" id="saved" role="status">{undo}</div>'
        '<div class="unsaved" id="unsaved" role="alert"></div>'
        f'<span class="note">as {page_text(exchange.caller.name)}</span></div>{keys_dialog()}'
    )


def _query(exchange: Exchange) -> QueueQuery:
    given = {name: value for name, value in exchange.query.items() if name not in NEITHER and value}
    try:
        return msgspec.convert(given, QueueQuery, strict=False)
    except msgspec.ValidationError as error:
        raise SettingsError(f"The query is wrong: {error}") from None


def _saved(exchange: Exchange) -> dict[str, str]:
    return {name: exchange.query[name] for name in ("saved", "verdict") if name in exchange.query}


# --- without script


def sent_form(exchange: Exchange) -> Answer:
    query = _query(exchange)
    form = parse_qs(exchange.body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=5_000)
    wanted = _value(form, "do") or "save"
    attempt = exchange.values["attempt"]
    if wanted == "undo":
        reviewer = reviewer_of(exchange)
        review_drafts.undo_verdict(_value(form, "verdict"), attempt, exchange.store, reviewer, now=exchange.now)
        return Redirect(review_page(attempt, **query.chosen))
    if wanted in ("later", "discard"):
        return _go_on(exchange, query, attempt)
    return _saving(exchange, query, form, wanted)


def _saving(exchange: Exchange, query: QueueQuery, form: dict[str, list[str]], wanted: str) -> Answer:
    item = item_for(exchange, blind=query.is_blind)
    draft = _draft(form, item)
    seen, attempt = tuple(_value(form, "seen").split()), item.packet.attempt_id
    request = DraftRequest(draft=draft, seen=seen, request=_value(form, "request"), blind=query.is_blind)
    reviewer, state = reviewer_of(exchange), FormState(draft=draft, seen=seen)
    if wanted in ("alike-key", "alike-bucket"):
        by = wanted.removeprefix("alike-")
        listed = review_drafts.alike_failures(attempt, by, draft, exchange.store, reviewer, now=exchange.now)
        return _page(exchange, query, item, msgspec.structs.replace(state, alike=listed))
    queue = queue_for(query, exchange)
    result = save(exchange, request)
    if isinstance(result, UnfinishedDraft):
        return _page(exchange, query, item, msgspec.structs.replace(state, problems=result.problems), status=422)
    if isinstance(result, OtherVerdicts):
        state = msgspec.structs.replace(state, others=result.readings, seen=result.seen)
        return _page(exchange, query, item, state, status=409)
    if wanted == "alike-save":
        alike = original_ids(form.get("attempt", []), exchange.store)
        review_drafts.save_alike(alike, request, exchange.store, reviewer, now=exchange.now)
        queue = queue_for(query, exchange)
    saved = {"saved": shown_id(attempt), "verdict": result.kept.verdict.id}
    return Redirect(review_page(next_item(queue.items, attempt) or "", **query.chosen, **saved))


def _go_on(exchange: Exchange, query: QueueQuery, attempt: str) -> Redirect:
    review_drafts.release_claim(attempt, exchange.store, reviewer_of(exchange))
    return Redirect(review_page(next_item(queue_for(query, exchange).items, attempt) or "", **query.chosen))


def _value(form: dict[str, list[str]], name: str) -> str:
    return form.get(name, [""])[-1]


def _draft(form: dict[str, list[str]], item: ReviewItem) -> VerdictDraft:
    step = _value(form, "decisive_step").strip()
    typed = tuple(DraftQuote(quote=one.strip()) for one in _value(form, "quotes").splitlines() if one.strip())
    return VerdictDraft(
        owner=_value(form, "owner"),
        label=_value(form, "label"),
        cause=_value(form, "cause").strip(),
        evidence=(*_ticked(form.get("line", []), item), *typed),
        decisive_step=int(step) if step.isdecimal() and len(step) < 10 else None,
        note=_value(form, "note").strip(),
        recommendation_group=_value(form, "recommendation_group"),
        recommendation=_value(form, "recommendation").strip(),
        confidence=_value(form, "confidence") or "likely",
    )


def _ticked(given: Sequence[str], item: ReviewItem) -> tuple[DraftQuote, ...]:
    """Lines of the packet by number and place, as `3:run.log`."""
    texts = {place.place: lines_of(place) for place in item.packet.places}
    quotes = []
    for each in given:
        number, _, place = each.partition(":")
        lines = texts.get(place, [])
        if number.isdecimal() and 0 < int(number) <= len(lines):
            at = int(number)
            quotes.append(DraftQuote(quote=lines[at - 1].strip(), place=place, lines=(at, at)))
    return tuple(quotes)


ENDPOINTS = (
    Endpoint(path="/review", handler=first_failure, summary="The first failure to review."),
    Endpoint(path="/review/{attempt:name}", handler=one_failure, summary="One failure to review, with the form."),
    Endpoint(
        path="/review/{attempt:name}",
        handler=sent_form,
        method="POST",
        scope="review",
        summary="What the form of a failure sends without script.",
    ),
)


# --- the queue of the review page: progress, filters, and what is to do, grouped


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
    name = name_without_secrets(item.case).rpartition("/")[2] or item.case
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
