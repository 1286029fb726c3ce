"""Scores of real logs: as their harnesses count, without what broke, and what a pass has cost."""

import msgspec
import pytest

from errata.compare.pooling import pool_runs
from errata.errors import ErrataError
from errata.model import Exclusion, Reviewer, Verdict
from errata.model.words import CostNote
from errata.runs.names import runs_named
from errata.runs.view import RunView
from errata.store.attempts import attempts_of


def scored(store, fixtures, path, **given):
    return [RunView(stored, store).scores(**given) for stored in runs_named([str(fixtures / "sources" / path)], store)]


def only(store, fixtures, path, **given):
    (one,) = scored(store, fixtures, path, **given)
    return one


def counts(scores, policy):
    score = scores.scores[policy]
    return score.passed, score.total


BATCH = "scylla/large/batch-gen1/data"
KIMI = "harbor/large/kimi-job/data"


REPRODUCED = [
    ("convex_evals/run_d/data", [(25, 25)]),
    ("conversation_bench/comparison/data", [(25, 30), (26, 30), (20, 30), (22, 30)]),
    ("harbor/large/terminal-bench/data", [(17, 40), (18, 40), (13, 40), (1, 40)]),
    ("inspect_ai/demo_eval/data", [(4, 12)]),
    ("inspect_ai/scorer_json/data", [(1, 1)]),
    ("inspect_ai/real_scout/data", None),
    ("promptfoo/export/data", None),
    ("promptfoo/judge_error/data", [(0, 3)]),
    ("promptfoo/riddles/data", None),
    ("scylla/dryrun-tables/data", [(7, 7)]),
]


@pytest.mark.parametrize(("path", "expected"), REPRODUCED, ids=[path for path, _ in REPRODUCED])
def test_the_harnesss_own_number_follows_from_its_rows(store, fixtures, path, expected):
    found = scored(store, fixtures, path)

    assert found
    assert [one.scores["as_reported"].reproduced for one in found if one.scores["as_reported"].stated is not None] == [
        True for one in found if one.scores["as_reported"].stated is not None
    ]
    if expected is not None:
        assert sorted(counts(one, "as_reported") for one in found) == sorted(expected)


def test_a_log_that_was_cut_down_does_not_pretend_to_prove_its_headline(store, fixtures):
    found = scored(store, fixtures, "inspect_ai/real_converted/data")

    untold = [one.scores for one in found if "not in the log" in one.scores["clean"].left_out]
    assert [(one["strict"].total, one["as_reported"].total) for one in untold] == [(0, 0)] * 4


def test_the_prefix_rule_of_convex_evals_is_the_harnesss_own(store, fixtures):
    scores = only(store, fixtures, "convex_evals/run_a/data")

    assert (counts(scores, "as_reported"), counts(scores, "clean")) == ((13, 21), (13, 20))


def test_trials_without_tests_are_left_out_with_their_evidence(store, fixtures):
    scores = only(store, fixtures, KIMI)
    group, mangled = scores.scores["clean"].groups

    assert [counts(scores, policy) for policy in ("strict", "as_reported", "clean")] == [(0, 45), (0, 42), (0, 28)]
    assert (group.signal, group.count) == ("verifier_never_ran", 16)
    assert (mangled.signal, mangled.count) == ("tool_channel_broken", 1)
    assert "uvx: command not found" in scores.proof_of(group).quote


def test_trials_that_ran_out_of_time_count_and_are_told_apart(store, fixtures):
    scores = only(store, fixtures, KIMI)
    (group,) = scores.scores["clean"].beside

    # the tests failed, and nothing shows that unfinished work is why: the limit is listed beside the model
    assert (group.signal, group.count) == ("check_failed", 2)
    assert scores.scores["clean"].without_beside == (0, 26)


def test_timeouts_are_dropped_where_the_settings_say_so(store, fixtures):
    scores = only(store, fixtures, KIMI, timeouts="drop")

    assert (counts(scores, "clean"), counts(scores, "strict")) == ((0, 26), (0, 45))


@pytest.mark.req("S-35", "S-45")
def test_the_cost_of_the_passes_of_a_batch_is_the_published_one(store, fixtures):
    scores = only(store, fixtures, BATCH)
    cost = scores.cost

    assert counts(scores, "strict") == (24, 47)
    assert (cost.total, cost.of_passes, cost.of_failures) == tuple(map(pytest.approx, (54.18, 35.46, 18.72)))
    assert (cost.cost_of_pass.mean, cost.cost_of_pass.median) == tuple(map(pytest.approx, (0.37, 0.17)))
    assert (cost.cost_of_pass.priced, cost.unknown) == (24, 0)


@pytest.mark.req("S-37")
def test_the_price_of_a_tier_comes_from_its_runs(store, fixtures):
    prices = {(one.case.rpartition("/")[2], one.path): one for one in only(store, fixtures, BATCH).cost.prices}

    assert prices["test-001", "T0"].cost_of_pass == pytest.approx(0.1498, abs=5e-5)
    assert prices["test-009", "T0"].cost_of_pass == pytest.approx(0.0896, abs=5e-5)
    assert prices["test-009", "T0/02"].cost_of_pass is None
    assert (prices["test-003", "T0"].cost_of_pass, prices["test-003", "T0"].note) == (None, CostNote.NOTHING_PASSED)


@pytest.mark.req("S-16", "S-42")
def test_what_a_resume_lost_is_recovered_from_the_first_session(store, fixtures):
    scores = only(store, fixtures, BATCH)

    assert (counts(scores, "clean"), len(scores.scores["clean"].recovered)) == ((29, 45), 11)


@pytest.mark.req("S-37")
@pytest.mark.parametrize("path", ["scylla/dryrun-tables/data", "scylla/large/dryrun-tree/data"])
def test_the_frontier_of_a_table_is_the_one_that_the_harness_states(store, fixtures, path):
    for scores in scored(store, fixtures, path):
        frontier = scores.cost.frontier

        assert frontier.cost_of_pass == pytest.approx(frontier.stated)


@pytest.mark.req("S-37")
def test_the_cost_of_a_pass_of_each_tier_is_the_one_that_the_harness_states(store, fixtures):
    scores = only(store, fixtures, "scylla/dryrun-tables/data")
    stated = {one.filter: one.value for one in scores.stored.run.reported if one.metric == "cop" and one.filter}

    found = {one.category: one.cost_of_pass for one in scores.cost.prices if one.category}
    assert found == pytest.approx(stated)


def test_no_score_holds_an_infinity(store, fixtures):
    row = msgspec.json.encode(only(store, fixtures, BATCH).cost)

    assert b"inf" not in row.lower().replace(b'"infra', b"")


@pytest.mark.req("C-19")
def test_every_category_has_all_four_policies(store, fixtures):
    categories = only(store, fixtures, "convex_evals/run_b/data").categories

    assert len(categories) == 7
    assert {tuple(parts) for parts in categories.values()} == {("strict", "as_reported", "clean", "reviewed")}
    assert categories["003-mutations"]["clean"].left_out == {"environment": 1}


def test_a_turn_that_contradicts_itself_is_left_out_by_name(store, fixtures):
    clean = only(store, fixtures, "conversation_bench/damaged/data").scores["clean"]

    named = {group.why: sorted(one.case.rpartition("/")[2] for one in group.members) for group in clean.groups}
    assert named == {"missing": ["turn-18", "turn-7"], "contradictory": ["turn-12"]}


def test_verdicts_take_the_place_of_attributions(store, fixtures):
    (stored,) = runs_named([str(fixtures / "sources/convex_evals/run_b/data")], store)
    failures = list(attempts_of(store, stored.pk, failures=True))
    owners = {"000-fundamentals/002-http_greeting": ("grader", "OVERLY_STRICT")}
    owners["002-queries/006-pagination_shape"] = ("task", "KNOWN_GAP")
    verdicts = {one.id: read(one, *owners.get(one.case.removeprefix("convex-evals/"), ("model", "MODEL_FAULT")))
                for one in failures}  # fmt: skip

    score = RunView(stored, store, verdicts=verdicts).scores().scores["reviewed"]

    assert (score.passed, score.total, score.left_out) == (16, 23, {"grader": 1, "known gap": 1})
    assert score.note == "9 of 9 reviewed"


def read(attempt, owner, label):
    return Verdict(
        id="v",
        attempt=attempt.id,
        taxonomy="convex-evals",
        label=label,
        owner=owner,
        cause="because",
        confidence="certain",
        reviewer=Reviewer(kind="person", name="ada"),
    )


# --- pooled


def test_runs_of_one_subject_are_pooled(store, fixtures):
    found = pool_runs(scored(store, fixtures, "conversation_bench/comparison/data"))

    strict = {one.runs[0].subject.model: one.scores["strict"] for one in found}
    assert {model: (score.passed, score.total) for model, score in strict.items()} == {
        "voice-alpha": (51, 60),
        "voice-beta": (20, 30),
        "acme/voice-gamma": (22, 30),
    }


def test_unavailable_and_excluded_runs_are_in_no_pool(store, fixtures):
    runs = [only(store, fixtures, f"convex_evals/{name}/data") for name in ("run_b", "run_c", "run_d")]
    shut = msgspec.structs.replace(runs[2].stored.run, excluded=Exclusion(reason="wrong key"))
    runs[2] = msgspec.structs.replace(runs[2], stored=msgspec.structs.replace(runs[2].stored, run=shut))

    nimbus, drift = pool_runs(runs)

    assert ([run.native_id[:8] for run in nimbus.runs], nimbus.scores["strict"].total) == (["jn7mqywb"], 25)
    assert [(run.native_id[:8], str(why)) for run, why in nimbus.left_out] == [("jn7maewn", "excluded: wrong key")]
    assert [(run.native_id[:8], why.code) for run, why in drift.left_out] == [("jn7h2dcx", "unavailable")]
    assert drift.scores["clean"].note == "no run is left"


def test_categories_are_pooled_too(store, fixtures):
    runs = [only(store, fixtures, f"convex_evals/{name}/data") for name in ("run_a", "run_b")]
    (found,) = pool_runs(runs)

    mutations = found.categories["003-mutations"]["strict"]
    assert (mutations.passed, mutations.total) == (5, 8)


def test_runs_of_different_suites_are_not_pooled(store, fixtures):
    runs = [only(store, fixtures, "convex_evals/run_b/data"), only(store, fixtures, KIMI)]

    with pytest.raises(ErrataError, match="different suites"):
        pool_runs(runs)
