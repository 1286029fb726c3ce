"""`errata buckets`: the clusters of the samples, and the life of a bucket on the command line."""

import msgspec
import pytest

from errata.cli.buckets.list_ import status_line
from errata.model.codec import to_whole
from errata.model.output.buckets import SHAPES
from reading import RUN_B, an_answer, submitted
from terminal import FIXTURES, done, errata, import_fixtures

COMPARISON = FIXTURES / "conversation_bench" / "comparison" / "data"
CASCADE = FIXTURES / "scylla" / "batch-cascade" / "data"
RUN_A = FIXTURES / "convex_evals" / "run_a" / "data" / "run-a"
CLUSTERS = {
    # rows, distinct mistakes; over the four runs of the comparison
    "premature end session": (6, 1),
    "empty response": (2, 2),
    "partial multi tool execution": (5, 5),
    "state memory failure": (3, 3),
    "ambiguity handling failure": (4, 4),
    "knowledge grounding error": (4, 4),
    "tool or action selection error": (2, 2),
}


@pytest.fixture
def turns():
    import_fixtures(COMPARISON, grouped=True)


@pytest.fixture
def evals():
    import_fixtures(RUN_A, RUN_B, grouped=True)


def buckets(*arguments):
    return {row["slug"]: row for row in done("buckets", "list", *arguments, "--json").rows}


def read(tmp_path, thing, bucket, name="ben", **changes):
    """Somebody reads a failure and names its bucket."""
    row = done("review", "next", thing, "--reviewer", name).row
    answer = an_answer(row, bucket=bucket, **changes)
    assert submitted(tmp_path / "a.json", answer, "--reviewer", name).code == 0


@pytest.mark.req("J-10")
def test_the_clusters_of_conversation_bench_appear_with_their_names_and_counts(turns):
    found = {row["title"]: (row["rows"], row["mistakes"]) for row in buckets().values()}

    assert found == CLUSTERS


def test_a_list_of_reviewed_buckets_has_the_names_of_the_reviewer(evals, tmp_path):
    """Each failure is read by one reviewer; none of the buckets comes from rules."""
    while (row := done("review", "next", "jn7mqywb", "--reviewer", "ben").row)["packet"]:
        answer = an_answer(row, bucket="wrong index name", label="MODEL_FAULT")
        assert submitted(tmp_path / "a.json", answer, "--reviewer", "ben").code == 0
    listed = done("buckets", "list", "jn7mqywb").out

    assert "found by rules" not in listed
    assert "\nwrong index name " in listed and "\n    wrong-index-name · " in listed


def test_a_reviewed_bucket_that_is_not_final_was_not_formed_by_rules():
    line = status_line({"final": 7, "reviewed": 1}, 8)

    assert line.startswith("PROVISIONAL: 1 of 8 causes is reviewed, but not final: ")
    assert "found by rules" in status_line({"final": 6, "reviewed": 1}, 8)


@pytest.mark.req("J-10", "J-14")
def test_an_ended_session_is_one_mistake_and_five_rows_that_follow(turns):
    row = buckets("9c0d1e2f")["premature-end-session"]

    assert (row["rows"], row["mistakes"], row["followers"], row["owner"]) == (6, 1, 5, "model")
    members = {one["case"]: one["follows"] for one in done("buckets", "show", "premature", "--json").row["members"]}
    assert members == {"turn-24": False} | {f"turn-{number}": True for number in range(25, 30)}


@pytest.mark.req("J-14")
def test_asking_the_name_again_is_a_failure_of_memory_although_the_tool_use_was_absorbed(turns):
    members = done("buckets", "show", "state-memory", "--json").row["members"]

    assert {one["case"] for one in members} == {"turn-14"}


@pytest.mark.req("J-25")
def test_buckets_go_by_cause_and_not_by_the_dimension_that_shows(turns):
    failed = [row for run in ("1a2b3c4d", "9c0d1e2f", "3a4b5c6d") for row in done("failures", run, "--json").rows]
    surface = {row["bucket"]["slug"] for row in failed if "tool_use_correct" in row["failed_checks"]}

    assert {"partial-multi-tool-execution", "tool-or-action-selection-error", "premature-end-session"} <= surface


@pytest.mark.req("J-15", "J-30")
def test_what_nobody_has_read_is_called_provisional_before_any_number(turns):
    page = done("buckets", "list").out

    assert page.startswith("PROVISIONAL: causes found by rules; none reviewed yet\n")
    assert {row["status"] for row in buckets().values()} == {"provisional"}


@pytest.mark.req("E-36", "S-14")
def test_a_cascade_is_one_root_and_ten_followers_in_one_bucket():
    import_fixtures(CASCADE)

    (row,) = buckets().values()

    assert (row["rows"], row["mistakes"], row["followers"], row["owner"]) == (11, 1, 10, "harness")
    assert "TierConfig" in row["title"]


def test_failures_that_repeat_in_a_later_run_are_in_the_bucket_of_the_earlier_one(evals):
    found = {row["slug"]: len(row["runs"]) for row in buckets().values()}

    assert len(found) == 4
    assert set(found.values()) == {2}


def test_an_attempt_tells_how_many_of_its_bucket_were_reviewed(turns, tmp_path):
    buckets()
    name = "partial-multi-tool-execution"
    for thing in ("1a2b3c4d/turn-11", "5e6f7a8b/turn-11"):
        read(tmp_path, thing, name, label="partial_multi_tool_execution")

    reviewed, apart = done("show", "5e6f7a8b/turn-11").out, done("show", "3a4b5c6d/turn-11").out
    counted = done("show", "3a4b5c6d/turn-11", "--json").row["bucket"]

    assert f"\nbucket   {name} (reviewed, 2 of 5 failures reviewed)\n" in reviewed
    assert "(reviewed, 2 of 5 failures reviewed, this failure not reviewed)" in " ".join(apart.split())
    assert (counted["role"], counted["mistakes"], counted["reviewed"]) == ("assigned", 5, 2)


def test_the_status_of_a_review_tells_of_buckets(evals, tmp_path):
    buckets()
    page = done("review", "status", "jn7mqywb").out
    assert "\ncauses          4 provisional (1 failure each, 0 reviewed) · 5 failures match no other\n" in page

    read(tmp_path, "jn7mqywb/004-actions/003-rate_limit_guard", "off-by-one", label="MODEL_FAULT")

    page = done("review", "status", "jn7mqywb", "--json").row["buckets"]
    assert (page["reviewed"]["buckets"], page["provisional"]["buckets"], page["alone"]) == (0, 3, 6)


@pytest.mark.req("J-13", "J-31")
def test_a_bucket_from_rules_to_final(turns, tmp_path):
    things = ["1a2b3c4d/turn-11", "5e6f7a8b/turn-11", "3a4b5c6d/turn-11"]
    refused = errata("buckets", "confirm", "partial")
    assert refused.code == 2
    assert "0 of its 5 failures were read" in refused.talk
    assert "3a4b5c6d/turn-11: nobody has read it" in refused.talk

    name, label = "partial-multi-tool-execution", "partial_multi_tool_execution"
    for thing in things[:2]:
        read(tmp_path, thing, name, label=label)
    assert buckets()[name]["status"] == "reviewed"
    read(tmp_path, things[2], name, label=label)
    for thing in things:  # some turns talk to the reader: two have to agree
        read(tmp_path, thing, name, "cleo", label=label)

    confirmed = done("buckets", "confirm", name, "--json").row
    assert (confirmed["status"], confirmed["rows"]) == ("final", 5)
    row = buckets()[name]
    assert (row["status"], row["reviewed"], row["assigned"], len(row["supported_by"])) == ("final", 3, 2, 3)
    listed = done("buckets", "list").out
    assert "1 final" in listed.splitlines()[0]
    assert f"{name} · 3 reviewed, 2 not reviewed" in listed
    assert "apart    2 failures were assigned by rules and not reviewed" in done("buckets", "show", name).out


@pytest.mark.req("J-15", "J-30")
def test_three_verdicts_that_name_another_cause_leave_the_rest_of_a_cluster_as_it_was(turns, tmp_path):
    before = buckets()["partial-multi-tool-execution"]

    for thing in ("1a2b3c4d/turn-11", "5e6f7a8b/turn-11", "3a4b5c6d/turn-11"):
        read(tmp_path, thing, "half-of-a-request", label="partial_multi_tool_execution")

    after = buckets()
    left = after["partial-multi-tool-execution"]
    assert (left["rows"], left["title"], left["status"], left["reviewed"]) == (2, before["title"], "provisional", 0)
    assert after["half-of-a-request"]["rows"] == after["half-of-a-request"]["reviewed"] == 3


def test_merge_split_rename_move_and_undo_are_told_in_the_history(turns):
    done("buckets", "merge", "knowledge", "state-memory")
    done("buckets", "rename", "knowledge", "Says what is not so")
    done("buckets", "split", "says-what", "turn-14", "--title", "Asks for the name again")
    done("buckets", "move", "1a2b3c4d/turn-5", "--to", "asks-for")
    done("buckets", "undo")

    rows = done("buckets", "history", "--json").rows

    assert [row["what"] for row in rows] == ["merge", "rename", "split", "move", "undo"]
    assert [row["undone"] for row in rows] == [False, False, False, True, False]
    assert [len(row["failures"]) for row in rows] == [3, 0, 3, 1, 1]
    assert {row["slug"]: row["rows"] for row in buckets().values()}["asks-for-the-name-again"] == 3


@pytest.mark.req("J-13")
def test_old_and_new_bucket_of_what_a_reader_put_elsewhere_stand_in_the_history(turns, tmp_path):
    buckets()
    read(tmp_path, "3a4b5c6d/turn-20", "tool-or-action-selection-error", label="tool_or_action_selection_error")
    buckets()

    (row,) = [row for row in done("buckets", "history", "--json").rows if row["what"] == "rebucketed"]

    (failure,) = row["failures"]
    assert (failure["old"], failure["new"]) == ("partial-multi-tool-execution", "tool-or-action-selection-error")
    assert row["by"] == "agent:ben"


def test_whoever_moves_the_first_of_a_chain_moves_the_chain(turns):
    row = done("buckets", "move", "9c0d1e2f/turn-24", "--to", "empty-response", "--json").row

    assert len(row["moved"]) == 6


def test_a_dry_run_changes_nothing(turns):
    before = buckets()

    for command in (
        ("merge", "knowledge", "state-memory"),
        ("split", "knowledge", "turn-5", "--title", "New"),
        ("move", "1a2b3c4d/turn-5", "--to", "state-memory"),
        ("suggest",),
    ):
        assert done("buckets", *command, "--dry-run").out

    assert buckets() == before
    assert done("buckets", "history", "--json").rows == []


def test_the_author_of_a_change_is_whoever_is_signed_in(turns, monkeypatch):
    monkeypatch.setenv("ERRATA_AUTHOR", "mara")

    done("buckets", "rename", "knowledge", "New")

    assert done("buckets", "history", "--json").row["by"] == "mara"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("show", "premature-end-sesion"), "did you mean `premature-end-session`?"),
        (("show", "quite-another"), "No bucket is named `quite-another`"),
        (("rename", "knowledge", ""), "A bucket needs a title"),
        (("split", "knowledge", "turn-99", "--title", "New"), "`turn-99` is not in `knowledge-grounding-error`"),
        (("move", "9c0d1e2f", "--to", "empty"), "`9c0d1e2f` is a run, and a bucket holds failures"),
        (("move", "9c0d1e2f/turn-1", "--to", "empty"), "`9c0d1e2f/turn-1` did not fail"),
        (("merge", "knowledge"), "A merge needs at least two buckets"),
        (("undo",), "No bucket was changed yet"),
        (("undo", "--to", "5"), "There is no change 5"),
    ],
)
def test_a_slip_is_told_with_what_would_be_right(turns, arguments, told):
    result = errata("buckets", *arguments)

    assert result.code == 2
    assert told in result.talk


def test_names_that_begin_alike_are_told_apart(evals):
    result = errata("buckets", "show", "the-provider")

    assert result.code == 2
    assert "names 2 buckets" in result.talk or "names 3 buckets" in result.talk


def test_an_empty_store_has_no_buckets():
    assert "no runs yet" in done("buckets", "list").talk
    assert errata("buckets", "show", "any").code == 2


def test_a_run_without_failures_has_no_buckets():
    run = FIXTURES / "convex_evals" / "run_d" / "data" / "run-d"

    assert "no failures" in done("buckets", "list", run).talk
    assert "no failures in these runs" in done("buckets", "suggest", run).talk


def test_members_are_shown_with_what_they_say(turns):
    page = done("buckets", "show", "ambiguity").out

    assert "PROVISIONAL · harbour_bench · 4 rows, 4 mistakes · 1 case · 4 runs of 3 models" in " ".join(page.split())
    assert "1a2b3c4d/turn-22   assigned · model\n    > " in page
    assert "Next     errata review next " in page


def test_every_command_prints_the_shape_that_is_declared(turns):
    """In this order: what is changed by one of them is there for the next."""
    for name, *words in (
        ("suggest",),
        ("list",),
        ("merge", "knowledge", "state-memory"),
        ("rename", "knowledge", "New"),
        ("split", "new", "turn-14", "--title", "Asks for the name again"),
        ("move", "1a2b3c4d/turn-5", "--to", "asks-for"),
        ("show", "asks-for"),
        ("undo",),
        ("history",),
    ):
        shape = SHAPES[f"buckets {name}"]
        rows = done("buckets", name, *words, "--json").rows
        assert rows
        for row in rows:
            assert to_whole(msgspec.convert(row, shape)) == row


def test_a_forgotten_run_is_forgotten_by_its_buckets(turns):
    buckets()

    done("rm", "9c0d1e2f", "--yes")

    assert "premature-end-session" not in buckets()
