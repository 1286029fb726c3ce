"""A verdict follows its attempt to another name; where nothing fits it any more, the import says what to do."""

import json

import pytest

from errata.model import Quote, Reviewer, Verdict
from errata.runs.importing import import_paths
from errata.store.attempts import attempts_of
from errata.store.reviews import keep_verdicts, verdicts_of
from errata.store.runs import all_runs
from terminal import errata

pytestmark = pytest.mark.req("N-16")


MAPPING = """\
suite = "harbours"
[run]
id = { column = "run" }
[case]
name = "case"
input = "input"
[attempt]
output = "answer"
passed = "passed"
started_at = "date"
"""


def write(
    place, *, case="{}", answer="the harbour of {}", count=3, run="r1", asked="Where is {}?", at="2026-05-01T10:00:00Z"
):
    """Answers that were all marked wrong."""
    place.parent.mkdir(exist_ok=True)
    place.with_name("errata.map.toml").write_text(MAPPING)
    rows = [
        {"run": run, "case": case.format(name), "input": asked.format(name), "answer": answer.format(name)}
        | {"passed": False, "date": at}
        for name in ("Aber", "Bude", "Cork")[:count]
    ]
    place.write_text("".join(json.dumps(row) + "\n" for row in rows))


def imported(place, store):
    (run,) = [run for path in import_paths([place], store) for run in path.runs]
    return run


def reviewed(place, store, *, case="{}", answers=3):
    write(place, case=case, count=answers, asked="Where is it?" if case == "one" else "Where is {}?")
    run = imported(place, store)
    fields = {"taxonomy": "t", "label": "MODEL_FAULT", "owner": "model", "cause": "c", "confidence": "likely"}
    verdicts = [
        Verdict(id=f"v-{at}", attempt=one.id, reviewer=Reviewer(kind="person", name="me"), **fields,
                evidence=(Quote(place="output", quote=one.output.text),))
        for at, one in enumerate(attempts_of(store, run.pk))
    ]  # fmt: skip
    keep_verdicts(store, verdicts)
    return run


def labelled(store, run):
    labels = {one.attempt: one.label for one in verdicts_of(store, getattr(run, "run", run).id)}
    return [labels.get(one.id, "") for one in attempts_of(store, run.pk)]


def test_verdicts_follow_cases_that_have_other_names(tmp_path, store):
    place = tmp_path / "logs/answers.jsonl"
    run = reviewed(place, store)
    write(place, case="harbours/{}-v2")

    again = imported(place, store)

    assert (again.id, again.carried, again.lost) == (run.id, 3, ())
    assert labelled(store, again) == ["MODEL_FAULT"] * 3
    assert len(verdicts_of(store, run.id)) == 3


@pytest.mark.parametrize(
    "changed",
    [{"count": 2, "answer": "another harbour of {}", "case": "{}-v2"}, {"answer": "no idea", "case": "{}-v2"}],
)
def test_an_import_says_which_verdicts_it_leaves_without_an_attempt_and_what_brings_them_back(tmp_path, store, changed):
    place = tmp_path / "logs/answers.jsonl"
    reviewed(place, store)
    write(place, **changed)

    output = errata("import", place, "--replace", "--store", store.path)
    row = errata("import", place, "--json", "--store", store.path).row

    assert "note: 3 verdicts of run" in output.err
    assert f"`errata import {place} --replace`" in " ".join(output.err.split())
    assert (row["change"], row["carried"], row["lost"]) == ("unchanged", 0, [])
    write(place)
    back = errata("import", place, "--replace", "--store", store.path)
    assert "verdict" not in back.err
    (stored,) = all_runs(store)
    assert labelled(store, stored) == ["MODEL_FAULT"] * 3


def test_verdicts_stay_with_the_answer_where_repeated_rows_come_in_another_order(tmp_path, store):
    """Their numbers are those of their order, so that the ids change places."""
    place = tmp_path / "logs/answers.jsonl"
    run = reviewed(place, store, case="one", answers=2)
    lines = place.read_text().splitlines(keepends=True)
    place.write_text("".join(reversed(lines)))

    again = imported(place, store)

    assert (again.id, again.carried, again.lost) == (run.id, 2, ())
    labels = {one.attempt: one.id for one in verdicts_of(store, run.id)}
    by_answer = {one.output.text: labels[one.id] for one in attempts_of(store, again.pk)}
    assert by_answer == {"the harbour of Aber": "v-0", "the harbour of Bude": "v-1"}


def test_a_quote_that_is_no_longer_in_the_log_keeps_its_verdict_from_following(tmp_path, store):
    place = tmp_path / "logs/answers.jsonl"
    reviewed(place, store)
    write(place, case="harbours/{}", answer="the port of {}")

    again = imported(place, store)

    assert (again.carried, len(again.lost), labelled(store, again)) == (0, 3, ["", "", ""])


@pytest.mark.parametrize(
    ("changed", "carried"),
    [({}, 3), ({"case": "x/{}"}, 3), ({"answer": "the port of {}"}, 0), ({"at": "2026-05-02T10:00:00Z"}, 0)],
)
def test_a_copy_of_a_run_under_another_id_has_its_verdicts_and_another_run_has_not(tmp_path, store, changed, carried):
    run = reviewed(tmp_path / "logs/answers.jsonl", store)
    write(tmp_path / "copy/answers.jsonl", run="r2", **changed)

    other = imported(tmp_path / "copy/answers.jsonl", store)

    assert other.id != run.id
    assert (other.carried, labelled(store, other).count("MODEL_FAULT")) == (carried, carried)
    assert len(verdicts_of(store, run.id)) == 3
