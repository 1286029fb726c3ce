"""The review page in a real browser: whole reviews by keyboard, two people at once, a server that stops."""

import re
from urllib.parse import quote

from playwright.sync_api import Page, expect
from tests.server.axe import violations, violations_in_both_themes

from errata.store.reviews import verdicts_of
from errata.verbs.store import all_runs, open_store

RUN = "66a3ec6d795a0548"
INDEX = f"{RUN}:convex-evals/001-data_modeling/003-optional_index#1"


def page_of(attempt: str) -> str:
    return f"/review/{quote(attempt, safe='')}"


def verdicts(store_path, *, withdrawn=False):
    store = open_store(store_path)
    runs = [one.run.id for one in all_runs(store)]
    found = [one for run in runs for one in verdicts_of(store, run, withdrawn=withdrawn)]
    store.engine.dispose()
    return [one for one in found if one.inherited_from is None]


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def title(page: Page) -> str:
    return page.locator("#item-title").evaluate("heading => heading.firstChild.textContent.trim()")


def saved(page: Page) -> None:
    expect(page.locator("#saved")).to_contain_text("Saved")
    expect(page.locator("#unsaved")).to_be_empty()


def test_ten_failures_are_reviewed_by_keyboard_then_everything_is_undone(desk, desk_store, window):
    page = window(viewport={"width": 1440, "height": 900})
    page.goto(f"{desk.url}/review")
    seen = []
    for number in range(10):
        name = title(page)
        heading = page.locator("#item-title").aria_snapshot()
        assert name in heading
        assert re.search(r"\d+ of \d+", heading), number
        assert "one reading, triage:" in heading
        assert page.evaluate("document.activeElement.id") == "item-title"
        form = page.locator("form.verdict").aria_snapshot()
        assert 'radio "model"' in form
        assert 'button "Save and next' in form
        # the reading of triage fills the form where it has a quote; else a line is quoted
        press(page, "m")
        assert page.locator("input[name=owner]:checked").input_value() == "model"
        press(page, "1", "j", "q", "=")
        expect(page.locator("#quotes li")).to_contain_text("✓")
        press(page, "Enter")
        expect(page.locator("#item-title")).not_to_contain_text(re.compile(rf"^{re.escape(name)} "))
        seen.append(name)
    assert len(set(seen)) == 10
    saved(page)
    expect(page.locator(".prog b")).to_have_text("10 of 13")
    assert {(one.owner, one.confidence, one.reviewer.kind, one.reviewer.name) for one in verdicts(desk_store)} == {
        ("model", "certain", "person", "ada")
    }

    press(page, *"z" * 60)
    expect(page.locator(".prog b")).to_have_text("0 of 13", timeout=30_000)
    expect(page.locator("#saved")).to_contain_text("Undone")
    assert verdicts(desk_store) == []
    assert len(verdicts(desk_store, withdrawn=True)) == 20


def review(page: Page, owner: str = "m") -> str:
    """One failure with the first line that can be evidence; the name of it."""
    name = title(page)
    press(page, owner, "1", "j", "q")
    expect(page.locator("#quotes li")).to_contain_text("✓")
    press(page, "Enter")
    return name


def test_a_verdict_needs_an_owner_and_a_quote_and_says_so_in_place(desk, desk_store, window):
    page = window(viewport={"width": 1440, "height": 900})
    page.goto(desk.url + page_of(INDEX))
    press(page, "Enter")
    expect(page.locator("#problem-owner")).to_contain_text("Choose an owner")
    press(page, "Escape", "m", "Enter")
    expect(page.locator("#problem-evidence")).to_contain_text("A verdict needs a quote")
    assert page.evaluate("document.activeElement.closest('details').id") == "field-evidence"
    # a fault of the grader does not show in what the model wrote
    press(page, "Escape", "g", "j")
    while ".index(" not in page.locator(".ln.cur").inner_text():
        press(page, "k")
    press(page, "q")
    expect(page.locator("#quotes li")).to_contain_text("✓")
    press(page, "Enter")
    expect(page.locator("#problem-evidence")).to_contain_text("needs a quote from the check or the task")
    assert violations_in_both_themes(page) == []
    # the reading of triage fills the whole form; undo brings back what was there
    press(page, "Escape", "ArrowLeft")
    assert page.locator("input[name=owner]:checked").input_value() == "model"
    expect(page.locator("#quotes li code")).to_have_text(re.compile("reserved name"))
    press(page, "z")
    assert page.locator("input[name=owner]:checked").input_value() == "grader"
    press(page, "Z", "n")
    page.keyboard.type("q and z are letters here")
    press(page, "Escape", "=", "Enter")
    saved(page)
    [verdict] = verdicts(desk_store)
    assert (verdict.owner, verdict.confidence, verdict.reasoning) == ("model", "likely", "q and z are letters here")
    # a draft is kept while others are looked at
    first = title(page)
    press(page, "p", "]", "[")
    expect(page.locator("#item-title")).to_contain_text(first)
    expect(page.locator("input[name=owner][value=provider]")).to_be_checked()
    press(page, "?")
    expect(page.locator("dialog#keys")).to_be_visible()
    assert violations(page) == []


def test_two_people_on_one_failure_lose_nothing(server_for, desk_store, window):
    ada, ben = server_for("ada"), server_for("ben")
    hers, his = window(viewport={"width": 1440, "height": 900}), window(viewport={"width": 1440, "height": 900})
    hers.goto(ada.url + page_of(INDEX))
    his.goto(f"{ben.url}/review")
    assert title(his) != title(hers), "what Ada reads is not offered to Ben"
    his.goto(ben.url + page_of(INDEX))
    expect(his.locator(".strip")).to_have_text("ada is reading this.")
    press(his, "u", "j", "q")
    expect(his.locator("#quotes li")).to_contain_text("✓")

    review(hers)
    saved(hers)
    # the other browser shows it by itself (soak measures how soon); what Ben had seen stays what it was
    expect(his.locator(".reading .by", has_text="ada")).to_be_visible(timeout=15_000)
    press(his, "Enter")
    expect(his.locator("#conflict")).to_contain_text("ada saved a verdict meanwhile: model")
    assert his.locator("input[name=owner]:checked").input_value() == "unknown"
    assert [one.reviewer.name for one in verdicts(desk_store)] == ["ada"]
    assert violations(his) == []
    his.get_by_role("button", name="Keep both as two verdicts").press("Enter")
    saved(his)

    assert [(one.reviewer.name, one.owner) for one in verdicts(desk_store)] == [("ada", "model"), ("ben", "unknown")]


def test_verdicts_wait_while_the_server_is_away_and_arrive_once(desk, desk_store, window):
    page = window(viewport={"width": 1440, "height": 900})
    page.goto(f"{desk.url}/review")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(500)
    press(page, "m", "1", "j", "q")
    expect(page.locator("#quotes li")).to_contain_text("✓")
    desk.stop()
    press(page, "Enter")
    expect(page.locator("#unsaved")).to_have_text("Not saved: the server is not answering. 1 verdict waits here.")
    second = title(page)
    press(page, "m", "1", "j", "q", "Enter")
    expect(page.locator("#unsaved")).to_have_text("Not saved: the server is not answering. 2 verdicts wait here.")
    assert title(page) != second, "what was fetched ahead is there without the server"
    assert verdicts(desk_store) == []

    desk.start()
    expect(page.locator("#unsaved")).to_be_empty(timeout=10_000)
    saved(page)
    assert len(verdicts(desk_store)) == 2
    page.reload()
    expect(page.locator(".prog b")).to_have_text("2 of 13")
    assert len(verdicts(desk_store, withdrawn=True)) == 2


def test_a_server_that_answers_with_errors_is_not_asked_for_ever_and_the_verdict_is_kept(desk, desk_store, window):
    page = window(viewport={"width": 1440, "height": 900})
    page.clock.install()
    asked = []
    page.route("**/api/review/*/verdict", lambda route: (asked.append(1), route.fulfill(status=500, json={"id": "x7"})))
    page.goto(f"{desk.url}{page_of(INDEX)}")
    press(page, "m", "1", "j", "q", "Enter")
    while len(asked) < 4:
        page.clock.run_for(5_000)
    alarm = page.locator("#unsaved")
    expect(alarm).to_contain_text("the server answers with an error (500, id x7)")
    expect(alarm).to_contain_text("kept in this browser")
    page.clock.run_for(120_000)
    assert len(asked) == 4
    assert verdicts(desk_store) == []

    page.unroute("**/api/review/*/verdict")
    page.get_by_role("button", name="Try again").click()
    page.clock.run_for(5_000)
    saved(page)
    assert len(verdicts(desk_store)) == 1

    put_off = title(page)
    press(page, "x")
    page.clock.run_for(1_000)
    expect(page.locator("#item-title")).not_to_contain_text(re.compile(rf"^{re.escape(put_off)} "))
    expect(page.locator(".queue a.later")).to_have_count(1)


def test_everything_works_without_script(desk, desk_store, window):
    page = window(java_script_enabled=False, viewport={"width": 1440, "height": 900})
    page.goto(desk.url + page_of(INDEX))
    page.get_by_role("button", name="Save and next").click()
    assert "Choose an owner" in page.locator("#problem-owner").inner_text()
    page.get_by_role("radio", name="model", exact=True).check()
    page.get_by_role("radio", name=re.compile("MODEL_FAULT")).check()
    page.get_by_role("checkbox", name="Quote line 2 of checks/deploy").check()
    page.get_by_role("button", name="Save and next").click()

    assert page.locator(".foot .saved").inner_text().startswith("Saved.")
    assert title_without_script(page) != "001-data_modeling/003-optional_index"
    [verdict] = verdicts(desk_store)
    assert [(one.place, one.lines) for one in verdict.evidence] == [("checks/deploy", (2, 2))]
    page.get_by_role("button", name="Undo").click()
    assert title_without_script(page) == "001-data_modeling/003-optional_index"
    assert verdicts(desk_store) == []
    # a typed quote; and what is alike is listed before it is saved
    page.get_by_role("radio", name="model", exact=True).check()
    page.get_by_role("radio", name=re.compile("MODEL_FAULT")).check()
    page.get_by_label("type quotes").fill("uses a reserved word")
    page.get_by_role("button", name="Save and next").click()
    assert "uses a reserved name`" in page.locator("#problem-evidence").inner_text()


def title_without_script(page: Page) -> str:
    return page.locator("#item-title").inner_text().partition(" ,")[0].partition("\n")[0].strip()


def test_on_a_phone_the_form_is_a_sheet_below_the_packet(desk, desk_store, window):
    page = window(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page.goto(desk.url + page_of(INDEX))
    owners = [page.locator(".og .o").nth(at).bounding_box() for at in range(10)]
    assert len({round(box["x"]) for box in owners}) == 5
    assert all(box["height"] >= 44 for box in owners)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert violations_in_both_themes(page) == []
    page.locator(".og .o", has_text="model").tap()
    page.locator(".ln", has_text="uses a reserved name").first.tap()
    page.locator(".ln .tools button").first.tap()
    expect(page.locator("#value-evidence")).to_have_text("1 quote")
    page.get_by_role("button", name="Save and next").tap()
    saved(page)
    assert [one.owner for one in verdicts(desk_store)] == ["model"]


def test_one_key_twice_saves_for_all_that_are_alike_and_one_undo_takes_all_back(desk, desk_store, window):
    page = window(viewport={"width": 1440, "height": 900})
    page.goto(f"{desk.url}/review?run={RUN}")
    while page.get_by_role("button", name=re.compile("Save for all 3 with this failure key")).count() == 0:
        passed = page.url
        press(page, "]")
        expect(page).not_to_have_url(passed)
    press(page, "m")
    line = page.locator(".ln.cur code")
    for _ in range(page.locator(".packet .ln").count()):
        if line.count() and "tests: tests failed" in (line.text_content() or ""):
            break
        press(page, "j")
    expect(line).to_contain_text("tests: tests failed")
    press(page, "q")
    expect(page.locator("#quotes li")).to_contain_text("✓")
    press(page, "Shift+Enter")
    expect(page.locator("#alike")).to_contain_text("verdicts will be saved")
    assert verdicts(desk_store) == []
    press(page, "Shift+Enter")
    expect(page.locator("#saved")).to_contain_text("alike")
    count = len(verdicts(desk_store))
    assert count > 1
    press(page, "z")
    expect(page.locator(".prog b")).to_have_text("0 of 9")
    expect(page.locator("#saved")).to_contain_text("Undone")
    for _ in range(100):  # one request takes back each
        if not verdicts(desk_store):
            break
        page.wait_for_timeout(100)
    assert verdicts(desk_store) == []
