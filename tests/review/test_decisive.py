"""The decisive step: what an answer must give, what is checked, and what everybody is told about it."""

import json

import msgspec
import pytest
from tests.review.a_packet import CONVEX, MODEL, a_packet, an_answer, with_place

from errata.model import Actor, Artefact, Attempt, Reviewer, Step, ToolCall, Verdict
from errata.model.codec import pack, unpack
from errata.review.decisive import DEFINITION, GUIDANCE, QUESTIONS, RULINGS
from errata.review.labels import offered
from errata.review.prompts import prompt_for
from errata.review.speakers import agent_name, facts_about_speakers, speakers_in
from errata.review.verdicts import Rejection, verdict_from

MARKER = "ab12" * 4
PLAN = "assistant Planner: The capital of the province is Springfield, so search for its mayor."
SEARCH = "assistant WebSurfer: → search mayor of Springfield\n← Page 1 of 3: mayors of Springfield"
STEPS = {
    "count": 30,
    "last": 29,
    "speakers": [
        {"speaker": "user", "steps": "0"},
        {"speaker": "assistant Planner", "steps": "1-3, 9"},
        {"speaker": "assistant WebSurfer", "steps": "4-8"},
        {"speaker": "tool", "steps": "10-29"},
    ],
    "other_agents": ["Coder"],
}
TEAM = a_packet(with_place("steps/7", SEARCH, with_place("steps/3", PLAN)), facts=CONVEX.facts | {"steps": STEPS})
QUOTED = [*an_answer()["evidence"], {"place": "steps/3", "quote": "The capital of the province is Springfield"}]


def judged(packet=TEAM, reviewer=MODEL, **fields):
    return verdict_from(json.dumps(an_answer(**fields)), packet, reviewer=reviewer)


def taken(**fields) -> Verdict:
    verdict = judged(**fields)
    assert isinstance(verdict, Verdict), verdict
    return verdict


def refused(**fields) -> str:
    rejection = judged(**fields)
    assert isinstance(rejection, Rejection), rejection
    return "\n".join(rejection.reasons)


@pytest.mark.req("B-36")
@pytest.mark.parametrize(("step", "agent"), [(0, "user"), (3, "Planner"), (7, "WebSurfer"), (20, "tool")])
def test_the_agent_is_the_speaker_of_the_step_unless_another_is_named(step, agent):
    verdict = taken(decisive_step=step, decisive_reason="it excludes the right page")

    assert (verdict.decisive_step, verdict.decisive_agent) == (step, agent)


@pytest.mark.parametrize("given", ["Planner", "planner", "assistant Planner", "Planner (thought)"])
def test_an_agent_is_recognised_in_the_usual_spellings(given):
    assert (
        taken(decisive_step=7, decisive_reason="it follows the plan", decisive_agent=given).decisive_agent == "Planner"
    )


def test_an_agent_that_is_only_named_can_be_decisive():
    assert taken(decisive_step=3, decisive_agent="Coder", evidence=QUOTED).decisive_agent == "Coder"


def test_an_agent_that_is_not_in_the_transcript_is_refused_with_the_list():
    problem = refused(decisive_step=3, decisive_agent="Verifier", evidence=QUOTED)

    assert "`decisive_agent` names nobody in the transcript, `Verifier`" in problem
    assert "one of `user`, `Planner`, `WebSurfer`, `tool`, `Coder`" in problem


def test_where_there_is_no_transcript_there_is_no_agent():
    assert "there are none, give null" in refused(packet=CONVEX, decisive_agent="Planner")


@pytest.mark.parametrize("field", ["decisive_step", "second_candidate"])
@pytest.mark.parametrize("step", [30, -1, "x", 2.5, True, 10**30])
def test_a_step_that_does_not_exist_is_refused(field, step):
    assert f"`{field}` does not name a step" in refused(**{field: step}, decisive_reason="because")


def test_a_step_needs_a_quote_of_it_or_a_reason():
    assert "quote `steps/3`, or give the reason in `decisive_reason`" in refused(decisive_step=3)
    assert taken(decisive_step=3, evidence=QUOTED).decisive_reason == ""
    assert (
        taken(decisive_step=3, decisive_reason="it names the wrong town").decisive_reason == "it names the wrong town"
    )


def test_a_quote_of_another_step_does_not_support_the_decisive_one():
    assert "has no evidence" in refused(decisive_step=7, evidence=QUOTED)


def test_a_quote_of_the_output_supports_a_step_that_is_the_output():
    packet = with_place("steps/9", "assistant Planner: [… the text of `output/convex/guard.ts` …]", TEAM)

    assert taken(packet=packet, decisive_step=9).decisive_step == 9


def test_a_person_may_name_a_step_without_more():
    person = Reviewer(kind="person", name="ada")

    assert taken(reviewer=person, decisive_step=3).decisive_agent == "Planner"


def test_a_corrected_error_is_never_decisive():
    acts = [{"step": 3, "act": "names the wrong town", "corrected": True, "sufficient": True}]

    assert "an error that was corrected is never decisive" in refused(decisive_step=3, evidence=QUOTED, candidates=acts)


def an_act(step: int, *, corrected: bool = False, sufficient: bool = False) -> dict[str, object]:
    return {"step": step, "act": "names the wrong town", "corrected": corrected, "sufficient": sufficient}


@pytest.mark.parametrize(
    ("given", "acts", "right"),
    [
        (7, [an_act(3, sufficient=True), an_act(7)], 3),
        (7, [an_act(7, sufficient=True), an_act(3, sufficient=True)], 3),
        (7, [an_act(3), an_act(7)], 3),
        (9, [an_act(3, corrected=True, sufficient=True), an_act(7, sufficient=True)], 7),
        (None, [an_act(3, sufficient=True)], 3),
    ],
)
def test_a_step_that_contradicts_the_reviewers_own_candidates_is_refused_with_the_reason(given, acts, right):
    problem = refused(decisive_step=given, decisive_reason="the town is wrong", candidates=acts)

    assert f"contradicts your own `candidates`: step {right} is the first that was not corrected" in problem


@pytest.mark.parametrize(
    ("given", "acts"),
    [
        (3, [an_act(3, sufficient=True), an_act(7, sufficient=True)]),
        (7, [an_act(3), an_act(7, sufficient=True)]),
        (3, [an_act(3), an_act(7)]),
        (None, [an_act(3)]),
        (3, []),
    ],
)
def test_a_step_that_follows_from_the_candidates_is_accepted(given, acts):
    verdict = taken(decisive_step=given, decisive_reason="the town is wrong", candidates=acts)

    assert verdict.decisive_step == given


def test_the_answers_to_the_three_questions_are_kept():
    acts = [
        {"step": 3, "act": "names the wrong town", "corrected": False, "sufficient": True},
        {"step": 99, "act": "no such step", "corrected": False, "sufficient": False},
    ]
    verdict = taken(decisive_step=3, evidence=QUOTED, candidates=acts, second_candidate=7)

    assert [(one.step, one.corrected, one.sufficient) for one in verdict.candidates] == [(3, False, True)]
    assert verdict.second_candidate == 7
    assert "the candidate `99` is not a step and was dropped" in verdict.doubts


def test_candidates_of_another_form_are_refused():
    assert "`candidates` must be a list of objects" in refused(candidates=["step 3"])


def test_a_second_candidate_is_another_step():
    verdict = taken(decisive_step=3, evidence=QUOTED, second_candidate=3)

    assert verdict.second_candidate is None
    assert "the second candidate is the decisive step and was dropped" in verdict.doubts


def test_a_verdict_of_an_older_version_can_be_read():
    old = {"id": "1", "attempt": "0:a#1", "taxonomy": "t", "label": "l", "owner": "model", "cause": "c"}
    old |= {"confidence": "likely", "reviewer": {"kind": "llm", "name": "m"}, "decisive_step": 4}
    verdict = unpack(pack(old), Verdict)

    assert (verdict.decisive_step, verdict.decisive_agent, verdict.candidates) == (4, "", ())


def test_thought_comes_before_the_step_it_leads_to():
    fields = list(prompt_for(TEAM, marker=MARKER).schema["properties"])

    assert fields.index("candidates") == 0
    assert fields.index("reasoning") < fields.index("decisive_step") < fields.index("decisive_agent")
    assert fields.index("decisive_step") < fields.index("second_candidate") < fields.index("label")


@pytest.mark.req("B-38")
def test_the_definition_is_in_packet_and_prompt():
    prompt = " ".join(prompt_for(TEAM, marker=MARKER).before.split())

    for text in (DEFINITION, *QUESTIONS, *RULINGS):
        assert text in prompt
    assert offered(TEAM).decisive == GUIDANCE


def test_a_packet_without_steps_has_no_guidance_on_them():
    assert offered(CONVEX).decisive == ""


def an_attempt(*speakers: tuple[str, str], **more) -> Attempt:
    steps = tuple(
        Step(index=at, actor=Actor(role=role, name=name), text="…") for at, (role, name) in enumerate(speakers)
    )
    facts = {"execution": "completed", "measurement": "scored", "outcome": "fail"}
    return Attempt(run="0" * 16, case="s/a", index=1, steps=steps, **facts, **more)


def test_every_step_has_its_speaker_in_the_facts():
    turns = [("user", ""), *[("assistant", "Planner"), ("assistant", "Coder")] * 400]
    attempt = an_attempt(*turns)
    found = speakers_in({"steps": facts_about_speakers(attempt)}, ())

    assert found.by_step == {step.index: step.speaker for step in attempt.steps}
    assert found.agents == ("user", "Planner", "Coder")


def test_agents_are_also_named_by_hand_overs_and_prompts():
    prompt = Artefact(role="context", path="system_prompt/Verifier.md", text="Check it.")
    attempt = an_attempt(("assistant", "Orchestrator (-> WebSurfer)"), artefacts=(prompt,))
    step = Step(index=1, actor=Actor(role="assistant"), tool_calls=(ToolCall(name="transfer_to_coder"),))
    attempt = msgspec.structs.replace(attempt, steps=(*attempt.steps, step))

    assert facts_about_speakers(attempt)["other_agents"] == ["WebSurfer", "coder", "Verifier"]


@pytest.mark.parametrize(
    ("speaker", "agent"),
    [
        ("user", "user"),
        ("user simulated", "user"),
        ("assistant Planner", "Planner"),
        ("assistant Orchestrator (thought)", "Orchestrator"),
        ("assistant Orchestrator (-> WebSurfer)", "Orchestrator"),
        ("assistant Excel_Expert", "Excel_Expert"),
    ],
)
def test_an_agent_goes_by_its_name_without_remarks(speaker, agent):
    assert agent_name(speaker) == agent


@pytest.mark.parametrize("given", ["user", "user simulated", "simulated"])
def test_a_simulated_user_is_named_user(given):
    spoken = [{"speaker": "assistant", "steps": "0, 2"}, {"speaker": "user simulated", "steps": "1, 3-29"}]
    facts = CONVEX.facts | {"steps": {"count": 30, "last": 29, "speakers": spoken}}
    packet = a_packet(facts=facts)
    verdict = taken(packet=packet, decisive_step=5, decisive_reason="it denies its own id", decisive_agent=given)

    assert speakers_in(facts, ()).agents == ("assistant", "user")
    assert verdict.decisive_agent == "user"


@pytest.mark.parametrize("tool", ["transfer_to_human_agents", "handoff_to_human", "transfer_to_a_person"])
def test_a_call_that_hands_over_to_a_person_names_no_agent(tool):
    attempt = an_attempt(("assistant", ""))
    step = Step(index=1, actor=Actor(role="assistant"), tool_calls=(ToolCall(name=tool),))

    assert "other_agents" not in facts_about_speakers(msgspec.structs.replace(attempt, steps=(step,)))
