"""Search: every kind of hit with a link to its line, and an index that follows the store."""

import sqlite3
import time
from contextlib import closing

import pytest
from tests.server.test_run_page import run_id

from errata.verbs.pages import count_indexed, ensure_searchable_texts, forget_missing, search
from errata.verbs.rm import forget
from errata.verbs.store import all_runs, open_store


@pytest.fixture(scope="module")
def indexed(looked):
    """The background has read every run."""
    until = time.monotonic() + 60
    while (found := looked.client.get("/api/search", params={"q": "x"}).json())["indexed"] < found["runs"]:
        assert time.monotonic() < until
        time.sleep(0.1)
    return looked


def hits(served, text):
    return served.client.get("/api/search", params={"q": text}).json()["hits"]


def test_a_quote_is_found_with_the_line_that_it_stands_in(indexed):
    found = hits(indexed, "uvx: command not found")

    assert {one["hit"]["title"] for one in found if one["hit"]["kind"] == "quote"} == {"polyglot-rust-c", "pypi-server"}
    assert any(one["address"].endswith("pypi-server/1#verifier-17") for one in found)
    page = indexed.page("/search?q=uvx")
    assert "<mark>uvx</mark>" in page
    assert "#verifier-17" in page


def test_words_before_a_colon_narrow_the_search(indexed):
    assert hits(indexed, "uvx owner:environment")
    assert hits(indexed, "uvx owner:grader") == []
    assert {one["hit"]["title"] for one in hits(indexed, "signal:verifier_never_ran")} == {
        "polyglot-rust-c",
        "pypi-server",
    }
    assert {one["hit"]["run"] for one in hits(indexed, "case:pypi model:kimi")} == {run_id(indexed, "kimi")}
    assert hits(indexed, "is:disagreed") == []


def test_runs_and_cases_are_found_by_their_names(indexed):
    assert hits(indexed, "kimi")[0]["hit"]["kind"] == "run"
    assert "case" in {one["hit"]["kind"] for one in hits(indexed, "pypi")}


@pytest.mark.parametrize("text", ['"', "AND", "*", "(", "owner:", "' OR 1=1", "\x00", "NEAR(a b)", "-", "é😀"])
def test_no_text_breaks_the_search(indexed, text):
    assert indexed.client.get("/search", params={"q": text}).status_code == 200


@pytest.mark.sqlite
def test_a_run_that_is_removed_is_no_longer_found(tmp_path, looked):
    path = tmp_path / "copy.db"
    with closing(sqlite3.connect(looked.settings.store)) as driver:
        driver.execute("VACUUM INTO ?", (str(path),))
    store = open_store(path)
    with store.kept_open():
        runs = all_runs(store)
        for stored in runs:
            ensure_searchable_texts(stored, store)
        assert any(hit.kind == "quote" for hit in search("uvx", store))
        forget([one for one in runs if one.run.subject.model == "kimi-k2.5"], store)
        forget_missing(store)
        assert search("uvx", store) == []
        assert count_indexed(store) == len(runs) - 1
