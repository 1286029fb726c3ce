"""Whole outputs, to be read as a user reads them. `make golden` writes them anew."""

import shutil

import pytest
from inline_snapshot import snapshot

from errata.verbs.store import bundled_example
from terminal import FIXTURES, done, errata, import_fixtures

BENCHMARKS = FIXTURES / "conversation_bench" / "comparison" / "data" / "compare_20260301"
DAMAGED = FIXTURES / "conversation_bench" / "damaged" / "data" / "20260302T100000_voice-beta_0b1c2d3e"


def test_the_analysis_of_the_bundled_example():
    result = done("analyze", bundled_example(), "--no-report")

    assert result.err + result.out == snapshot("""\
read      convex-evals · 25 evals, 133 checks · 0 unreadable
checkup   23 of 25 planned evals measured · fit for comparison with other runs
triage    9 failures · owner found for 4, presumed for 5

Run jn7mqywb · acme/nimbus-2-coder · convex-evals, experiment default · 2026-03-09
PROVISIONAL: owners assigned by rules; 0 of 9 failures reviewed

Score                  passed     rate   95 % interval
         strict        16/25    64.0 %   [44.5, 79.8]    every eval
         as_reported   16/25    64.0 %   [44.5, 79.8]    as convex-evals counts
         clean         16/23    69.6 %   [49.1, 84.4]    best estimate; 2 evals left out: provider
                                                         1, environment 1

Owners   9 failures, by who has to act
         model           6   ████████████████████   1 supported, 5 presumed: no other run of these
                                                    cases is in the store
         grader          1   ███   lint failed, every test passed
         provider        1   ███   the provider returned a server error
         environment     1   ███   a download or connection broke
         supported: by the log or another attempt or run · presumed: nothing shows whose fault it is

Next     errata failures jn7mqywb --owner grader   check 1 grader failure: is the grader right?
         errata rerun jn7mqywb                     print how to rerun 2 left-out evals
         errata failures jn7mqywb                  list 9 failures with reasons
         errata review next jn7mqywb               review the failures one by one
         errata check jn7mqywb                     show 2 notes with evidence

Causes   1× environment  a download or connection broke
             003-mutations/005-batch_insert
         1× model        convex/messages.ts(5,3): error TS2322: Type PaginationResult is not ass…
             002-queries/006-pagination_shape
         1× grader       'ctx' is defined but never used @typescript-eslint/no-unused-vars
             000-fundamentals/002-http_greeting
         errata buckets list jn7mqywb --all   6 more causes, 1 failure each
First failed step   tests 3 · eslint 2 · deploy 1 · tsc 1 · install 1 · 1 without a failed step
Failed by category   000-fundamentals 1 of 4 · 001-data_modeling 2 of 4 · 002-queries 2 of 4
         003-mutations 1 of 4 · 004-actions 1 of 3 · 005-idioms 2 of 3
Cost     $0.4480, unknown for 1 attempt · 178,064 tokens
""")


def test_the_check_of_a_damaged_run():
    result = errata("check", DAMAGED)

    assert result.code == 1
    assert result.out == snapshot("""\
Run 0b1c2d3e · voice-beta · harbour_bench, mode rehydrated · 2026-03-02
NOT FIT for comparison with other runs (3 problems)

problem  missing_cases       2 of 30 planned turns are not in the log: turn-7, turn-18
                             run.log:41 "gave no answer within 15 s"
                             run.log:42 "gave no answer within 15 s"
problem  duplicate_case      turn-12 has 2 rows with different verdicts: 1 pass, 1 fail
                             openai_judged.jsonl:3 pass: "Nothing is left."
                             openai_judged.jsonl:17
                               failed state_tracking: "The class at 14:00 is left."
problem  aggregate_mismatch  openai_summary.json has turns_scored 30; the log has 29 rows (28 turns)
                             openai_summary.json
note     judge_conflict      turn-12: its rows were judged differently
                             openai_judged.jsonl:3
                               pass: "Cascade absorbed from turn 11; not failed again."
                             openai_judged.jsonl:17
                               fail: "State error: nothing is left after the cancellation."
note     row_order           rows are not in the order of the cases; errata sorts them
                             runtime.json

Score                  passed     rate   95 % interval
         strict        24/30    80.0 %   [62.7, 90.5]    every turn; missing or contradictory = not
                                                         passed
         as_reported   –                                 the harness gives no headline number
         clean         24/27    88.9 %   [71.9, 96.1]    no best estimate: run not fit for
                                                         comparison; 3 turns left out: missing 2,
                                                         contradictory 1

Next     errata rerun 0b1c2d3e   print how to rerun 3 left-out turns
""")


def test_the_failures_of_a_run(library):
    assert done("failures", "jn7mqywb", "--store", library).out == snapshot("""\
Run jn7mqywb · acme/nimbus-2-coder · convex-evals, experiment default · 2026-03-09
case                                  failed checks  owner        conf       signal
000-fundamentals/002-http_greeting    eslint         grader       likely     lint_only
    9:23 error 'ctx' is defined but never used @typescript-eslint/no-unused-vars
001-data_modeling/000-user_table      –              provider     likely     provider_server_error
    error: upstream connect error or disconnect/reset before headers
001-data_modeling/003-optional_index  deploy         model        supported  check_failed
    In table "visits" the index "by_creation_time" uses a reserved name
002-queries/001-text_lookup           tests          model        supported  check_failed
    AssertionError: expected [ 1, 2, 3 ] to deeply equal [ 3, 2, 1 ]
002-queries/006-pagination_shape      tsc, tests     model        supported  check_failed
    convex/messages.ts(5,3): error TS2322: Type PaginationResult is not assignable
003-mutations/005-batch_insert        install        environment  likely     connection_reset
    error: ECONNRESET downloading package manifest convex
004-actions/003-rate_limit_guard      tests          model        supported  check_failed
    AssertionError: expected error text to match /limit reached/, got "too many requests, rate limit
    exceeded"
005-idioms/003-shared_validator       eslint, tests  model        supported  check_failed
    9:23 error 'query' is defined but never used @typescript-eslint/no-unused-vars
005-idioms/004-pick_primitive         tests          model        supported  check_failed
    AssertionError: expected { b: "action", e: "mutation" } to match { b: "mutation", e: "action" }
9 failures in 25 attempts · provisional: owners assigned by rules
conf = confidence in the owner: certain, likely or weak; for the model: supported (by the log or
  another attempt or run) or presumed (nothing shows whose fault it is)

Next     errata show jn7mqywb/000-fundamentals/002-http_greeting   show the evidence of one failure
""")


def test_an_attempt(library):
    assert done("show", "jn7mqywb/003-mutations/005-batch_insert", "--store", library).out == snapshot("""\
003-mutations/005-batch_insert · attempt 1 of 1 · failed at install (step 2 of 6; 4 never started)
execution error · measurement not_run · outcome none · 7,510 tokens · $0.0200 reported

Owner    environment, likely (not reviewed; rule connection_reset v24)
         a download or connection broke
  because   errors[0].message · getRunDetails.envelope.json#/value/evals/15/steps/1
            > error: ECONNRESET downloading package manifest convex
  and       a package could not be downloaded (package_download)
  and       the answer is identical to the reference (answer_equals_reference)
            output convex/rows.ts
            · getEvalDebugInfo/jh7csmwchdnsgpth42wjdj8x5vjjne8n.json#/outputFiles/convex~1rows.ts
            > export const addMany = mutation({ args: { rows: v.array(v.object({ n: v.number() }))
            > }, handler: async (ctx, { rows }) => Promise.all(rows.map((r) => ctx.db.ins
  but       the harness itself scored it as not passed
Counted  in strict and as_reported, not in clean
Next     errata rerun jn7mqywb --case 003-mutations/005-batch_insert

checks
  pass     filesystem
  fail     install     error: ECONNRESET downloading package manifest convex
  not_run  deploy
  not_run  tsc
  not_run  eslint
  not_run  tests

error in the environment · getRunDetails.envelope.json#/value/evals/15/steps/1
  > Error: Command failed: bun install
  > error: ECONNRESET downloading package manifest convex

task
  > Write a mutation `addMany` that inserts a list of rows and returns their ids.

files (--full shows their texts)
  output     convex/rows.ts  181 bytes
  log        run.log  167 bytes
  task       TASK.txt  78 bytes
  expected   answer/convex/rows.ts  181 bytes
  grader     grader.test.ts  148 bytes

bucket   a-download-or-connection-broke (provisional)
id       66a3ec6d795a0548:convex-evals/003-mutations/005-batch_insert#1
from     getRunDetails.envelope.json#/value/evals/15
status   failed   (as recorded by the harness)
""")


def test_an_attempt_whose_words_mislead(library):
    """The case is named after rate limits, and the model writes of them; both are no evidence."""
    page = done("show", "jn7mqywb/004-actions/003-rate_limit_guard", "--store", library).out

    assert page.partition("\nchecks\n")[0] == snapshot("""\
004-actions/003-rate_limit_guard · attempt 1 of 1 · failed at tests (60 % passed; step 6 of 6)
execution completed · measurement scored · outcome fail · 7,578 tokens · $0.0210 reported

Owner    model, supported: another attempt or run passed this case (not reviewed; no rule names
         another owner)
  because   run.log:13
            > AssertionError: expected error text to match /limit reached/, got "too many requests,
            > rate limit exceeded"
  and       the case was passed in another attempt or run (passed_elsewhere)
            other results
            passed by another run of the same model
  not used  "rate_limit" in the case name and "too many requests, rate limit exceeded" in the
            model's own file (convex/guard.ts:5): rule provider_rate_limit reads only the harness's
            error in the generation, and there was none
Label    MODEL_FAULT (taxonomy convex-evals), suggested by rules
Counted  in strict, as_reported and clean
History  failed in 1 earlier run of the model: jn709tmj (2026-03-02)
""")


def test_passes_that_deserve_a_second_look(library):
    page = done("failures", "9c0d1e2f", "--suspicious", "--limit", 3, "--store", library).out

    assert page == snapshot("""\
Run 9c0d1e2f · voice-beta · harbour_bench · 2026-03-01
At least 3 of 20 passes look suspicious; scores count them as passed
   3× recites_reference: the answer is the reference, character for character, although any wording
      is allowed

case    suspicion          conf    where        quote
turn-0  recites_reference  likely  output.text  Greets Lena; the Lantern Harbour Fair is a three-da…
turn-1  recites_reference  likely  output.text  Friday opens at 10:00.
turn-2  recites_reference  likely  output.text  18 crowns.
conf = confidence in the suspicion: certain, likely or weak
""")


def test_an_unavailable_run(library):
    result = done("analyze", FIXTURES / "convex_evals" / "run_c" / "data", "--no-report")

    assert result.out == snapshot("""\
Run jn7h2dcx · acme/drift-mini-preview · UNAVAILABLE: all 25 attempts failed with the same error and
  used no tokens:
  > error: No endpoints found for acme/drift-mini-preview.
This run does not measure the model. Score: strict 0/25; clean has no eval left to score.
""")


@pytest.mark.req("S-17")
def test_the_analysis_of_a_batch_of_three_sessions():
    result = done("analyze", FIXTURES / "scylla" / "large" / "batch-gen1" / "data", "--no-report")

    assert result.out == snapshot("""\
Run batch-0214 · sonnet · projectscylla · 2026-02-14
PROVISIONAL: owners assigned by rules; 0 of 23 failures reviewed

Score                  passed     rate   95 % interval
         strict        24/47    51.1 %   [37.2, 64.7]    every case
         as_reported   24/47    51.1 %   [37.2, 64.7]    as ProjectScylla counts
         clean         29/45    64.4 %   [49.8, 76.8]
                       best estimate; 2 cases left out: the harness could not set up a working copy
                       · 11 taken from an earlier session (5 passed, 6 failed)

Owners   23 failures, by who has to act
         harness        13   ████████████████████   11: stored results have a null where the loader
                                                    expects a dictionary; 2: the harness could not
                                                    set up a working copy
         model          10   ███████████████   all presumed: no other run of these cases is in the
                                               store
         presumed: nothing shows whose fault it is

Next     errata failures batch-0214 --owner harness
           # check 13 harness failures: is the harness at fault?
         errata rerun batch-0214         print how to rerun 2 left-out cases
         errata check batch-0214         show 2 warnings with evidence
         errata failures batch-0214      list 23 failures with reasons
         errata review next batch-0214   review the failures one by one

Causes   11× harness  stored results have a null where the loader expects a dictionary
             test-004, test-006, test-011, test-017, test-023, test-026, test-031 and 4 more
          9× model    Cause not known; all failed T0 (no common error text)
             test-003, test-008, test-012, test-015, test-028, test-033, test-037 and 2 more
          2× harness  the harness could not set up a working copy
             test-019, test-041
         errata buckets list batch-0214 --all   1 more cause, 1 failure
First failed check   T0 9 · T1 1 · 13 without a failed check
Other checks   T1 mean 0.479 · T0 mean 0.484
Cost     $54.18
         cost of the latest session's results; `errata sessions batch-0214` shows that of each
         session

warning  several_sessions    3 sessions in one folder; strict and as_reported use the latest, clean
                             falls back to an earlier session where the latest broke
                             session 1, 2026-02-14T00:28:03Z: spent $69.59; 29 passed, 2 failed at …
warning  errors              13 of 47 attempts (28 %) had errors: 11 in the harness, 2 during setup
                             "1 validation error for RunResult criteria_scores Input should be a va…
""")


def test_a_benchmark_in_the_place_of_a_run(tmp_path):
    shutil.copytree(BENCHMARKS, tmp_path / "results")

    assert errata("analyze", "results/benchmarks").err == snapshot("""\
error: No source recognises `results/benchmarks`

hint: it contains `turns.json` and `tools.json` of a benchmark, not a finished run;
      runs of this benchmark: `results/runs/harbour_bench`
      all formats: `errata sources` · name one: `--source`
""")


def test_the_list_of_runs():
    """Of runs that nobody has analysed: a shared store would also count suspicious passes."""
    import_fixtures(
        *(FIXTURES / "conversation_bench" / name / "data" for name in ("comparison", "damaged", "unjudged"))
    )

    assert done("runs").out == snapshot("""\
run       model             suite          started           passed  failures
0b1c2d3e  voice-beta        harbour_bench  2026-03-02 10:00   25/29         4
    2 missing
7d8e9f0a  voice-delta       harbour_bench  2026-03-02 09:00       –         1
    nothing scored
3a4b5c6d  acme/voice-gamma  harbour_bench  2026-03-01 14:00   22/30         8
    1 failure not scored
9c0d1e2f  voice-beta        harbour_bench  2026-03-01 13:00   20/30        10
5e6f7a8b  voice-alpha       harbour_bench  2026-03-01 11:00   26/30         4
1a2b3c4d  voice-alpha       harbour_bench  2026-03-01 10:00   25/30         5
""")


def test_the_help():
    assert done("--help").out == snapshot("""\
Usage: errata [OPTIONS] COMMAND [ARGS]...

  The post-mortem for LLM eval runs: what went wrong, who has to act, on what
  evidence, and what to do next.

  errata demo              a bundled example
  errata analyze PATH      your own run
  errata failures latest   its failures, with owners
  errata show latest/CASE  one of them, with evidence

  RUN is a path, a run's name or id (or its first characters), a model's name
  (if it has only one run), or `latest`.

Options:
  --store FILE   Path of the store; also accepted after the command.
  --prod         Allow this command to write to the store of a production
                 deployment.
  -V, --version  Show the version and exit.
  -h, --help     Show this message and exit.

Look:
  analyze      Import, check and summarise runs, and write a report.
  runs         List the runs in the store.
  failures     List failures with owner and evidence.
  show         Show a run, a case or an attempt, with evidence.
  score        Show scores under every scoring policy.
  check        Check whether runs are complete and fit for comparison.
  sessions     List the sessions of a resumed run and what each one replaced.
  serve        Serve the runs as web pages and an HTTP API.
  demo         Run `analyze` on a bundled example.

Compare:
  compare      Compare runs case by case, with significance tests.
  consistency  Show which cases and checks change between repeated runs.
  gate         Fail CI on new failures, a low or lower score, or an incomplete
               run.

Review:
  triage       Reassign owners with the current rules.
  review       Review failures with a model or agent, by hand, or in a
               spreadsheet.
  taxonomies   List taxonomies with their labels.
  buckets      Group failures by cause, and correct the groups.

Act:
  report       Write a report about runs.
  rerun        Print or run the commands that rerun what broke.
  run          Run suites with Inspect AI, then analyse the results.
  models       List, check and try the models that `run` uses.
  issues       Write an issue for each case and a script that files them.
  action       Record fixes, and check whether they worked.
  known        Record accepted limitations of a suite.
  writeback    Write owners and verdicts into copies of the harness's logs.
  export       Export runs as tables, or failures as regression cases.

Agents:
  skill        Install instructions for coding agents.
  mcp          Serve errata to agents over MCP.

Store:
  import       Read runs into the store.
  watch        Import finished runs as they appear in folders.
  map          Draft a mapping for your own table.
  fetch        Download runs from the harness's server.
  exclude      Leave a run out of comparisons, pooled scores and baselines,
               with a reason.
  rm           Remove runs from the store.
  store        Back up, restore, copy, measure and thin the store.
  doctor       Check the store for damage.
  sources      List the formats that errata reads.
  trust        Allow a project's `errata.toml` to set rules, taxonomies and
               more.
  token        Create, list and revoke tokens for `serve`.
""")
