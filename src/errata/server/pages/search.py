"""`/search`: one field over runs, cases, quotes, verdicts and buckets."""

from errata.model.listing import SearchHit
from errata.model.record import Struct
from errata.render.blocks_html import page_text
from errata.render.charts import chip
from errata.render.figures import plural
from errata.render.markdown import with_edges
from errata.server.exchange import Endpoint, Exchange, Page
from errata.server.pages.addresses import attempt_address, bucket_page, run_page
from errata.verbs.pages import count_indexed, search
from errata.verbs.store import all_runs

_KINDS = {"run": "Runs", "case": "Cases", "quote": "Quotes", "verdict": "Verdicts", "bucket": "Buckets"}


class SearchQuery(Struct):
    """Words, and `owner:`, `model:`, `case:`, `signal:`, `suite:`, `is:disagreed` before a word."""

    q: str = ""


def results(exchange: Exchange) -> Page:
    query = exchange.arguments(SearchQuery)
    hits = search(query.q, exchange.store) if query.q.strip() else []
    field = (
        '<form class="filter" action="/search" role="search"><input type="search" name="q"'
        f' value="{page_text(query.q)}"'
        ' aria-label="Search" placeholder="uvx: command not found owner:environment" autocomplete="off"></form>'
    )
    return Page(
        title=f"{query.q} · Search" if query.q else "Search",
        body=f"<h1>Search</h1>{field}{_waiting(exchange)}{_results(hits, query.q)}",
        scripts=("list.js",),
    )


def _waiting(exchange: Exchange) -> str:
    runs, indexed = len(all_runs(exchange.store)), count_indexed(exchange.store)
    if indexed >= runs:
        return ""
    words = f"{indexed:,} of {plural(runs, 'run')} can be searched so far; the others are being indexed."
    return f'<p class="late">{words}</p>'


def _results(hits: list[SearchHit], text: str) -> str:
    if not text.strip():
        return (
            "<p>Search errors, answers, reasons, names of cases and runs. <code>owner:grader</code>,"
            " <code>model:</code>, <code>case:</code>, <code>signal:</code> and <code>is:disagreed</code> narrow it."
            "</p>"
        )
    if not hits:
        return f"<p>Nothing matches <code>{page_text(text)}</code>.</p>"
    parts = []
    for kind, title in _KINDS.items():
        own = [hit for hit in hits if hit.kind == kind]
        if own:
            listed = "".join(map(_hit, own))
            parts.append(
                f'<section class="card"><h2>{title} <span class="note">{len(own)}</span></h2>'
                f'<ul class="hits">{listed}</ul></section>'
            )
    return "".join(parts)


def _hit(hit: SearchHit) -> str:
    letter = f"{chip(hit.owner, page_text)} " if hit.owner else ""
    model = f' <span class="note">{page_text(hit.model)}</span>' if hit.kind not in ("run", "bucket") else ""
    quote = ""
    if hit.hit:
        before, after = (with_edges(page_text(text), text) for text in (hit.before, hit.after))
        quote = f"<code>{before}<mark>{page_text(hit.hit)}</mark>{after}</code>"
    elif hit.after:
        quote = f'<span class="note">{page_text(hit.after)}</span>'
    place = f' <span class="note">{page_text(hit.where)}</span>' if hit.where else ""
    title = f'{letter}<span class="title">{page_text(hit.title)}</span>{model}{place}'
    return f'<li><a href="{page_text(address_of(hit))}">{title}</a>{quote}</li>'


def address_of(hit: SearchHit) -> str:
    """The page of a hit, at its line."""
    if hit.kind == "bucket":
        return bucket_page(hit.bucket)
    if hit.kind == "run" or not hit.attempt:
        return run_page(hit.run)
    return attempt_address(hit.attempt, hit.anchor)


ENDPOINTS = (Endpoint(path="/search", handler=results, query=SearchQuery, summary="Search everything."),)
