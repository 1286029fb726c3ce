"""A run that was imported anew: verdicts whose evidence changed go back to the queue, the others stay."""

import shutil
from contextlib import chdir

import pytest

from reading import RUN_B, an_answer, submitted
from terminal import done, import_fixtures

GUARD = "004-actions/003-rate_limit_guard"


def read_all(tmp_path, name="a", *options):
    while (row := done("review", "next", "latest", "--reviewer", name).row)["packet"]:
        assert submitted(tmp_path / "a.json", an_answer(row), "--reviewer", name, *options).code == 0


def imported_anew(tmp_path, old, new):
    """The same run with another text in its log."""
    changed = tmp_path / "changed"
    shutil.copytree(RUN_B, changed)
    for path in changed.rglob("*.json"):
        path.write_text(path.read_text().replace(old, new))
    done("import", changed)


@pytest.fixture(scope="module")
def all_read(tmp_path_factory):
    """A store in which everything was read once; each test gets a copy."""
    folder = tmp_path_factory.mktemp("read")
    with chdir(folder):
        import_fixtures(RUN_B)
        read_all(folder)
    return folder / ".errata"


@pytest.fixture
def read(all_read, at_home):
    shutil.copytree(all_read, at_home / ".errata")


@pytest.fixture
def changed(read, tmp_path):
    imported_anew(tmp_path, "countSince", "countAfter")


def status():
    return done("review", "status", "latest", "--json").row


def test_quotes_that_are_gone_make_a_verdict_stale(changed):
    found = status()

    assert found["quotes"]["found"] == found["quotes"]["quotes"] - 1
    assert [name.endswith(f"{GUARD}#1") for name in found["stale"]] == [True]


def test_what_is_stale_waits_and_is_not_reviewed(changed):
    found = status()

    assert (found["failures"], found["reviewed"], found["waiting"]) == (9, 8, 1)
    page = " ".join(done("review", "status", "latest").out.split())
    assert f"stale 1 {GUARD}: reviewed before, evidence changed since" in page


@pytest.mark.parametrize("name", ["a", "b"])
def test_it_is_handed_out_again_and_marked(changed, name):
    result = done("review", "next", "latest", "--reviewer", name)

    assert result.row["packet"]["case_key"].endswith(GUARD)
    assert result.row["returned"] is True
    assert f"reviewed before, evidence changed since: {GUARD}" in result.talk


def test_once_read_again_it_is_reviewed(changed, tmp_path):
    read_all(tmp_path)
    found = status()

    assert (found["reviewed"], found["waiting"], found["stale"]) == (9, 0, [])


def test_read_again_by_another_program_it_waits_for_nobody(changed, tmp_path):
    read_all(tmp_path, "b")

    assert done("review", "next", "latest", "--reviewer", "a").row["packet"] is None
    assert status()["stale"] == []


def test_what_a_person_said_returns_to_people_when_a_program_has_read_it_again(tmp_path):
    import_fixtures(RUN_B)
    row = done("review", "next", f"latest/{GUARD}", "--reviewer", "ada", "--person").row
    submitted(tmp_path / "a.json", an_answer(row), "--reviewer", "ada", "--person")
    imported_anew(tmp_path, "countSince", "countAfter")
    read_all(tmp_path, "a")

    assert done("review", "next", "latest", "--reviewer", "b").row["packet"] is None
    again = done("review", "next", "latest", "--reviewer", "bob", "--person").row
    assert again["packet"]["case_key"].endswith(GUARD)


def test_another_error_makes_a_verdict_stale_although_its_quotes_are_there(read, tmp_path):
    """It quotes the code, which is the same; the test that fails is another one by now."""
    imported_anew(tmp_path, "expected error text to match /limit reached/", "expected four calls in sixty seconds")

    assert [name.endswith(f"{GUARD}#1") for name in status()["stale"]] == [True]
    assert status()["quotes"]["found"] == 9


def test_what_changed_elsewhere_leaves_a_verdict_as_it_is(read, tmp_path):
    imported_anew(tmp_path, "[ok] filesystem", "[ok] file system")

    assert (status()["stale"], status()["reviewed"]) == ([], 9)
    assert status()["quotes"]["changed"] > 0


def test_a_model_is_asked_about_it_again(changed):
    row = done("review", "run", "latest", "--command", "true", "--dry-run", "--json").row

    assert [run["planned"] for run in row["runs"]] == [1]


def test_no_score_and_no_list_goes_by_what_is_stale(changed):
    page = " ".join(done("score", "latest").out.split())
    rows = {row["case"]: row["verdict"] for row in done("failures", "latest", "--json").rows}

    assert "8 of 9 reviewed" in page
    assert rows[GUARD] is None
    assert sum(verdict is not None for verdict in rows.values()) == 8


def test_no_bucket_goes_by_what_is_stale(read, tmp_path):
    before = done("buckets", "list", "--json").rows
    imported_anew(tmp_path, "countSince", "countAfter")
    after = done("buckets", "list", "--json").rows

    assert sum(row["reviewed"] for row in before) == 9
    assert sum(row["reviewed"] for row in after) == 8
