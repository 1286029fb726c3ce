"""What is known of the ProjectScylla samples comes out of the commands."""

import pytest

from terminal import FIXTURES, done, errata

FRAMEWORK = [4, 6, 11, 17, 19, 23, 26, 31, 34, 38, 41, 43, 46]
NOW_FAILED = [6, 17, 26, 38, 43]


@pytest.fixture(scope="module")
def listed(library):
    return {row["model"]: row for row in done("runs", "--source", "scylla", "--json", "--store", library).rows}


@pytest.fixture(scope="module")
def batch(listed):
    return listed["sonnet"]["run_id"]


@pytest.fixture(scope="module")
def cascade(listed):
    return listed["haiku"]["run_id"]


def failures(library, run, *options):
    return done("failures", run, "--json", "--store", library, *options).rows


def findings(library, run, name):
    found = errata("check", run, "--json", "--store", library).row["findings"]
    return [one for one in found if one["name"] == name]


def shown(library, name):
    return done("show", name, "--json", "--store", library).row


def numbers_of(rows):
    return [int(row["case"].removeprefix("test-")) for row in rows]


def children_of(library, batch, test):
    """The runs of an experiment; they were made in the first session."""
    first = shown(library, shown(library, f"{batch}/{test}")["earlier"][0])
    return [shown(library, name)["attempt"] for name in first["children"]]


def cost_of(attempt):
    return sum(attempt["usage"][role]["cost"] or 0 for role in ("subject", "judge", "simulator"))


@pytest.mark.req("S-45")
def test_the_batch_has_its_published_shape(listed):
    counts = listed["sonnet"]["counts"]

    assert counts["counted"] == 47
    assert counts["outcomes"]["pass"] == 24
    assert counts["failures"] == 23
    assert counts["cost"] == pytest.approx(54.18)


@pytest.mark.req("S-45", "S-35")
def test_the_costs_of_the_batch_add_up(library, batch):
    failed = [shown(library, row["attempt_id"])["attempt"] for row in failures(library, batch)]

    assert sum(cost_of(attempt) for attempt in failed) == pytest.approx(18.72)


@pytest.mark.req("S-35")
def test_the_analysis_says_what_was_passed_and_spent():
    page = done("analyze", FIXTURES / "scylla" / "large" / "batch-gen1" / "data").out

    assert "strict        24/47" in page
    assert "clean         29/45" in page
    assert "Cost     $54.18\n" in page


@pytest.mark.trap(10)
def test_what_the_framework_broke_is_no_failed_answer(library, batch):
    rows = failures(library, batch, "--execution", "error")

    assert numbers_of(rows) == FRAMEWORK
    assert {(row["measurement"], row["outcome"]) for row in rows} == {("not_run", "none")}


@pytest.mark.trap(10)
def test_the_errors_of_the_framework_are_of_two_kinds(library, batch):
    rows = failures(library, batch, "--execution", "error")

    assert numbers_of(row for row in rows if "criteria_scores" in row["reason"]) == [
        4, 6, 11, 17, 23, 26, 31, 34, 38, 43, 46,
    ]  # fmt: skip
    assert numbers_of(row for row in rows if "worktree" in row["reason"]) == [19, 41]


@pytest.mark.trap(16)
@pytest.mark.req("S-37")
@pytest.mark.parametrize(("test", "score", "outcome"), [(9, 0.667, "pass"), (22, 0.333, "fail"), (37, 0.5, "fail")])
def test_a_part_of_the_marks_passes_above_a_half(library, batch, test, score, outcome):
    attempt = shown(library, f"{batch}/test-{test:03}")["attempt"]

    assert attempt["reported"] == pytest.approx(score, abs=0.001)
    assert attempt["outcome"] == outcome


@pytest.mark.req("S-09", "S-17")
@pytest.mark.trap(14)
def test_three_sessions_are_told_apart(library, batch):
    sessions = shown(library, batch)["run"]["sessions"]

    assert [one["started_at"] for one in sessions] == [
        "2026-02-14T00:28:03Z",
        "2026-02-14T11:16:40Z",
        "2026-02-14T13:59:12Z",
    ]
    assert sessions[0]["pattern"].startswith("spent $69.59; 29 passed")
    assert sessions[1]["pattern"].startswith("every test ended with exit code -1")
    assert "pixi" in sessions[1]["pattern"]
    reused = "34 tests reuse stored results ($54.18, spent in an earlier session)"
    assert sessions[2]["pattern"] == f"resumed; {reused}, 13 failed at $0"


@pytest.mark.req("S-17")
def test_several_sessions_are_a_finding_with_each_pattern(library, batch):
    (finding,) = findings(library, batch, "several_sessions")

    assert finding["numbers"] == {"sessions": 3}
    assert len(finding["evidence"]) == 3


@pytest.mark.req("S-08")
def test_every_block_of_an_experiment_is_found(library, batch):
    assert shown(library, batch)["run"]["extra"]["experiment_complete_blocks"] == 94


@pytest.mark.req("S-16", "S-18", "S-42")
@pytest.mark.parametrize("test", NOW_FAILED)
def test_a_pass_of_the_first_session_is_kept_beside_the_failure_of_the_last(library, batch, test):
    now = shown(library, f"{batch}/test-{test:03}")
    first, second = (shown(library, name)["attempt"] for name in now["earlier"])

    assert now["attempt"]["session"] == 3
    assert (now["attempt"]["outcome"], now["attempt"]["usage"]["subject"]["cost"]) == ("none", 0)
    assert (first["session"], first["outcome"], first["superseded_by"]) == (1, "pass", now["attempt"]["id"])
    assert (second["session"], second["execution"], second["exit_code"]) == (2, "error", -1)


@pytest.mark.req("S-16")
@pytest.mark.parametrize(
    ("test", "cost"), [(4, 2.0781), (6, 1.7462), (11, 1.8495), (17, 1.5448), (19, 0), (26, 1.7971), (46, 0.6857)]
)
def test_what_the_first_session_cost_is_recovered_from_the_logs(library, batch, test, cost):
    first = shown(library, shown(library, f"{batch}/test-{test:03}")["earlier"][0])["attempt"]

    assert first["usage"]["subject"]["cost"] == pytest.approx(cost)


@pytest.mark.req("S-16", "S-42")
def test_twenty_nine_tests_passed_in_the_first_session(library, batch):
    passed, spent = 0, 0.0
    for number in range(1, 48):
        first = shown(library, shown(library, f"{batch}/test-{number:03}")["earlier"][0])["attempt"]
        if first["outcome"] == "pass":
            passed += 1
            spent += first["usage"]["subject"]["cost"]

    assert passed == 29
    assert spent == pytest.approx(43.52, abs=0.005)


@pytest.mark.trap(15)
def test_a_test_whose_last_line_is_missing_has_its_result(library, batch):
    first = shown(library, shown(library, f"{batch}/test-047")["earlier"][0])["attempt"]

    assert first["exit_code"] is None
    assert first["outcome"] == "pass"


@pytest.mark.trap(18)
def test_judges_who_gave_nothing_are_marked_invalid(library, batch):
    children = children_of(library, batch, "test-009")
    judged = [child["judgements"] for child in children if child["judgements"]]

    assert judged
    assert all(any(not one["valid"] for one in judgements) for judgements in judged)


def test_runs_that_passed_on_disk_are_kept_though_the_resume_shows_nothing(library, batch):
    children = children_of(library, batch, "test-006")

    assert [child["outcome"] for child in children] == ["pass"] * 6
    assert sum(cost_of(child) for child in children) == pytest.approx(1.7462)


@pytest.mark.trap(11)
@pytest.mark.trap(12)
def test_the_last_entry_of_an_append_only_summary_wins(library, listed):
    counts = listed[""]["counts"]

    assert (counts["counted"], counts["executions"]) == (5, {"completed": 3, "error": 1, "cancelled": 1})
    assert sorted(numbers_of(failures(library, "batch-gen2"))) == [1, 4]


@pytest.mark.trap(11)
def test_an_interrupted_test_keeps_its_earlier_success(library):
    now = shown(library, "batch-gen2/test-001")
    first = shown(library, now["earlier"][0])["attempt"]

    assert now["attempt"]["execution"] == "cancelled"
    assert first["execution"] == "completed"


@pytest.mark.trap(11)
def test_three_attempts_at_one_test_are_all_kept(library):
    assert len(shown(library, "batch-gen2/test-002")["earlier"]) == 2


@pytest.mark.trap(12)
def test_costs_that_no_file_states_are_unknown_and_not_nought(listed):
    counts = listed[""]["counts"]

    assert counts["cost"] == pytest.approx(0.4195)
    assert counts["cost_known"] == 1


def test_a_dead_process_behind_running_is_found(library):
    (finding,) = findings(library, "batch-gen2", "dead_process")

    assert "test-002 is marked `running`" in finding["text"]
    assert "process 999999 last reported at 2026-03-20T10:25:00Z" in finding["text"]


@pytest.mark.trap(17)
def test_a_cascade_is_one_crash_and_ten_that_share_a_text(library, cascade):
    rows = failures(library, cascade)
    texts = [row["reason"] for row in rows]

    assert numbers_of(rows) == list(range(2, 13))
    assert "'TierConfig' object has no attribute 'language'" in texts[0]
    assert len(set(texts[1:])) == 1
    assert "already exists" in texts[1]


@pytest.mark.trap(17)
def test_a_cascade_passes_one_of_twelve(listed):
    counts = listed["haiku"]["counts"]

    assert (counts["counted"], counts["outcomes"]["pass"], counts["failures"]) == (12, 1, 11)
    assert (counts["cost"], counts["cost_known"]) == (pytest.approx(0.4821), 1)


@pytest.mark.trap(17)
def test_a_crash_and_the_ten_failures_that_follow_from_it_are_one_cause():
    page = done("analyze", FIXTURES / "scylla" / "batch-cascade" / "data").out

    assert page.count("1× harness  'TierConfig' object has no attribute 'language' (+ 10 knock-on)") == 1


@pytest.mark.trap(13)
def test_infinity_in_a_summary_is_read_and_not_a_number(library, batch):
    attempt = shown(library, f"{batch}/test-003")["attempt"]

    assert "Infinity" in str(attempt["extra"])
