"""A large run is derived beside the server: nobody waits for it, and no number is shown before it is right."""

import re
import threading
import time

import pytest
from sqlalchemy import delete, select, update
from tests.server.conftest import running
from tests.server.look_store import build

from errata.runs import triaging
from errata.runs.view import RunView
from errata.server.deriving import LargeRuns
from errata.server.deriving_process import DerivingProgress
from errata.settings import Settings
from errata.store.schema import attributions, runs
from errata.verbs.store import all_runs, open_store


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """A store whose largest run counts as large, and was never triaged."""
    monkeypatch.setattr(triaging, "LARGE", 200)
    path = build(tmp_path / "errata.db")
    store = open_store(path)
    with store.writing() as connection:
        pk = connection.execute(select(runs.c.pk).where(runs.c.model == "alpha-1")).scalar_one()
        connection.execute(update(runs).where(runs.c.pk == pk).values(triaged=None))
        connection.execute(delete(attributions).where(attributions.c.run_pk == pk))
    store.engine.dispose()
    return Settings(store=store.path, author="ada")


def ids(served):
    """The large run and a small one."""
    runs = served.client.get("/api/runs").json()["runs"]
    return [next(one["run_id"] for one in runs if one["model"].startswith(name)) for name in ("alpha-1", "kimi")]


@pytest.fixture
def held(settings, monkeypatch):
    """A server whose process for large runs is at failure 120 and does not go on before it is told to."""
    go_on, derive = threading.Event(), LargeRuns._finished

    def slow(self, run_id):
        self._progress[run_id] = DerivingProgress("Owners", 120, 230)
        go_on.wait(60)
        return derive(self, run_id)

    monkeypatch.setattr(LargeRuns, "_finished", slow)
    with running(settings) as served:
        large, small = ids(served)
        while not served.client.get(f"/api/runs/{large}/progress").json()["done"]:
            time.sleep(0.01)
        yield served, large, small, go_on
        go_on.set()


def test_readers_get_what_is_there_while_a_large_run_is_derived(held):
    served, large, small, go_on = held
    page = served.page(f"/runs/{large}")
    assert "Owners are being worked out: 120 of 230" in page
    assert page.count('<tr class="fail"') == 100
    assert page.count('title="not known yet"') == 100
    assert 'class="facets' not in page
    assert 'class="scores' not in page
    assert "Filters work as soon as" in served.page(f"/runs/{large}?owner=model")
    attempt = served.page(re.search(r'class="open" href="([^"]*)"', page)[1])
    assert "Its owner is being worked out" in attempt
    assert "120 of 230" in attempt

    whole = served.page(f"/runs/{small}")
    assert "data-waiting" not in whole
    assert "uvx: command not found" in whole
    assert "Not ranked yet" in served.page("/leaderboard")
    assert f'href="/runs/{large}"' in served.page("/buckets")
    assert served.client.get("/api/buckets").json()["waiting"] == [large]
    assert served.client.get("/review", follow_redirects=True).status_code == 200
    assert served.client.get("/cases/harbour/c001").text.count("its owner is being worked out") >= 1

    for name in ("", "/failures", "/facets", "/scores", "/report"):
        answer = served.client.get(f"/api/runs/{large}{name}")
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 0
        assert "120 of 230" in answer.json()["error"]
    answer = served.client.get(f"/compare?runs={large},{small}")
    assert answer.status_code == 503
    assert "Owners are being worked out: 120 of 230" in answer.text
    assert f'data-waiting="{large}"' in answer.text
    assert answer.headers["refresh"]

    go_on.set()
    deadline = time.monotonic() + 60
    while not served.client.get(f"/api/runs/{large}/progress").json()["is_ready"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    page = served.page(f"/runs/{large}")
    assert "data-waiting" not in page
    facets = served.client.get(f"/api/runs/{large}/facets").json()
    store = open_store(served.settings.store)
    view = RunView(next(one for one in all_runs(store) if one.run.id == large), store)
    assert facets["total"] == sum(facets["owner"].values()) == 230
    assert facets["owner"] == {one.owner: one.count for one in view.summary.owners}
    store.engine.dispose()


def test_a_request_derives_the_run_itself_where_the_process_broke_off(settings, monkeypatch):
    monkeypatch.setattr(LargeRuns, "_finished", lambda *_: False)
    with running(settings) as served:
        large, _ = ids(served)
        deadline = time.monotonic() + 20
        while (answer := served.client.get(f"/api/runs/{large}/facets")).status_code == 503:
            assert time.monotonic() < deadline
            time.sleep(0.05)

    assert answer.json()["total"] == 230


def test_the_process_ends_with_the_server(settings):
    large_runs = LargeRuns(settings)
    large_runs.start()
    deadline = time.monotonic() + 20
    while large_runs._process is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    large_runs.close()

    assert large_runs._process.returncode is not None
    assert not large_runs._thread.is_alive()
    assert all_runs(open_store(settings.store))
