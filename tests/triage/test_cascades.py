"""Crashes on what an earlier crash left behind."""

import msgspec
import pytest

from errata.model import Artefact, Check, ErrorInfo
from errata.testing import an_attempt
from errata.triage import look_over
from errata.triage.cascades import CrashSurvey

HELD = "TimeoutError: could not acquire /results/repos/9f2c.lock within 300s, held by pid 48211"


FULL = "[Errno 28] No space left on device: '/results/T0/00/run_01/task_prompt.md'"


def crash(case, message, at, **more):
    error = ErrorInfo(type="crash", message=message, phase="environment", at=at)
    facts = {"execution": "error", "measurement": "not_run", "outcome": "none", "finished_at": at, "session": 3} | more
    return an_attempt(case=case, errors=(error,), **facts)


def day(clock):
    return f"2026-02-15T{clock}Z"


def log(text):
    return (Artefact(role="log", path="thread_logs/thread_2.log", text=text),)


def followers_of(*attempts):
    """Follower → root, and what shows it."""
    wide, named = look_over(attempts), {attempt.id: attempt.case for attempt in attempts}
    seen = [(attempt.case, one) for attempt in attempts for one in wide.observe(attempt) if one.follows]
    return {case: (named[one.follows], one.signal.name) for case, one in seen}


def roots_of(*attempts):
    survey = CrashSurvey()
    for attempt in attempts:
        survey.add(attempt)
    named = {attempt.id: attempt.case for attempt in attempts}
    return {named[follower]: named[root] for follower, root in survey.roots().items()}


def test_those_who_wait_for_one_lock_follow_the_crash_that_kept_it_in_whatever_words():
    first = crash("s/a", "RuntimeError: dictionary changed size during iteration", "2026-02-14T07:40:41Z")
    second = crash("s/b", f"{HELD} (test-021)", "2026-02-14T07:42:48Z")
    third = crash("s/c", HELD, "2026-02-14T07:48:01Z")

    assert roots_of(first, second, third) == {"s/b": "s/a", "s/c": "s/a"}


def test_the_root_is_the_crash_that_a_follower_names_not_the_last_one_before_it():
    first = crash("s/test-021", "RuntimeError: dictionary changed size during iteration", "2026-02-14T07:40:41Z")
    other = crash("s/test-018", "1 validation error for RunResult", "2026-02-14T07:40:57Z")
    second = crash("s/test-024", f"{HELD} (test-021)", "2026-02-14T07:42:48Z")
    third = crash("s/test-025", HELD, "2026-02-14T07:48:01Z")

    assert roots_of(first, other, second, third) == {"s/test-024": "s/test-021", "s/test-025": "s/test-021"}


def test_a_case_that_is_named_but_did_not_crash_before_is_no_root():
    first = crash("s/test-018", "1 validation error for RunResult", "2026-02-14T07:40:57Z")
    second = crash("s/test-024", f"{HELD} (test-021)", "2026-02-14T07:42:48Z")
    third = crash("s/test-025", HELD, "2026-02-14T07:48:01Z")
    late = crash("s/test-021", "RuntimeError: dictionary changed size during iteration", "2026-02-14T09:40:41Z")

    assert roots_of(first, second, third, late) == {"s/test-024": "s/test-018", "s/test-025": "s/test-018"}


def test_a_lock_that_one_attempt_waited_for_makes_no_cascade():
    first = crash("s/a", "RuntimeError: dictionary changed size during iteration", "2026-02-14T07:40:41Z")

    assert roots_of(first, crash("s/b", HELD, "2026-02-14T07:42:48Z")) == {}


def test_different_locks_have_different_holders():
    first = crash("s/a", "RuntimeError: dictionary changed size during iteration", "2026-02-14T07:40:41Z")
    others = [crash(f"s/{n}", HELD.replace("9f2c", n), f"2026-02-14T07:4{n}:48Z") for n in "23"]

    assert roots_of(first, *others) == {}


def test_later_failures_on_a_disk_that_is_already_full_follow_the_first():
    first = crash("s/test-036", FULL, day("17:17:37"))
    second = crash("s/test-037", "Failed to create worktree: (No space left on device)", day("17:17:59"))
    third = crash("s/test-039", "sqlite3.OperationalError: database or disk is full", day("17:18:15"))
    other = crash("s/test-040", "RuntimeError: dictionary changed size during iteration", day("17:18:20"))

    assert followers_of(third, first, other, second) == {
        "s/test-037": ("s/test-036", "disk_still_full"),
        "s/test-039": ("s/test-036", "disk_still_full"),
    }


def test_a_test_that_was_measured_in_between_shows_that_the_disk_was_freed():
    first, second = crash("s/test-036", FULL, day("17:17:37")), crash("s/test-037", FULL, day("18:17:59"))
    measured = an_attempt(case="s/test-038", outcome="fail", started_at=day("17:30:00"), finished_at=day("17:40:00"))
    third = crash("s/test-039", FULL, day("18:19:59"))

    assert followers_of(first, second, third, measured) == {"s/test-039": ("s/test-037", "disk_still_full")}


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(crash("s/test-037", FULL, day("17:18:00"), session=4), id="another session"),
        pytest.param(crash("s/test-037", FULL, "2026-02-15T17:18:00"), id="a clock of another zone"),
        pytest.param(crash("s/test-037", f"{FULL} in pod worker-7", day("17:18:00")), id="a disk of its own"),
        pytest.param(crash("s/test-037", "[Errno 28] No space left: '/dev/shm/x'", day("17:18:00")), id="memory"),
        pytest.param(an_attempt(case="s/test-037", outcome="fail", finished_at=day("17:18:00")), id="measured"),
    ],
)
def test_a_full_disk_that_may_be_another_one_makes_no_follower(other):
    assert followers_of(crash("s/test-036", FULL, day("17:17:37")), other) == {}


def test_one_lock_is_enough_where_the_log_of_the_crash_names_it():
    lock = "/results/.repo-cache/ledger/.git/index.lock"
    held = f"[INFO] scylla.e2e.workspace_manager: Holding git lock {lock} (pid 90117, test-036)"
    root = crash("s/test-036", "'NoneType' object has no attribute 'experiment_dir'", day("07:31:20"))
    follower = crash("s/test-011", f"fatal: Unable to create '{lock}': File exists.", day("07:33:27"))

    def roots(text, *others):
        return followers_of(msgspec.structs.replace(root, artefacts=log(text)), follower, *others)

    assert roots(held) == {"s/test-011": ("s/test-036", "cascade")}
    assert roots(f"{held}\n[INFO] Released git lock {lock}") == {}
    assert roots(held.replace("ledger", "invoices")) == {}
    between = {"started_at": day("07:32:00"), "finished_at": day("07:33:00")}
    assert roots(held, an_attempt(case="s/test-012", outcome="fail", **between)) == {}


def test_a_lock_that_could_not_be_acquired_follows_the_crash_that_did_not_release_it():
    lock = "/results/.repo-cache/weft.lock"
    kept = f"[WARNING] scylla.e2e.workspace_manager: Lock {lock} not released (owner test-021, pid 30911)"
    root = crash("s/test-021", "'utf-8' codec can't decode byte 0xe9", day("07:31:20"), artefacts=log(kept))
    follower = crash("s/test-026", f"The file lock '{lock}' could not be acquired.", day("07:33:27"))

    assert followers_of(root, follower) == {"s/test-026": ("s/test-021", "cascade")}


def test_a_case_that_is_built_on_the_broken_files_of_another_follows_it():
    broken = "Error: Failed to deploy:\nconvex dev:\n✘ [ERROR] No matching export\n\n    convex/posts.ts:3:9:\n"
    steps = (Check(name="deploy", kind="step", status="fail", explanation=broken),)
    root = an_attempt(case="convex-evals/008-app/000-base_app", checks=steps, session=3)

    def followers(line):
        built = an_attempt(case="convex-evals/008-app/001-add_likes", checks=steps, artefacts=log(line), session=3)
        return [*followers_of(root, built).values()]

    line = "[setup] base project: output of 008-app/000-base_app (status failed), files copied: convex/posts.ts"
    assert followers(line) == [(root.case, "ended_by_another")]
    assert followers(line.replace("posts", "other")) == []
    assert followers(line.replace("failed", "passed")) == []


ABORTED = "error: aborted: run was already marked failed by [infrastructure] 011-file_storage/004-signed_download"
STOPPED = "Received SIGTERM from batch runner: stopping all experiments (test-032 failed with OSError, --fail-fast)"


def test_an_attempt_that_another_ones_failure_ended_follows_it():
    root = crash("convex-evals/011-file_storage/004-signed_download", "convex dev timed out after 90s", None)
    ended = crash("convex-evals/019-idioms/005-batch_reads", ABORTED, None)
    assert followers_of(ended, root) == {ended.case: (root.case, "ended_by_another")}

    full = crash("s/test-032", FULL, day("08:00:16"))
    cut = crash(
        "s/test-033", "Shutdown interrupted at T0/00", day("08:00:18"), execution="cancelled", artefacts=log(STOPPED)
    )
    assert followers_of(cut, full) == {cut.case: (full.case, "ended_by_another")}


@pytest.mark.parametrize(
    ("root", "message"),
    [
        ("s/test-031", STOPPED),  # another failed
        ("s/test-032", "Received SIGTERM: stopping all experiments"),  # nobody is named
        ("s/test-032", "test-032 failed with OSError"),  # does not say that it ended others
        ("s/test-032", "Killed after test-0321 failed"),
    ],
)
def test_a_message_that_does_not_blame_a_failed_case_for_the_end_makes_no_follower(root, message):
    assert followers_of(crash(root, FULL, day("08:00:16")), crash("s/test-033", message, day("08:00:18"))) == {}


def test_a_failure_that_came_later_or_in_another_session_ended_nobody():
    ended = crash("s/test-033", STOPPED, day("08:00:18"))

    assert followers_of(ended, crash("s/test-032", "KeyError: 'tiers'", day("08:10:00"))) == {}
    assert followers_of(ended, crash("s/test-032", "KeyError: 'tiers'", day("07:10:00"), session=2)) == {}


def test_a_port_that_a_failed_case_still_holds_makes_the_one_who_needs_it_its_follower():
    taken = "Error: Failed to deploy:\nconvex dev:\n✖ A local backend is still running on port 3212."
    steps = (Check(name="deploy", kind="step", status="fail", explanation=taken),)
    root = crash("convex-evals/011-file_storage/004-signed_download", "convex dev timed out after 90s", None)

    def follower(line):
        return an_attempt(
            case="convex-evals/015-components/004-action_cache", checks=steps, artefacts=log(line), session=3
        )

    left = "[setup] backend of 011-file_storage/004-signed_download did not exit after SIGTERM (pid 47760, port 3212)"
    assert [*followers_of(root, follower(left)).values()] == [(root.case, "ended_by_another")]
    assert followers_of(root, follower(left.replace("3212", "3210"))) == {}
    assert followers_of(root, follower("[setup] port 3212")) == {}


def test_failures_that_blame_each_other_have_no_root():
    first = crash("s/test-032", "aborted because test-033 failed", None)
    second = crash("s/test-033", "aborted because test-032 failed", None)

    assert followers_of(first, second) == {}


def test_the_root_of_a_root_is_the_root_of_both():
    first = crash("s/test-031", FULL, day("08:00:00"))
    second = crash("s/test-032", FULL, day("08:00:16"))
    third = crash("s/test-033", STOPPED, day("08:00:18"))

    assert {case: root for case, (root, _) in followers_of(first, second, third).items()} == {
        "s/test-032": "s/test-031",
        "s/test-033": "s/test-031",
    }


def test_a_folder_or_program_that_carries_the_name_of_a_failed_case_names_it():
    root = crash("s/test-019", "KeyError: 'tiers'", day("14:00:00"))
    left = "fatal: 'base' is already used by worktree at '/data/batch/2026-06-20T14-00-00-test-{}/T0/run_01/workspace'"

    assert followers_of(root, crash("s/test-023", left.format("019"), day("14:13:00"))) == {
        "s/test-023": ("s/test-019", "ended_by_another")
    }
    assert followers_of(root, crash("s/test-023", left.format("0190"), day("14:13:00"))) == {}
    assert followers_of(root, crash("s/test-023", left.format("023"), day("14:13:00"))) == {}
