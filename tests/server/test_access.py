"""Tokens, scopes, logging in, and requests of other sites."""

import socket

import pytest
from inline_snapshot import snapshot

from errata.errors import SettingsError
from errata.server.access import COOKIE, WrongTokens
from errata.server.exchange import ServerOptions
from errata.server.pages.login import local_path
from errata.server.serving import checked_options
from errata.settings import Settings
from errata.verbs.store import open_store
from errata.verbs.tokens import check_token, create_token, revoke_token

CLOSED = ServerOptions(hosts=None, needs_token=True)


@pytest.fixture
def guarded(serve, now):
    """A server where everybody needs a token, and a function that makes some."""
    served = serve(options=CLOSED)
    store = open_store(served.settings.store)

    def token(name: str, *scopes: str) -> str:
        return create_token(name, scopes, store, now=now).secret

    yield served, token, store
    store.engine.dispose()


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_without_a_token_the_api_answers_401_and_says_how_to_get_one(guarded):
    answer = guarded[0].client.get("/api/runs")

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert answer.json() == snapshot(
        {
            "error": "This needs a token",
            "hint": "`errata token create NAME --scope read` creates one; send it as `Authorization: Bearer TOKEN`",
        }
    )


def test_a_token_opens_what_its_scope_allows_and_nothing_else(guarded):
    served, token, _ = guarded
    reading, reporting = token("ada", "read"), token("ci", "report")

    assert served.client.get("/api/runs", headers=bearer(reading)).status_code == 200
    refused = served.client.get("/api/runs", headers=bearer(reporting))
    assert (refused.status_code, refused.json()["error"]) == (403, "The token `ci` lacks the scope `read`")


def test_a_revoked_token_is_refused_from_the_next_request_on(guarded, now):
    served, token, store = guarded
    secret = token("ada", "read")
    assert served.client.get("/api/runs", headers=bearer(secret)).status_code == 200

    revoke_token("ada", store, now=now)

    assert served.client.get("/api/runs", headers=bearer(secret)).status_code == 401


def test_a_token_with_one_other_letter_is_refused(guarded, now):
    _, token, store = guarded
    secret = token("ada", "read")
    assert check_token(secret, store, now=now) is not None

    wrong = secret[:-1] + ("A" if secret[-1] != "A" else "B")

    assert check_token(wrong, store, now=now) is None


def test_a_page_leads_to_the_form_and_back_and_the_cookie_is_for_the_server_alone(guarded):
    served, token, _ = guarded
    secret = token("ada", "review")
    sent_away = served.client.get("/?q=x")
    assert (sent_away.status_code, sent_away.headers["location"]) == (303, "/login?next=%2F%3Fq%3Dx")
    assert '<form class="login" method="post"' in served.page(sent_away.headers["location"])

    logged_in = served.client.post("/login", data={"token": secret, "next": "/?q=x"})

    assert (logged_in.status_code, logged_in.headers["location"]) == (303, "/?q=x")
    assert "HttpOnly; SameSite=Strict" in logged_in.headers["set-cookie"]
    assert "Logged in as ada" in served.page("/")
    logged_out = served.client.post("/logout")
    assert f"{COOKIE}=; Path=/; Max-Age=0" in logged_out.headers["set-cookie"]


def test_a_wrong_token_has_to_wait_after_five_tries_and_a_right_one_never(guarded):
    served, token, _ = guarded
    secret = token("ada", "read")
    wrong = [served.client.post("/login", data={"token": "guess"}).status_code for _ in range(5)]

    answer = served.client.post("/login", data={"token": "guess"})

    assert wrong == [401] * 5
    assert answer.status_code == 429
    assert 0 < int(answer.headers["retry-after"]) <= 60
    for number in range(30):
        forwarded = {"X-Forwarded-For": f"192.0.2.{number}"}
        answer = served.client.get("/api/runs", headers=bearer(f"guess {number}") | forwarded)
        assert answer.status_code == (429 if number > 13 else 401)
    assert served.client.post("/login", data={"token": secret}).status_code == 303
    assert served.client.get("/api/runs", headers=bearer(secret)).status_code == 200


def test_wrong_tokens_are_forgotten_after_a_minute():
    at = [0.0]
    wrong = WrongTokens(clock=lambda: at[0])

    assert [wrong.seconds_to_wait("guess", "192.0.2.1") for _ in range(6)] == [0, 0, 0, 0, 0, 60]
    assert wrong.seconds_to_wait("guess", "192.0.2.2") == 0
    at[0] = 60.0
    assert wrong.seconds_to_wait("guess", "192.0.2.1") == 0


def test_nobody_is_sent_to_another_site_after_logging_in():
    for target in ("https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "", "/\n/x"):
        assert local_path(target) == "/"
    assert local_path("/runs/abc?owner=G#step-2") == "/runs/abc?owner=G#step-2"


def test_a_form_on_another_site_changes_nothing(served):
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}):
        answer = served.client.post("/logout", headers=headers)

        assert answer.status_code == 403
        assert "another site" in answer.text


def test_the_api_takes_json_only(served):
    answer = served.client.post("/api/runs", data={"run": "x"})

    assert answer.status_code == 415
    assert answer.json()["hint"] == "send `Content-Type: application/json`"


def test_other_machines_are_served_only_with_a_token(tmp_path, now):
    settings = Settings(store=tmp_path / "errata.db")
    with socket.socket() as everywhere, socket.socket() as here:
        everywhere.bind(("0.0.0.0", 0))
        here.bind(("127.0.0.1", 0))
        assert not checked_options(settings, here).needs_token
        for listening, choice in ((everywhere, {}), (here, {"require_token": True})):
            with pytest.raises(SettingsError, match="no token"):
                checked_options(settings, listening, **choice)
        store = open_store(settings.store)
        create_token("ada", ["read"], store, now=now)

        assert checked_options(settings, everywhere).needs_token
        store.engine.dispose()


def test_a_bug_answers_500_with_an_id_and_leaves_a_file(served, monkeypatch, tmp_path):
    def fail(_):
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr("errata.server.api.runs.run_outputs", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    answer = served.client.get("/api/runs")

    assert (answer.status_code, answer.json()["error"]) == (500, "errata has a bug: ZeroDivisionError")
    assert "secret detail" not in answer.text
    [file] = tmp_path.glob("errata-crash-*.txt")
    assert answer.json()["id"] in file.name
    assert "ZeroDivisionError: secret detail" in file.read_text()
