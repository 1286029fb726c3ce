"""`/runs/{run}/passes`: which passes are suspicious, and what passed at all?"""

from shlex import quote as shell_quoted

from errata.model.run import case_name, subject_label
from errata.render.blocks_html import page_text
from errata.render.figures import NONE, plural
from errata.server.exchange import Endpoint, Exchange, Page
from errata.server.layout import PASS_KEYS, card, link, table
from errata.server.pages.addresses import attempt_address, run_page
from errata.server.pages.run_rows import short_number
from errata.verbs.pages import RunPasses, known_run, passes_of

MOST = 200
"""Passes on the page; the others are counted."""


def passes(exchange: Exchange) -> Page:
    stored = known_run(exchange.values["run"], exchange.store)
    run = stored.run
    passed = passes_of(stored, exchange.store, limit=MOST)
    name = subject_label(run) or run.native_id
    back = f'<a class="button" data-key="p" href="{run_page(run.id)}">Failures<kbd>p</kbd></a>'
    body = (
        f'<nav class="crumbs" aria-label="You are here">{link("/", "Runs")} / {link(run_page(run.id), name)} / Passes'
        f'</nav><div class="head"><div><h1>Passes</h1><p class="facts"><span><b>{passed.total:,}</b> of'
        f" <b>{stored.counts.attempts_in_log:,}</b> attempts passed</span></p></div>"
        f'<div class="actions">{back}</div></div>{_suspicious(passed, run.id)}{_listed(passed)}'
    )
    command = f"errata failures {shell_quoted(run.id)} --suspicious"
    title = f"Passes of {name}"
    return Page(title=title, section="runs", body=body, command=command, keys=PASS_KEYS, scripts=("list.js",))


def _suspicious(passed: RunPasses, run_id: str) -> str:
    if passed.suspicious is None:
        command = f"errata failures {page_text(run_id)} --suspicious"
        return card("Suspicious", f"<p>This run is too large to look at here: <code>{command}</code></p>")
    if not passed.suspicious:
        return card("Suspicious", f"<p>No suspicious passes among {passed.total:,}.</p>")
    rows = (
        (
            link(attempt_address(odd.suspicion.attempt), odd.case_name),
            page_text(odd.means),
            f'<code class="member-quote">{page_text(odd.suspicion.signal.quote)}</code>',
        )
        for odd in passed.suspicious
    )
    shown = table(("Case", "What is odd", "Evidence"), rows, label="suspicious passes", kind="rows")
    return card("Suspicious", shown, note=plural(len(passed.suspicious), "sign"))


def _listed(passed: RunPasses) -> str:
    if not passed.listed:
        return card("All passes", "<p>No attempt passed.</p>")
    rows = (
        (
            link(attempt_address(attempt.id), case_name(passed.run, attempt.case)),
            short_number(attempt.usage.subject.tokens),
            f"{attempt.duration:,.0f} s" if attempt.duration is not None else NONE,
        )
        for attempt in passed.listed
    )
    shown = table(("Case", "Tokens#", "Time#"), rows, label="passes", kind="rows")
    left = passed.total - len(passed.listed)
    more = f'<p class="more">{left:,} more are not listed.</p>' if left > 0 else ""
    return card("All passes", shown + more)


ENDPOINTS = (Endpoint(path="/runs/{run}/passes", handler=passes, summary="Passes of a run, suspicious ones first."),)
