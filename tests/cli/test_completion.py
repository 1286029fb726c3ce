"""Tab completes commands, runs, cases, buckets and owners."""

import pytest
from click.shell_completion import ShellComplete

from errata.cli.app import app
from terminal import FIXTURES, done, import_fixtures

COMPARISON = FIXTURES / "conversation_bench" / "comparison" / "data"


def offered(*words, incomplete=""):
    items = ShellComplete(app, {}, "errata", "_ERRATA_COMPLETE").get_completions(list(words), incomplete)
    return {item.value: item.help for item in items}


@pytest.fixture
def four_runs():
    import_fixtures(COMPARISON)


def test_commands_are_offered_with_what_they_do():
    assert offered(incomplete="comp") == {"compare": app.table["compare"][1]}
    assert "status" in offered("review")


def test_runs_are_offered_with_their_models(four_runs):
    runs = offered("failures")

    assert {"latest", "1a2b3c4d", "9c0d1e2f"} <= set(runs)
    assert "voice-beta" in runs["9c0d1e2f"]
    assert set(offered("compare", "1a2b3c4d", incomplete="9c")) == {"9c0d1e2f"}


def test_cases_are_offered_behind_their_run(four_runs):
    assert "9c0d1e2f/turn-11" in offered("show", incomplete="9c0d1e2f/turn-1")
    assert "9c0d1e2f/turn-11" in offered("show", incomplete="9c0d1e2f/")
    assert "turn-11" in offered("failures", "9c0d1e2f", "--case", incomplete="turn-1")
    assert "9c0d1e2f/turn-11" in offered("failures", "--like", incomplete="9c0d1e2f/turn-1")


def test_buckets_are_offered(four_runs):
    slugs = {row["slug"] for row in done("buckets", "list", "--json").rows}

    assert slugs
    assert set(offered("buckets", "show")) >= slugs


def test_the_store_that_is_named_is_asked(four_runs, tmp_path):
    assert "9c0d1e2f" not in offered("--store", str(tmp_path / "other.db"), "failures")
    assert "9c0d1e2f" not in offered("failures", "--store", str(tmp_path / "other.db"))


def test_a_store_that_is_no_store_offers_nothing(tmp_path):
    (tmp_path / "broken.db").write_text("this is text")

    assert offered("show", "--store", str(tmp_path / "broken.db"), incomplete="a") == {}
