"""`errata failures --like`: the same failure over models, runs and earlier reports, and what was done about it."""

import shutil

import pytest

from terminal import done, errata, example_without_assertions

REPORT = """\
# Run zz9drift

Model: zeta/drift-1
Date: 2026-01-15

| Eval | Failed step | Classification | Reasoning |
|---|---|---|---|
| 000-fundamentals/002-http_greeting | eslint | OVERLY_STRICT | Unused argument in the handler |
| 005-idioms/004-pick_primitive | tests | MODEL_FAULT | The table uses a reserved name for its index |

## Actions taken

1. 2026-03-04: `eslint.config.mjs` ignores unused arguments (addresses 000-fundamentals/002-http_greeting).
"""
GREETING, INDEX = "jn7mqywb/000-fundamentals/002-http_greeting", "jn7mqywb/001-data_modeling/003-optional_index"

FOUR = ("1a2b3c4d", "3a4b5c6d", "5e6f7a8b", "9c0d1e2f")


@pytest.fixture(scope="module")
def own(library, tmp_path_factory):
    """Models and runs of three missions, to be changed."""
    return shutil.copy(library, tmp_path_factory.mktemp("like") / "errata.db")


@pytest.fixture
def reports(tmp_path):
    folder = tmp_path / "by-hand"
    folder.mkdir()
    (folder / "drift-1.md").write_text(REPORT)
    return folder


def like(own, text, *words):
    return done("failures", "--like", text, "--store", own, "--json", *words).row


@pytest.mark.req("A-10")
def test_the_same_failure_is_found_in_runs_of_other_models(own):
    answer = like(own, "3a4b5c6d/turn-11", *FOUR)

    where = [(one["date"][:10], one["model"], one["case"], one["match"]) for one in answer["failures"]]
    assert where == [
        ("2026-03-01", "voice-alpha", "turn-11", "same_check"),
        ("2026-03-01", "acme/voice-gamma", "turn-20", "same_bucket"),
        ("2026-03-01", "voice-beta", "turn-11", "same_bucket"),
        ("2026-03-01", "voice-alpha", "turn-11", "same_bucket"),
    ]
    assert (answer["count"], answer["runs"]) == (4, 4)
    assert answer["models"] == {"voice-alpha": 2, "acme/voice-gamma": 1, "voice-beta": 1}


@pytest.mark.req("A-10")
def test_hand_written_reports_are_searched_by_case_and_check(own, reports):
    answer = like(own, GREETING, "--reports", reports)

    (entry,) = answer["reports"]
    assert (entry["match"], entry["model"], entry["date"]) == ("same_check", "zeta/drift-1", "2026-01-15")
    assert (entry["label"], entry["report"], entry["line"]) == ("OVERLY_STRICT", "by-hand/drift-1.md", 8)


@pytest.mark.req("A-10")
def test_hand_written_reports_are_searched_by_text(own, reports):
    answer = like(own, INDEX, "--reports", reports)

    assert [(one["match"], one["case"]) for one in answer["reports"]] == [
        ("similar_text", "005-idioms/004-pick_primitive")
    ]
    assert [(one["run"][:8], one["match"]) for one in answer["failures"]] == [("jn709tmj", "same_key")]


@pytest.mark.req("A-10")
def test_a_text_is_searched_in_every_suite(own):
    answer = like(own, "empty provider response")

    found = {(one["match"], one["model"]) for one in answer["failures"]}
    assert {("same_text", "acme/nimbus-2-coder"), ("similar_text", "voice-alpha")} <= found
    assert answer["failures"][0]["match"] == "same_text"
    assert answer["like"]["case"] is None


def test_a_key_that_states_only_that_a_check_failed_makes_nothing_the_same(tmp_path):
    """`tests failed (60%)` is the key of every wrong answer where the log has no assertion."""
    own = tmp_path / "errata.db"
    done("import", example_without_assertions(tmp_path / "example"), "--store", own)
    answer = like(own, "jn7mqywb/004-actions/003-rate_limit_guard")

    assert answer["like"]["failure_key"]["exact"] == "tests:tests failed (<n>%)"
    keys = [one["failure_key"]["exact"] for one in done("failures", "latest", "--store", own, "--json").rows]
    assert keys.count("tests:tests failed (<n>%)") == 3
    assert {one["match"] for one in answer["failures"]} == {"same_bucket"}


def test_known_gaps_of_these_cases_are_shown(own, tmp_path):
    store = shutil.copy(own, tmp_path / "errata.db")
    done("known", "add", "002-http_greeting", "--text", "The linter is too strict", "--store", store)

    (gap,) = like(store, GREETING)["known_gaps"]

    assert (gap["gap"]["text"], gap["failures"]) == ("The linter is too strict", 1)


def test_only_named_runs_and_reports_about_their_models_are_searched(own, reports):
    everywhere = like(own, GREETING, "--reports", reports)
    answer = like(own, GREETING, "jn7mqywb", "jn709tmj", "--reports", reports)

    assert (answer["searched_runs"], everywhere["searched_runs"] > 2) == (2, True)
    assert [one["run"][:8] for one in answer["failures"]] == ["jn709tmj"]
    assert answer["reports"] == []


def test_an_excluded_run_is_searched_only_by_name(own, tmp_path):
    store = shutil.copy(own, tmp_path / "errata.db")
    done("exclude", "jn709tmj", "--reason", "outage", "--store", store)

    assert errata("failures", "--like", GREETING, "--store", store).code == 2
    assert like(store, GREETING, "jn709tmj")["count"] == 1


def test_the_page_shows_how_often_where_why_and_what_was_done(own, reports):
    page = done("failures", "--like", GREETING, "--store", own, "--reports", reports).out

    assert "1 other failure in 1 of " in page
    assert "1 entry in 1 report" in page
    assert "same case and check" in " ".join(page.split())
    assert "OVERLY_STRICT" in page
    assert "by-hand/drift-1.md:8" in page
    assert "worked     000-fundamentals/002-http_greeting passes now" in page


def test_of_many_failures_a_page_lists_a_few_of_each_run_and_counts_all(own):
    short = done("failures", "--like", "The session was over since turn 24; no answer", "--store", own).out
    whole = done("failures", "--like", "The session was over since turn 24", "--limit", 50, "--store", own).out

    assert "5 failures in 1 of " in short
    assert "2 more: `--limit 5` lists them" in short
    assert whole.count("9c0d1e2f") == 5


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("zebra crossing", "and no earlier report is like `zebra crossing`", "try fewer, rarer words of the message"),
        ("404", "`404` contains no word to search for", "give RUN/CASE"),
        ("jn7mqywb", "is a run, not a failure", "name a case, `--like RUN/CASE`"),
        ("jn7mqywb/002-queries/009-x", "has no case `002-queries/009-x`", "did you mean"),
        ("jn7maewn/000-fundamentals/002-http_greeting", "did not fail in", "lists those that failed"),
    ],
)
def test_what_has_no_like_is_an_error_that_helps(own, text, problem, hint):
    result = errata("failures", "--like", text, "--store", own)

    assert result.code == 2
    assert problem in result.talk
    assert hint in result.talk


def test_filters_and_a_missing_run_are_refused(own):
    filtered = errata("failures", "--like", GREETING, "--owner", "model", "--store", own)

    assert "`--like` searches all failures and takes no filter" in filtered.talk
    assert "Missing argument 'RUN…'" in errata("failures", "--store", own).talk
