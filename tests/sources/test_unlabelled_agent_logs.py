"""Conversations of agents without annotations: transcripts without a verdict, taken from no other source."""

import json
from pathlib import Path

import pytest
from changed_logs import FIXTURES, attempts

from errata import sources
from terminal import done

WHO_AND_WHEN = FIXTURES / "who_and_when"
DATA = WHO_AND_WHEN / "unlabelled" / "data"
ANNOTATED = WHO_AND_WHEN / "generated" / "data" / "Algorithm-Generated"
MESSAGES = [
    {"role": "user", "content": "Which tide?"},
    {"role": "Navigator", "content": "The tide at noon."},
]


@pytest.fixture(autouse=True)
def own_store(at_home):
    """Commands write into a store of the test."""


def put(path: Path, content) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_folders_of_both_forms_are_found_as_runs():
    assert {found.path.name: found.source.NAME for found in sources.find(DATA)} == {
        "bare": "who-and-when",
        "with_question": "who-and-when",
    }


def test_the_page_says_that_nothing_was_judged():
    page = " ".join(done("analyze", DATA / "bare", "--no-report").out.split())

    assert "not_judged" in page
    assert "Nothing to analyse" not in page


def test_a_log_without_its_annotation_is_the_same_transcript(tmp_path):
    for file in ANNOTATED.iterdir():
        log = json.loads(file.read_text())
        put(tmp_path / "logs" / file.name, {key: log[key] for key in log if not key.startswith("mistake_")})
    with_labels = {one.native_id: one for one in attempts(ANNOTATED)}
    without = {one.native_id: one for one in attempts(tmp_path / "logs")}

    assert with_labels.keys() == without.keys()
    for name, one in without.items():
        assert [(step.actor, step.text) for step in one.steps] == [
            (step.actor, step.text) for step in with_labels[name].steps
        ]
        assert one.outcome == with_labels[name].outcome
        assert "annotation" not in one.extra


def test_names_tell_the_agents_apart():
    tide = next(one for one in attempts(DATA / "bare") if one.native_id == "tide")

    assert [(step.actor.role, step.actor.name) for step in tide.steps] == [
        ("assistant", "Planner"),
        ("tool", "Computer_terminal"),
        ("assistant", "Navigator"),
    ]
    assert tide.output.text == "We cross at 11:00."


def test_a_mapping_beside_a_list_wins(tmp_path):
    path = put(tmp_path / "chats.json", MESSAGES)
    put(tmp_path / "chats.json.map.toml", 'rows = "."\ncase = "role"\n')

    assert [found.source.NAME for found in sources.find(path)] == ["generic"]


def test_other_results_in_the_same_folder_stay_with_their_source(tmp_path):
    tau2 = (FIXTURES / "tau_bench" / "tau2" / "data" / "ft-gpt-4.1_airline.json").read_text()
    put(tmp_path / "logs" / "chat.json", MESSAGES)
    put(tmp_path / "logs" / "tau.json", tau2)

    assert {found.path.name: found.source.NAME for found in sources.find(tmp_path / "logs")} == {
        "chat.json": "who-and-when",
        "tau.json": "tau-bench",
    }


def test_a_file_among_annotated_logs_that_is_none_is_named(tmp_path):
    for file in ANNOTATED.iterdir():
        put(tmp_path / "logs" / file.name, file.read_text())
    put(tmp_path / "logs" / "scores.json", {"accuracy": 0.5})
    (unread,) = sources.look(tmp_path / "logs").unread.files

    assert Path(unread.path).name == "scores.json"
