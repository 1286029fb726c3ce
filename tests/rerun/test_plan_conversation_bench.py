"""conversation-bench: turns of a rehydrated run."""

from wishes import a_request

from errata.rerun import plan_for
from errata.rerun.sentences import why_by_hand


def a_conversation(cases, **changes):
    given = {"suite": "harbour_bench", "variant": {"mode": "rehydrated"}, "environment": {"parallel": 4}}
    return a_request("conversation-bench", cases, **given | changes)


def test_turns_of_a_rehydrated_run_are_repeated_alone():
    (command,) = plan_for(a_conversation(["turn-18", "turn-7"])).commands

    assert command.argv == (
        *("uv", "run", "audio-arena", "run", "harbour_bench", "--model=acme/nimbus-2", "--rehydrate"),
        *("--parallel=4", "--only-turns=7,18"),
    )


def test_a_turn_of_a_continuous_conversation_cannot_be():
    plan = plan_for(a_conversation(["turn-7"], variant={}))

    assert plan.commands == ()
    assert plan.by_hand[0].why_not == "continuous_conversation"
    assert why_by_hand(plan.by_hand[0]).startswith("one continuous conversation")


def test_voice_activity_detection_stays_off():
    request = a_conversation(["turn-7"], environment={"disable_vad": True})

    assert "--disable-vad" in plan_for(request).commands[0].argv
