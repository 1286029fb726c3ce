"""`/login` and `/logout`: a browser shows its token once and gets a cookie that no script can read."""

from urllib.parse import urlsplit

from errata.render.blocks_html import page_text
from errata.server.access import COOKIE
from errata.server.exchange import Bytes, Endpoint, Exchange, Page, Redirect
from errata.server.layout import framed
from errata.server.security import DeniedError

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
