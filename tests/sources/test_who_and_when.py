"""Who&When: who speaks in the logs of both halves, and where the annotation goes."""

import json
from pathlib import Path

from errata.model import Attempt
from errata.sources import who_and_when

FOLDER = Path(__file__).parents[1] / "fixtures" / "sources" / "who_and_when"
GENERATED = FOLDER / "generated" / "data" / "Algorithm-Generated"
HAND_CRAFTED = FOLDER / "hand_crafted" / "data" / "7.json"


def attempts(path: Path) -> list[Attempt]:
    return [item for item in who_and_when.read(path) if isinstance(item, Attempt)]


def test_agents_are_told_apart_by_their_names():
    (found,) = [one for one in attempts(GENERATED) if one.native_id == "21"]

    assert {step.actor.name for step in found.steps} == {
        "Lyrics_Expert",
        "MusicHistorian_Expert",
        "Linguistics_Expert",
    }
    assert {step.actor.role for step in found.steps} == {"assistant"}


def test_without_a_name_the_role_is_the_agent():
    (found,) = attempts(HAND_CRAFTED)

    assert [(step.actor.role, step.actor.name) for step in found.steps[:3]] == [
        ("user", ""),
        ("assistant", "Orchestrator (thought)"),
        ("assistant", "Orchestrator (-> WebSurfer)"),
    ]


def test_the_step_that_was_marked_is_the_step_of_that_number():
    (found,) = attempts(HAND_CRAFTED)
    marked = found.extra["annotation"]

    assert found.steps[int(marked["mistake_step"])].actor.name == marked["mistake_agent"] == "WebSurfer"


def test_the_annotation_is_where_no_stage_reads_it():
    (found,) = attempts(HAND_CRAFTED)

    assert (found.native_reason, found.judgements) == ("", ())


def test_the_word_that_ends_a_conversation_is_no_answer():
    (found,) = [one for one in attempts(GENERATED) if one.native_id == "21"]

    assert found.output.text.startswith("I agree with the verification")


def test_a_question_in_two_logs_is_one_case_with_two_attempts(tmp_path):
    data = json.loads(HAND_CRAFTED.read_text())
    for name in ("1.json", "2.json"):
        (tmp_path / name).write_text(json.dumps(data))

    assert [one.index for one in attempts(tmp_path)] == [1, 2]


def test_a_log_without_a_verdict_was_not_scored(tmp_path):
    data = json.loads(HAND_CRAFTED.read_text())
    del data["is_corrected"]
    (tmp_path / "1.json").write_text(json.dumps(data))

    assert attempts(tmp_path / "1.json")[0].measurement == "unscored"
