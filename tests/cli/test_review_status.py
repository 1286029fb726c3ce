"""`errata review status`, `agreement` and `calibrate`: how far it is, how far readers agree, and how good they are."""

import json
import re
import shutil

import pytest

from reading import RUN_B, an_answer, as_model, submitted
from terminal import done, errata, import_fixtures


@pytest.fixture
def imported():
    import_fixtures(RUN_B)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    """Stores in which somebody has read everything, by what was said."""
    return tmp_path_factory.mktemp("read"), {}


@pytest.fixture
def read_all(imported, tmp_path, shelf):
    """Somebody reads every failure, and gives these labels in turn; what was read so before is taken from the shelf."""
    folder, kept = shelf

    def read(name, labels=("MODEL_FAULT",), **changes):
        words = json.dumps([name, labels, changes])
        if words not in kept:
            kept[words] = read_one_by_one(tmp_path, name, labels, **changes)
            shutil.copytree(".errata", folder / str(len(kept)))
        else:
            shutil.rmtree(".errata")
            shutil.copytree(folder / str(1 + list(kept).index(words)), ".errata")
        return kept[words]

    return read


def read_one_by_one(tmp_path, name, labels, **changes):
    given = {}
    while (result := done("review", "next", "latest", *as_model(name)).row)["packet"]:
        label = labels[len(given) % len(labels)]
        answer = an_answer(result, label=label, **changes)
        assert submitted(tmp_path / "a.json", answer, *as_model(name)).code == 0
        given[result["packet"]["attempt_id"]] = label
    return given


def second_opinion(tmp_path, name, labels, given):
    for attempt, label in zip(given, labels, strict=False):
        row = done("review", "next", attempt, *as_model(name)).row
        assert submitted(tmp_path / "a.json", an_answer(row, label=label), *as_model(name)).code == 0


def status():
    return done("review", "status", "latest", "--json").row


def test_doubts_are_counted_and_the_first_of_them_told(read_all, tmp_path):
    read_all("a", doubts=["the sentences are not stored"])

    page = done("review", "status", "latest").out

    assert "open doubts     9   001-data_modeling/003-optional_index: the sentences are not stored\n" in page
    assert page.count("the sentences are not stored") == 3
    assert "and 6 more with --json" in page
    assert len(status()["doubts"]) == 9


def test_a_run_without_failures_is_short(library):
    page = done("review", "status", "jn7maewn", "--store", library).out

    assert page == "Run jn7maewn · no failures · 0 reviewed · 0 waiting\n"


def test_the_score_of_reviewed_comes_with_the_last_verdict(read_all, tmp_path):
    before = done("score", "latest", "--json").row["scores"]
    read_all("a", ["OVERLY_STRICT"])
    read_all("b", ["OVERLY_STRICT"])  # they quote the model's own texts, which clear it only if two agree
    after = done("score", "latest", "--json").row["scores"]

    assert before["reviewed"]["total"] == 0
    assert (after["reviewed"]["passed"], after["reviewed"]["total"]) == (16, 16)


def test_reviewed_failures_are_no_longer_presumed(read_all, tmp_path):
    before = done("score", "latest", "--json").row["scores"]["clean"]
    read_all("a")
    after = done("score", "latest", "--json").row["scores"]["clean"]

    assert before["presumed"] == 5
    assert (after["presumed"], after["rate_without_presumed"]) == (0, None)
    assert "presumed" not in done("score", "latest").out
    assert "presumed" not in done("analyze", RUN_B).out


def test_submit_names_what_it_dropped_and_status_that_refusals_were_corrected(imported, tmp_path):
    row = done("review", "next", "latest", *as_model("a")).row
    answer = an_answer(row)
    wrong = answer | {"cause": ""}
    assert submitted(tmp_path / "a.json", wrong, *as_model("a")).code == 2
    assert " · 1 answer refused\n" in done("review", "status", "latest").out
    taken = submitted(tmp_path / "a.json", answer | {"model_snippet": "nowhere in it"}, *as_model("a"))

    assert "accepted without one part: the model snippet is not in the packet and was dropped" in taken.talk
    assert " · 1 answer refused, corrected since\n" in done("review", "status", "latest").out


@pytest.mark.req("J-30")
def test_a_summary_is_provisional_until_all_is_reviewed(read_all, tmp_path):
    before = done("analyze", RUN_B).out
    read_all("a")
    after = done("analyze", RUN_B).out

    assert "PROVISIONAL: owners assigned by rules; 0 of 9 failures reviewed\n" in before
    assert "PROVISIONAL" not in after and "9 of 9 failures reviewed\n" in after
    assert re.search(r"^ +reviewed +\d+/\d+ ", after, re.MULTILINE)


def test_one_reader_alone_agrees_with_nobody(read_all, tmp_path):
    read_all("a")

    assert "agreement is unknown" in done("review", "agreement", "latest").out


def test_two_readers_are_compared(read_all, tmp_path):
    given = read_all("a", ["MODEL_FAULT", "OVERLY_STRICT"])
    second_opinion(tmp_path, "b", ["MODEL_FAULT", "OVERLY_STRICT", "OVERLY_STRICT"], given)

    row = done("review", "agreement", "latest", "--json").row

    (pair,) = row["agreement"]["pairs"]
    assert (pair["both"], pair["same"]) == (3, 2)
    assert pair["kappa"] == pytest.approx(0.4)
    assert pair["confusion"] == {
        "MODEL_FAULT": {"MODEL_FAULT": 1, "OVERLY_STRICT": 1},
        "OVERLY_STRICT": {"OVERLY_STRICT": 1},
    }
    (dispute,) = row["disputes"]
    assert dispute["labels"] == {"agent:a": "MODEL_FAULT", "agent:b": "OVERLY_STRICT"}
    assert dispute["owners"] == {"agent:a": "model", "agent:b": "grader"}


def test_agreement_is_told_for_labels_and_for_owners(read_all, tmp_path):
    given = read_all("a", ["MODEL_FAULT", "OVERLY_STRICT"])
    second_opinion(tmp_path, "b", ["MODEL_FAULT", "OVERLY_STRICT", "OVERLY_STRICT"], given)

    row = done("review", "agreement", "latest", "--json").row
    page = done("review", "agreement", "latest").out

    (owners,) = row["owners"]["pairs"]
    assert (owners["same"], owners["confusion"]["model"]) == (2, {"grader": 1, "model": 1})
    assert row["owners"]["alpha"] == pytest.approx(row["agreement"]["alpha"])
    assert "on the owner · Krippendorff's alpha 0.4" in page
    assert "on the owner: 2 the same · Cohen's kappa 0.40" in page


def test_what_is_disputed_is_a_queue_for_a_person(read_all, tmp_path):
    given = read_all("a")
    second_opinion(tmp_path, "b", ["OVERLY_STRICT"], given)
    attempt = next(iter(given))

    page = done("review", "agreement", "latest").out

    assert "Disputed 1" in page
    assert f"errata review next '{attempt}'" in page.replace("\n      ", "")
    assert status()["disputed"] == [attempt]


def test_a_person_settles_a_dispute(read_all, tmp_path):
    given = read_all("a")
    second_opinion(tmp_path, "b", ["OVERLY_STRICT"], given)
    attempt = next(iter(given))
    row = done("review", "next", attempt, *as_model("ada"), "--person", "--json").row
    submitted(tmp_path / "a.json", an_answer(row, label="OVERLY_STRICT"), *as_model("ada"), "--person")

    (dispute,) = done("review", "agreement", "latest", "--json").row["disputes"]

    assert dispute["decided"] == "OVERLY_STRICT"
    assert status()["disputed"] == []


def test_readers_are_measured_against_people(read_all, tmp_path):
    given = read_all("a", ["MODEL_FAULT", "OVERLY_STRICT"])
    people = dict(given) | {next(iter(given)): "OVERLY_STRICT"}
    lines = ["attempt_id,label", *(f"{attempt},{label}" for attempt, label in people.items())]
    (tmp_path / "labels.csv").write_text("\n".join(lines))

    row = done("review", "calibrate", tmp_path / "labels.csv", "--json").row

    assert row["labelled"] == 9
    measured = row["reviewers"]["agent:a"]
    assert (measured["compared"], measured["right"]) == (9, 8)
    assert measured["confusion"]["OVERLY_STRICT"] == {"MODEL_FAULT": 1, "OVERLY_STRICT": 4}


def test_cases_may_be_named_and_what_is_unknown_is_told(read_all, tmp_path):
    read_all("a")
    (tmp_path / "labels.csv").write_text(
        "case,label\n"
        "004-actions/003-rate_limit_guard,model_fault\n"
        "no-such-case,MODEL_FAULT\n"
        "002-queries/001-text_lookup,BAD_LUCK\n"
        "005-idioms/004-pick_primitive,\n"
    )

    result = done("review", "calibrate", tmp_path / "labels.csv", "latest")

    assert result.out.startswith("1 failure labelled by people · convex-evals\n")
    assert "agent:a   1 of 1 right · accuracy 1.00" in result.out
    assert "line 3" in result.err and "no-such-case" in result.err
    assert "line 4: `BAD_LUCK` is not a label" in result.err
    assert "line 5: has no label" in result.err


def test_a_table_without_labels_is_refused(imported, tmp_path):
    (tmp_path / "labels.csv").write_text("a,b\n1,2\n")

    result = errata("review", "calibrate", tmp_path / "labels.csv")

    assert result.code == 2
    assert "its columns are a, b" in result.talk


def test_every_page_of_a_review_fits(read_all, tmp_path):
    given = read_all("a", ["MODEL_FAULT", "OVERLY_STRICT"], doubts=["word " * 60])
    second_opinion(tmp_path, "b" * 60, ["AMBIGUOUS_TASK"] * 4, given)
    (tmp_path / "labels.csv").write_text("attempt_id,label\n" + "".join(f"{one},KNOWN_GAP\n" for one in given))

    for command in (["status", "latest"], ["agreement", "latest"], ["calibrate", str(tmp_path / "labels.csv")]):
        lines = done("review", *command).out.splitlines()
        assert max(map(len, lines)) <= 100, command
    assert json.loads(json.dumps(status()))
