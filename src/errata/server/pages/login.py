"""`/login` and `/logout`, where a browser shows its token once for a cookie that no script can read; and `/doctor`."""

from pathlib import Path
from urllib.parse import urlsplit

from errata import __version__
from errata.model import StoredRun
from errata.model.output.store import DoctorOutput
from errata.model.record import Struct
from errata.model.token import Token
from errata.render.blocks_html import page_text
from errata.render.figures import plural
from errata.server.access import COOKIE
from errata.server.exchange import Bytes, Endpoint, Exchange, Page, Redirect
from errata.server.layout import card, framed, link, table
from errata.server.pages.addresses import run_page
from errata.server.security import DeniedError
from errata.verbs.doctor import examine_store
from errata.verbs.store import all_runs, open_store, store_size
from errata.verbs.tokens import list_tokens


class DoctorQuery(Struct):
    check: bool = False
    """Read every block of the store, which takes a while."""


def doctor(exchange: Exchange) -> Page:
    query = exchange.arguments(DoctorQuery)
    runs = all_runs(exchange.store)
    health = examine_store(open_store(exchange.settings.store)) if query.check else None
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


DOCTOR = (
    Endpoint(path="/doctor", handler=doctor, scope="admin", query=DoctorQuery, summary="The store and its tokens."),
)


DAYS = 30


def login_form(exchange: Exchange) -> Page:
    return _form(exchange.query.get("next", "/"))


def log_in(exchange: Exchange) -> Redirect | Page | Bytes:
    form = exchange.form()
    wanted = form.get("next", "/")
    assert exchange.access is not None
    try:
        exchange.access.log_in(form.get("token", "").strip(), exchange.address, exchange.store, exchange.now)
    except DeniedError as denied:
        page = _form(wanted, f"{denied.message}: {denied.hint}" if denied.status == 429 else denied.message)
        return Bytes(
            content=framed(page).encode("utf-8"),
            media_type="text/html; charset=utf-8",
            headers=denied.headers,
            status=denied.status,
        )
    cookie = _cookie(form["token"].strip(), DAYS * 86_400, is_encrypted=exchange.is_encrypted)
    return Redirect(local_path(wanted), headers={"Set-Cookie": cookie})


def log_out(exchange: Exchange) -> Redirect:
    return Redirect("/login", headers={"Set-Cookie": _cookie("", 0, is_encrypted=exchange.is_encrypted)})


def local_path(wanted: str) -> str:
    """Never to another site: a link to this page may come from anywhere."""
    parts = urlsplit(wanted.replace("\\", "/"))
    is_local = wanted.isprintable() and wanted.startswith("/") and not wanted.startswith(("//", "/\\"))
    return wanted if is_local and not (parts.scheme or parts.netloc) else "/"


def _cookie(value: str, seconds: int, *, is_encrypted: bool) -> str:
    secure = "; Secure" if is_encrypted else ""
    return f"{COOKIE}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"


def _form(wanted: str, trouble: str = "") -> Page:
    message = f'<p class="trouble" role="alert">{page_text(trouble)}</p>' if trouble else ""
    body = (
        f'<h1>Log in</h1>{message}<form class="login" method="post" action="/login">'
        f'<input type="hidden" name="next" value="{page_text(local_path(wanted))}">'
        '<label for="token">Token</label><input id="token" name="token" type="password" required autofocus'
        ' autocomplete="current-password" spellcheck="false"><button>Log in</button></form>'
        "<p>Whoever runs this server creates tokens: <code>errata token create NAME --scope review</code></p>"
    )
    return Page(title="Log in", body=body)


ENDPOINTS = (
    Endpoint(path="/login", handler=login_form, summary="The form for a token.", is_open=True),
    Endpoint(path="/login", handler=log_in, method="POST", summary="Set the cookie.", is_open=True),
    Endpoint(path="/logout", handler=log_out, method="POST", summary="Remove the cookie.", is_open=True),
)
