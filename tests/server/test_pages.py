"""What every page has."""


def test_the_first_page_lists_the_runs_and_links_to_each(served):
    page = served.page("/")

    assert "<h1>Runs</h1>" in page
    assert 'href="/runs/' in page


def test_a_browser_shows_the_first_page_without_an_error(served, window):
    page = window()
    page.goto(served.url)

    assert page.title() == "Runs · errata"
    assert page.locator("tr.run").count() == 1


def test_a_request_for_another_name_is_refused(served):
    answer = served.client.get("/", headers={"Host": "rebound.example"})

    assert answer.status_code == 421
    assert "is not called by that name" in answer.text


def test_every_answer_carries_the_policy(served):
    for path in ("/", "/api/runs", "/static/page.css", "/nowhere", "/api/runs/nothing"):
        assert "default-src 'none'" in served.client.get(path).headers["content-security-policy"]
