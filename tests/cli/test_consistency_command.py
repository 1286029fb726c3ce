"""`errata consistency`, as a user sees it."""

import pytest
from inline_snapshot import snapshot

from terminal import FIXTURES, done, errata

DAMAGED = FIXTURES / "conversation_bench" / "damaged" / "data"
HAIKU = FIXTURES / "scylla" / "haiku-tables" / "data"


def test_two_runs_of_one_model(library):
    assert done("consistency", "1a2b3c4d", "5e6f7a8b", "--store", library).out == snapshot("""\
voice-alpha · harbour_bench · 2 runs
runs          1a2b3c4d, 5e6f7a8b

rows          60 · 51 pass, 9 fail, 0 incomplete · 30 turns
passed        51/60   85.0 %   [70.3, 93.1]   by run: 83.3 · 86.7
any of k      pass@1 85.0 % · pass@2 90.0 %
all of k      pass^1 85.0 % · pass^2 80.0 %
always pass   24
always fail   3   turn-11, turn-14, turn-22
flaky         3   turn-5, turn-19, turn-26
checks flip   kb_grounding 2, instruction_following 2, turn_taking 1, tool_use_correct 1

Results differ (3)   . pass   F fail
case     passes  runs  checks that flip
turn-5      1/2  F .   kb_grounding
turn-19     1/2  . F   turn_taking, instruction_following
turn-26     1/2  F .   tool_use_correct, instruction_following, kb_grounding
""")


def test_subjects_beside_each_other(library):
    result = done("consistency", "1a2b3c4d", "5e6f7a8b", "9c0d1e2f", "7d8e9f0a", "--store", library)

    assert result.out.endswith("\nleft out      7d8e9f0a: no attempt was scored\n")


def test_a_run_alone_repeats_nothing(library):
    assert done("consistency", "9c0d1e2f", "--store", library).out == snapshot("""\
voice-beta · harbour_bench · 1 run
runs          9c0d1e2f
No turn has two attempts that can be compared
""")


def test_results_that_a_later_session_replaced_do_not_count_as_repetitions(library):
    page = done("consistency", "fea0ee125a978f86", "--store", library).out

    assert "No case has two attempts that can be compared (earlier sessions don't count)\n" in page


def test_judges_of_a_real_study():
    assert done("consistency", "--judges", HAIKU).out == snapshot("""\
18 attempts judged · 18 by two or more

judge                         judged  invalid  pass  fail  mean score
judge_01 (claude-opus-4-6)        15        –    12     3       0.680
judge_02 (claude-sonnet-4-6)      18        –    15     3       0.771
judge_03 (claude-haiku-4-5)       18        –    11     7       0.604

Agreement of two judges on pass or fail
judge                         and                           both  same  kappa  scores apart
judge_01 (claude-opus-4-6)    judge_02 (claude-sonnet-4-6)    15    15   1.00         0.069
judge_01 (claude-opus-4-6)    judge_03 (claude-haiku-4-5)     15    11   0.44         0.244
judge_02 (claude-sonnet-4-6)  judge_03 (claude-haiku-4-5)     18    14   0.48         0.205

Agreement of all judges, overall and on each check that two of them rated
rated               attempts  disputed  alpha  Fleiss
overall                   18         4   0.60    0.57
requirements               3         3  -0.31   -0.33
overall_quality           12         5  -0.14   -0.17
build_pipeline            10         3  -0.09       –
documentation              3         1   0.00   -0.12
execution                  1         1   0.00       –
proportionality           12         8   0.05   -0.04
code_quality              12         2   0.74    0.69
functional                14         2   0.78    0.69
build_integration          3         0      –       –
core_functionality         1         0      –       –
– undefined: all ratings are the same, or there are too few

Disputed overall (4)
  test-002/T0/04   judge_01 (claude-opus-4-6) pass 0.72 · judge_02 (claude-sonnet-4-6) pass 0.89
    · judge_03 (claude-haiku-4-5) fail 0.00
    errata show '7617bfef35cbff0b:projectscylla/test-002/T0/04#1'
  test-002/T0/04 #2   judge_01 (claude-opus-4-6) pass 0.82 · judge_02 (claude-sonnet-4-6) pass 0.85
    · judge_03 (claude-haiku-4-5) fail 0.25
    errata show '7617bfef35cbff0b:projectscylla/test-002/T0/04#2'
  test-002/T0/04 #3   judge_01 (claude-opus-4-6) pass 0.79 · judge_02 (claude-sonnet-4-6) pass 0.87
    · judge_03 (claude-haiku-4-5) fail 0.32
    errata show '7617bfef35cbff0b:projectscylla/test-002/T0/04#3'
  test-003/T6/01 #3   judge_01 (claude-opus-4-6) pass 0.88 · judge_02 (claude-sonnet-4-6) pass 1.00
    · judge_03 (claude-haiku-4-5) fail 0.00
    errata show '7617bfef35cbff0b:projectscylla/test-003/T6/01#3'
""")


def test_a_turn_with_two_rows_is_told_and_an_error_when_everything_else_was_told(tmp_path):
    result = errata("consistency", DAMAGED, "-o", tmp_path / "out")

    assert result.code == 2
    assert "voice-beta · harbour_bench · 1 run" in result.out
    assert (tmp_path / "out" / "consistency_sanity_checks.csv").is_file()
    assert "error: Several rows for one case of one run, not counted: `turn-12`" in result.talk


def test_json_holds_everything_that_the_page_says(library):
    row = done("consistency", "1a2b3c4d", "5e6f7a8b", "--json", "--store", library).row

    assert row["flaky"] == ["turn-5", "turn-19", "turn-26"]
    assert row["always_fail"] == ["turn-11", "turn-14", "turn-22"]
    assert [(one["k"], one["any"], one["all"]) for one in row["reliability"]] == [(1, 0.85, 0.85), (2, 0.9, 0.8)]
    assert row["cases"][5] == {
        "case": "turn-5",
        "case_key": "harbour_bench/turn-5",
        "pattern": "1:fail|2:pass",
        "passed": 1,
        "failed": 1,
        "incomplete": 0,
        "frequency": "1/2",
        "flaky": True,
        "unstable": True,
        "metric_flips": [
            {"metric": "kb_grounding", "pattern": "1:fail|2:pass", "passed": 1, "failed": 1, "na": 0},
        ],
        "results": [],
    }


def test_json_names_files_and_runs_that_are_left_out(library, tmp_path):
    rows = done("consistency", "1a2b3c4d", "7d8e9f0a", "-o", tmp_path / "out", "--json", "--store", library).rows

    assert rows[1]["left_out"] == "not_scored"
    assert rows[2] == {"file": str(tmp_path / "out" / "consistency_run_details.csv"), "rows": 30}


def test_json_of_judges():
    row = done("consistency", "--judges", HAIKU, "--json").row

    assert row["questions"][0]["name"] == "overall"
    assert len(row["questions"][0]["disputes"]) == 4


@pytest.mark.parametrize("options", [(), ("--judges",)])
def test_no_line_is_wider_than_the_page(options, library):
    every = ("1a2b3c4d", "5e6f7a8b", "9c0d1e2f", "3a4b5c6d", "jn709tmj", "jn7mqywb", "jn7maewn")
    result = done("consistency", *every, *options, "--store", library)

    assert max(map(len, result.out.splitlines())) <= 100


def test_judges_have_no_tables(tmp_path):
    result = errata("consistency", HAIKU, "--judges", "-o", tmp_path / "out")

    assert result.code == 2
    assert "`--judges` writes no tables" in result.talk
