"""`errata score` as a user reads it: the bracket, what is left out of it and why, and what a pass has cost."""

import json

import pytest
from inline_snapshot import snapshot

from errata.cli.render.runs import harness_title
from errata.model import SourceInfo
from errata.testing import a_run
from terminal import FIXTURES, done, errata

KIMI = FIXTURES / "harbor" / "large" / "kimi-job" / "data"


def batch_of(library):
    runs = done("runs", "--json", "--store", library).rows
    (batch,) = [run["run_id"] for run in runs if (run["run"], run["model"]) == ("batch-0214", "sonnet")]
    return batch


def test_a_harness_has_the_title_of_the_one_that_wrote_the_log():
    titles = [harness_title(a_run(source=SourceInfo(name="tau-bench", format_version=v))) for v in ("tau", "tau2")]

    assert titles == ["tau-bench", "tau2-bench"]


def test_a_run_with_missing_and_broken_evals(library):
    assert done("score", "jn709tmj", "--by-category", "--store", library).out == snapshot("""\
Run jn709tmj · acme/nimbus-2-coder · convex-evals, experiment default · 25 evals

              passed     rate   95 % interval
strict        13/25    52.0 %   [33.5, 70.0]    every eval; missing or unfinished = not passed
as_reported   13/21    61.9 %   [40.9, 79.2]    convex-evals leaves out 4 evals: rate_limit 1,
                                                infrastructure 1, unfinished 1, missing 1
clean         13/20    65.0 %   [43.3, 81.9]    no best estimate: run not fit for comparison; 5
                                                evals left out: provider 2, environment 1,
                                                unfinished 1, missing 1
reviewed      –                                 0 of 10 reviewed
clean range   52.0–72.0 % (if all 5 left-out evals failed / passed)
presumed      1 failure counted in clean is only presumed to be the model's; if it is not, clean is
              at most 13/19, 68.4 %
cost          $0.37 total · $0.22 on passes · $0.15 on failures · $0.0287 total cost per pass
              unknown for 3 attempts

Left out of clean (5)
  setup_timeout              1   "Error: convex dev timed out after 90s"
                                 (004-actions/005-fetch_with_retry)
  provider_rate_limit        1   "[rate_limit] error: 429 Too Many Requests"
                                 (005-idioms/001-internal_helpers)
  provider_empty_response    1   "[infrastructure] empty provider response"
                                 (006-clients/000-live_list)
  unfinished                 1   006-clients/003-presence_badge
  missing                    1   003-mutations/004-swap_order

Counted in clean, but not the model's (1)
  lint_only                  1   "eslint failed" (000-fundamentals/002-http_greeting)
  clean without these: 13/19   68.4 %

By category
  000-fundamentals   strict, as_reported, clean  3/4   75.0 %  [30.1, 95.4]   $0.0177/pass
  001-data_modeling  strict, as_reported, clean  3/4   75.0 %  [30.1, 95.4]   $0.0203/pass
  002-queries        strict, as_reported, clean  2/4   50.0 %  [15.0, 85.0]   $0.0345/pass
  003-mutations      strict                      2/4   50.0 %  [15.0, 85.0]   $0.0288/pass
                     as_reported, clean          2/3   66.7 %  [20.8, 93.9]
  004-actions        strict, as_reported         1/3   33.3 %  [6.1, 79.2]    $0.0630/pass
                     clean                       1/2   50.0 %  [9.5, 90.5]
  005-idioms         strict                      2/3   66.7 %  [20.8, 93.9]   $0.0227/pass
                     as_reported, clean          2/2  100.0 %  [34.2, 100.0]
  006-clients        strict                      0/3    0.0 %  [0.0, 56.1]    –: nothing passed
                     as_reported, clean          0/1    0.0 %  [0.0, 79.3]
""")


def test_an_unavailable_run(library):
    assert done("score", "jn7h2dcx", "--store", library).out == snapshot("""\
Run jn7h2dcx · acme/drift-mini-preview · convex-evals, experiment default · 25 evals
UNAVAILABLE: every attempt ended in the same error; this run does not measure the model

              passed    rate   95 % interval
strict        0/25     0.0 %   [0.0, 13.3]     every eval; none was scored, so none passed
as_reported   0/25     0.0 %   [0.0, 13.3]     as convex-evals counts
clean         –                                model unavailable: every failure was infrastructure,
                                               so there is nothing to score
reviewed      –                                0 of 25 reviewed
""")


def test_several_runs_pooled(library):
    result = done("score", "1a2b3c4d", "5e6f7a8b", "9c0d1e2f", "3a4b5c6d", "--pooled", "--store", library)

    assert result.out == snapshot("""\
voice-alpha · harbour_bench · conversation-bench · 2 runs pooled
runs          1a2b3c4d, 5e6f7a8b

              passed     rate   95 % interval
strict        51/60    85.0 %   [70.3, 93.1]    every turn
as_reported   51/60    85.0 %   [70.3, 93.1]    as conversation-bench counts
clean         51/59    86.4 %   [71.4, 94.2]    1 turn left out: the provider returned an empty
                                                response
reviewed      –                                 0 of 2 runs reviewed
effective n   37 for 60 turns (strict): attempts at the same case are correlated
clean range   85.0–86.7 % (if the left-out turn failed / passed)

voice-beta · harbour_bench · conversation-bench · 1 run pooled
runs          9c0d1e2f

              passed     rate   95 % interval
strict        20/30    66.7 %   [48.8, 80.8]    every turn
as_reported   20/30    66.7 %   [48.8, 80.8]    as conversation-bench counts
clean         20/25    80.0 %   [60.9, 91.1]    5 turns left out: knock-on failure of an earlier one
reviewed      –                                 0 of 1 runs reviewed
clean range   66.7–83.3 % (if all 5 left-out turns failed / passed)

acme/voice-gamma · harbour_bench · conversation-bench · 1 run pooled
runs          3a4b5c6d

              passed     rate   95 % interval
strict        22/30    73.3 %   [55.6, 85.8]    every turn
as_reported   22/30    73.3 %   [55.6, 85.8]    as conversation-bench counts
clean         22/28    78.6 %   [60.5, 89.8]    2 turns left out: provider 1, unscored 1
reviewed      –                                 0 of 1 runs reviewed
clean range   73.3–80.0 % (if both left-out turns failed / passed)
""")


def test_json_carries_all_that_the_page_shows():
    row = done("score", KIMI, "--json").row
    clean = row["scores"]["clean"]
    group, mangled = clean["left_out_groups"]

    assert (clean["passed"], clean["total"], clean["left_out"]) == (0, 28, {"environment": 16, "harness": 1})
    assert (mangled["signal"], mangled["count"]) == ("tool_channel_broken", 1)
    assert (group["signal"], group["count"], len(group["attempts"])) == ("verifier_never_ran", 16, 16)
    assert "uvx: command not found" in group["evidence"]["quote"]
    assert [one["case"] for one in group["attempts"] if one["timed_out"]] == ["polyglot-rust-c"]
    assert [one["signal"] for one in clean["not_the_model_alone"]] == ["check_failed"]
    assert clean["without_these"] == {"passed": 0, "total": 26}
    assert clean["bounds"] == [0.0, pytest.approx(17 / 45)]
    assert row["scores"]["as_reported"]["left_out"] == {"AgentTimeoutError": 3}
    assert row["scores"]["as_reported"]["reproduced"] is True
    assert row["scores"]["reviewed"]["note"] == {
        "code": "reviewed",
        "count": 0,
        "of": 45,
        "between": None,
        "stated": None,
        "words": [],
    }


@pytest.mark.req("S-35")
@pytest.mark.trap(13)
def test_json_has_no_infinite_cost_but_null_and_a_reason(library):
    result = done("score", batch_of(library), "--json", "--store", library)
    cost = json.loads(result.out, parse_constant=pytest.fail)["cost"]

    assert (round(cost["cost_of_pass"]["mean"], 2), round(cost["cost_of_pass"]["median"], 2)) == (0.37, 0.17)
    (price,) = [one for one in cost["prices"] if one["case"].endswith("test-003") and one["path"] == "T0"]
    assert (price["cost_of_pass"], price["note"]) == (None, "nothing_passed")


def test_json_of_a_pool(library):
    (row,) = done("score", "1a2b3c4d", "5e6f7a8b", "--pooled", "--json", "--store", library).rows

    assert (len(row["pooled"]), row["model"], row["scores"]["strict"]["total"]) == (2, "voice-alpha", 60)
    assert row["categories"]["tool_use"]["strict"]["total"] == 12


def test_runs_of_different_suites_are_not_pooled(library):
    result = errata("score", "1a2b3c4d", "jn7maewn", "--pooled", "--store", library)

    assert (result.code, result.out) == (2, "")
    assert "different suites can't be pooled: `harbour_bench`, `convex-evals`" in result.err


SAMPLES = ["inspect_ai/real_logs", "inspect_ai/real_converted", "inspect_ai/demo_eval", "inspect_ai/all_errored"]
SAMPLES += ["promptfoo/export", "promptfoo/judge_error", "promptfoo/riddles", "promptfoo/shared_4", "scylla/batch-gen2"]
SAMPLES += ["conversation_bench/unjudged", "conversation_bench/damaged", "harbor/demo-job", "harbor/steps-job"]


@pytest.mark.parametrize("sample", SAMPLES)
def test_every_line_fits_the_page(sample):
    page = done("score", FIXTURES / sample / "data", "--by-category").out

    assert [line for line in page.splitlines() if len(line) > 100] == []


def test_a_project_can_drop_timeouts(at_home):
    (at_home / "errata.toml").write_text('timeouts = "drop"\n')

    page = done("score", KIMI).out

    assert "clean         0/26" in page
    assert "timeouts      left out of clean and reviewed (setting `timeouts`)" in page


def test_a_wrong_setting_stops_the_command_before_it_reads(at_home):
    (at_home / "errata.toml").write_text('timeout = "drop"\n')

    result = errata("score", KIMI)

    assert (result.code, result.out) == (2, "")
    assert "did you mean `timeouts`?" in result.err
    assert not (at_home / ".errata").exists()


def test_an_excluded_run_says_so(tmp_path):
    store = tmp_path / "mine.db"
    done("import", FIXTURES / "convex_evals" / "run_d" / "data", "--store", store)
    done("exclude", "jn7maewn", "--reason", "wrong key", "--store", store)

    assert "EXCLUDED from every score: wrong key" in done("score", "jn7maewn", "--store", store).out
    assert "excluded: wrong key" in done("score", "jn7maewn", "--pooled", "--store", store).out


def test_failures_of_an_earlier_session_are_only_presumed_to_be_the_models():
    batch = FIXTURES / "scylla" / "large" / "batch-gen1" / "data" / "batch-gen1"
    page = " ".join(done("score", batch).out.split())

    assert "11 taken from an earlier session (5 passed, 6 failed)" in page
    assert "all 16 failures counted in clean are only presumed to be the model's (6 from an earlier" in page
    assert "cost of the latest session's results; `errata sessions" in page
