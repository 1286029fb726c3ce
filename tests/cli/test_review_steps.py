"""Which step, which agent: from the verdict to every command that carries them, and nothing of it in packets."""

import json
from pathlib import Path

import pytest
from msgspec import convert

from errata.model import Packet, Step
from errata.review.decisive import DEFINITION
from errata.review.prompts import prompt_for
from reading import RUN_B, an_answer, as_model, submitted
from terminal import FIXTURES, done, errata, import_fixtures

TEAM = FIXTURES / "who_and_when" / "generated" / "data" / "Algorithm-Generated"
ORCHESTRATED = FIXTURES / "who_and_when" / "hand_crafted" / "data"
RUN = "Algorithm-Generated"


@pytest.fixture
def team():
    import_fixtures(TEAM)


def logs(folder):
    return [path for path in sorted(folder.iterdir()) if path.suffix == ".json"]


def a_step(packet, number):
    """A quote of a step."""
    (place,) = [one for one in packet["places"] if one["place"] == f"steps/{number}"]
    line = max(place["text"].partition(":")[2].split("\n"), key=len)
    return {"place": place["place"], "quote": line.strip()[:900]}


def read(tmp_path, reviewer, step, *options, **fields):
    """Every failure of the team, with the same decisive step."""
    while (got := done("review", "next", RUN, "--format", "json", *as_model(reviewer), *options).row)["packet"]:
        quote = a_step(got["packet"], step)
        answer = an_answer(got, label="model", evidence=[quote], decisive_step=step, **fields)
        taken = submitted(tmp_path / "v.json", answer, *as_model(reviewer))
        assert taken.code == 0, taken


def test_step_and_agent_are_in_show_and_in_the_list_of_failures(team, tmp_path):
    read(tmp_path, "a", 1, second_candidate=2)
    rows = done("failures", RUN, "--json").rows
    speakers = {row["attempt_id"]: done("show", row["attempt_id"], "--json").row["attempt"]["steps"] for row in rows}

    for row in rows:
        verdict = row["verdict"]
        assert (verdict["decisive_step"], verdict["second_candidate"]) == (1, 2)
        assert verdict["decisive_agent"] == speakers[row["attempt_id"]][1]["actor"]["name"]
        assert f"step      1, {verdict['decisive_agent']}" in done("show", row["attempt_id"]).out


def test_a_report_names_step_and_agent(team, tmp_path):
    read(tmp_path, "a", 1, second_candidate=2)
    done("report", RUN, "-o", "report.md", "--profile", "run")
    agents = {row["verdict"]["decisive_agent"] for row in done("failures", RUN, "--json").rows}

    text = Path("report.md").read_text()
    for agent in agents:
        assert f"Decisive step: 1, by {agent} (second candidate: 2)" in text.replace("**", "").replace("\\", "")


def test_agreement_is_measured_for_each_field(team, tmp_path):
    read(tmp_path, "a", 1)
    read(tmp_path, "b", 2, "--second")
    row = done("review", "agreement", RUN, "--json").row

    assert row["agreement"]["pairs"][0]["same"] == 3
    assert row["owners"]["pairs"][0]["same"] == 3
    assert (row["steps"]["attempts"], row["steps"]["pairs"][0]["same"]) == (3, 0)
    assert row["agents"]["attempts"] == 3
    page = done("review", "agreement", RUN).out
    assert "on the step: 0 the same" in page


def test_reviewers_are_measured_against_the_labels_of_the_log(team, tmp_path):
    read(tmp_path, "a", 1)
    marked = {json.loads(path.read_text())["question_ID"]: json.loads(path.read_text()) for path in logs(TEAM)}
    off = [abs(int(one["mistake_step"]) - 1) for one in marked.values()]
    row = done("review", "calibrate", "--labels-from-log", RUN, "--json").row
    steps = row["reviewers"]["agent:a"]["steps"]

    assert row["labelled"] == 3
    assert [steps[name]["right"] for name in ("exact", "within_one", "within_three")] == [
        sum(one <= most for one in off) for most in (0, 1, 3)
    ]
    assert all(steps[name]["of"] == 3 and len(steps[name]["interval"]) == 2 for name in ("exact", "within_three"))
    assert row["reviewers"]["agent:a"]["agents"]["of"] == 3
    assert "step ±1" in done("review", "calibrate", "--labels-from-log", RUN).out


def test_a_table_may_give_steps_and_agents(team, tmp_path):
    read(tmp_path, "a", 1)
    rows = done("failures", RUN, "--json").rows
    cells = [f"{row['case']},model,{at},{row['verdict']['decisive_agent']}" for at, row in enumerate(rows)]
    (tmp_path / "labels.csv").write_text("\n".join(["case,label,step,agent", *cells]))

    measured = done("review", "calibrate", tmp_path / "labels.csv", RUN, "--json").row["reviewers"]["agent:a"]

    assert (measured["right"], measured["steps"]["exact"]["right"], measured["agents"]["right"]) == (3, 1, 3)
    assert measured["steps"]["within_one"]["right"] == 3


@pytest.mark.req("B-42")
@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("case,label\n004-actions/003-rate_limit_guard,wrong_tool\n", "--taxonomy"),
        ("case,label\nno-such-case,MODEL_FAULT\n", "import the run first"),
        ("case,step\n004-actions/003-rate_limit_guard,first\n", "from 0"),
        ("case,label\n", "no rows"),
        ("case,label\n004-actions/003-rate_limit_guard,\n", "fill in `label`"),
    ],
)
def test_calibrate_without_a_usable_row_is_an_error_with_what_would_be_right(tmp_path, table, told):
    import_fixtures(RUN_B)
    (tmp_path / "labels.csv").write_text(table)
    result = errata("review", "calibrate", tmp_path / "labels.csv", "latest")

    assert result.code == 2
    assert told in result.talk


def test_calibrate_names_the_taxonomy_that_has_the_labels(team, tmp_path):
    case = done("failures", RUN, "--json").rows[0]["case"]
    (tmp_path / "labels.csv").write_text(f"case,label\n{case},MODEL_FAULT\n")
    result = errata("review", "calibrate", tmp_path / "labels.csv", RUN)

    assert result.code == 2
    assert "use `--taxonomy convex-evals`, which has this label" in result.talk


def test_calibrate_without_labels_is_an_error():
    import_fixtures(RUN_B)

    assert errata("review", "calibrate").code == 2
    result = errata("review", "calibrate", "--labels-from-log", "latest")
    assert (result.code, "has no labels by people" in result.talk) == (2, True)


@pytest.mark.parametrize("log", [*logs(TEAM), *logs(ORCHESTRATED)], ids=lambda path: path.stem)
def test_no_label_of_a_log_is_in_a_packet(tmp_path, log):
    """The packet is the same whatever people marked, and none of their words is in it."""
    marked = json.loads(log.read_text())
    packets = []
    for name, change in (
        ("same", {}),
        ("other", {"mistake_agent": "Nobody", "mistake_step": "3", "mistake_reason": "x"}),
    ):
        folder = tmp_path / name / "logs"
        folder.mkdir(parents=True)
        (folder / log.name).write_text(json.dumps(marked | change))
        shown = [folder / log.name, "--store", tmp_path / name / "errata.db"]
        case = done("import", *shown, "--json") and done("failures", *shown, "--json").rows[0]["attempt_id"]
        packets.append(done("show", case, "--packet", "--store", tmp_path / name / "errata.db").out)

    packet = json.loads(packets[0])
    assert packet["places"] == json.loads(packets[1])["places"]
    assert packet["facts"] == json.loads(packets[1])["facts"]
    assert packet["question"] == json.loads(packets[1])["question"]
    for word in ("mistake_agent", "mistake_step", "mistake_reason", "annotation", marked["mistake_reason"]):
        assert word not in packets[0]


def test_no_verdict_on_a_failure_is_in_its_packet(team, tmp_path):
    attempts = [row["attempt_id"] for row in done("failures", RUN, "--json").rows]
    before = [done("show", attempt, "--packet").out for attempt in attempts]
    read(tmp_path, "a", 1, decisive_reason="an opinion that nobody else must see", cause="An opinion of its own")
    after = [done("show", attempt, "--packet").out for attempt in attempts]

    assert after == before


@pytest.mark.req("B-39")
def test_every_speaker_is_named_in_the_transcript(team):
    for attempt in [row["attempt_id"] for row in done("failures", RUN, "--json").rows]:
        steps = done("show", attempt, "--json").row["attempt"]["steps"]
        whole = done("show", attempt, "--full").out.partition("\ntranscript")[2]
        brief = done("show", attempt).out.partition("\ntranscript")[2]
        for step in steps:
            speaker = f"{step['actor']['role']} {step['actor']['name']}".rstrip()
            assert f"{step['index']:>3} {speaker}\n" in whole
        for step in steps[-8:]:
            assert f"{step['index']:>3} {step['actor']['role']} {step['actor']['name'][:16]}" in brief


@pytest.mark.req("B-40")
def test_the_form_lists_every_word_that_a_field_takes(team):
    """Every list of words in the schema that models get is in the form, too."""

    got = done("review", "next", RUN, "--format", "json").row
    schema = prompt_for(convert(got["packet"], Packet), marker="ab12" * 4).schema["properties"]
    wanted = {name: field for name, field in schema.items() if "enum" in field}
    wanted |= {"also": schema["also"]["items"], "recommendation.group": schema["recommendation"]["properties"]["group"]}

    for name, field in wanted.items():
        assert got["allowed"][name] == [word for word in field["enum"] if word is not None]
    shown = done("show", got["answer"]["attempt_id"], "--json").row["attempt"]["steps"]
    speakers = {step.speaker for step in convert(shown, list[Step])}
    assert set(got["allowed"]["decisive_agent"]) == {speaker.partition(" ")[2] for speaker in speakers}


def test_as_text_the_form_lists_every_word_too(team):
    page = " ".join(done("review", "next", RUN, "--format", "text").out.split())

    assert "confidence certain, likely, weak" in page
    assert "recommendation.group eval, config, guidelines, model, none" in page
    assert DEFINITION in page
