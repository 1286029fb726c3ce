"""Deployments: stores that are kept apart, and how a release reaches production."""

import shutil
from pathlib import Path

import pytest

from errata.client.live import server_of
from errata.errors import SettingsError, StoreError
from errata.server.exchange import ServerOptions
from errata.store import database
from errata.verbs import serve
from errata.verbs.serve import prepare_deployment
from errata.verbs.store import all_runs, exclude, open_store
from errata.verbs.tokens import create_token
from terminal import errata

START = {"key": "ci-1", "suite": "tides"}


@pytest.fixture
def installed(monkeypatch):
    """As if errata were installed, which the tests of a checkout are not."""
    monkeypatch.setattr(serve, "is_checkout", lambda: False)


@pytest.fixture
def production(tmp_path, served_store, installed, now) -> Path:
    path = tmp_path / "production" / "prod.db"
    path.parent.mkdir()
    shutil.copyfile(served_store, path)
    prepare_deployment("prod", path, release=True, now=now)
    return path


@pytest.mark.req("A-17")
def test_local_work_reads_production_and_does_not_write_it(production):
    before = production.read_bytes()
    store = open_store(production)
    [stored] = all_runs(store)

    with pytest.raises(StoreError, match="belongs to the deployment `prod`"):
        exclude(store, stored.run.id, reason="by accident", author="ada")
    refused = errata("exclude", "latest", "--reason", "by accident", "--store", production)

    assert (refused.code, "put `--prod` first" in refused.talk) == (2, True)
    assert errata("failures", "latest", "--store", production).code == 0
    assert production.read_bytes() == before


@pytest.mark.req("A-17")
def test_with_the_flag_it_is_written_on_purpose(production, monkeypatch):
    monkeypatch.setattr(database, "_on_purpose", [])

    assert errata("--prod", "exclude", "latest", "--reason", "broken", "--store", production).code == 0
    assert all_runs(open_store(production, deployment="prod"))[0].run.excluded is not None


@pytest.mark.req("A-17")
def test_a_client_takes_address_and_token_from_variables_named_after_the_deployment():
    environ = {"ERRATA_DEV_URL": "http://127.0.0.1:8731/", "ERRATA_DEV_TOKEN": "x", "ERRATA_PROD_TOKEN": "y"}

    assert server_of("dev", environ=environ).url == "http://127.0.0.1:8731"
    with pytest.raises(SettingsError, match="need an explicit flag"):
        server_of("prod", environ=environ | {"ERRATA_PROD_URL": "https://errata.example"})
    with pytest.raises(SettingsError, match="no `ERRATA_PROD_URL`"):
        server_of("prod", prod=True, environ=environ)
    with pytest.raises(SettingsError, match="unencrypted"):
        server_of("prod", prod=True, environ=environ | {"ERRATA_PROD_URL": "http://errata.example"})


@pytest.mark.req("A-17")
@pytest.mark.parametrize(
    ("here", "meant", "status"),
    [
        ("prod", "", 409),
        ("prod", "dev", 409),
        ("prod", "prod", 200),
        ("dev", "prod", 409),
        ("dev", "staging", 409),
        ("dev", "dev", 200),
        ("dev", "", 200),
        ("", "prod", 409),
        ("", "dev", 200),
    ],
)
def test_a_report_reaches_only_the_deployment_it_names(client_of, here, meant, status):
    answer = client_of(here, meant)

    assert answer.status_code == status


@pytest.fixture
def client_of(tmp_path, now):
    """What a server of one deployment answers to a report for another, without a network."""
    from starlette.testclient import TestClient

    from errata.server.app import build_app
    from errata.settings import Settings

    def post(here: str, meant: str):
        path = tmp_path / "own.db"
        token = create_token("ci", ["report"], open_store(path), now=now).secret
        headers = {"Authorization": f"Bearer {token}"} | ({"Errata-Deployment": meant} if meant else {})
        with TestClient(build_app(Settings(store=path), ServerOptions(hosts=None, deployment=here))) as client:
            return client.post("/api/live/runs", json=START, headers=headers)

    return post


@pytest.mark.req("A-18")
def test_production_is_not_served_from_a_checkout(tmp_path, now):
    with pytest.raises(SettingsError, match="not served from a checkout"):
        prepare_deployment("prod", tmp_path / "prod.db", release=True, now=now)
    prepare_deployment("dev", tmp_path / "dev.db", release=False, now=now)


@pytest.mark.req("A-18")
def test_only_a_release_migrates_the_store_of_production(production, monkeypatch, now):
    newer = database.SCHEMA + 1
    monkeypatch.setattr(database, "SCHEMA", newer)
    migrated = []
    monkeypatch.setattr(database, "_bring_up_to_date", lambda _, version: migrated.append(version))

    with pytest.raises(StoreError, match=f"has schema {newer - 1}; this errata needs {newer}"):
        prepare_deployment("prod", production, release=False, now=now)
    assert migrated == []
    prepare_deployment("prod", production, release=True, now=now)
    assert migrated == [newer - 1]


@pytest.mark.req("A-17")
def test_a_store_belongs_to_one_deployment(production, now):
    with pytest.raises(SettingsError, match="is the store of the deployment `prod`, not of `dev`"):
        prepare_deployment("dev", production, release=False, now=now)
