"""`/runs/{run}`: can I believe this score, and if not, whose fault is it?"""

from collections.abc import Mapping
from shlex import quote as shell_quoted
from typing import Any

from errata.errors import SettingsError
from errata.model import Run, StoredRun
from errata.model.listing import Facets, Grouping, RunDigest
from errata.model.run import case_name, subject_label
from errata.model.times import spelled_span, to_text
from errata.render.blocks_html import page_text
from errata.render.figures import NONE, decimal, plural
from errata.render.palette import OWNERS
from errata.server.exchange import Answer, Bytes, Endpoint, Exchange, Page, Redirect
from errata.server.layout import FAILURE_KEYS, LIST_SCRIPTS, card, data_words, link, table
from errata.server.pages.addresses import (
    attempt_address,
    compare_page,
    move_address,
    passes_page,
    review_page,
    run_page,
)
from errata.server.pages.run_cards import banner, cards
from errata.server.pages.run_query import GROUPINGS, ORDERS, REVIEWS, RunQuery, read_cursor
from errata.server.pages.run_rows import failure_table, row_groups, short_number, unscored_cases
from errata.server.problems import waiting_notice
from errata.text.clean import one_line
from errata.verbs.buckets import author_named, bucket_named, move_failures
from errata.verbs.pages import FailurePage, known_digest, known_run, list_page, valued_cases
from errata.verbs.shown_ids import original_ids, shown_id
from errata.verbs.store import Store

VALUES = 100
"""Cases with a number on one page."""
SHOWN = 8
"""Values of a facet before the others are folded."""
_PAST = {"new": "new", "repeated": "failed before", "flaky": "flaky"}


def run(exchange: Exchange) -> Answer:
    stored = known_run(exchange.values["run"], exchange.store)
    query = exchange.arguments(RunQuery)
    if exchange.values["run"] != stored.run.id:
        return Redirect(run_page(stored.run.id, **exchange.query), 302)
    listed, grouping = failures_of(stored, exchange.store, query)
    digest, is_current = known_digest(stored, exchange.store)
    if not listed.is_complete:
        digest, is_current = None, False
    shown_run, failures = stored.run, stored.counts.failures
    has_numbers = stored.counts.mean is not None
    is_unjudged = has_numbers or stored.counts.has_only_labels
    is_waiting = digest is None or not (is_current and listed.is_current)
    if is_waiting and exchange.large_runs is not None:
        exchange.large_runs.derive_soon(shown_run.id)
    body = (
        _head(stored, digest)
        + (_waiting(exchange, stored, listed, digest) if is_waiting else "")
        + _summary(digest, stored, query)
        + (_failures(stored, listed, query, grouping, digest) if failures or not is_unjudged else "")
        + (_values(stored, exchange.store, query) if has_numbers else "")
    )
    title = (
        f"{subject_label(shown_run) or shown_run.native_id} on {shown_run.suite}"
        if shown_run.suite
        else subject_label(shown_run)
    )
    command = f"errata analyze {shell_quoted(shown_run.id)}" if not query.chosen else _command(shown_run, query)
    return Page(
        title=title or shown_run.native_id,
        section="runs",
        body=body,
        command=command,
        keys=FAILURE_KEYS if failures or not is_unjudged else (("C", "Compare"),),
        scripts=(*LIST_SCRIPTS, *(["waiting.js"] if is_waiting else [])),
    )


def rows(exchange: Exchange) -> Bytes:
    """The rows of one page without the frame."""
    stored = known_run(exchange.values["run"], exchange.store)
    query = exchange.arguments(RunQuery)
    listed, grouping = failures_of(stored, exchange.store, query, with_facets=False)
    content = f"<table>{row_groups(listed, stored.run, query, grouping)}</table>"
    return Bytes(content=content.encode("utf-8"), media_type="text/html; charset=utf-8")


def failures_of(
    stored: StoredRun, store: Store, query: RunQuery, *, with_facets: bool = True
) -> tuple[FailurePage, Grouping]:
    """A run whose failures are in no bucket yet is grouped by owner, unless its reader asks otherwise."""
    grouping: Grouping = query.group or "bucket"

    def page(by: Grouping) -> FailurePage:
        after = read_cursor(query.cursor)
        return list_page(
            stored, store, query.filters, grouping=by, order=query.sort, after=after, with_facets=with_facets
        )

    listed = page(grouping)
    if not listed.is_complete:
        return listed, "none"
    if query.group is None and len(listed.groups) == 1 and not listed.groups[0].group.name:
        return page("owner"), "owner"
    return listed, grouping


def _command(run: Run, query: RunQuery) -> str:
    """What `errata failures` can filter by."""
    options = []
    if len(query.owners) == 1:
        options.append(f"--owner {query.owners[0]}")
    for name, value in (("check", query.check), ("category", query.category)):
        if value and value != "-":
            options.append(f"--{name} {shell_quoted(value)}")
    return " ".join(["errata failures", shell_quoted(run.id), *options])


# the head


def _head(stored: StoredRun, digest: RunDigest | None) -> str:
    run = stored.run
    agent = " ".join(filter(None, (run.subject.agent, run.subject.agent_version)))
    name = page_text(subject_label(run) or run.native_id)
    with_agent = f' <span class="with">with {page_text(agent)}</span>' if agent and agent not in name else ""
    open_reviews = f" {digest.open_reviews:,}" if digest is not None else ""
    actions = [
        f'<a class="button first" data-key="R" href="{page_text(review_page(run=run.id))}">Review'
        f"{open_reviews}<kbd>R</kbd></a>"
        if stored.counts.failures and open_reviews != " 0"
        else "",
        f'<a class="button" data-key="C" href="{page_text(compare_page(run.id))}">Compare<kbd>C</kbd></a>',
        f'<a class="button" data-key="p" href="{passes_page(run.id)}">Passes {passed:,}<kbd>p</kbd></a>'
        if (passed := stored.counts.outcomes.get("pass", 0))
        else "",
        _copied("Report", f"errata report {shell_quoted(run.id)} --html"),
        _copied(f"Rerun {digest.to_repeat:,}", f"errata rerun {shell_quoted(run.id)}")
        if digest is not None and digest.to_repeat
        else "",
    ]
    return (
        f'<nav class="crumbs" aria-label="You are here">{link("/", "Runs")} / {page_text(run.suite or "no suite")}'
        "</nav>"
        f'<div class="head" data-shown-run="{run.id}"><div><h1>{name}{with_agent}</h1>'
        f'<p class="facts">{_facts(stored, digest)}</p></div>'
        f'<div class="actions">{"".join(actions)}</div></div>'
    )


def _copied(label: str, command: str) -> str:
    return (
        f'<details class="action"><summary class="button">{label}</summary>'
        f'<div class="sheet"><code>{page_text(command)}</code>'
        '<button type="button" data-does="copy-beside" hidden>Copy</button></div></details>'
    )


def _facts(stored: StoredRun, digest: RunDigest | None) -> str:
    run, counts = stored.run, stored.counts
    spent = digest if digest is not None else RunDigest(fit=True, health="")
    tokens = (
        f"<b>{short_number(spent.tokens_in)}</b> tokens in, <b>{short_number(spent.tokens_out)}</b> out"
        if spent.tokens_in is not None
        else f"<b>{short_number(counts.tokens)}</b> tokens"
        if counts.tokens
        else ""
    )
    failed = (
        f", <b>{counts.failures:,}</b> failed"
        if counts.failures or not (counts.mean is not None or counts.labels)
        else ""
    )
    facts = (
        f"<code>{run.id[:8]}</code>",
        page_text(run.source.name),
        page_text(f"suite {run.suite_version}") if run.suite_version else "",
        page_text(spelled_span(run.started_at, run.finished_at)),
        f"<b>{counts.attempts_in_log:,}</b> attempts{failed}",
        tokens,
        page_text(spent.cost) if counts.cost is not None else "cost not reported",
        "" if digest is None or digest.past.runs else "first run of this model and suite",
        page_text(f"excluded: {run.excluded.reason}") if run.excluded is not None else "",
    )
    return "".join(f"<span>{fact}</span>" for fact in facts if fact)


def _waiting(exchange: Exchange, stored: StoredRun, listed: FailurePage, digest: RunDigest | None) -> str:
    """What is not there yet, or older than the newest verdict or import, and how far the server is with it."""
    large_runs = exchange.large_runs
    progress = str((large_runs.progress_of(stored.run.id) if large_runs else None) or "")
    if not listed.is_complete:
        first = f"the first {plural(len(listed.listed), 'failure')} of {stored.counts.failures:,}"
        words = f"Below are {first}. " if listed.listed else "Filters work as soon as the owners are known. "
        words += "Owners, score and counts follow."
    elif digest is None:
        words = "The score follows."
    else:
        words = "Score, owners and counts are older than the newest verdict or import."
    notice = waiting_notice(stored.run.id, progress)
    return f'<section class="card busy" aria-busy="true">{notice}<p>{words}</p></section>'


def _summary(digest: RunDigest | None, stored: StoredRun, query: RunQuery) -> str:
    if digest is None:
        return ""
    if digest.health == "unavailable":
        return (
            f'<section class="card"><h2>The model was not available</h2><p><code>{page_text(digest.unavailable)}</code>'
            "</p><p>There is no model failure to explain.</p></section>"
        )
    return banner(digest, stored.run, query) + cards(digest, stored, query)


# the list


def _failures(
    stored: StoredRun, listed: FailurePage, query: RunQuery, grouping: Grouping, digest: RunDigest | None
) -> str:
    if not stored.counts.failures:
        return _nothing_failed(stored, digest)
    table = failure_table(listed, stored.run, query, grouping) if listed.facets.total else _empty(stored.run, query)
    if not listed.is_complete:
        return f'<section class="card list" aria-label="Failures">{table if listed.listed else ""}</section>'
    under = unscored_cases(digest.pending, digest.missing) if digest is not None else ""
    return (
        f'<div class="fail-list">{_facets(listed.facets, stored.run, query)}<section class="card list"'
        f' aria-label="Failures">{_bar(stored, listed, query, grouping)}{table}</section></div>{under}'
        + _move_dialog(stored.run)
    )


def _values(stored: StoredRun, store: Store, query: RunQuery) -> str:
    total, listed = valued_cases(stored, store, first=query.first, limit=VALUES)
    run = stored.run
    names = [case_name(run, valued.attempts[0].case) for valued in listed]
    columns = {
        "Case": [link(attempt_address(valued.attempts[0].id), name) for valued, name in zip(listed, names, strict=True)]
    }
    if any(valued.categories for valued in listed):
        columns["Category"] = [page_text(", ".join(valued.categories) or NONE) for valued in listed]
    columns["Value#"] = [f"<b>{decimal(valued.value)}</b>" for valued in listed]
    if any(len(valued.attempts) > 1 for valued in listed):
        columns["Attempts"] = [
            " ".join(link(attempt_address(tried.id), decimal(tried.value)) for tried in valued.attempts[:20])
            for valued in listed
        ]
    if any(valued.tokens for valued in listed):
        columns["Tokens#"] = [short_number(valued.tokens) for valued in listed]
    left = total - query.first - len(listed)
    more = f'<p class="more">{link(query.address(run.id, first=str(query.first + VALUES)), f"{left:,} more")}</p>'
    shown = table(columns, zip(*columns.values(), strict=True), label="cases by value", kind="rows")
    order = "highest" if run.lower_is_better else "lowest"
    return card("Cases", shown + (more if left > 0 else ""), note=f"{plural(total, 'case')}, {order} first")


def _move_dialog(run: Run) -> str:
    """`list.js` fills it with what is selected, and opens it."""
    return (
        f'<dialog id="move" aria-labelledby="move-title"><form method="post" action="{move_address(run.id)}">'
        '<h2 id="move-title">Move to a cause</h2><p class="note" id="move-count"></p>'
        '<p><label>Cause <input name="to" list="causes" required autocomplete="off" size="48"></label></p>'
        '<datalist id="causes"></datalist><p><button>Move</button>'
        '<button type="button" data-does="close">Cancel</button></p></form></dialog>'
    )


def move(exchange: Exchange) -> Redirect:
    """Failures of the run into another bucket; the history of buckets can undo it."""
    stored = known_run(exchange.values["run"], exchange.store)
    chosen = original_ids(exchange.form_values("attempt"), exchange.store)
    to = exchange.form().get("to", "").strip()
    if not chosen or not to:
        raise SettingsError("No failure or no cause is chosen", hint="select failures with `x`, then name a cause")
    if not all(attempt.startswith(f"{stored.run.id}:") for attempt in chosen):
        raise SettingsError("A failure of another run is among them", hint="move the failures of one run at a time")
    author = author_named(exchange.caller.name, to_text(exchange.now))
    move_failures(chosen, bucket_named(to, exchange.store), exchange.store, author)
    return Redirect(run_page(stored.run.id, at=shown_id(chosen[0])))


def _nothing_failed(stored: StoredRun, digest: RunDigest | None) -> str:
    words = digest.without_failures if digest is not None else "No failures"
    odd = (
        f"<p>{plural(digest.suspicious, 'pass', 'passes')} deserve a second look: "
        f"<code>errata failures {page_text(stored.run.id)} --suspicious</code></p>"
        if digest is not None and digest.suspicious
        else ""
    )
    return f'<section class="card"><p><b>{page_text(words)}.</b></p>{odd}</section>'


def _empty(run: Run, query: RunQuery) -> str:
    chips = "".join(
        f'<a class="chip" href="{page_text(query.address(run.id, **{name: ""}))}">{name}: {page_text(value)} ✕</a>'
        for name, value in query.chosen.items()
    )
    return f'<div class="empty"><p>Nothing matches these filters. Remove one:</p><p>{chips}</p></div>'


def _bar(stored: StoredRun, listed: FailurePage, query: RunQuery, grouping: Grouping) -> str:
    run = stored.run
    hidden = "".join(
        f'<input type="hidden" name="{name}" value="{page_text(value)}">'
        for name, value in {**query.chosen, "group": query.group or ""}.items()
        if value and name != "q"
    )
    counted = plural(listed.facets.total, "failure")
    whole = f" of {stored.counts.failures:,}" if listed.facets.total != stored.counts.failures else ""
    field = (
        f'<form class="filter" action="{run_page(run.id)}" role="search">{hidden}<input type="search" name="q"'
        f' value="{page_text(query.q)}" placeholder="Filter {counted}" aria-label="Filter failures" autocomplete="off"'
        f"{data_words(*(f'signal:{name}' for name in listed.facets.signal))}>"
        f'<span class="note" role="status">{counted}{whole}</span></form>'
    )
    groups = _choice("Group", "group", _words(GROUPINGS), grouping, run, query)
    orders = _choice("Sort", "sort", _words(ORDERS), query.sort, run, query)
    chips = "".join(
        f'<a class="chip" href="{page_text(query.address(run.id, **{name: ""}))}">'
        f"{name}: {page_text(_spelled(name, value, listed))} ✕</a>"
        for name, value in query.chosen.items()
        if name in ("bucket", "key", "past", "q")
    )
    keys = (
        '<span class="keys" hidden><span><kbd>j</kbd><kbd>k</kbd> move</span><span><kbd>↵</kbd> open</span>'
        "<span><kbd>x</kbd> select</span></span>"
    )
    return f'<div class="bar">{field}{chips}{groups}{orders}{keys}</div>'


def _spelled(name: str, value: str, listed: FailurePage) -> str:
    """A bucket by its title, where one is shown."""
    if name == "bucket" and listed.groups and listed.groups[0].bucket is not None:
        return listed.groups[0].bucket.title
    return one_line(value, 40)


def _words(choices: Mapping[Any, str]) -> dict[str, str]:
    return {str(value): word for value, word in choices.items()}


def _choice(label: str, name: str, words: Mapping[str, str], chosen: str, run: Run, query: RunQuery) -> str:
    listed = "".join(
        f"<li>{link(query.address(run.id, **{name: value}), word)}</li>"
        if value != chosen
        else f'<li><b aria-current="true">{word}</b></li>'
        for value, word in words.items()
    )
    return f'<details class="choice"><summary>{label}: {words[chosen]}</summary><ul>{listed}</ul></details>'


def _facets(facets: Facets, run: Run, query: RunQuery) -> str:
    parts = (
        _facet("First broken check", "check", facets.check, run, query, none="none"),
        _facet("Owner", "owner", facets.owner, run, query),
        _facet("Signal", "signal", facets.signal, run, query),
        _facet("Review", "review", facets.review, run, query, words=REVIEWS),
        _facet(
            "Earlier runs",
            "past",
            {shown_run: n for shown_run, n in facets.past.items() if shown_run},
            run,
            query,
            words=_PAST,
        ),
        _facet("Category", "category", facets.category, run, query, none="none"),
    )
    inner = "".join(parts)
    return f'<details class="facets card" open><summary>Filters</summary>{inner}</details>'


def _facet(
    title: str,
    name: str,
    counts: dict[str, int],
    run: Run,
    query: RunQuery,
    *,
    words: dict[str, str] | None = None,
    none: str = "",
) -> str:
    """Nothing to choose where all failures have one value, unless it is chosen."""
    chosen = query.owners if name == "owner" else (getattr(query, name),)
    if not counts or (len(counts) == 1 and "" in counts):
        return ""
    whole = sum(counts.values()) if name != "signal" else max(counts.values())
    items = [
        _value(name, value, (words or {}).get(value, value) or none, count / whole, count, run, query, chosen)
        for value, count in counts.items()
    ]
    more = (
        f"<details><summary>{len(items) - SHOWN} more</summary><ul>{''.join(items[SHOWN : SHOWN + 200])}</ul></details>"
        if len(items) > SHOWN
        else ""
    )
    return f'<div class="facet"><h3>{title}</h3><ul>{"".join(items[:SHOWN])}</ul>{more}</div>'


def _value(
    name: str, value: str, word: str, share: float, count: int, run: Run, query: RunQuery, chosen: tuple[str, ...]
) -> str:
    is_on = (value or "-") in chosen
    target = query.toggled(run.id, name, value or "-")
    shown = f"<code>{page_text(word)}</code>" if name == "signal" else page_text(word)
    if name == "owner":
        letter = OWNERS[value].letter if value in OWNERS else "U"
        shown = f'<b class="k {letter}" aria-hidden="true">{letter}</b> {shown}'
    bar = f'<svg aria-hidden="true"><rect width="{100 * min(share, 1):.1f}%" height="22" rx="3"/></svg>'
    current = ' aria-current="true"' if is_on else ""
    return f'<li>{bar}<a href="{page_text(target)}"{current}><span>{shown}</span><b>{count:,}</b></a></li>'


ENDPOINTS = (
    Endpoint(path="/runs/{run}", handler=run, query=RunQuery, summary="A run with its score, owners and failures."),
    Endpoint(
        path="/runs/{run}/move",
        handler=move,
        method="POST",
        scope="review",
        summary="Move failures of a run to a cause.",
    ),
    Endpoint(path="/runs/{run}/rows", handler=rows, query=RunQuery, summary="The next failures of the list of a run."),
)
