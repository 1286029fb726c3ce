"""Which places a packet has, what they are called, and what it says beside them."""

import json

import pytest

from errata.model import (
    Actor,
    Artefact,
    Attribution,
    Case,
    Check,
    ErrorInfo,
    Evidence,
    FailureKey,
    Judgement,
    Limit,
    Output,
    Packet,
    Scorer,
    Signal,
    SourceRef,
    Step,
    Subject,
    ToolCall,
    ToolError,
    ToolResult,
)
from errata.model.codec import to_json
from errata.review.labels import OWNERS
from errata.review.material import Material
from errata.review.packet import packet_for
from errata.review.places import kind_of
from errata.testing import a_run, an_attempt

USER, ASSISTANT = Actor(role="user"), Actor(role="assistant")


def packet(budget: int = 12_000, blind: bool = False, **parts) -> Packet:
    run = parts.pop("run", None) or a_run()
    attempt = parts.pop("attempt", None) or an_attempt(run=run.id)
    return packet_for(Material(run=run, attempt=attempt, **parts), OWNERS, budget=budget, blind=blind)


def texts(made: Packet) -> dict[str, str]:
    return {place.place: place.text for place in made.places}


def a_case(**changes) -> Case:
    return Case(**{"run": "0" * 16, "suite": "suite", "native_id": "case-1"} | changes)


def a_turn(number: int, said: str, **changes):
    steps = (Step(index=0, actor=USER, text=said), Step(index=1, actor=ASSISTANT, text="Yes."))
    given = {"case": f"suite/turn-{number}", "position": number, "steps": steps, "output": Output(text="Yes.")}
    return an_attempt(**given | changes)


def calling(*calls: ToolCall, said: str = "Cancel both.") -> tuple[Step, ...]:
    return (Step(index=0, actor=USER, text=said), Step(index=1, actor=ASSISTANT, text="Done.", tool_calls=calls))


def test_task_output_and_expected_answer_are_places():
    made = packet(case=a_case(input="Say A", expected="A"), attempt=an_attempt(output=Output(text="B")))

    assert texts(made) == {"task": "Say A", "output": "B", "expected": "A"}


def test_what_was_asked_is_taken_from_the_transcript_where_the_case_does_not_tell():
    steps = (Step(index=0, actor=USER, text="Say A"), Step(index=1, actor=ASSISTANT, text="B"))

    assert texts(packet(attempt=an_attempt(steps=steps)))["task"] == "Say A"


def test_a_turn_has_an_input():
    assert texts(packet(attempt=a_turn(4, "Hello")))["input"] == "Hello"


def test_messages_are_shown_with_who_says_them():
    asked = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]

    assert texts(packet(case=a_case(input=asked)))["task"] == "system: Be brief.\nuser: Why?"


def test_files_are_named_by_what_they_are_for():
    files = (Artefact(role="output", path="src/a.ts", text="a"), Artefact(role="log", path="run.log", text="b"))
    of_case = (
        Artefact(role="grader", path="grader.test.ts", text="c"),
        Artefact(role="expected", path="answer/src/a.ts", text="d"),
    )
    made = packet(attempt=an_attempt(artefacts=files), case=a_case(artefacts=of_case))

    assert list(texts(made)) == ["output/src/a.ts", "run.log", "grader/grader.test.ts", "reference/src/a.ts"]


def test_a_log_of_another_name_is_still_known_as_a_log():
    made = packet(attempt=an_attempt(artefacts=(Artefact(role="log", path="verifier/stdout.txt", text="ok"),)))

    assert [kind_of(name) for name in texts(made)] == ["log"]


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("output/convex/a.ts", "output"),
        ("tool_calls", "output"),
        ("steps/12", "output"),
        ("run.log", "log"),
        ("thread_logs/thread_1.log", "log"),
        ("log/output/x.log", "log"),
        ("checks/tests", "error"),
        ("grader/grader.test.ts", "grader"),
        ("judge_reasoning/claude", "judge"),
        ("earlier/turn-13", "neighbour"),
        ("checks/a#2", "error"),
    ],
)
def test_the_name_of_a_place_tells_its_kind(place, kind):
    assert kind_of(place) == kind


def test_a_file_that_calls_itself_a_log_of_the_output_is_no_output():
    made = packet(attempt=an_attempt(artefacts=(Artefact(role="log", path="output/fake.log", text="ok"),)))

    assert list(texts(made)) == ["log/output/fake.log"]


def test_binary_files_are_left_out_and_named():
    made = packet(attempt=an_attempt(artefacts=(Artefact(role="output", path="icon.png", binary=True),)))

    assert [(one.what, one.why) for one in made.left_out] == [("icon.png", "not text")]


def test_the_error_is_shown_with_its_traceback():
    error = ErrorInfo(type="ValueError", message="no such slot", code="E7", traceback="at book.py:3", phase="subject")
    made = packet(attempt=an_attempt(errors=(error,)))

    assert texts(made)["error"] == "ValueError: no such slot (code E7)\nat book.py:3"


def test_the_harness_words_for_the_end_can_be_quoted():
    attempt = an_attempt(native_status="LimitsExceeded", stop_reason="length", limit=Limit(type="message", value=50))

    assert texts(packet(attempt=attempt))["status"] == "LimitsExceeded\nstop_reason: length\nlimit: message 50"


def test_a_status_that_only_says_failed_is_no_place():
    assert "status" not in texts(packet(attempt=an_attempt(native_status="failed")))


@pytest.mark.req("C-10")
def test_the_exact_error_is_taken_from_the_log_where_the_check_only_says_that_it_failed():
    log = "[ok] tsc\n[vitest] AssertionError: expected 3, got 4\n[error] tests: tests failed (60%)\n"
    checks = (
        Check(name="tsc", status="pass", kind="step"),
        Check(name="tests", status="fail", kind="step", explanation="tests failed (60%)"),
    )
    made = packet(attempt=an_attempt(checks=checks, artefacts=(Artefact(role="log", path="run.log", text=log),)))

    assert made.facts["failed_step"] == "tests"
    assert made.facts["error_line"] == "AssertionError: expected 3, got 4"


def test_checks_have_the_words_of_the_records():
    checks = (Check(name="a", status="pass"), Check(name="b", status="fail", explanation="no"))
    made = packet(attempt=an_attempt(checks=checks))

    assert made.facts["checks"] == [
        {"name": "a", "status": "pass", "reason": None},
        {"name": "b", "status": "fail", "reason": "no"},
    ]


def test_the_threshold_that_decides_and_the_one_that_the_judge_was_given_have_names():
    rubric = Artefact(role="grader", path="rubric.yaml", text="grading:\n  pass_threshold: 0.60\n")
    run = a_run(scorers=(Scorer(name="best tier score", kind="judge", threshold=0.5),))

    facts = packet(run=run, attempt=an_attempt(run=run.id, threshold=0.5), case=a_case(artefacts=(rubric,))).facts

    assert (facts["threshold"], facts["threshold_of"], facts["rubric_threshold"]) == (0.5, "best tier score", 0.6)


def test_of_many_checks_those_that_passed_are_only_counted():
    checks = tuple(Check(name=f"test-{number}", status="pass" if number else "fail") for number in range(200))
    made = packet(attempt=an_attempt(checks=checks))

    assert [check["name"] for check in made.facts["checks"]] == ["test-0"]
    assert made.facts["checks_in_all"] == 200


def test_a_reason_that_repeats_the_output_is_shown_once():
    checks = (Check(name="match", status="fail", explanation="No"),)

    assert list(texts(packet(attempt=an_attempt(checks=checks, output=Output(text="No"))))) == ["output"]


def test_an_empty_answer_is_a_fact():
    assert packet(attempt=an_attempt(output=Output(text=" "))).facts["output"] == "empty"


def test_each_of_several_judges_has_a_place():
    judgements = (Judgement(judge="a", reasoning="bad"), Judgement(judge="b", reasoning="good"))
    made = packet(attempt=an_attempt(judgements=judgements))

    assert texts(made) == {"judge_reasoning/a": "bad", "judge_reasoning/b": "good"}


@pytest.mark.req("J-28")
def test_calls_and_results_of_a_turn_are_shown_as_they_were_made():
    cancel = ToolCall(name="cancel", arguments={"booking": "B-1"}, result=ToolResult(structured={"status": "success"}))
    made = texts(packet(attempt=a_turn(3, "Cancel both.", steps=calling(cancel))))

    assert json.loads(made["tool_calls"]) == [{"name": "cancel", "args": {"booking": "B-1"}}]
    assert json.loads(made["tool_results"]) == [{"name": "cancel", "response": {"status": "success"}}]


@pytest.mark.req("J-28")
@pytest.mark.parametrize(
    "failed",
    [
        {"checks": (Check(name="tool_use_correct", status="fail"),)},
        {"judgements": (Judgement(judge="j", reasoning="The function was not called."),),
         "checks": (Check(name="state_tracking", status="fail"),)},
        {},
    ],
)  # fmt: skip
def test_tool_calls_are_never_cut_where_tools_failed(failed):
    answer = ToolResult(text="x" * 20_000, is_error=not failed)
    attempt = a_turn(3, "Cancel both.", steps=calling(ToolCall(name="cancel", result=answer)), **failed)
    made = texts(packet(attempt=attempt, budget=1))

    assert json.loads(made["tool_results"]) == [{"name": "cancel", "response": "x" * 20_000}]


def test_a_result_without_a_call_is_shown():
    result = Step(index=2, actor=Actor(role="tool", name="cancel"), kind="tool_result", text="gone")
    made = texts(packet(attempt=a_turn(3, "Cancel.", steps=(*calling(), result))))

    assert json.loads(made["tool_results"]) == [{"name": "cancel", "response": "gone"}]


def test_steps_show_who_did_what_and_what_came_back():
    call = ToolCall(name="bash", arguments={"cmd": "ls"}, result=ToolResult(text="no such file", exit_code=2))
    steps = (Step(index=7, actor=ASSISTANT, text="I look.", reasoning="Where is it?", tool_calls=(call,)),)

    assert texts(packet(attempt=an_attempt(steps=steps)))["steps/7"] == (
        'assistant: I look.\n(reasoning) Where is it?\n→ bash {"cmd": "ls"}\n← (exit 2) no such file'
    )


def test_of_a_long_transcript_the_broken_steps_the_end_and_what_speaks_of_the_failure_are_shown():
    broken = ToolCall(name="bash", error=ToolError(type="Timeout", message="60 s"))
    steps = [Step(index=at, actor=ASSISTANT, text=f"thought {at} " * 100) for at in range(200)]
    steps[50] = Step(index=50, actor=ASSISTANT, tool_calls=(broken,))
    steps[120] = Step(index=120, actor=ASSISTANT, text="then slot 9 is taken came up")
    checks = (Check(name="tests", status="fail", explanation="slot 9 is taken"),)
    made = packet(attempt=an_attempt(steps=tuple(steps), checks=checks))

    shown = [int(name.removeprefix("steps/")) for name in texts(made) if name.startswith("steps/")]
    assert {0, 1, 49, 50, 51, 119, 120, 121, 196, 197, 198, 199} <= set(shown) < set(range(200))
    assert [int(line.partition(" ")[0]) for line in made.timeline] == list(range(200))
    assert len(to_json(made)) <= 12_000 * 4
    assert made.size["tokens_left"] == 12_000 - made.size["tokens_estimated"] >= 0


def test_a_transcript_that_fits_is_shown_whole_and_has_no_timeline():
    steps = tuple(Step(index=at, actor=ASSISTANT, text=f"thought {at}") for at in range(200))
    made = packet(attempt=an_attempt(steps=steps))

    assert [name for name in texts(made) if name.startswith("steps/")] == [f"steps/{at}" for at in range(200)]
    assert made.timeline == ()


@pytest.mark.req("B-37")
def test_a_step_that_is_the_output_keeps_its_number_and_its_speaker():
    planner, writer = (Actor(role="assistant", name=name) for name in ("Planner", "Writer"))
    steps = (
        Step(index=0, actor=planner, text="Write it down."),
        Step(index=1, actor=writer, text="The answer is 7."),
        Step(index=2, actor=planner, text="Thanks."),
    )
    made = texts(packet(attempt=an_attempt(steps=steps, output=Output(text="The answer is 7."))))

    assert made["output"] == "The answer is 7."
    assert made["steps/1"] == "assistant Writer: [… the text of `output` …]"


def test_system_prompts_come_last_and_once():
    system = Actor(role="system")
    steps = (
        Step(index=0, actor=system, text="Be exact."),
        Step(index=1, actor=ASSISTANT, text="Yes."),
        Step(index=2, actor=system, text="Be exact."),
        Step(index=3, actor=ASSISTANT, text="No."),
    )
    names = [place.place for place in packet(attempt=an_attempt(steps=steps)).places]

    assert names[-1] == "steps/0"
    assert "steps/2" not in names


def test_what_a_model_saw_at_a_step_is_shown_with_the_step():
    saw = {"type": "input", "messages": [{"role": "user", "content": "Only rows of May."}]}
    steps = (Step(index=0, actor=ASSISTANT, text="All rows.", parts=(saw,)), Step(index=1, actor=ASSISTANT, text="So."))

    assert "(input) user: Only rows of May." in texts(packet(attempt=an_attempt(steps=steps)))["steps/0"]


def test_reasoning_that_is_repeated_is_shown_once():
    steps = tuple(Step(index=at, actor=ASSISTANT, text=f"do {at}", reasoning="The same thought.") for at in range(2))

    assert to_json(packet(attempt=an_attempt(steps=steps))).count(b"The same thought.") == 1


def test_earlier_turns_tell_what_was_said_and_done():
    booked = ToolCall(name="book", arguments={"boat": "Otter"}, result=ToolResult(structured={"booking": "B-3"}))
    before = (a_turn(0, "Hello"), a_turn(1, "Book it", steps=calling(booked, said="Book it")))
    made = texts(packet(attempt=a_turn(2, "Cancel it"), before=before))

    assert json.loads(made["earlier/turn-0"]) == {"user_text": "Hello", "assistant_text": "Yes."}
    assert json.loads(made["earlier/turn-1"])["tool_results"] == [{"name": "book", "response": {"booking": "B-3"}}]


def test_where_room_is_short_the_turns_that_speak_of_the_same_come_first():
    before = tuple(a_turn(number, f"Chatter {'blah ' * 200}") for number in range(30))
    before = (*before[:7], a_turn(7, f"Book the Otter {'blah ' * 200}"), *before[8:])
    made = packet(attempt=a_turn(30, "Cancel", output=Output(text="Otter?")), before=before, budget=2_000)

    names = [name for name in texts(made) if name.startswith("earlier/")]
    assert "earlier/turn-7" in names and len(names) < 15
    assert "turns 0-6" in made.left_out[-1].what


def test_a_follower_shows_the_turn_it_follows_from():
    root = a_turn(24, "Change it", judgements=(Judgement(judge="j", reasoning="It hung up."),))
    made = packet(attempt=a_turn(25, "Hello?", follows=root.id), before=(root,))

    assert made.facts["follows"] == "turn-24"
    assert json.loads(texts(made)["earlier/turn-24"])["judge_reasoning"] == "It hung up."


def test_followers_are_named_and_the_first_is_shown():
    root = a_turn(24, "Change it")
    after = tuple(a_turn(number, "Hello?", follows=root.id) for number in (25, 26))
    made = packet(attempt=root, after=after)

    assert made.facts["followed_by"] == ["turn-25", "turn-26"]
    assert [name for name in texts(made) if name.startswith("later/")] == ["later/turn-25"]


def test_parts_and_earlier_sessions_are_shown():
    last = an_attempt(session=2)
    first = an_attempt(session=1, superseded_by=last.id, errors=(ErrorInfo(type="E", message="m", phase="setup"),))
    part = an_attempt(session=2, path="T0/00", parent=last.id, output=Output(text="Done."))
    made = texts(packet(attempt=last, kin=(first, part)))

    assert json.loads(made["earlier/session-1"])["errors"] == ["E: m"]
    assert json.loads(made["parts/T0/00"])["output"] == "Done."


def test_lines_of_the_runs_log_that_name_the_case_are_shown():
    lines = [
        Evidence(quote=f"[EMPTY] turn={number} retry", ref=SourceRef(file="run.log", line=number)) for number in (1, 11)
    ]
    made = packet(run=a_run(log_evidence=tuple(lines)), attempt=a_turn(1, "Hello"))

    (place,) = [place for place in made.places if place.place == "run.log"]
    assert (place.source, place.text) == ("run.log:1-1", "[EMPTY] turn=1 retry")


def test_what_the_subject_was_told_is_shown():
    context = (
        Artefact(role="context", path="bench/system_prompt.txt", text="Be kind."),
        Artefact(role="context", path="bench/data/kb.txt", text="Prices"),
    )
    made = texts(packet(run=a_run(context=context)))

    assert made == {"system_prompt": "Be kind.", "context/kb.txt": "Prices"}


def test_no_two_places_have_one_name():
    files = tuple(Artefact(role="output", path="same.txt", text=str(number)) for number in range(3))

    assert list(texts(packet(attempt=an_attempt(artefacts=files)))) == [
        "output/same.txt",
        "output/same.txt#2",
        "output/same.txt#3",
    ]


def test_control_characters_of_a_log_do_not_get_into_a_packet():
    attempt = an_attempt(native_status="x\x1b[31m bad", output=Output(text="a\x1b]0;title\x07b\u202ec"))
    made = packet(attempt=attempt)

    assert texts(made)["output"] == "abc" and made.facts["native_status"] == "x bad"


def test_signals_are_passed_on_without_the_version_of_the_rules():
    signal = Signal(name="zero_tokens", rule="r", rules_version="7", where="usage", quote="total = 0")
    result = Attribution(
        attempt="a",
        owner="harness",
        confidence="certain",
        signals=(signal,),
        failure_key=FailureKey(exact="e", coarse="c"),
    )
    made = packet(attribution=result)

    assert made.signals == (Signal(name="zero_tokens", where="usage", quote="total = 0"),)
    assert made.failure_key == FailureKey(exact="e", coarse="c")


def test_a_gap_on_record_is_told_however_many_signals_there_are():
    key = FailureKey(exact="e", coarse="c")
    many = tuple(Signal(name=f"s{number}", where="usage", quote="q") for number in range(20))
    gap = Signal(name="known_gap", where="history", quote="no answer can pass")
    result = Attribution(attempt="a", owner="model", confidence="weak", signals=(*many, gap), failure_key=key)
    made = packet(attribution=result)

    assert len(made.signals) == 12
    assert made.signals[-1].name == "known_gap"


def test_history_is_passed_on():
    text = ({"report": "reports/a.md", "label": "KNOWN_GAP", "text": "flaky"},)

    assert packet(history=text).history == text


def test_a_packet_is_named_as_show_takes_it():
    assert packet(handle="jn7mqywb").id == "jn7mqywb/case-1#1"


@pytest.mark.parametrize("model", ["acme/nimbus-2-coder", "Claude-Opus-9"])
def test_a_blind_packet_names_nobody(model):
    run = a_run(
        native_id=f"2026_{model.replace('/', '_')}_run",
        subject=Subject(model=model, provider="openrouter", agent="terminus"),
        context=(Artefact(role="context", path="system_prompt.txt", text=f"You are {model.upper()} of Terminus."),),
    )
    attempt = an_attempt(
        run=run.id,
        output=Output(text=f"As {model.rpartition('/')[2]} via OpenRouter I can't. I am Claude, I am Nimbus 2 Coder."),
        errors=(ErrorInfo(type="E", message=f"no endpoint for {model}", phase="subject"),),
        ref=SourceRef(file=f"output/{model}/run.log"),
    )
    result = ({"run": f"2025_{model}", "model": model, "outcome": "pass"},)
    made = packet(run=run, attempt=attempt, history=result, blind=True)

    shown = to_json(made).lower()
    assert not [name for name in (model.lower(), "openrouter", "terminus") if name.encode() in shown]
    assert model.rpartition("/")[2].lower().encode() not in shown
    assert made.run["model"] is None and made.history == ({"outcome": "pass"},)
    assert b"[model]" in shown


def test_a_model_is_blinded_by_the_name_it_calls_itself():
    run = a_run(subject=Subject(model="anthropic/claude-haiku-4-5"))
    attempt = an_attempt(run=run.id, output=Output(text="I am Claude, made by Anthropic."))

    assert texts(packet(run=run, attempt=attempt, blind=True))["output"] == "I am [model], made by [provider]."


def test_labels_are_no_names_to_be_blinded():
    run = a_run(subject=Subject(model="mockllm/model"))

    assert packet(run=run, blind=True).question == OWNERS


def test_the_time_of_a_session_that_reused_results_is_its_own():
    resumed = an_attempt(outcome="fail", duration=1333.9, durations={"wall_clock": 3.2})

    facts = packet(attempt=resumed).facts

    assert facts["duration_seconds"] == 3.2
    assert facts["duration_seconds_with_earlier_sessions"] == 1333.9
