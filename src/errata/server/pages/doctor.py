"""`/doctor`: what is in the store, is it sound, and who uses it?"""

from pathlib import Path

import msgspec

from errata import __version__
from errata.model import StoredRun
from errata.model.output.store import DoctorOutput
from errata.model.token import Token
from errata.render.blocks_html import page_text
from errata.render.figures import plural
from errata.server.exchange import Endpoint, Exchange, Page
from errata.server.layout import card, link, table
from errata.server.pages.addresses import run_page
from errata.verbs.doctor import examine_store
from errata.verbs.store import all_runs, store_size
from errata.verbs.tokens import list_tokens


class DoctorQuery(msgspec.Struct, frozen=True, kw_only=True):
    check: bool = False
    """Read every block of the store, which takes a while."""


def doctor(exchange: Exchange) -> Page:
    query = exchange.arguments(DoctorQuery)
    runs = all_runs(exchange.store)
    health = examine_store(exchange.settings.store) if query.check else None
    body = f"<h1>Store</h1>{_store(exchange, runs, health)}{_unreadable(runs)}{_tokens(list_tokens(exchange.store))}"
    return Page(title="Store", body=body, command="errata doctor")


def _store(exchange: Exchange, runs: list[StoredRun], health: DoctorOutput | None) -> str:
    location = exchange.settings.store
    facts = {
        "File" if isinstance(location, Path) else "Database": page_text(location.name),
        "Size": f"{store_size(exchange.store) / 2**20:,.1f} MB",
        "Runs": f"{len(runs):,}",
        "Attempts": f"{sum(one.counts.attempts_in_log for one in runs):,}",
        "errata": __version__,
        "Damage": _damage(health),
    }
    rows = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts.items())
    return card("What it holds", f'<dl class="facts">{rows}</dl>')


def _damage(health: DoctorOutput | None) -> str:
    if health is None:
        return f"not checked · {link('/doctor?check=true', 'check now')}"
    if not health.problems:
        return "none found"
    return "<br>".join(page_text(str(problem)) for problem in health.problems)


def _unreadable(runs: list[StoredRun]) -> str:
    damaged = [one for one in runs if one.counts.unreadable]
    if not damaged:
        return card("Unreadable rows", "<p>Every row of every imported log could be read.</p>")
    rows = (
        (
            link(run_page(stored.run.id), stored.run.subject.model or stored.run.native_id),
            page_text(stored.run.suite),
            f"{stored.counts.unreadable:,}",
        )
        for stored in damaged
    )
    count = sum(one.counts.unreadable for one in damaged)
    return card(
        "Unreadable rows", table(("Run", "Suite", "Rows#"), rows, label="unreadable"), note=plural(count, "row")
    )


def _tokens(tokens: list[Token]) -> str:
    if not tokens:
        return card(
            "Tokens", "<p>None. On this machine none is needed; <code>errata token create</code> makes one.</p>"
        )
    rows = (
        (
            f"<b>{page_text(token.name)}</b>",
            page_text(", ".join(token.scopes)),
            page_text((token.last_used_at or "never")[:16].replace("T", " ")),
            "revoked" if token.revoked_at else "active",
        )
        for token in tokens
    )
    return card("Tokens", table(("Name", "Scopes", "Last used", "State"), rows, label="tokens"))


ENDPOINTS = (
    Endpoint(path="/doctor", handler=doctor, scope="admin", query=DoctorQuery, summary="The store and its tokens."),
)
