"""Who gets which key: only the host that was named, and only the key that was named for it."""

import sys

import pytest
from loopback import ask

from errata.errors import SettingsError
from errata.llm.spec import ModelSpec, open_model


def test_the_named_key_is_sent_to_the_named_server(monkeypatch):
    monkeypatch.setenv("HARBOUR_KEY", "k-harbour")

    _, provider = ask("holds", key_name="HARBOUR_KEY")

    assert provider.seen[0].headers["authorization"] == "Bearer k-harbour"


def test_a_server_of_ones_own_gets_no_key_that_was_not_named_for_it(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k-openai")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "k-admin")

    _, provider = ask("holds")

    assert "authorization" not in provider.seen[0].headers


def test_headers_meant_for_another_provider_stay_at_home(monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-secret")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway-Token: hush\nAuthorization: Bearer hush")

    _, provider = ask("holds")

    assert "secret" not in str(provider.seen[0].headers)
    assert "hush" not in str(provider.seen[0].headers)


def test_a_key_does_not_follow_a_redirect(monkeypatch):
    monkeypatch.setenv("HARBOUR_KEY", "k-harbour")

    assert ask("redirect", key_name="HARBOUR_KEY")[1].strayed == 0


def test_a_key_that_the_provider_repeats_is_not_told_on(monkeypatch):
    error, _ = ask("bad_key")

    assert "sk-proj" not in str(error)
    assert "redacted" in str(error)


def test_a_missing_key_is_told_before_anything_is_asked(monkeypatch):
    monkeypatch.delenv("HARBOUR_KEY", raising=False)

    with pytest.raises(SettingsError, match="`HARBOUR_KEY` is not set"):
        open_model(ModelSpec(name="m", base_url="http://127.0.0.1:9/v1", key_name="HARBOUR_KEY"), timeout=1, parallel=1)


def test_a_model_that_no_provider_has_is_told_in_words():
    with pytest.raises(SettingsError, match="The model `nobody:nothing` can't be used"):
        open_model(ModelSpec(name="nobody:nothing"), timeout=1, parallel=1)


def test_without_the_extra_its_name_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    monkeypatch.delitem(sys.modules, "errata.llm.asking", raising=False)

    with pytest.raises(SettingsError) as caught:
        open_model(ModelSpec(name="openai:gpt-5"), timeout=1, parallel=1)

    assert "`pip install '.[llm]'`" in caught.value.hint
