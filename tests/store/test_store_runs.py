"""Looking runs up by whatever names them."""

import pytest
from store_fixtures import put_run

from errata.errors import NotFoundError
from errata.model import Evidence, Finding, SourceRef, Subject
from errata.store.runs import (
    all_runs,
    exclude,
    find_run,
    findings_of,
    include,
    keep_findings,
    run_by_id,
)

NAMES = {
    "its native id": "20260301_gpt_deadbeef",
    "a prefix of its native id": "20260301",
    "the tail of its native id": "deadbeef",
    "its name": "nightly",
    "its external id": "ext-7",
    "its origin": "/logs/run-a",
    "latest": "latest",
}


@pytest.mark.parametrize("selector", NAMES.values(), ids=NAMES.keys())
def test_a_run_is_found_by(store, selector):
    put_run(store, "other-1", name="weekly")
    put_run(store, "20260301_gpt_deadbeef", name="nightly", external_id="ext-7", origin="/logs/run-a")

    assert find_run(store, selector).run.native_id == "20260301_gpt_deadbeef"


def test_a_run_is_found_by_a_prefix_of_its_id(store):
    done, _ = put_run(store, "run-1"), put_run(store, "other")

    assert find_run(store, done.id[:6]).run.native_id == "run-1"


def test_an_origin_is_found_from_a_relative_path(store, tmp_path, monkeypatch):
    put_run(store, "here", origin=str(tmp_path / "logs" / "a.json"))
    put_run(store, "there", origin=str(tmp_path / "logs" / "b.json"))
    monkeypatch.chdir(tmp_path)

    assert find_run(store, "logs/../logs/a.json").run.native_id == "here"


def test_an_exact_name_wins_over_a_prefix(store):
    put_run(store, "run-10")
    put_run(store, "run-1")

    assert find_run(store, "run-1").run.native_id == "run-1"


def test_an_ambiguous_name_lists_the_candidates(store):
    put_run(store, "nightly-a", subject=Subject(model="model-a"))
    put_run(store, "nightly-b", subject=Subject(model="model-b"))

    with pytest.raises(NotFoundError, match="`nightly` names 2 runs") as result:
        find_run(store, "nightly")

    for word in ("nightly-a", "nightly-b", "model-a", "model-b"):
        assert word in result.value.hint


@pytest.mark.parametrize("selector", ["", "ru", "r", "xyz", "run-1x", "deadbee", "/nowhere"])
def test_what_names_nothing_or_too_little_is_not_found(store, selector):
    put_run(store, "run-1")

    with pytest.raises(NotFoundError, match="No run"):
        find_run(store, selector)


def test_an_empty_store_says_how_to_fill_it(store):
    with pytest.raises(NotFoundError, match="no runs yet") as result:
        find_run(store, "latest")

    assert "errata import" in result.value.hint


def test_runs_are_listed_newest_first(store):
    for native_id, started in [("b", "2026-02-01T00:00:00Z"), ("c", "2026-03-01T00:00:00Z"), ("a", None)]:
        put_run(store, native_id, started_at=started)

    assert [one.run.native_id for one in all_runs(store)] == ["a", "c", "b"]


def test_latest_is_the_run_that_was_imported_last(store):
    put_run(store, "new", started_at="2026-02-01T00:00:00Z")
    put_run(store, "old", started_at="2020-02-01T00:00:00Z")

    assert find_run(store, "latest").run.native_id == "old"


def test_an_excluded_run_tells_why_by_whom_and_when(store):
    done = put_run(store)

    exclude(store, done.id, reason="provider was down", author="me")

    excluded = run_by_id(store, done.id).run.excluded
    assert (excluded.reason, excluded.by, excluded.at.endswith("Z")) == ("provider was down", "me", True)


def test_an_exclusion_can_be_taken_back_once(store):
    done = put_run(store)
    exclude(store, done.id, reason="r", author="me")

    assert [include(store, done.id), include(store, done.id)] == [True, False]
    assert run_by_id(store, done.id).run.excluded is None


def a_finding(name):
    return Finding(
        run="r", name=name, severity="warning", text="t", evidence=(Evidence(quote="q", ref=SourceRef(file="f")),)
    )


def test_the_findings_of_a_new_checkup_replace_the_old(store):
    done = put_run(store)

    keep_findings(store, all_runs(store)[0], [a_finding("a"), a_finding("b"), a_finding("c")])
    keep_findings(store, all_runs(store)[0], [a_finding("d"), a_finding("a")])

    assert findings_of(store, done.pk) == [a_finding("d"), a_finding("a")]
