"""Provisional clusters of judged turns: by calls and scores first, by the judge's words last."""

import json

import pytest

from conversation_rows import DOMAINS, clustered
from errata.model import Case, Check, Judgement, Output
from errata.model.step import Actor, Step, ToolCall
from errata.testing import an_attempt
from errata.triage.turn_mistakes import turn_mistake

DIMENSIONS = ("turn_taking", "tool_use_correct", "instruction_following", "kb_grounding")
NAMES = sorted(path.stem for path in DOMAINS.glob("*.json"))
UNDECIDED = {("orchard_bench", 13, "state_memory_failure")}
"""A wrong price and a running total that was lost: both dimensions failed, and a reader prefers the price."""


@pytest.mark.req("J-10")
@pytest.mark.parametrize("name", NAMES)
def test_rows_with_long_commentary_get_the_cluster_that_a_reader_gives_them(name, tmp_path):
    wrong = [row for row in clustered(DOMAINS / f"{name}.json", tmp_path) if row.label != row.truth]

    assert {(name, row.turn, row.label) for row in wrong} <= UNDECIDED


@pytest.mark.parametrize("name", NAMES)
def test_without_a_contract_the_commentary_tells_which_calls_were_expected(name, tmp_path):
    domain = tmp_path / "domain.json"
    domain.write_text(json.dumps(json.loads((DOMAINS / f"{name}.json").read_text()) | {"contract": False}))

    rows = clustered(domain, tmp_path)

    assert sum(row.label == row.truth for row in rows) >= 0.9 * len(rows)


def test_no_rule_names_a_thing_of_the_benchmarks():
    """Words of a sample in a rule would make it right on that sample only."""
    from errata.triage import judge_commentary, turn_mistakes

    patterns = [
        pattern.pattern.lower()
        for module in (judge_commentary, turn_mistakes)
        for pattern in vars(module).values()
        if hasattr(pattern, "pattern")
    ]
    assert len(patterns) > 10
    for name in NAMES:
        turns = json.loads((DOMAINS / f"{name}.json").read_text())["turns"].values()
        things = {
            str(value).lower() for turn in turns for _, args in turn.get("requires", ()) for value in args.values()
        }
        assert not [thing for thing in things if len(thing) > 3 and any(thing in pattern for pattern in patterns)]


@pytest.fixture
def mistake():
    def of(*failed, says="Done.", calls=(), required=None, judge="", scored=(), asked="Do it."):
        checks = tuple(
            Check(
                name=name,
                kind="dimension",
                status="fail" if name in failed else "pass" if name in (*DIMENSIONS, *scored) else "not_applicable",
            )
            for name in (*DIMENSIONS, "ambiguity_handling", "state_tracking")
        )
        made = tuple(ToolCall(name=name, arguments=args) for name, args in calls)
        attempt = an_attempt(
            outcome="fail",
            output=Output(text=says),
            checks=checks,
            judgements=(Judgement(judge="openai", reasoning=judge),),
            steps=(
                Step(index=0, actor=Actor(role="user"), text=asked),
                Step(index=1, actor=Actor(role="assistant"), text=says, tool_calls=made),
            ),
        )
        expected = {"golden_text": "…"}
        if required:
            expected["required_function_call"] = [{"name": name, "args": args} for name, args in required]
        case = Case(run=attempt.run, suite="any", native_id="turn-1", input=asked, expected=expected)
        return next((one.signal.name for one in turn_mistake(attempt, case)), "")

    return of


TWO = (("send", {"to": "A"}), ("send", {"to": "B"}))


def test_some_of_several_required_calls_are_incomplete_whatever_the_judge_writes(mistake):
    assert mistake("tool_use_correct", calls=TWO[:1], required=TWO, judge="A factual error.") == "calls_incomplete"


def test_one_call_made_twice_is_one_call(mistake):
    assert mistake("tool_use_correct", calls=TWO[:1] * 2, required=TWO) == "calls_incomplete"


def test_as_many_calls_as_required_with_another_argument_differ(mistake):
    assert mistake("tool_use_correct", calls=(TWO[0], ("send", {"to": "C"})), required=TWO) == "call_differs"


def test_no_call_at_all_is_missing_not_incomplete(mistake):
    assert mistake("tool_use_correct", required=TWO) == "call_missing"


def test_a_call_that_nobody_required_is_unexpected(mistake):
    assert mistake("tool_use_correct", calls=TWO) == "call_unexpected"


@pytest.mark.parametrize(
    ("scored", "expected"), [((), "forgot_state"), (("state_tracking",), "call_missing")], ids=["not scored", "passed"]
)
def test_forgotten_state_is_read_from_words_only_where_state_was_not_scored(mistake, scored, expected):
    judge = "A call was expected. The assistant asked for the day, which was given on turn 2. No factual error."

    assert mistake("tool_use_correct", says="Which day?", required=TWO[:1], judge=judge, scored=scored) == expected


@pytest.mark.parametrize(
    ("scored", "expected"),
    [((), "unclear_request"), (("ambiguity_handling",), "call_missing")],
    ids=["not scored", "passed"],
)
def test_a_needless_question_is_read_from_words_only_where_ambiguity_was_not_scored(mistake, scored, expected):
    judge = "A call was expected. The request was complete, so the question is needless clarification."

    assert mistake("tool_use_correct", says="Which day?", required=TWO[:1], judge=judge, scored=scored) == expected


@pytest.mark.req("J-14")
def test_asking_who_the_user_is_is_forgotten_state_whichever_dimension_carries_the_penalty(mistake):
    says = "Could you tell me your name?"

    assert mistake("tool_use_correct", says=says, required=TWO[:1]) == "forgot_state"
    assert mistake("state_tracking", says=says, required=TWO[:1]) == "forgot_state"


def test_a_name_that_was_given_in_this_very_turn_was_not_forgotten(mistake):
    judge = "send was expected. The name is in this sentence, so the question is over-clarification."
    required = (("send", {"to": "Ida Munk"}),)
    asked = "Send it to Ida Munk."

    found = mistake("tool_use_correct", says="To what name, your name?", required=required, asked=asked, judge=judge)

    assert found == "unclear_request"


def test_a_courtesy_is_no_question(mistake):
    judge = "send was expected. All details were given and nothing was unclear, yet no call was made."

    assert mistake("tool_use_correct", says="Sent. Anything else?", required=TWO[:1], judge=judge) == "call_missing"


def test_forgetting_to_call_is_a_missed_call(mistake):
    judge = "send was expected. The model forgot to call it."

    assert mistake("tool_use_correct", required=TWO[:1], judge=judge) == "call_missing"


def test_a_call_that_is_missing_where_tools_passed_came_earlier(mistake):
    assert mistake("kb_grounding", required=TWO) == "wrong_fact"


def test_an_ending_that_is_required_is_not_early(mistake):
    ends = (("end_session", {}),)

    assert mistake("tool_use_correct", calls=(*ends, *TWO[:1]), required=ends) == "call_unexpected"
    assert mistake("tool_use_correct", calls=ends, required=TWO[:1]) == "ended_early"


@pytest.mark.parametrize(
    "judge", ["The session was not ended.", "The caller never ended the session.", "Before the user ended the call."]
)
def test_a_session_that_the_model_did_not_end_was_not_ended_early(mistake, judge):
    assert mistake("instruction_following", judge=judge) == ""


def test_silence_without_a_marker_has_no_content_unless_a_call_was_made(mistake):
    assert mistake("instruction_following", says=" … ") == "no_content"
    assert mistake("tool_use_correct", says="", calls=TWO[:1], required=TWO) == "calls_incomplete"


@pytest.mark.parametrize(
    ("required", "expected"),
    [("check_tour", "call_missing"), ("book_tour", "wrong_fact")],
    ids=["a lookup was skipped", "a false belief kept it from acting"],
)
def test_a_wrong_fact_follows_from_a_skipped_lookup_and_leads_to_a_missed_action(mistake, required, expected):
    found = mistake("tool_use_correct", "kb_grounding", says="It is full.", required=((required, {"day": "Fri"}),))

    assert found == expected


def test_denying_what_was_settled_before_is_forgotten_state(mistake):
    judge = "move_tour was expected. The tour was booked on turn 4 and confirmed."
    says = "I couldn't find any tour in your name."

    assert mistake("tool_use_correct", says=says, required=(("move_tour", {}),), judge=judge) == "forgot_state"


def test_a_question_about_something_personal_may_still_be_over_clarification(mistake):
    judge = "send was expected. The request was complete; asking for a confirmation of the address over-clarifies."
    says = "Is your delivery address still right?"

    assert mistake("tool_use_correct", says=says, required=TWO[:1], judge=judge) == "unclear_request"
