"""The API of the review page."""

from datetime import UTC, datetime
from urllib.parse import quote

import msgspec
import pytest

from errata.model import Reviewer
from errata.review.submit import Submission
from errata.store.reviews import keep_verdicts, verdicts_of
from errata.verbs.review import submit_verdict
from errata.verbs.store import open_store

RUN = "66a3ec6d795a0548"
INDEX = f"{RUN}:convex-evals/001-data_modeling/003-optional_index#1"
GREETING = f"{RUN}:convex-evals/000-fundamentals/002-http_greeting#1"
QUOTE = {"quote": 'In table "visits" the index "by_creation_time" uses a reserved name', "place": "run.log"}
DRAFT = {
    "owner": "model",
    "label": "MODEL_FAULT",
    "cause": "The index has a reserved name",
    "evidence": [QUOTE],
    "confidence": "certain",
}


def address(attempt: str, action: str = "") -> str:
    return f"/api/review/{quote(attempt, safe='')}" + (f"/{action}" if action else "")


def queue(client, **query):
    return client.get("/api/review", params=query).json()


def item(client, attempt=INDEX, **query):
    return client.get(address(attempt), params=query).json()


def save(client, attempt=INDEX, draft=DRAFT, **more):
    return client.post(address(attempt, "verdict"), json={"draft": draft, **more})


def given(store_path, attempt, reviewer, label, quote):
    """A verdict of an agent, as `errata review submit` takes it."""
    answer = (
        f'{{"label": "{label}", "cause": "Lint is too strict", "reasoning": "See the quote.", "confidence": "likely",'
        f' "evidence": [{{"place": "run.log", "quote": "{quote}"}}]}}'
    )
    store = open_store(store_path)
    who = Reviewer(kind="agent", name=reviewer)
    result = submit_verdict(Submission(which=attempt, answer=answer), store, who, now=datetime.now(UTC))
    store.engine.dispose()
    return result.kept.verdict.id


def test_the_queue_begins_with_disagreements_then_weak_triage_then_the_rest(desk, desk_store):
    line = "'ctx' is defined but never used  @typescript-eslint/no-unused-vars"
    given(desk_store, GREETING, "alpha", "MODEL_FAULT", line)
    given(desk_store, GREETING, "beta", "OVERLY_STRICT", line)

    found = queue(desk.client)

    groups = [one["group"] for one in found["items"]]
    assert groups == sorted(groups, key=["disputed", "unsure", "many", "other"].index)
    assert found["items"][0]["attempt"] == GREETING
    assert found["items"][0]["owners"] == ["model", "grader"]
    assert (found["failures"], found["done"], found["disputed"]) == (13, 0, 1)


def test_the_queue_is_filtered_by_run_owner_bucket_and_state(desk):
    every = queue(desk.client)["items"]

    assert {one["run"] for one in queue(desk.client, run=RUN)["items"]} == {RUN}
    assert {tuple(one["owners"]) for one in queue(desk.client, owner="model")["items"]} == {("model",)}
    assert [one["attempt"] for one in queue(desk.client, bucket="a-download-or")["items"]] == [
        f"{RUN}:convex-evals/003-mutations/005-batch_insert#1"
    ]
    assert queue(desk.client, state="done")["items"] == []
    assert len(queue(desk.client, state="all")["items"]) == len(every) == 13
    assert desk.client.get("/api/review", params={"state": "odd"}).status_code == 400


def test_an_item_has_the_packet_triage_and_the_version_to_send_back(desk):
    found = item(desk.client)

    assert found["packet"]["attempt_id"] == INDEX
    assert [one["by"] for one in found["readings"]] == ["triage"]
    assert found["readings"][0]["evidence"][0]["place"] == "checks/deploy"
    assert found["seen"] == []


def test_a_blind_view_hides_readings_and_the_model_until_a_verdict_is_saved(desk):
    before = item(desk.client, view="blind")
    saved = save(desk.client, view="blind").json()
    after = item(desk.client, view="blind")

    assert before["readings"] == []
    assert "nimbus" not in str(before["packet"])
    assert all(one["owners"] == [] for one in queue(desk.client, view="blind", state="all")["items"])
    assert [one["by"] for one in after["readings"]] == ["triage", "ada"]
    store = open_store(desk.settings.store)
    assert [(one.id, one.blind) for one in verdicts_of(store, RUN)] == [(saved["id"], True)]


def test_a_quote_is_found_word_for_word_or_the_answer_names_the_actual_text(desk):
    def check(**body):
        return desk.client.post(address(INDEX, "quote"), json=body).json()

    assert check(**QUOTE)["is_found"] is True
    typed = check(quote=QUOTE["quote"])
    assert (typed["is_found"], typed["place"], typed["lines"]) == (True, "checks/deploy", [2, 2])
    wrong = check(quote="the index has a reserved word in it", place="run.log")
    assert wrong["is_found"] is False
    assert "is not in `run.log`" in wrong["problem"]


def test_a_verdict_is_saved_once_per_key_and_its_author_is_the_caller(desk):
    first = save(desk.client, request="k1", seen=[])
    again = save(desk.client, request="k1", seen=[])

    assert first.status_code == again.status_code == 200
    assert first.json()["id"] == again.json()["id"]
    [reading] = [one for one in item(desk.client)["readings"] if one["verdict"]]
    assert (reading["by"], reading["owner"], reading["is_own"]) == ("ada", "model", True)
    assert queue(desk.client)["done"] == 1


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"evidence": []}, "evidence", "A verdict needs a quote"),
        ({"owner": "", "label": ""}, "owner", "Choose an owner"),
        ({"cause": " "}, "cause", "one sentence"),
        ({"label": "OVERLY_STRICT"}, "label", "Choose a label of model"),
        ({"evidence": [{"quote": "no such text at all", "place": "run.log"}]}, "evidence", "is not in `run.log`"),
        (
            {
                "owner": "grader",
                "label": "OVERLY_STRICT",
                "evidence": [{"quote": 'index("by_creation_time"', "place": "output/convex/schema.ts"}],
            },
            "evidence",
            "needs a quote from the check or the task",
        ),
    ],
)
def test_an_unfinished_verdict_is_refused_with_the_field_to_change(desk, change, field, words):
    answer = save(desk.client, draft=DRAFT | change)

    assert answer.status_code == 422
    [problem] = answer.json()["problems"]
    assert problem["field"] == field
    assert words in problem["message"]
    assert queue(desk.client)["done"] == 0


def test_who_saves_over_an_unseen_verdict_gets_it_instead_and_may_keep_both(server_for):
    ada, ben = server_for("ada"), server_for("ben")
    seen = item(ben.client)["seen"]
    save(ada.client, seen=item(ada.client)["seen"])

    refused = save(ben.client, seen=seen, request="b")
    other = refused.json()["others"]
    kept = save(ben.client, seen=refused.json()["seen"], request="b")

    assert refused.status_code == 409
    assert [(one["by"], one["owner"]) for one in other] == [("ada", "model")]
    assert kept.status_code == 200
    assert [one["by"] for one in item(ada.client)["readings"]] == ["triage", "ada", "ben"]


def test_undo_writes_the_version_before_then_a_withdrawal_and_deletes_nothing(desk, desk_store):
    def undo(verdict):
        return desk.client.post(address(INDEX, "undo"), json={"verdict": verdict}).json()

    first = save(desk.client).json()["id"]
    second = save(desk.client, draft=DRAFT | {"owner": "unknown", "label": ""}).json()["id"]
    restored = undo(second)
    withdrawn = undo(restored["id"])
    again = save(desk.client).json()

    assert (restored["owner"], restored["withdrawn"]) == ("model", False)
    assert withdrawn["withdrawn"] is True
    assert again["state"] == "new"
    store = open_store(desk_store)
    kept = [one.id for one in verdicts_of(store, RUN, withdrawn=True)]
    assert kept == [first, second, restored["id"], withdrawn["id"], again["id"]]
    assert [one.id for one in verdicts_of(store, RUN)] == [again["id"]]


def test_what_was_withdrawn_waits_again(desk):
    saved = save(desk.client).json()["id"]
    assert queue(desk.client)["done"] == 1

    desk.client.post(address(INDEX, "undo"), json={"verdict": saved})

    assert queue(desk.client)["done"] == 0
    assert [one["by"] for one in item(desk.client)["readings"]] == ["triage"]


def test_somebody_elses_verdict_can_not_be_undone(server_for):
    ada, ben = server_for("ada"), server_for("ben")
    saved = save(ada.client).json()["id"]

    answer = ben.client.post(address(INDEX, "undo"), json={"verdict": saved})

    assert answer.status_code == 404
    assert "has no verdict" in answer.json()["error"]


def test_others_see_who_reads_a_failure_until_it_is_given_back(server_for):
    ada, ben = server_for("ada"), server_for("ben")
    ada.client.post(address(INDEX, "claim"), json={})

    held = [one["in_hand"] for one in queue(ben.client)["items"] if one["attempt"] == INDEX]
    own = [one["in_hand"] for one in queue(ada.client)["items"] if one["attempt"] == INDEX]
    assert (held, own) == ([["ada"]], [[]])
    assert item(ben.client)["in_hand"] == ["ada"]
    assert ben.client.post(address(INDEX, "claim"), json={}).json()["others"] == ["ada"]

    ada.client.post(address(INDEX, "release"), json={})
    assert item(ben.client)["in_hand"] == []


def test_alike_lists_first_and_saves_only_where_a_quote_is_found(desk):
    runs = {one["run"] for one in queue(desk.client)["items"]}
    every = [one["attempt"] for one in queue(desk.client, run=RUN)["items"]]
    keys = {each: item(desk.client, each)["packet"]["failure_key"]["exact"] for each in every}
    first, *others = [each for each in every if keys[each].startswith("tests:")]
    draft = {
        "owner": "model",
        "label": "MODEL_FAULT",
        "cause": "Wrong answer",
        "evidence": [{"quote": "[error] tests: tests failed", "place": "run.log"}],
    }
    listed = desk.client.post(address(first, "alike"), json={"draft": draft, "by": "key"}).json()
    assert len(runs) == 2
    assert [one["attempt"] for one in listed["failures"]] == others
    assert listed["saved"] == queue(desk.client)["done"] == 0

    body = {"draft": draft, "by": "key", "attempts": others, "request": "a"}
    saved = desk.client.post(address(first, "alike"), json=body).json()

    assert saved["saved"] == listed["fitting"] == queue(desk.client)["done"]


def test_an_id_that_names_nothing_is_refused(desk):
    assert desk.client.get(address("nothing")).status_code == 404
    assert save(desk.client, attempt=f"{RUN}:convex-evals/none#1").status_code == 404


def test_an_undo_takes_back_what_identical_failures_inherited(desk, desk_store):
    first, second = (one["attempt"] for one in queue(desk.client, owner="environment")["items"][:2])
    reading = item(desk.client, first)["readings"][0]
    quotes = [{"quote": one["quote"], "place": one["place"]} for one in reading["evidence"]]
    draft = {"owner": "environment", "label": "", "cause": "The image can't be built", "evidence": quotes}
    saved = save(desk.client, attempt=first, draft=draft).json()["id"]
    store = open_store(desk_store)
    [verdict] = verdicts_of(store, first.partition(":")[0])
    copied = msgspec.structs.replace(verdict, id="copied", attempt=second, inherited_from=saved, evidence=())
    keep_verdicts(store, [copied])
    assert queue(desk.client)["done"] == 2

    desk.client.post(address(first, "undo"), json={"verdict": saved})

    assert queue(desk.client)["done"] == 0
