"""What a run's page states beside its failures: whose cost it is, and how each owner's failures are proven."""

import re
import shutil

import pytest
from starlette.testclient import TestClient

from errata.server.app import build_app
from errata.settings import Settings
from terminal import FIXTURES, done


def page_of(tmp_path, *paths):
    store = tmp_path / "errata.db"
    done("import", *paths, "--store", store)
    run_id = done("runs", "--json", "--store", store).rows[0]["run_id"]
    with TestClient(build_app(Settings(store=store)), base_url="http://127.0.0.1") as client:
        text = client.get(f"/runs/{run_id}").text
    return " ".join(re.sub(r"<[^>]*>", " ", text).split())


def test_the_cost_of_the_simulated_user_is_not_shown_as_the_runs(tmp_path):
    page = page_of(tmp_path, FIXTURES / "tau_bench/tau")

    assert "agent unknown · simulated user $" in page


def test_the_owners_say_what_is_supported_and_what_is_presumed(tmp_path):
    page = page_of(tmp_path, FIXTURES / "convex_evals/run_b/data/run-b")

    assert re.search(r"model .{0,20}1 supported, 5 presumed: ", page)


@pytest.mark.parametrize("words", [(), ("--html",)])
def test_a_report_with_the_name_of_a_page_is_that_file(tmp_path, words):
    done("import", FIXTURES / "convex_evals/run_b/data/run-b", "--store", tmp_path / "errata.db")
    done("report", "latest", *words, "-o", tmp_path / "page.html", "--store", tmp_path / "errata.db")

    assert (tmp_path / "page.html").is_file()
    assert (tmp_path / "page.md").is_file()


def test_runs_that_look_the_same_are_listed_with_their_folders(tmp_path):
    log = (FIXTURES / "convex_evals/run_b/data/run-b").resolve()
    store = tmp_path / "errata.db"
    for at, name in enumerate(("exp1", "exp2")):
        shutil.copytree(log, tmp_path / name / "run-b")
        for file in (tmp_path / name / "run-b").rglob("*.json"):
            file.write_text(file.read_text("utf-8").replace("jn7mqywb", f"jn7mqyw{at}"), encoding="utf-8")
    done("import", tmp_path / "exp1", tmp_path / "exp2", "--store", store)
    with TestClient(build_app(Settings(store=store)), base_url="http://127.0.0.1") as client:
        rows = re.findall(r'<tr class="run".*?</tr>', client.get("/").text, re.DOTALL)

    assert len(rows) == len({re.sub(r"<[^>]*>", " ", row) for row in rows}) == 2
