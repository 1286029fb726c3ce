"""Compare, leaderboard, buckets and the store's page: from a number to the attempt behind it."""

import re
from html import unescape

import pytest
from tests.conftest import FIXTURES
from tests.suite_of_runs import import_suite

from errata.server.pages import compare
from errata.verbs.analyze import import_logs
from errata.verbs.buckets import list_buckets
from errata.verbs.store import all_runs, open_store

OUTCOMES = {
    "alpha": "----++++++++++++++++++++",
    "beta": "-+-++-++++++++++++++++++",
    "gamma": "-----------------=====--",
}


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    """Three models on one suite, and judged turns of another."""
    path = tmp_path_factory.mktemp("suite") / "errata.db"
    store = open_store(path)
    with store.kept_open():
        import_suite(store, OUTCOMES)
        import_logs([FIXTURES / "sources" / "conversation_bench" / "comparison" / "data"], store)
    store.engine.dispose()
    return path


@pytest.fixture
def boards(serve, suite):
    return serve(suite)


@pytest.fixture
def ids(boards):
    """Model → the ids of its runs."""
    runs = boards.client.get("/api/runs").json()["runs"]
    return {
        name: ",".join(run["run_id"] for run in runs if run["model"] == name) for name in {r["model"] for r in runs}
    }


def links(page):
    return [unescape(target) for target in re.findall(r'href="([^"]+)"', page)]


def test_a_failed_cell_of_the_matrix_leads_to_its_attempt(boards, ids):
    page = boards.page(f"/compare?runs={ids['alpha']},{ids['beta']}")

    assert "2 runs, 24 cases" in page
    assert f"/runs/{ids['alpha']}/cases/suite%2Fcase-00/1" in links(page)


def test_a_matrix_with_very_many_cases_has_an_overview_whose_parts_can_be_opened(boards, ids, monkeypatch):
    monkeypatch.setattr(compare, "MOST_COLUMNS", 4)
    address = f"/compare?runs={ids['alpha']},{ids['gamma']}"
    page = boards.page(address)
    parts = re.findall(r'<a href="([^"]*)"[^>]* aria-label="Cases ([0-9]+) to ([0-9]+)"', page)

    assert [int(first) for _, first, _ in parts] == list(range(1, 1 + 4 * len(parts), 4))
    assert "choose a part to see its cases" in page
    opened = boards.page(unescape(parts[1][0]))
    assert 'aria-current="true" aria-label="Cases 5 to 8"' in opened
    assert re.search(r"Cases 5 to 8 of [0-9]+\.", opened)


def test_the_matrix_and_the_card_count_the_same_cases_as_failed_by_all(boards, ids):
    page = boards.page(f"/compare?runs={ids['alpha']},{ids['beta']},{ids['gamma']}")

    [in_matrix] = re.findall(r"Failed by all <tspan>(\d+)</tspan>", page)
    [in_card] = re.findall(r"<h2>Failed by all <span class=\"note\">(\d+) cases", page)
    assert in_matrix == in_card == "2"


def test_the_test_behind_a_difference_is_named_with_its_correction(boards, ids):
    page = boards.page(f"/compare?runs={ids['alpha']},{ids['beta']},{ids['gamma']}")

    assert "exact McNemar, Holm" in page
    assert "alpha vs gamma" in page


def test_runs_that_cannot_be_compared_are_refused_with_the_reason(boards, ids):
    other = next(run for name, run in ids.items() if name.startswith("voice-") and "," not in run)
    answer = boards.client.get(f"/compare?runs={ids['alpha']},{other}")

    assert answer.status_code == 409
    assert "differ in suite" in answer.text


def test_without_runs_the_page_offers_those_of_the_store(boards, ids):
    page = boards.page("/compare")

    assert page.count('type="checkbox" name="runs"') == len(boards.client.get("/api/runs").json()["runs"])
    two = boards.client.get("/compare", params=[("runs", ids["alpha"]), ("runs", ids["gamma"])])
    assert "2 runs, 24 cases" in two.text


def test_models_share_a_rank_where_the_data_cannot_tell_them_apart(boards):
    page = boards.page("/leaderboard?suite=suite")

    ranks = re.findall(r'class="rank">([^<]+)</b><span class="who"><a[^>]*>([^<]+)</a>', page)
    assert ranks == [("1–2", "beta"), ("1–2", "alpha"), ("3", "gamma")]


def test_the_leaderboard_keeps_suites_apart_and_says_why_a_run_has_no_rank(boards):
    page = boards.page("/leaderboard")

    assert page.count('class="card board"') >= 2
    assert boards.client.get("/leaderboard?suite=nothing").status_code == 404


def test_the_history_of_a_model_shows_every_run(boards, ids):
    name = next(name for name, runs in ids.items() if "," in runs)
    page = boards.page(f"/leaderboard?model={name}")

    assert f"Every run of {name}" in page


def bucket_of(served):
    store = open_store(served.settings.store)
    listed = [one.bucket for one in list_buckets(store, all_runs(store)).listed if one.bucket.suite == "suite"]
    store.engine.dispose()
    return listed


def test_a_bucket_is_renamed_and_the_change_is_undone(boards):
    bucket = bucket_of(boards)[0]
    answer = boards.client.post(
        f"/buckets/{bucket.id}", data={"action": "rename", "title": "Counts from <b>one</b>"}, follow_redirects=True
    )

    assert "Counts from &lt;b&gt;one&lt;/b&gt;" in answer.text
    assert "<b>one</b>" not in answer.text

    boards.client.post("/buckets", follow_redirects=True)
    assert bucket_of(boards)[0].title == bucket.title


def test_ticked_failures_are_split_off_into_a_bucket_of_their_own(boards):
    bucket = next(one for one in bucket_of(boards))
    page = boards.page(f"/buckets/{bucket.id}")
    members = [unescape(one) for one in re.findall(r'name="member" value="([^"]+)"', page)]
    answer = boards.client.post(
        f"/buckets/{bucket.id}",
        data={"action": "split", "title": "Another cause", "member": members[:1]},
        follow_redirects=True,
    )

    assert "<h1>Another cause</h1>" in answer.text
    assert "1 failure ·" in answer.text


def test_a_bucket_without_support_cannot_be_confirmed(boards):
    bucket = bucket_of(boards)[0]
    answer = boards.client.post(f"/buckets/{bucket.id}", data={"action": "confirm"})

    assert answer.status_code == 400
    assert "To be final it needs" in boards.page(f"/buckets/{bucket.id}")


def test_a_change_of_a_bucket_from_another_site_is_refused(boards):
    bucket = bucket_of(boards)[0]
    headers = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    answer = boards.client.post(f"/buckets/{bucket.id}", data={"action": "rename", "title": "x"}, headers=headers)

    assert answer.status_code == 403
    assert bucket_of(boards)[0].title == bucket.title


def test_the_page_of_the_store_names_what_it_holds(boards):
    page = boards.page("/doctor")

    assert "not checked" in page
    assert "none found" in boards.page("/doctor?check=true")


def test_arrow_keys_move_through_the_matrix_and_no_page_is_wider_than_a_phone(boards, ids, window):
    page = window(viewport={"width": 390, "height": 800})
    page.goto(f"{boards.url}/compare?runs={ids['alpha']},{ids['beta']},{ids['gamma']}")
    page.locator(".matrix a").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    focused = page.evaluate("document.activeElement.querySelector('title').textContent")

    assert focused.startswith("beta, case-")
    for path in ("/compare", "/leaderboard", "/buckets", f"/buckets/{bucket_of(boards)[0].id}", "/doctor"):
        page.goto(boards.url + path)
        assert page.evaluate("document.documentElement.scrollWidth") == 390, path
