"""conversation-bench: turns of a rehydrated run."""

from wishes import a_request, failed

from errata.model import Scorer
from errata.rerun import plan_for
from errata.rerun.plan import NOT_JUDGED, note_text, why_by_hand


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
    assert why_by_hand(plan.by_hand[0]).startswith("a turn of a continuous conversation can't be rerun alone")


def test_voice_activity_detection_stays_off():
    request = a_conversation(["turn-7"], environment={"disable_vad": True})

    assert "--disable-vad" in plan_for(request).commands[0].argv


def test_a_turn_without_a_verdict_is_judged_again_not_run_again():
    unscored = failed("turn-16", signal="no_verdict", execution="completed", why="not measured")
    request = a_conversation([unscored], variant={}, native_id="20260401T090000_voice-x_0a1b2c3d")

    plan = plan_for(request)

    (command,) = plan.commands
    assert command.argv == (
        *("uv", "run", "audio-arena", "judge", "runs/harbour_bench/20260401T090000_voice-x_0a1b2c3d"),
        "--only-turns=16",
    )
    assert plan.by_hand == ()
    assert [note_text(note) for note in plan.notes][-1] == (
        "`judge` scores the recorded turns; the model is not called again"
    )


def unjudged(turn):
    return failed(f"turn-{turn}", why=NOT_JUDGED, signal="", execution="completed")


def test_the_judge_of_the_other_turns_is_asked_again():
    scorers = (Scorer(name="claude", kind="judge"),)

    (command,) = plan_for(a_conversation([unjudged(1)], scorers=scorers)).commands

    assert "--judge=claude" in command.argv


def test_a_conversation_that_nobody_judged_is_judged_as_a_whole():
    (command,) = plan_for(a_conversation([unjudged(0), unjudged(1)])).commands

    assert command.argv[3] == "judge"
    assert not any(word.startswith("--only-turns") for word in command.argv)


def test_an_empty_answer_without_a_verdict_is_no_matter_of_judging():
    plan = plan_for(a_conversation([failed("turn-7", signal="no_verdict", execution="error")], variant={}))

    assert plan.by_hand[0].why_not == "continuous_conversation"
