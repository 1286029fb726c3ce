"""A secret in the name of a case or check: no page, address or form holds it, and its links lead to its page."""

import html
import random
import re
from urllib.parse import quote

import pytest
from soak.secret_strings import leaks, make

from errata.model import Attempt, Case, Check, Output, case_key
from errata.render.blocks_html import page_text
from errata.sources.errata_jsonl.lines import write_lines
from errata.testing import a_run
from errata.verbs.analyze import import_logs
from errata.verbs.store import open_store

SECRET = make("", "DEPLOY_KEY={32}", random.Random(4))
OF_SEVERAL_LINES = make("", "Private-Lines: 2\n{64b}\n{40b}\nPrivate-MAC: 0", random.Random(4))


@pytest.mark.parametrize("secret", [SECRET, OF_SEVERAL_LINES], ids=["of one line", "of several lines"])
def test_links_to_a_case_with_a_secret_in_its_name_lead_to_its_page_without_it(serve, tmp_path, secret):
    run = a_run()
    name = f"case {secret.text}"
    attempt = Attempt(
        run=run.id,
        case=case_key(run.suite, name),
        execution="completed",
        measurement="scored",
        outcome="fail",
        output=Output(text="It was another one"),
        checks=(Check(name=f"check {secret.text}", status="fail", value=f"wrong {secret.text}"),),
    )
    case = Case(run=run.id, suite=run.suite, native_id=name, input="Why?")
    (tmp_path / "run.jsonl").write_bytes(b"".join(write_lines([run, case, attempt])))
    store = open_store(tmp_path / "errata.db")
    with store.kept_open():
        import_logs([tmp_path / "run.jsonl"], store)
    store.engine.dispose()
    served = serve(tmp_path / "errata.db")

    seen, waiting = set(), [f"/runs/{run.id}", "/review", "/buckets"]
    while waiting:
        address = waiting.pop()
        seen.add(address)
        page = served.client.get(address, follow_redirects=True)
        assert page.status_code == 200, (address, page.text[:500])
        assert not leaks(secret, page.text + str(page.url)), address
        links = {html.unescape(link).partition("#")[0] for link in re.findall(r'href="(/[^"?]*)', page.text)}
        waiting += [link for link in links - seen if "redacted" in link and link not in waiting]
    assert any(address.startswith(f"/runs/{run.id}/cases/") for address in seen), seen
    assert any(address.startswith("/review/") for address in seen), seen
    assert served.client.get(f"/api/review/{quote(attempt.id, safe='')}").status_code == 200


def test_a_text_is_redacted_before_it_is_cut():
    assert not leaks(SECRET, page_text(f"it was {SECRET.text}", 40))
