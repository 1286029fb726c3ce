"""The page of a run: its head, its filters, and a list that loses no failure."""

import re
import time
from html import unescape

import pytest
from tests.server.look_store import MANY

RUN = re.compile(r'href="/runs/([0-9a-f]{16})"')


def run_id(looked, name):
    listed = looked.client.get("/api/runs").json()["runs"]
    return next(one["run_id"] for one in listed if one["run"].startswith(name) or one["model"].startswith(name))


def cases(page):
    return re.findall(r'<td class="case"><a class="open" href="[^"]*">([^<]*)</a>', page)


def test_a_run_is_found_by_a_part_of_its_name_and_its_id_replaces_it(looked):
    answer = looked.client.get("/runs/kimi-k2.5?owner=E")

    assert answer.status_code == 302
    assert answer.headers["location"] == f"/runs/{run_id(looked, 'kimi')}?owner=E"


def test_an_unknown_run_is_a_page_that_says_so(looked):
    answer = looked.client.get("/runs/nothing-like-it")

    assert answer.status_code == 404
    assert "No run matches" in answer.text
    assert looked.client.get("/runs/a%00b").status_code == 404


def test_the_page_shows_score_owners_and_groups_with_the_line_that_proves_them(looked):
    page = looked.page(f"/runs/{run_id(looked, 'kimi')}")

    assert "<h1>kimi-k2.5" in page
    assert 'aria-label="strict: 0.0 %' in page
    assert "uvx: command not found (the tests never ran)" in page
    assert re.search(r"/cases/[^\"/]*pypi-server/1#verifier-17", page), re.findall(r"/cases/[^\"]*", page)
    assert "errata analyze" in page


def test_pages_without_script_show_every_failure_once(looked):
    address, seen = f"/runs/{run_id(looked, 'many')}?group=none", []
    while address:
        page = looked.page(address)
        seen += cases(page)
        following = re.search(r'class="next">.*?href="([^"]*)"', page)
        address = unescape(following[1]) if following else ""

    assert sorted(seen) == [f"c{at:03}" for at in range(MANY)]


@pytest.mark.parametrize("sort", ["case", "-tokens", "-duration"])
def test_every_order_pages_through_all_of_them(looked, sort):
    address, seen = f"/runs/{run_id(looked, 'many')}/rows?group=none&sort={sort}", []
    while address:
        page = looked.page(address)
        seen += cases(page)
        following = re.search(r'data-rows="([^"]*)"', page)
        address = unescape(following[1]) if following else ""

    assert len(seen) == len(set(seen)) == MANY


def test_filters_narrow_the_list_and_each_number_is_that_of_its_list(looked):
    run = run_id(looked, "many")
    facets = looked.client.get(f"/api/runs/{run}/facets").json()
    for name, values in (("category", facets["category"]), ("owner", facets["owner"])):
        for value, count in values.items():
            narrowed = looked.client.get(f"/api/runs/{run}/facets", params={name: value}).json()
            assert narrowed["total"] == count
            assert narrowed[name] == values


def test_a_filter_that_nothing_fits_says_which_to_remove(looked):
    page = looked.page(f"/runs/{run_id(looked, 'many')}?category=area+1&check=nothing")

    assert "Nothing matches these filters" in page
    assert "check: nothing ✕" in page


def test_words_of_the_filter_field_work_as_filters(looked):
    run = run_id(looked, "kimi")
    by_word = looked.page(f"/runs/{run}?q=owner:environment&group=none")

    assert cases(by_word) == cases(looked.page(f"/runs/{run}?owner=E&group=none"))
    assert cases(by_word) == ["polyglot-rust-c", "pypi-server"]


@pytest.mark.parametrize("text", ['"', "*", "-", "(", "a AND", "%_\\\\", "\x00", "é😀", "owner:"])
def test_no_text_breaks_the_filter_field(looked, text):
    assert looked.client.get(f"/runs/{run_id(looked, 'kimi')}", params={"q": text}).status_code == 200


def test_an_owner_or_a_cursor_that_does_not_exist_is_refused_in_words(looked):
    run = run_id(looked, "many")

    assert looked.client.get(f"/runs/{run}?owner=X").status_code == 400
    assert "is not an owner" in looked.client.get(f"/runs/{run}?owner=X").text
    assert looked.client.get(f"/runs/{run}?cursor=%2Fetc").status_code == 400
    assert looked.client.get(f"/runs/{run}?group=moon").status_code == 400


def test_a_run_without_failures_says_that_there_is_nothing_to_analyse(looked):
    page = looked.page(f"/runs/{run_id(looked, 'passed')}")

    assert "All passed: nothing to analyse." in page


def test_groupings_show_the_same_failures(looked):
    run = run_id(looked, "kimi")
    for group in ("bucket", "owner", "check", "category", "none"):
        assert len(cases(looked.page(f"/runs/{run}?group={group}"))) == 4


def test_the_list_of_runs_shows_health_score_and_owners_and_can_be_filtered(looked):
    page = looked.page("/")
    only = looked.page("/?q=model:kimi")

    assert page.count('<tr class="run"') >= 5
    assert only.count('<tr class="run"') == 1
    assert "Nothing matches <code>moon</code>" in looked.page("/?q=moon")


def test_passes_are_one_key_away_and_suspicious_ones_come_first(looked):
    page = looked.page(f"/runs/{run_id(looked, 'passed')}/passes")

    assert "No suspicious passes among 1" in page
    assert 'data-key="p"' in page


def test_the_top_bar_counts_failures_that_nobody_has_reviewed(looked):
    runs = looked.client.get("/api/runs").json()["runs"]
    failures = sum(
        looked.client.get(f"/api/runs/{one['run_id']}/facets").json()["review"].get("open", 0) for one in runs
    )
    deadline = time.monotonic() + 20
    while not (shown := re.search(r'<b class="todo" title="([0-9]+) not reviewed">', looked.page("/"))):
        assert time.monotonic() < deadline
        time.sleep(0.1)

    assert int(shown[1]) == failures


def test_failures_are_moved_to_a_cause_that_is_named(served):
    run = served.client.get("/api/runs").json()["runs"][0]["run_id"]
    listed = served.client.get(f"/api/runs/{run}/failures").json()["failures"]
    causes = served.client.get(f"/api/buckets?alone=true&runs={run}").json()["buckets"]
    chosen = next(one for one in listed if one["bucket"]["id"] != causes[0]["id"])["attempt_id"]
    form = {"attempt": chosen, "to": causes[0]["title"]}
    answer = served.client.post(f"/runs/{run}/move", data=form, headers={"Origin": served.url})

    assert answer.status_code == 303, answer.text
    now = served.client.get(f"/api/runs/{run}/failures?bucket={causes[0]['id']}").json()["failures"]
    assert chosen in [one["attempt_id"] for one in now]
    for data in ({"to": "x"}, {**form, "attempt": "1"}, {**form, "attempt": chosen.replace(run, "0" * 16)}):
        wrong = served.client.post(f"/runs/{run}/move", data=data, headers={"Origin": served.url})
        assert wrong.status_code == 400
