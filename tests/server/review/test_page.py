"""The review page as plain forms."""

import re
from html import unescape
from urllib.parse import quote

from tests.server.review.test_review_api import INDEX, RUN, item, queue, save

FORM = {
    "owner": "model",
    "label": "MODEL_FAULT",
    "cause": "The index has a reserved name",
    "line": "2:checks/deploy",
    "confidence": "certain",
    "do": "save",
}


def address(attempt=INDEX):
    return f"/review/{quote(attempt, safe='')}"


def shown(page: str, name: str) -> str:
    return re.search(rf'name="{name}" value="([^"]*)"', page)[1]


def test_the_first_free_failure_is_shown_and_the_queue_says_who_reads_another(server_for):
    ada, ben = server_for("ada"), server_for("ben")
    first = ada.client.get("/review").headers["location"]
    ada.client.get(first)

    other = ben.client.get("/review").headers["location"]

    assert first != other
    assert "ada is reading" in ben.client.get(other).text


def test_a_page_that_is_only_fetched_ahead_is_not_claimed(server_for):
    ada, ben = server_for("ada"), server_for("ben")
    ada.client.get(address(), headers={"X-Errata-Prefetch": "1"})

    assert item(ben.client)["in_hand"] == []


def test_a_saved_form_leads_to_the_next_failure_with_an_undo(desk):
    answer = desk.client.post(address(), data=FORM)

    assert answer.status_code == 303
    page = desk.client.get(answer.headers["location"]).text
    assert "Saved." in page
    assert 'value="undo"' in page
    assert "003-optional_index</span><span" not in page.partition('class="group">Done')[0]


def test_the_same_form_sent_twice_saves_once(desk):
    sent = FORM | {"request": shown(desk.client.get(address()).text, "request")}

    assert [desk.client.post(address(), data=sent).status_code for _ in range(2)] == [303, 303]
    assert len([one for one in item(desk.client)["readings"] if one["verdict"]]) == 1


def test_somebody_elses_verdict_is_shown_beside_the_form_with_both_choices(server_for):
    ada, ben = server_for("ada"), server_for("ben")
    before = ben.client.get(address()).text
    save(ada.client)

    answer = ben.client.post(address(), data=FORM | {"owner": "unknown", "label": "", "seen": shown(before, "seen")})
    page = unescape(answer.text)

    assert answer.status_code == 409
    assert "ada saved a verdict meanwhile." in page
    assert "Keep both as two verdicts" in page
    assert "Discard mine" in page
    assert 'value="unknown" checked' in page
    again = ben.client.post(
        address(), data=FORM | {"owner": "unknown", "label": "", "seen": shown(answer.text, "seen")}
    )
    assert again.status_code == 303
    assert [one["by"] for one in item(ben.client)["readings"]] == ["triage", "ada", "ben"]


def test_what_is_alike_is_listed_with_its_count_before_it_is_saved(desk):
    first = f"{RUN}:convex-evals/002-queries/001-text_lookup#1"
    form = FORM | {"line": "", "quotes": "[error] tests: tests failed", "do": "alike-key"}

    listed = desk.client.post(address(first), data=form)
    assert listed.status_code == 200
    assert "3 verdicts will be saved:" in listed.text
    assert queue(desk.client)["done"] == 0
    attempts = [unescape(one) for one in re.findall(r'name="attempt" value="([^"]*)"', listed.text)]
    saved = desk.client.post(address(first), data=form | {"do": "alike-save", "attempt": attempts})

    assert saved.status_code == 303
    assert queue(desk.client)["done"] == 3


def test_later_gives_the_failure_back_and_goes_on(server_for):
    ada, ben = server_for("ada"), server_for("ben")
    ada.client.get(address())

    answer = ada.client.post(address(), data={"do": "later"})

    assert answer.status_code == 303
    assert answer.headers["location"] != address()
    assert item(ben.client)["in_hand"] == []


def test_an_empty_queue_and_a_filter_without_a_match_say_what_to_do_next(desk):
    page = desk.client.get("/review?owner=simulator").text

    assert "Nothing matches" in page
    assert "Change the filter" in page


def test_at_the_end_the_page_counts_and_names_the_agreement_with_others(server_for):
    desk, ben = server_for("ada"), server_for("ben")
    attempts = [one["attempt"] for one in queue(desk.client, run=RUN)["items"]]
    draft = {"owner": "unknown", "label": "", "cause": "Nobody knows"}
    for at, attempt in enumerate(attempts):
        lines = [one for one in item(desk.client, attempt)["packet"]["places"] if one["place"] in ("run.log", "error")]
        evidence = [{"place": lines[0]["place"], "quote": lines[0]["text"].strip().splitlines()[-1]}]
        given_draft = draft | {"evidence": evidence} | ({"owner": "model", "label": "MODEL_FAULT"} if at % 2 else {})
        assert save(desk.client, attempt=attempt, draft=given_draft).status_code == 200
        if at < 2:
            assert save(ben.client, attempt=attempt, draft=given_draft).status_code == 200

    page = desk.client.get("/review", params={"run": RUN}).text

    assert "Queue empty" in page
    assert re.search(r"9 of 9 reviewed, \d changed the owner\.", page)
    assert "Kappa with ben: 1.00, over 2 failures." in page


def test_texts_of_a_log_are_text(desk):
    page = desk.client.get(address(f"{RUN}:convex-evals/005-idioms/003-shared_validator#1")).text

    assert "<script>alert" not in page
    assert not re.search(r'\sstyle="', page)
    assert not re.search(r"<script(?![^>]*\ssrc=)", page)
