"""Changes of the store reach every page, whoever made them."""

import json
import time
from datetime import UTC, datetime

import pytest
from tests.conftest import FIXTURES

from errata.server.events import BATCH_EVERY, LOOK_EVERY
from errata.verbs.analyze import import_logs
from errata.verbs.store import ChangeFeed, all_runs, exclude, open_store


@pytest.fixture
def other(served):
    """The same store, opened by somebody else."""
    store = open_store(served.settings.store)
    yield store
    store.engine.dispose()


def changes_of(lines, wanted: int = 1):
    found = []
    for line in lines:
        if line.startswith("data: "):
            found.append(json.loads(line.removeprefix("data: ")))
        if len(found) == wanted:
            return found
    raise AssertionError("the stream ended")


def test_a_change_by_another_process_arrives_within_two_seconds(served, other):
    run = all_runs(other)[0].run.id
    with served.client.stream("GET", "/events", timeout=20) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "retry: 2000"
        exclude(other, run, reason="the provider was down", author="ada")

        assert changes_of(lines) == [{"kind": "run", "run": run, "attempt": None, "by": None}]
    assert LOOK_EVERY + BATCH_EVERY < 2  # what it takes on a machine that has time


def test_who_reconnects_gets_what_was_missed(served, other):
    run = all_runs(other)[0].run.id
    with served.client.stream("GET", "/events", timeout=20) as stream:
        lines = stream.iter_lines()
        next(lines)
        place = next(lines).removeprefix("id: ")
        exclude(other, run, reason="one", author="ada")
        changes_of(lines)

    with served.client.stream("GET", "/events", headers={"Last-Event-ID": place}, timeout=20) as stream:
        assert changes_of(stream.iter_lines())[0]["run"] == run
    with served.client.stream("GET", "/events?age=60", timeout=20) as stream:
        assert changes_of(stream.iter_lines())[0]["run"] == run
    with served.client.stream("GET", "/events", headers={"Last-Event-ID": "earlier-7"}, timeout=20) as stream:
        assert changes_of(stream.iter_lines())[0] == {"kind": "run", "run": None, "attempt": None, "by": None}


def test_a_feed_gives_each_change_once_and_nothing_where_nothing_was_committed(served, other):
    store = open_store(served.settings.store)
    run = all_runs(other)[0].run.id
    with ChangeFeed(store) as feed:
        assert feed.poll() == []
        exclude(other, run, reason="the provider was down", author="ada")
        assert [(change.kind, change.run) for change in feed.poll()] == [("run", run)]
        assert feed.poll() == []
        import_logs([FIXTURES / "sources/convex_evals/run_a/data"], other)
        assert {change.kind for change in feed.poll()} == {"run"}
    store.engine.dispose()


def test_a_page_hears_of_changes_through_one_stream(served, other, window):
    page = window()
    page.goto(served.url)
    page.evaluate(
        """async () => {
            const live = await import("/static/live.js");
            window.heard = [];
            live.onChange((change) => window.heard.push(change.kind));
            live.onChange((change) => window.heard.push(change.run));
        }"""
    )
    run = all_runs(other)[0].run.id
    exclude(other, run, reason="the provider was down", author=str(datetime.now(UTC)))
    until = time.monotonic() + 10
    while len(page.evaluate("window.heard")) < 2 and time.monotonic() < until:
        page.wait_for_timeout(50)

    assert page.evaluate("window.heard") == ["run", run]
