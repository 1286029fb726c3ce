"""The failures of a run as a table: groups with their first rows, or one row after the other."""

from collections.abc import Iterable, Sequence
from html import escape

from errata.model import Run
from errata.model.listing import FailureRow, Grouping
from errata.model.run import case_name
from errata.render.blocks_html import page_text
from errata.render.charts import chip
from errata.render.figures import NONE, plural
from errata.server.layout import link
from errata.server.pages.addresses import attempt_address, bucket_page, rows_address
from errata.server.pages.run_query import REVIEWS, RunQuery, written_cursor
from errata.verbs.pages import FailureLine, FailurePage, ListedGroup
from errata.verbs.shown_ids import shown_id

_HEADS = (
    ("Case", ""),
    ("Owner", ""),
    ("Broke at", ""),
    ("Evidence", ""),
    ("Checks", "number"),
    ("Tokens", "number"),
    ("Time", "number"),
    ("Review", ""),
)
_STANDING = {"open": "open", "disputed": "disagree", "inherited": "inherited", "reviewed": "reviewed", "final": "final"}


def failure_table(page: FailurePage, run: Run, query: RunQuery, grouping: Grouping) -> str:
    heads = "".join(f'<th scope="col"{f" class={kind}" if kind else ""}>{name}</th>' for name, kind in _HEADS)
    label = f"{plural(page.facets.total, 'failure')}"
    return (
        f'<table class="fails" data-list aria-label="{label}" aria-rowcount="{page.facets.total}">'
        f"<thead><tr>{heads}</tr></thead>{row_groups(page, run, query, grouping)}</table>"
    )


def row_groups(page: FailurePage, run: Run, query: RunQuery, grouping: Grouping) -> str:
    """Bodies of the table, and the link to the next page as the last one."""
    if grouping == "none":
        inner = f"<tbody>{_rows(page.listed, run, query)}</tbody>"
    else:
        inner = "".join(_group(group, run, query, grouping) for group in page.groups)
    if page.following is None:
        return inner
    cursor = written_cursor(page.following)
    values = {**query.chosen, "group": grouping, "sort": query.sort, "cursor": cursor}
    more = "next 100 failures" if grouping == "none" else "next groups"
    return (
        f'{inner}<tbody class="next"><tr><td colspan="{len(_HEADS)}">'
        f'<a href="{page_text(query.address(run.id, group=grouping, cursor=cursor))}"'
        f' data-rows="{page_text(rows_address(run.id, **values))}">{more}</a></td></tr></tbody>'
    )


def _group(shown: ListedGroup, run: Run, query: RunQuery, grouping: Grouping) -> str:
    group, bucket = shown.group, shown.bucket
    title = page_text(_title(shown, grouping))
    if bucket is not None:
        title = link(bucket_page(bucket.slug), _title(shown, grouping))
    status = f'<b class="badge {bucket.status}">{bucket.status}</b>' if bucket is not None else ""
    reviewed = f"{group.reviewed:,} of {group.size:,} reviewed"
    letter = chip(group.owner, page_text) if grouping != "category" else ""
    head = (
        f'<tr class="group"><th scope="rowgroup" colspan="{len(_HEADS)}"><span class="grouped">'
        f'<button type="button" class="fold" aria-expanded="true" aria-label="Fold" hidden></button>{letter}'
        f'<span class="title">{title}</span><span class="note">{reviewed}</span>{status}'
        f'<a class="size" href="{page_text(_only(run, query, grouping, group.name))}">{group.size:,}</a>'
        "</span></th></tr>"
    )
    left = group.size - len(shown.listed)
    more = ""
    if left > 0:
        values = {**_chosen(query, grouping, group.name), "group": "none", "sort": query.sort}
        cursor = written_cursor((shown.listed[-1].row.seq, shown.listed[-1].row.seq)) if query.sort == "log" else ""
        rows = rows_address(run.id, **values, cursor=cursor) if cursor else ""
        keys = {one.row.key for one in shown.listed}
        same = "failure key" if len(keys) == 1 and "" not in keys else _SAME[grouping]
        loading = f' data-rows="{page_text(rows)}"' if rows else ""
        more = (
            f'<tr class="more"><td colspan="{len(_HEADS)}">'
            f'<a href="{page_text(_only(run, query, grouping, group.name))}"'
            f"{loading}>{left:,} more with the same {same}</a></td></tr>"
        )
    return f"<tbody>{head}{_rows(shown.listed, run, query)}{more}</tbody>"


_SAME = {"bucket": "cause", "owner": "owner", "check": "check", "category": "category", "none": "list"}


def _title(shown: ListedGroup, grouping: Grouping) -> str:
    if shown.bucket is not None:
        return shown.bucket.title
    nothing = {"bucket": "In no group yet", "check": "No check failed", "category": "Without a category"}
    return shown.group.name or nothing.get(grouping, NONE)


def _chosen(query: RunQuery, grouping: Grouping, name: str) -> dict[str, str]:
    field = {"bucket": "bucket", "owner": "owner", "check": "check", "category": "category"}[grouping]
    return {**query.chosen, field: name or "-"}


def _only(run: Run, query: RunQuery, grouping: Grouping, name: str) -> str:
    """The whole group as a list."""
    return query.address(run.id, **{**_chosen(query, grouping, name), "group": "none"})


def _rows(listed: Sequence[FailureLine], run: Run, query: RunQuery) -> str:
    return "".join(_row(one, run, query) for one in listed)


def _row(shown: FailureLine, run: Run, query: RunQuery) -> str:
    row, line = shown.row, shown.line
    target = attempt_address(row.attempt, **query.chosen)
    proof = attempt_address(row.attempt, line.anchor, **query.chosen)
    number = line.anchor.rpartition("-")[2] if line.anchor else ""
    place = f'<span class="at">{number if number.isdecimal() else ""}</span>'
    quote = page_text(line.quote) or '<span class="note">no text</span>'
    current = ' aria-current="true"' if (own_id := shown_id(row.attempt)) == query.at else ""
    review = f'<b class="disagree">{_STANDING[row.review]}</b>' if row.review == "disputed" else _STANDING[row.review]
    cells = (
        ("case", f'<a class="open" href="{page_text(target)}">{page_text(case_name(run, row.case_key))}</a>'),
        ("owner", _owner(row)),
        ("broke", page_text(row.check_name) or NONE),
        (
            "quote",
            f'<a href="{page_text(proof)}" title="{quote if "<" not in quote else ""}">{place}<code>{quote}</code></a>',
        ),
        ("number", line.checks or NONE),
        ("number", short_number(row.tokens)),
        ("number", f"{row.duration:,.0f} s" if row.duration is not None else NONE),
        ("review", f'<span title="{REVIEWS[row.review]}">{review}</span>'),
    )
    tds = "".join(f'<td class="{kind}">{content}</td>' for kind, content in cells)
    return f'<tr class="fail" data-attempt="{escape(own_id)}"{current}>{tds}</tr>'


def _owner(row: FailureRow) -> str:
    """None before the run is triaged."""
    if not row.owner:
        return f'<span class="note" title="not known yet">{NONE}</span>'
    return f'<span class="own">{chip(row.owner, page_text)}<span class="sure">{row.confidence}</span></span>'


def short_number(value: int | None) -> str:
    """`950`, `1.2 k`, `302 k`, `17.8 M`."""
    if value is None:
        return NONE
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if value >= size:
            share = value / size
            return f"{share:.0f} {unit}" if share >= 100 else f"{share:.1f} {unit}"
    return str(value)


def unscored_cases(pending: Iterable[str], missing: Iterable[str]) -> str:
    """Under the table, and never counted in it."""
    parts = []
    for word, names in (("did not finish", tuple(pending)), ("are missing from the log", tuple(missing))):
        if names:
            listed = ", ".join(page_text(name) for name in names[:12])
            more = f" and {len(names) - 12} more" if len(names) > 12 else ""
            parts.append(f"<p>{plural(len(names), 'case')} {word}: {listed}{more}. They count nowhere.</p>")
    return f'<section class="card">{"".join(parts)}</section>' if parts else ""
