"""convex-evals: what is recognised, what local runs leave, and what happens to damaged and hostile input."""

import shutil
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from errata.errors import SourceError
from errata.model import Attempt, Run, Unreadable
from errata.sources import RecognisedPath, convex_evals, read
from errata.sources.base import Match

FIXTURES = Path(__file__).parent.parent / "fixtures" / "sources" / "convex_evals"
RUN_A = FIXTURES / "run_a" / "data" / "run-a"
ERRORS = FIXTURES / "errors" / "data" / "errors"
LOCAL = FIXTURES / "local_output" / "data" / "outputs"


def found(path: Path) -> RecognisedPath:
    return RecognisedPath(path, convex_evals, Match.sure("test"))


def attempts_of(path: Path) -> list[Attempt]:
    return [item for item in read(found(path)) if isinstance(item, Attempt)]


def local_attempt(case: str) -> Attempt:
    return next(attempt for attempt in attempts_of(LOCAL) if attempt.case == f"convex-evals/{case}")


def unreadable_in(path: Path) -> list[Unreadable]:
    return [item for item in read(found(path)) if isinstance(item, Unreadable)]


def log_of(folder: Path, text: str) -> Path:
    """A results folder whose only eval has this log."""
    place = folder / "output" / "m-1" / "001-a" / "002-b"
    place.mkdir(parents=True)
    (place / "run.log").write_text(text)
    return folder


def test_a_folder_of_several_run_folders_is_not_claimed_as_a_whole(tmp_path):
    for letter in "abcd":
        shutil.copytree(FIXTURES / f"run_{letter}" / "data" / f"run-{letter}", tmp_path / f"run-{letter}")
    shutil.move(tmp_path / "run-a" / "storage", tmp_path / "storage")

    assert convex_evals.recognise(tmp_path) is None


def test_a_folder_that_may_not_be_read_is_not_claimed(tmp_path, monkeypatch):
    def denied(_: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "is_dir", denied)

    assert convex_evals.recognise(tmp_path) is None


def test_storage_alone_is_explained():
    assert "storage" in (convex_evals.explain(RUN_A / "storage") or "")


def test_answers_with_an_error_are_unreadable_with_the_reason():
    result = {item.where: item.why for item in unreadable_in(ERRORS)}

    assert len(result) == len(list(read(found(ERRORS)))) == 5
    assert result["eval_not_found.envelope.json"].startswith("convex answered with an error: Eval jh7")
    assert "Could not find public function" in result["internal_function_without_admin_key.json"]
    assert "ArgumentValidationError" in result["function_error_http_560.json"]
    assert result["bad_request_http_400.json"].startswith("convex refused the request: BadJsonBody")
    assert result["run_not_found.envelope.json"] == "convex answered null: there is no such run"


def test_local_output_is_one_run_of_the_model_with_the_slash():
    (run,) = [item for item in read(found(LOCAL)) if isinstance(item, Run)]

    assert (run.native_id, run.subject.model) == ("outputs", "acme/nimbus-2-coder")


@pytest.mark.parametrize("below", ["output", "output/acme/nimbus-2-coder"])
def test_local_output_has_the_same_id_from_below(below):
    ids = {item.id for path in (LOCAL, LOCAL / below) for item in read(found(path)) if isinstance(item, Run)}

    assert len(ids) == 1


@pytest.mark.req("C-10", "C-16")
def test_the_steps_of_local_output_come_from_the_log():
    attempts = attempts_of(LOCAL)

    assert Counter(attempt.failed_checks[0] for attempt in attempts) == Counter(
        {"filesystem": 2, "deploy": 2, "tsc": 1, "eslint": 1, "tests": 3}
    )
    assert Counter(attempt.execution for attempt in attempts) == Counter({"completed": 7, "error": 2})


@pytest.mark.trap(2)
def test_a_lint_only_failure_is_seen_in_the_log():
    attempt = local_attempt("000-fundamentals/002-http_greeting")

    assert [check.status for check in attempt.checks] == ["pass"] * 4 + ["fail", "pass"]


@pytest.mark.trap(3)
def test_a_log_that_speaks_of_rate_limits_is_a_failed_test():
    attempt = local_attempt("004-actions/003-rate_limit_guard")

    assert (attempt.execution, attempt.outcome, attempt.checks[-1].value) == ("completed", "fail", 0.4)


def test_an_error_in_the_log_has_its_line_and_the_lines_that_follow():
    check = local_attempt("002-queries/006-pagination_shape").checks[3]

    assert check.explanation.startswith("Error: tsc failed\nconvex/messages.ts(5,3): error TS2322")
    assert check.ref is not None
    assert check.ref.line == 8


def test_local_output_says_the_same_as_the_answers():
    by_answer = {attempt.case: attempt for attempt in attempts_of(RUN_A)}

    for attempt in attempts_of(LOCAL):
        other = by_answer[attempt.case]
        assert attempt.outcome == other.outcome
        assert attempt.failed_checks == other.failed_checks
        assert attempt.output.text == other.output.text


def test_a_log_that_stops_before_the_tests_is_unfinished(tmp_path):
    (attempt,) = attempts_of(log_of(tmp_path, "=== Eval: 001-a/002-b ===\n[ok] filesystem\n[cmd] bun install\n"))

    assert (attempt.execution, attempt.measurement, attempt.outcome) == ("unfinished", "not_run", "none")


def test_a_log_that_ends_with_good_tests_is_a_pass(tmp_path):
    (attempt,) = attempts_of(log_of(tmp_path, "[ok] filesystem\n[ok] tests\n"))

    assert (attempt.outcome, [check.name for check in attempt.checks]) == ("pass", ["filesystem", "tests"])


def test_an_error_outside_of_any_step_means_that_nothing_was_measured(tmp_path):
    (attempt,) = attempts_of(log_of(tmp_path, "=== Eval: 001-a/002-b ===\n[error] [rate_limit] error: 429\n"))

    assert (attempt.execution, attempt.outcome) == ("error", "none")
    assert attempt.reported_counted is False


def test_values_of_the_environment_and_links_out_of_the_folder_are_left_out(tmp_path):
    folder = log_of(tmp_path / "results", "[ok] tests\n")
    place = folder / "output" / "m-1" / "001-a" / "002-b"
    (tmp_path / "secret.txt").write_text("s3cret-value")
    (place / ".env.local").write_text("KEY=s3cret-value")
    (place / "prod.env").write_text("KEY=s3cret-value")
    (place / "link.txt").symlink_to(tmp_path / "secret.txt")

    (attempt,) = attempts_of(folder)

    assert [artefact.path for artefact in attempt.artefacts] == ["prod.env", "run.log"]
    assert "s3cret" not in repr(attempt)


def test_a_damaged_zip_is_unreadable_and_the_attempt_is_kept(tmp_path):
    copy = _details_with_zips(tmp_path)
    (copy / "kg23h50r52qvqmccqqwbbkc8atx5g7nt.zip").write_bytes(b"PK\x03\x04 no archive")

    assert [item.where for item in unreadable_in(copy)] == ["kg23h50r52qvqmccqqwbbkc8atx5g7nt.zip"]
    assert len(attempts_of(copy)) == 25


def test_a_hostile_zip_is_refused(tmp_path):
    copy = _details_with_zips(tmp_path)
    with zipfile.ZipFile(copy / "kg23h50r52qvqmccqqwbbkc8atx5g7nt.zip", "w") as archive:
        archive.writestr("../../outside.ts", "x")

    with pytest.raises(SourceError, match="leaves the archive"):
        attempts_of(copy)


def test_a_storage_id_never_leads_out_of_the_folder(tmp_path):
    copy = _details_with_zips(tmp_path / "run")
    shutil.copy(copy / "kg23h50r52qvqmccqqwbbkc8atx5g7nt.zip", tmp_path / "outside.zip")
    answer = copy / "x.json"
    answer.write_text(answer.read_text().replace("kg23h50r52qvqmccqqwbbkc8atx5g7nt", "../outside"))

    attempt = next(one for one in attempts_of(copy) if one.links.get("output") == "../outside")

    assert attempt.artefacts == ()


def _details_with_zips(folder: Path) -> Path:
    shutil.copytree(RUN_A / "storage", folder, dirs_exist_ok=True)
    shutil.copy(RUN_A / "getRunDetails.envelope.json", folder / "x.json")
    return folder
