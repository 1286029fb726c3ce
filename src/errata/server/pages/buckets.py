"""`/buckets`: which few causes explain most of the failures, and are they real?"""

from collections.abc import Callable, Iterable
from html import escape

from errata.errors import SettingsError
from errata.model import Bucket, BucketCounts
from errata.model.identity import split_attempt_id
from errata.model.record import Struct
from errata.model.run import subject_label
from errata.model.times import to_text
from errata.render import charts
from errata.render.blocks_html import page_text
from errata.render.figures import plural
from errata.server.exchange import Endpoint, Exchange, Page, Redirect
from errata.server.layout import card, link, table
from errata.server.pages.addresses import attempt_page, bucket_page, run_page
from errata.text.outgoing import name_without_secrets
from errata.text.shell import shell_word
from errata.verbs import buckets as grouping
from errata.verbs.buckets import BucketDetails, BucketMember, author_named
from errata.verbs.shown_ids import original_ids, shown_id
from errata.verbs.store import all_runs

MOST = 200
"""Members on the page; the rest is counted."""
SHORT = 160
UNDO = '<form method="post" action="/buckets" class="undo"><button>Undo the last change</button></form>'


class BucketsPageQuery(Struct):
    run: str = ""
    """Only the causes of this run."""
    alone: bool = False
    """Also causes of one unreviewed failure."""


def list_buckets(exchange: Exchange) -> Page:
    query = exchange.arguments(BucketsPageQuery)
    runs = [query.run] if query.run else []
    listed = grouping.buckets_of_runs(runs, exchange.store, alone=query.alone)
    head = _list_head(plural(listed.buckets, "bucket"), listed.statuses)
    if listed.listed:
        body = table(_HEADS, map(_row, listed.listed), label="buckets", kind="rows")
    elif listed.alone:
        body = "<p>All failures are single. Nothing repeats.</p>"
    else:
        body = "<p>No failures to group.</p>"
    if listed.alone and not query.alone:
        more = link("/buckets?alone=true", "show them")
        body += f'<p class="more">{plural(listed.alone, "failure")} alone in a bucket not listed: {more}.</p>'
    command = f"errata buckets list {shell_word(query.run)}".strip() if query.run else "errata buckets list"
    body = f"{head}{_waiting(listed.waiting, exchange)}{card('Causes', body)}{UNDO}"
    return Page(title="Buckets", section="buckets", body=body, command=command)


def _waiting(run_ids: tuple[str, ...], exchange: Exchange) -> str:
    """Large runs that are still being grouped."""
    if not run_ids:
        return ""
    if exchange.large_runs is not None:
        for run_id in run_ids:
            exchange.large_runs.derive_soon(run_id)
    names = {one.run.id: subject_label(one.run) or one.run.native_id for one in all_runs(exchange.store)}
    listed = ", ".join(link(run_page(run_id), names.get(run_id, run_id)) for run_id in run_ids)
    words = "are being grouped: their failures are missing here, or grouped as before the newest verdict or import"
    return f'<p class="alert">{plural(len(run_ids), "run")} {words}. {listed}</p>'


_HEADS = ("Cause", "Owner", "Status", "Failures#", "Reviewed#", "Runs#", "Suite", "Last seen")


def _list_head(count: str, statuses: dict[str, int]) -> str:
    words = " · ".join(f"{number} {status}" for status, number in statuses.items() if number)
    return f'<div class="head"><h1>Buckets</h1><p class="brief">{count}{" · " + words if words else ""}</p></div>'


def _row(counts: BucketCounts) -> tuple[str, ...]:
    bucket = counts.bucket
    return (
        f"<b>{link(bucket_page(bucket.id), bucket.title)}</b>",
        charts.named_chip(counts.owner, page_text),
        _status(bucket),
        f"{counts.mistakes:,}" + (f" + {counts.followers:,} knock-on" if counts.followers else ""),
        f"{counts.read:,}",
        f"{len(counts.runs):,}",
        page_text(bucket.suite),
        page_text((counts.last_seen or "–")[:10]),
    )


def _status(bucket: Bucket) -> str:
    return f'<b class="badge {page_text(bucket.status)}">{page_text(bucket.status)}</b>'


# --- one bucket


def show_bucket(exchange: Exchange) -> Page | Redirect:
    name = exchange.values["bucket"]
    bucket = grouping.bucket_named(name, exchange.store)
    if bucket.id != name:
        return Redirect(bucket_page(bucket.id))
    details = grouping.show_bucket(bucket, exchange.store, most=MOST)
    others = (one.bucket for one in grouping.list_buckets(exchange.store, limit=MOST).listed)
    same_suite = [one for one in others if one.id != bucket.id and one.suite == bucket.suite]
    body = (
        f"{_head(details)}"
        f'<form method="post" action="{bucket_page(bucket.id)}" class="bucket">'
        f"{_members(details)}{_changes(details, same_suite)}</form>{_history(details)}"
    )
    command = f"errata buckets show {shell_word(bucket.slug)}"
    return Page(title=bucket.title, section="buckets", body=body, command=command)


def _head(details: BucketDetails) -> str:
    counts = details.counts
    bucket = counts.bucket
    facts = [
        plural(counts.mistakes, "failure"),
        f"{counts.read:,} reviewed",
        f"in {plural(len(counts.runs), 'run')} of {plural(len(counts.models), 'model')}",
        bucket.suite,
    ]
    if counts.inherited:
        facts.insert(2, f"{counts.inherited:,} inherited")
    if counts.first_seen:
        facts.append(f"seen from {counts.first_seen[:10]} to {(counts.last_seen or counts.first_seen)[:10]}")
    chips = charts.named_chip(counts.owner, page_text)
    described = f"<p>{page_text(bucket.description)}</p>" if bucket.description else ""
    return (
        f'<div class="head"><p class="brief">{link("/buckets", "Buckets")} / {page_text(bucket.suite)}</p>'
        f"<h1>{page_text(bucket.title)}</h1>"
        f'<p class="status">{chips} {_status(bucket)} {page_text(" · ".join(fact for fact in facts if fact))}</p></div>'
        f"{described}"
    )


def _members(details: BucketDetails) -> str:
    rows = map(_member_row, details.members)
    total = details.counts.rows
    left = total - len(details.members)
    more = f'<p class="more">{left:,} more; <code>errata buckets show --all</code> lists them.</p>' if left > 0 else ""
    shown = table(("", "Case", "Model", "Owner", "Evidence", "Verdict"), rows, label="members", kind="rows")
    return card("Failures", shown + more, note="reviewed ones first")


def _member_row(member: BucketMember) -> tuple[str, ...]:
    parts = split_attempt_id(member.placement.attempt)
    address = attempt_page(parts.run, parts.case, parts.index)
    verdict = member.standing.verdict if member.standing else None
    role = "supports it" if member.supports else "reviewed" if verdict else member.placement.role
    label = f"{page_text(verdict.label)} " if verdict and verdict.label else ""
    name = name_without_secrets(member.name).partition("/")[2] or member.name
    return (
        f'<input type="checkbox" name="member" value="{escape(shown_id(member.placement.attempt))}"'
        f' aria-label="{page_text(member.name)}">',
        link(address, name),
        page_text(member.run.subject.model or member.run.native_id),
        charts.chip(member.placement.owner, page_text),
        f'<code class="member-quote">{page_text(member.quote, SHORT)}</code>',
        f'{label}<span class="note">{page_text(role)}</span>',
    )


def _changes(details: BucketDetails, others: Iterable[Bucket]) -> str:
    """Without script; each button sends the whole form and is named after what it does."""
    bucket = details.counts.bucket
    options = "".join(f'<option value="{page_text(one.id)}">{page_text(one.title)}</option>' for one in others)
    lacking = grouping.verdicts_lacking(details.counts)
    confirm = (
        '<button name="action" value="confirm">Confirm as final</button>'
        if not lacking and bucket.status != "final"
        else f'<span class="note">{_why_not_final(bucket, lacking)}</span>'
    )
    merge = (
        f'<label>Other bucket <select name="to">{options}</select></label>'
        '<button name="action" value="merge">Merge this into it</button>'
        '<button name="action" value="move">Move the ticked failures there</button>'
        if options
        else '<span class="note">No other bucket of this suite.</span>'
    )
    return card(
        "Change it",
        f'<div class="changes"><p><label>Title <input name="title" value="{page_text(bucket.title)}" size="48"></label>'
        '<button name="action" value="rename">Rename</button>'
        '<button name="action" value="split">Split off the ticked failures under this title</button></p>'
        f"<p>{merge}</p><p>{confirm}</p></div>",
        note="every change can be undone",
    )


def _why_not_final(bucket: Bucket, lacking: int) -> str:
    if bucket.status == "final":
        return "Final."
    return f"To be final it needs {plural(lacking, 'more verdict')} that support it."


def _history(details: BucketDetails) -> str:
    if not details.history:
        return ""
    rows = (
        (
            page_text(entry.event.at[:16].replace("T", " ")),
            page_text(entry.event.by or "rules"),
            page_text(entry.event.what) + (' <span class="note">undone</span>' if entry.event.undone else ""),
            page_text(" → ".join(part for part in (entry.before, entry.after) if part)),
            f"{len(entry.moves):,}",
        )
        for entry in reversed(details.history)
    )
    shown = table(("When", "Who", "What", "From and to", "Failures#"), rows, label="history", kind="rows")
    return card("History", shown + UNDO)


# --- changing


def change_bucket(exchange: Exchange) -> Redirect:
    form, store = exchange.form(), exchange.store
    action = _ACTIONS.get(form.get("action", ""))
    if action is None:
        raise SettingsError(
            f"`{form.get('action', '')}` is not a change of a bucket", hint=f"one of: {', '.join(_ACTIONS)}"
        )
    bucket = grouping.bucket_named(exchange.values["bucket"], store)
    return Redirect(bucket_page(action(exchange, bucket)))


def _title(exchange: Exchange) -> str:
    title = exchange.form().get("title", "").strip()
    if not title:
        raise SettingsError("A bucket needs a title", hint="name the cause in a few words")
    return title


def _ticked(exchange: Exchange) -> list[str]:
    members = original_ids(exchange.form_values("member"), exchange.store)
    if not members:
        raise SettingsError("No failure is ticked", hint="tick the failures that this is about")
    return members


def _other(exchange: Exchange) -> Bucket:
    return grouping.bucket_named(exchange.form().get("to", ""), exchange.store)


def _rename(exchange: Exchange, bucket: Bucket) -> str:
    return grouping.rename_bucket(
        bucket, _title(exchange), exchange.store, author_named(exchange.caller.name, to_text(exchange.now))
    ).bucket.id


def _merge(exchange: Exchange, bucket: Bucket) -> str:
    into = _other(exchange)
    return grouping.merge_buckets(
        [bucket], into, exchange.store, author_named(exchange.caller.name, to_text(exchange.now))
    ).bucket.id


def _split(exchange: Exchange, bucket: Bucket) -> str:
    title = _title(exchange)
    if title == bucket.title:
        raise SettingsError("The new bucket needs another title", hint="change the title, then split")
    return grouping.split_bucket(
        bucket, _ticked(exchange), title, exchange.store, author_named(exchange.caller.name, to_text(exchange.now))
    ).bucket.id


def _move(exchange: Exchange, bucket: Bucket) -> str:
    grouping.move_failures(
        _ticked(exchange), _other(exchange), exchange.store, author_named(exchange.caller.name, to_text(exchange.now))
    )
    return bucket.id


def _confirm(exchange: Exchange, bucket: Bucket) -> str:
    return grouping.confirm_bucket(
        bucket, exchange.store, author_named(exchange.caller.name, to_text(exchange.now))
    ).bucket.id


_ACTIONS: dict[str, Callable[[Exchange, Bucket], str]] = {
    "rename": _rename,
    "merge": _merge,
    "split": _split,
    "move": _move,
    "confirm": _confirm,
}


def undo(exchange: Exchange) -> Redirect:
    grouping.undo_change(exchange.store, author_named(exchange.caller.name, to_text(exchange.now)))
    return Redirect("/buckets")


ENDPOINTS = (
    Endpoint(path="/buckets", handler=list_buckets, query=BucketsPageQuery, summary="The causes of failures."),
    Endpoint(path="/buckets", handler=undo, method="POST", scope="review", summary="Undo the last change of buckets."),
    Endpoint(path="/buckets/{bucket}", handler=show_bucket, summary="A cause with its failures and its history."),
    Endpoint(
        path="/buckets/{bucket}", handler=change_bucket, method="POST", scope="review", summary="Change a bucket."
    ),
)
