"""What is known of the samples about sharing, uniqueness and change comes out of `errata compare`."""

import pytest

from terminal import FIXTURES, done

ALPHA_1, ALPHA_2, BETA, GAMMA = "1a2b3c4d", "5e6f7a8b", "9c0d1e2f", "3a4b5c6d"
COMPARED = (ALPHA_1, ALPHA_2, BETA, GAMMA)
LABELS = ("voice-alpha #1", "voice-alpha #2", "voice-beta", "acme/voice-gamma")
RUN_A, RUN_B, RUN_C, RUN_D = "jn709tmj", "jn7mqywb", "jn7h2dcx", "jn7maewn"


def compared(library, *arguments):
    return done("compare", *arguments, "--json", "--store", library).row


def turns(names):
    return [int(name.removeprefix("turn-")) for name in names]


def turns_of(by_name):
    return {name: turns(cases) for name, cases in by_name.items()}


@pytest.fixture(scope="module")
def four(library):
    return compared(library, *COMPARED)


@pytest.mark.trap(5)
def test_two_runs_of_one_model_are_two_columns(four):
    assert [one["label"] for one in four["runs"]] == list(LABELS)
    assert [one["subject"] for one in four["runs"]] == ["voice-alpha", "voice-alpha", "voice-beta", "acme/voice-gamma"]


@pytest.mark.trap(6)
def test_every_turn_of_the_benchmark_is_in_the_matrix(four):
    assert turns(row["case"] for row in four["matrix"]) == list(range(30))


@pytest.mark.req("J-07", "J-09")
@pytest.mark.trap(8)
@pytest.mark.parametrize(
    ("at", "failed"),
    [
        (0, [5, 11, 14, 22, 26]),
        (1, [11, 14, 19, 22]),
        (2, [8, 11, 17, 22, 24, 25, 26, 27, 28, 29]),
        (3, [3, 11, 13, 14, 20, 22, 23]),
    ],
)
def test_the_failed_turns_of_each_run(four, at, failed):
    states = {row["case"]: row["states"][at] for row in four["matrix"]}

    assert turns(case for case, state in states.items() if state in ("failed", "error", "follows")) == failed
    assert four["runs"][at]["failed"] == len(failed)


@pytest.mark.req("J-09")
def test_passed_failed_and_unjudged_rows_of_each_run(four):
    assert [(one["passed"], one["failed"], one["neither"]) for one in four["runs"]] == [
        (25, 5, 0),
        (26, 4, 0),
        (20, 10, 0),
        (22, 7, 1),
    ]


@pytest.mark.req("J-09", "J-19", "J-24")
@pytest.mark.parametrize(
    ("name", "by_run", "total"),
    [
        ("turn_taking", [0, 1, 1, 1], 3),
        ("tool_use_correct", [2, 1, 4, 3], 10),
        ("instruction_following", [1, 1, 7, 2], 11),
        ("kb_grounding", [2, 0, 1, 1], 4),
        ("ambiguity_handling", [1, 1, 1, 1], 4),
        ("state_tracking", [1, 1, 2, 1], 5),
    ],
)
def test_how_often_each_dimension_is_false(four, name, by_run, total):
    (found,) = [one for one in four["failed_checks"] if one["name"] == name]

    assert found == {"name": name, "runs": dict(zip(LABELS, by_run, strict=True)), "all": total}


@pytest.mark.req("J-09", "J-24")
@pytest.mark.trap(7)
def test_what_stood_in_the_place_of_answers(four):
    found = {one["name"]: list(one["runs"].values()) for one in four["patterns"]}

    assert found == {
        "MODEL_ENDED_SESSION": [0, 0, 1, 0],
        "MODEL_ENDED_SESSION_EARLY": [0, 0, 5, 0],
        "EMPTY_RESPONSE": [0, 1, 0, 1],
    }


@pytest.mark.req("J-11", "J-24")
def test_what_all_fail(four):
    assert {kind: turns(cases) for kind, cases in four["failed_by_all"].items()} == {
        "runs": [11, 22],
        "models_in_some_run": [11, 22],
        "models_in_every_run": [11, 22],
    }


@pytest.mark.req("J-11", "J-24")
def test_the_unique_fails_of_each_run_and_model(four):
    assert turns_of(four["unique"]["runs"]["fails"]) == {
        "voice-alpha #1": [5],
        "voice-alpha #2": [19],
        "voice-beta": [8, 17, 24, 25, 27, 28, 29],
        "acme/voice-gamma": [3, 13, 20, 23],
    }
    assert turns_of(four["unique"]["models"]["fails"]) == {
        "voice-alpha": [5, 19],
        "voice-beta": [8, 17, 24, 25, 27, 28, 29],
        "acme/voice-gamma": [3, 13, 20, 23],
    }


@pytest.mark.req("J-11", "J-24")
def test_the_unique_passes_of_each_run_and_model(four):
    assert turns_of(four["unique"]["runs"]["passes"]) == {
        "voice-alpha #1": [],
        "voice-alpha #2": [],
        "voice-beta": [14],
        "acme/voice-gamma": [],
    }
    assert turns_of(four["unique"]["models"]["passes"]) == {
        "voice-alpha": [],
        "voice-beta": [14],
        "acme/voice-gamma": [26],
    }


@pytest.mark.req("J-24")
def test_what_wavers_between_two_runs_of_one_model(four):
    (found,) = four["instability"].items()

    assert found[0] == "voice-alpha"
    assert turns(found[1]["unstable"]) == [5, 19, 26]
    assert turns(found[1]["failed_in_every_run"]) == [11, 14, 22]


@pytest.mark.req("J-24")
@pytest.mark.parametrize(
    ("category", "cases", "failed_rows"),
    [
        ("adversarial_trap", 1, 0),
        ("ambiguous_entity", 2, 5),
        ("basic_qa", 8, 3),
        ("cancellation_flow", 1, 4),
        ("cross_turn_reasoning", 2, 0),
        ("distractor_injection", 1, 1),
        ("implicit_correction", 1, 1),
        ("long_range_memory", 4, 3),
        ("multi_step_tool", 3, 6),
        ("negation_reasoning", 1, 0),
        ("numerical_reasoning", 3, 2),
        ("tool_use", 6, 6),
    ],
)
def test_failed_rows_by_category(four, category, cases, failed_rows):
    (found,) = [one for one in four["categories"] if one["name"] == category]

    assert (found["cases"], found["failed_rows"], found["harder"]) == (cases, failed_rows, False)
    assert len(four["categories"]) == 12


@pytest.mark.trap(9)
def test_a_turn_without_any_verdict_is_neither(four):
    states = {row["case"]: row["states"] for row in four["matrix"]}

    assert states["turn-16"] == ["passed", "passed", "passed", "unscored"]


def test_a_run_that_nobody_judged_is_left_out_and_named(library):
    found = compared(library, ALPHA_1, BETA, "7d8e9f0a")

    assert [(one["model"], one["why"]) for one in found["left_out_runs"]] == [("voice-delta", "not_scored")]


@pytest.mark.req("J-01")
def test_a_comparison_folder_stands_for_the_runs_it_lists(library, four):
    folder = FIXTURES / "conversation_bench" / "comparison" / "data" / "compare_20260301"

    assert compared(library, folder)["matrix"] == four["matrix"]


@pytest.mark.req("J-04")
def test_runs_that_are_named_win_over_a_comparison_folder(library):
    folder = FIXTURES / "conversation_bench" / "comparison" / "data" / "compare_20260301"
    result = done("compare", folder, ALPHA_1, BETA, "--json", "--store", library)

    assert [one["label"] for one in result.row["runs"]] == ["voice-alpha", "voice-beta"]
    assert ": the named runs take precedence" in result.talk


@pytest.fixture(scope="module")
def a_and_b(library):
    return compared(library, RUN_A, RUN_B)


@pytest.mark.trap(4)
def test_a_pending_eval_and_one_without_a_document_have_changed_in_nothing(a_and_b):
    assert a_and_b["flips"]["undecided"] == ["003-mutations/004-swap_order", "006-clients/003-presence_badge"]


@pytest.mark.req("C-19")
@pytest.mark.parametrize(
    ("category", "first", "second"),
    [
        ("000-fundamentals", 1, 1),
        ("001-data_modeling", 1, 2),
        ("002-queries", 2, 2),
        ("003-mutations", 1, 1),
        ("004-actions", 2, 1),
        ("005-idioms", 1, 2),
        ("006-clients", 2, 0),
    ],
)
def test_failures_by_category_of_two_runs(a_and_b, category, first, second):
    (found,) = [one for one in a_and_b["categories"] if one["name"] == category]

    assert list(found["runs"].values()) == [first, second]
