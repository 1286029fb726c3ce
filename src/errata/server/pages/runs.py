"""`/`: which run needs me?"""

from shlex import quote as shell_quoted

from errata.compare.matrix import own_names
from errata.model import Run, StoredRun
from errata.model.listing import RunDigest
from errata.model.record import Struct
from errata.model.run import case_name, subject_label
from errata.model.times import spelled_span
from errata.render.blocks_html import page_text
from errata.render.charts import owner_strip, point
from errata.render.document import OwnerCount, OwnerStrip, Scale, ScoreBar, scale_of
from errata.render.figures import NONE, decimal, percent, plural
from errata.server.exchange import Answer, Endpoint, Exchange, Page, Redirect
from errata.server.layout import LIST_SCRIPTS, PASS_KEYS, RUN_KEYS, card, data_words, link, table
from errata.server.pages.addresses import attempt_address, review_page, run_page
from errata.server.pages.run_rows import short_number
from errata.verbs.pages import RunPasses, known_digests, known_run, passes_of
from errata.verbs.store import all_runs

MOST = 200
"""Passes on the page; the others are counted."""


def passes(exchange: Exchange) -> Answer:
    stored = known_run(exchange.values["run"], exchange.store)
    run, counts = stored.run, stored.counts
    if counts.mean is not None and not counts.outcomes.get("pass"):
        return Redirect(run_page(run.id), 302)
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
            f'<code class="member-quote">{page_text(odd.suspicion.signal.words)}</code>',
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


PASSES = (Endpoint(path="/runs/{run}/passes", handler=passes, summary="Passes of a run, suspicious ones first."),)


NARROW = 0.15
"""Share of a short strip below which a letter has no room."""
SUGGESTED = 200
"""Models and suites that the filter suggests."""
HEALTH = ("fit", "with care", "not fit", "unavailable", "not judged", "running", "stuck")
PAGE = 200
"""Runs of a page."""
_HEADS = (
    ("Model", ""),
    ("Suite", ""),
    ("Health", ""),
    ("Score", ""),
    ("Who has to act", ""),
    ("Open reviews", "number"),
    ("Attempts", "number"),
    ("Started", ""),
)


class RunsQuery(Struct):
    """The runs in the store, chosen."""

    q: str = ""
    """Words of the model, suite, name or id; `model:`, `suite:`, `owner:` and `is:` before a word."""
    page: int = 1


def runs(exchange: Exchange) -> Page:
    query = exchange.arguments(RunsQuery)
    every = all_runs(exchange.store)
    if not every:
        return Page(title="Runs", section="runs", body=f"<h1>Runs</h1>{_EMPTY}", command="errata runs")
    digests = known_digests(exchange.store)
    chosen = [one for one in every if _fits(one, digests.get(one.run.id), query.q)]
    start = (max(query.page, 1) - 1) * PAGE
    shown = chosen[start : start + PAGE]
    body = f'<h1>Runs</h1><div class="over-list">{_filter(query, len(chosen), every)}{_IMPORT}</div>'
    body += _table(shown, digests) if shown else _nothing(query)
    if start + PAGE < len(chosen):
        left = len(chosen) - start - PAGE
        body += f"<p>{link(f'/?q={query.q}&page={query.page + 1}', f'{left:,} older runs')}</p>"
    return Page(title="Runs", section="runs", body=body, command="errata runs", keys=RUN_KEYS, scripts=LIST_SCRIPTS)


def _fits(stored: StoredRun, digest: RunDigest | None, text: str) -> bool:
    run = stored.run
    words = " ".join((run.subject.model, run.subject.agent, run.suite, run.native_id, run.name, run.id)).lower()
    for word in text.lower().split():
        name, colon, value = word.partition(":")
        if not colon or not value:
            if word not in words:
                return False
            continue
        known = {
            "model": run.subject.model,
            "suite": run.suite,
            "source": run.source.name,
            "owner": " ".join(digest.owners) if digest is not None else "",
            "is": digest.health.replace(" ", "-") if digest is not None else "",
        }
        if value not in known.get(name, "").lower():
            return False
    return True


def _filter(query: RunsQuery, matching: int, every: list[StoredRun]) -> str:
    total = len(every)
    models = {f"model:{one.run.subject.model}" for one in every} | {f"suite:{one.run.suite}" for one in every}
    words = [*sorted(models)[:SUGGESTED], *(f"is:{word.replace(' ', '-')}" for word in HEALTH)]
    counted = plural(matching, "run") if matching == total else f"{matching:,} of {plural(total, 'run')}"
    return (
        f'<form class="filter" action="/" role="search"><input type="search" name="q" value="{page_text(query.q)}"'
        f' placeholder="Filter runs" aria-label="Filter runs" autocomplete="off"{data_words(*words)}>'
        f'<span class="note" role="status">{counted}</span></form>'
    )


def _nothing(query: RunsQuery) -> str:
    words = query.q.split()
    without = " ".join(words[:-1])
    if not words:
        return "<p>There are no older runs.</p>"
    return (
        f"<p>Nothing matches <code>{page_text(query.q)}</code>.</p>"
        f'<p><a class="button" href="/?q={page_text(without)}">Remove <code>{page_text(words[-1])}</code></a></p>'
    )


def _table(shown: list[StoredRun], digests: dict[str, RunDigest]) -> str:
    heads = "".join(f'<th scope="col"{f" class={kind}" if kind else ""}>{name}</th>' for name, kind in _HEADS)
    apart = _set_apart([stored.run for stored in shown])
    rows = "".join(_row(stored, digests.get(stored.run.id), apart.get(stored.run.id, "")) for stored in shown)
    return (
        f'<div class="wide card" role="region" tabindex="0" aria-label="Runs"><table class="runs" data-list>'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _set_apart(runs: list[Run]) -> dict[str, str]:
    """Run id → its own name, else its folder, where the rest of its row is that of another run."""
    alike: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        key = subject_label(run) or run.native_id, run.subject.agent, run.suite, spelled_span(run.started_at, None)
        alike.setdefault(key, []).append(run)
    groups = [group for group in alike.values() if len(group) > 1]
    return {run.id: name for group in groups for run, name in zip(group, own_names(group), strict=True)}


def _row(stored: StoredRun, digest: RunDigest | None, apart: str) -> str:
    """`apart`: what sets the run apart from others that look the same."""
    run, counts = stored.run, stored.counts
    is_unjudged = counts.mean is not None or counts.has_only_labels
    agent = "".join(f' <span class="sub">{page_text(word)}</span>' for word in (run.subject.agent, apart) if word)
    model = page_text(subject_label(run) or run.native_id)
    name = f'<a class="open" href="{run_page(run.id)}" title="{model}">{model}</a>{agent}'
    version = f' <span class="sub">{page_text(run.suite_version)}</span>' if run.suite_version else ""
    waiting = '<span class="note">being computed</span>' if digest is None else ""
    opened = digest.open_reviews if digest is not None else None
    cells = (
        ("name", name),
        ("suite", f'<span title="{page_text(run.suite)}">{page_text(run.suite or NONE)}</span>{version}'),
        ("", _badge(digest) if digest is not None else waiting),
        ("mini", _bracket(digest) if digest is not None else ""),
        ("bar", _owners(run.id, digest) if digest is not None and (counts.failures or not is_unjudged) else ""),
        ("number", link(review_page(run=run.id), f"{opened:,}") if opened else "0" if counts.failures else NONE),
        ("number count", f"{counts.attempts_in_log:,}"),
        ("", page_text(spelled_span(run.started_at, None) or NONE)),
    )
    tds = "".join(f'<td class="{kind}">{content}</td>' for kind, content in cells)
    return f'<tr class="run" data-run="{run.id}">{tds}</tr>'


def _badge(digest: RunDigest) -> str:
    first = page_text(digest.findings[0].text) if digest.findings else "The checkup has no findings."
    return f'<b class="badge {digest.health.replace(" ", "-")}" title="{first}">{digest.health}</b>'


def _bracket(digest: RunDigest) -> str:
    """As reported hollow, clean solid with its interval. A run that measured nothing has no score, not 0 %."""
    is_measured = digest.health not in ("unavailable", "not judged")
    by_policy = {score.policy: score for score in digest.scores if is_measured and score.rate is not None}
    clean, reported = by_policy.get("clean"), by_policy.get("as_reported")
    shown = clean or reported
    if shown is None or shown.rate is None:
        return '<span class="note">no score</span>'
    scale = scale_of([shown.spread])
    if scale.low >= 0 and scale.high <= 1:  # one axis for runs of one suite
        scale = Scale(of_rates=scale.of_rates)
    if reported is not None and not (reported.is_mean or scale.of_rates):
        reported = None
    words = f"{shown.policy if scale.of_rates else 'mean'} {scale.figure(shown.rate)}"
    if reported is not None:
        words += f", as reported {scale.figure(reported.rate)}"
    if not scale.of_rates:
        words += f"; from {decimal(scale.low)} to {decimal(scale.high)}"
    bar = ScoreBar("", shown.rate, shown.low, shown.high, measured=reported.rate if reported is not None else None)
    svg = f'<svg height="20" width="88" role="img" aria-label="{words}">{point(bar, scale)}</svg>'
    figure = percent(shown.rate, 0) if scale.of_rates else decimal(shown.rate)
    return f'<span class="bracket" title="{words}">{svg}<b>{figure}</b></span>'


def _owners(run_id: str, digest: RunDigest) -> str:
    if not digest.owners:
        return '<span class="note">no failures</span>'
    strip = OwnerStrip(counts=tuple(OwnerCount(owner, count) for owner, count in digest.owners.items()))
    return owner_strip(strip, page_text, target=lambda owner: run_page(run_id, owner=owner), narrow=NARROW)


_IMPORT = (
    '<details class="action import" data-key="I"><summary class="button">Import<kbd>I</kbd></summary>'
    '<div class="sheet"><code>errata import PATH</code>'
    '<button type="button" data-does="copy-beside" hidden>Copy</button></div></details>'
)
_EMPTY = (
    "<p>No runs in this store yet.</p><p>Try the bundled example: <code>errata demo</code></p>"
    "<p>Read your own: <code>errata import PATH</code></p>"
)

ENDPOINTS = (Endpoint(path="/", handler=runs, query=RunsQuery, summary="The runs in the store."),)
