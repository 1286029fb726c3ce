"""`errata show`: what a person reads of one attempt."""

import json

import msgspec
import pytest

from errata.cli.show_evidence import where_it_failed
from errata.model import Check
from errata.testing import an_attempt
from reading import RUN_B
from terminal import FIXTURES, done, errata, import_fixtures

HARBOR = FIXTURES / "harbor"
BY_STEP = "003-mutations/005-batch_insert"


def shown(library, thing, *options):
    return done("show", thing, *options, "--store", library).out


@pytest.fixture
def own(tmp_path):
    """One attempt of a log of one's own, with values that are awkward to print."""

    def read(**row):
        (tmp_path / "rows.jsonl").write_text(json.dumps({"id": "sum", "ok": False, **row}) + "\n")
        (tmp_path / "map.toml").write_text(
            '[case]\nname = "id"\ninput = { column = "prompt", optional = true }\n'
            'expected = { column = "want", optional = true }\n'
            '[attempt]\npassed = "ok"\noutput = { column = "answer", optional = true }\n'
            '[checks]\npoints = { column = "points", optional = true }\n'
        )
        done("import", "rows.jsonl", "--map", "map.toml")
        return done("show", "latest/sum").out

    return read


@pytest.mark.parametrize(
    ("thing", "where"),
    [
        (f"jn7mqywb/{BY_STEP}", "failed at install (step 2 of 6; 4 never started)"),
        ("jn7mqywb/004-actions/003-rate_limit_guard", "failed at tests (60 % passed; step 6 of 6)"),
        ("jn7mqywb/001-data_modeling/000-user_table", "ended in an error while calling the model"),
        ("9c0d1e2f/turn-11", "failed 2 of 5 dimensions: tool_use_correct, state_tracking"),
    ],
)
def test_the_first_line_says_where_it_failed(library, thing, where):
    first = shown(library, thing).splitlines()[0]

    assert first.endswith(f" · {where}")


def test_a_case_is_found_by_the_beginning_of_its_name(library):
    assert shown(library, "jn7mqywb/003-mutations/005").startswith(BY_STEP)


def test_a_beginning_that_several_cases_share_is_refused_with_those(library):
    result = errata("show", "jn7mqywb/003-mutations", "--store", library)

    assert result.code == 2
    assert "hint: did you mean `003-mutations/" in result.err


def test_what_can_be_repeated_comes_with_the_command_that_tells_how(library):
    result = shown(library, f"jn7mqywb/{BY_STEP}")
    (line,) = [line for line in result.splitlines() if line.startswith("Next")]

    assert line.split()[1:] == ["errata", "rerun", "jn7mqywb", "--case", BY_STEP]
    assert done(*line.split()[2:], "--store", library).out


def test_a_follower_names_the_failure_it_follows_from(library):
    assert "  because   follows from 9c0d1e2f/turn-24\n" in shown(library, "9c0d1e2f/turn-26")


def test_earlier_sessions_are_told(library):
    run = next(row["run_id"] for row in done("runs", "--json", "--store", library).rows if row["model"] == "sonnet")

    result = shown(library, f"{run}/test-004")

    assert "\nsession 1: failed (execution completed) · id " in result
    assert "clean uses session 1's result" in result
    assert "errata sessions" in result
    assert "errata rerun" not in result  # which skips what an earlier session measured


def test_messages_are_told_by_who_says_what(own):
    result = own(prompt=[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2 + 2?"}])

    assert "  > system: Be brief.\n  > user: 2 + 2?\n" in result


def test_a_long_text_is_shown_in_part_and_says_how_much_is_left(own):
    text = own(prompt="\n".join(f"line {number}" for number in range(40)))

    assert "  > line 11\n  … 28 more lines with --full\n" in text


def test_a_reward_is_told_with_the_tests_behind_it():
    import_fixtures(HARBOR)
    runs = [run["run_id"] for run in done("runs", "--json").rows if "reward" in run["counts"]["failed_checks"]]
    failed = [row for run in runs for row in done("failures", run, "--failed-check", "reward", "--json").rows]
    first_lines = [done("show", row["attempt_id"]).out.splitlines()[0] for row in failed]

    assert any(line.endswith(" tests failed)") for line in first_lines)
    assert all(" · reward 0" in line for line in first_lines)


def test_a_secret_that_is_folded_is_redacted_all_the_same(own):
    result = own(answer="x " * 44 + "sk-ant-api03-" + "a1b2c3d4" * 12)

    assert "[redacted:anthropic-key]" in result
    assert "a1b2c3d4" not in result


@pytest.mark.parametrize("before", ["", "./"], ids=["a name", "a dot"])
def test_a_path_before_a_case_is_imported_first(tmp_path, monkeypatch, before):
    monkeypatch.chdir(RUN_B.parent)

    page = done("show", f"{before}{RUN_B.name}/{BY_STEP}", "--store", tmp_path / "errata.db").out
    assert page.startswith(BY_STEP)


def test_a_folder_that_is_no_run_does_not_hide_a_run_of_its_name(tmp_path):
    import_fixtures(RUN_B)
    (tmp_path / "jn7mqywb").mkdir()

    assert done("show", f"jn7mqywb/{BY_STEP}").out.startswith(BY_STEP)


def test_a_path_that_is_not_there_imports_nothing_from_around_it(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"id": "one", "ok": false}\n')

    assert errata("show", "./no-such-run/one").code == 2
    assert done("runs", "--json").rows == []


def test_a_packet_can_be_shown_as_text(library):
    text = shown(library, f"jn7mqywb/{BY_STEP}", "--packet", "--format", "text")

    assert "── error   (" in text
    assert max(map(len, text.splitlines())) <= 100


TAU = FIXTURES / "tau_bench" / "tau_cut" / "data" / "gpt-4o-airline.json"


def test_the_evidence_log_lists_step_speaker_sentence_and_quote(tmp_path):
    import_fixtures(TAU, store=tmp_path / "s")

    lines = shown(tmp_path / "s", "gpt-4o-airline/45#2").splitlines()
    assert shown(tmp_path / "s", "gpt-4o-airline/45 #2").splitlines() == lines

    at = lines.index("evidence log")
    assert lines[at + 1].startswith("  step  15  user: The simulated user ends the conversation")
    assert any(line.startswith("            > ") for line in lines[at:])


def test_the_evidence_log_is_in_the_json_of_a_failure_and_not_of_a_pass(tmp_path, library):
    import_fixtures(TAU, store=tmp_path / "s")
    log = json.loads(shown(tmp_path / "s", "gpt-4o-airline/45#2", "--json"))["evidence_log"]

    assert {"kind", "step", "speaker", "text", "quote", "strength"} <= log[0].keys()
    assert json.loads(shown(library, "jn7mqywb/000-fundamentals/000-greeting_query", "--json"))["evidence_log"] == []


def test_checks_that_fail_and_do_not_count_are_among_those_that_failed():
    exact = [Check(name=f"exact_match,{name}", status="fail", kind="assertion") for name in ("strict", "flexible")]
    checks = (exact[0], msgspec.structs.replace(exact[1], counts=False))
    attempt = an_attempt(measurement="scored", outcome="fail", checks=checks)

    assert where_it_failed(attempt) == "failed 2 of 2 assertions: exact_match,strict, exact_match,flexible"


def of_a_group(*groups):
    """A check that stands for many tests, and beside it those of them that failed."""
    listed = [Check(name=f"test_{at}", status="fail", kind="tests", counts=False) for at in range(2)]
    return an_attempt(measurement="scored", outcome="fail", checks=(*groups, *listed))


def test_a_check_that_stands_for_many_tests_is_counted_as_the_runner_counts_them():
    group = Check(name="tests", status="fail", kind="tests", achieved=134, max=142)

    assert where_it_failed(of_a_group(group)) == "failed 8 of 142 tests"


def test_tests_that_all_count_are_still_counted_one_by_one():
    tests = [Check(name=f"test_{name}", status=name, kind="tests") for name in ("fail", "pass", "skipped")]
    attempt = an_attempt(measurement="scored", outcome="fail", checks=tuple(tests))

    assert where_it_failed(attempt) == "failed 1 of 2 tests: test_fail"


def test_a_passed_attempt_names_the_one_that_failed():
    import_fixtures(FIXTURES / "harbor/demo-job/data")
    passed, failed = (done("show", f"latest/hello-world#{index}").out for index in (1, 2))

    assert "1 other attempt at this case failed: `errata show 'e171098a/hello-world#2'`" in passed
    assert "at this case failed" not in failed
    assert done("show", "e171098a/hello-world#2").out == failed
    assert done("buckets", "list").out.endswith("2 failures, no two alike: `--all` lists them\n")


def test_a_case_that_never_ran_is_not_an_attempt(library):
    result = shown(library, "jn709tmj/003-mutations/004-swap_order")

    assert result.splitlines()[0] == "003-mutations/004-swap_order · planned, but not in the log"


def test_an_answer_that_the_log_drops_because_its_scorer_broke_was_given():
    import_fixtures(FIXTURES / "promptfoo/judge_error/data")

    result = done("show", "latest/judge throws").out

    assert "\nexecution completed (its output is not in the log) · measurement error · outcome none\n" in result
